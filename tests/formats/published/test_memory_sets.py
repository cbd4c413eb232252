"""BEAM, RealMem, LoCoMo-Plus, LMEB and LongMemEval: recognised, read whole, bad input said."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import exported
import memory_sets as sets
from realtalk.chat import Corpus, unpack_extra
from realtalk.formats.opening import open_reading
from realtalk.formats.published.memory_sets import days_of
from realtalk.formats.reading import ReadCorpus
from refusals import refused
from shown import check
from text_tables import cases


def read(path: Path, name: str) -> ReadCorpus:
    opened = open_reading(path)
    assert opened.format == name
    return opened.reading


def evidence(corpus: Corpus) -> list[tuple[str, ...]]:
    return [question.evidence for chat in corpus.chats for question in chat.questions]


def test_beam(tmp_path: Path) -> None:
    sets.beam(tmp_path / "100K" / "1")
    check(
        read(tmp_path, "beam"),
        """
        100K-1 (User, Assistant)
        session 1, 2024-03-15 00:00:00
        0 None User: the kiln cracked at noon
            {"time_anchor":"March-15-2024"}
        1 None Assistant: a new kiln takes weeks
        2 None User: I ordered a blue one
        session 2, 2024-04-05 00:00:00
        3 None User: the blue kiln came
            {"time_anchor":"April-5-2024"}
        4 None Assistant: good news
        knowledge_update-1 knowledge_update: Which kiln do I have? the blue one
            0, 3 |  | 0, 3 None {"rubric":["blue"]}
        event_ordering-1 event_ordering: In which order?
            2 | -- | 2, -- None
        abstention-1 abstention: Who sold it? The chat does not tell.
             |  |  None
        5 entries = 5 in messages + 0 system + 0 left over
        """,
    )


def test_beam_of_other_sizes_and_with_faults(tmp_path: Path) -> None:
    plans = [{"plan-1": sets.BEAM_CHAT[:1]}, {"plan-2": sets.BEAM_CHAT[1:], "plan-3": None}]
    sets.beam(tmp_path / "10M" / "2", plans)
    # Numbers that begin anew: nobody can tell which 0 is meant.
    again = [sets.BEAM_CHAT[0], sets.beam_batch("again", "yes"), {"turns": [[5, {"role": "user"}]]}]
    sets.beam(tmp_path / "1M" / "1", again)
    sets.beam(tmp_path / "1M" / "10", questions={"abstention": [{"why": 1}, "x"], "odd": 3})
    sets.saved(tmp_path / "1M" / "10" / "chat_trunecated.json", sets.BEAM_CHAT[:1])
    check(
        read(tmp_path, "beam"),
        """
        1M-1 (User, Assistant)
        session 1, 2024-03-15 00:00:00
        0 None User: the kiln cracked at noon
            {"time_anchor":"March-15-2024"}
        1 None Assistant: a new kiln takes weeks
        2 None User: I ordered a blue one
        session 2, 2024-03-15 00:00:00
        0~2 None User: again
            {"time_anchor":"March-15-2024"}
        1~2 None Assistant: yes
        session 3, None
        knowledge_update-1 knowledge_update: Which kiln do I have? the blue one
             | 0, 3 | 0, 3 None {"rubric":["blue"]}
        event_ordering-1 event_ordering: In which order?
            2 | -- | 2, -- None
        abstention-1 abstention: Who sold it? The chat does not tell.
             |  |  None
        1M-10 (User, Assistant)
        session 1, 2024-03-15 00:00:00
        0 None User: the kiln cracked at noon
            {"time_anchor":"March-15-2024"}
        1 None Assistant: a new kiln takes weeks
        2 None User: I ordered a blue one
        10M-2 (User, Assistant)
        session 1, 2024-03-15 00:00:00
        0 None User: the kiln cracked at noon
            {"time_anchor":"March-15-2024"}
        1 None Assistant: a new kiln takes weeks
        2 None User: I ordered a blue one
        session 2, 2024-04-05 00:00:00
        3 None User: the blue kiln came
            {"time_anchor":"April-5-2024"}
        4 None Assistant: good news
        knowledge_update-1 knowledge_update: Which kiln do I have? the blue one
            0, 3 |  | 0, 3 None {"rubric":["blue"]}
        event_ordering-1 event_ordering: In which order?
            2 | -- | 2, -- None
        abstention-1 abstention: Who sold it? The chat does not tell.
             |  |  None
        17 entries = 13 in messages + 0 system + 4 left over
        1M/1/chat.json: batch 3[0]: has no role or no content
        1M/1/chat.json: batch 3[1]: has no role or no content
        1M/10/probing_questions/probing_questions.json: abstention[0]: asks nothing
        1M/10/probing_questions/probing_questions.json: abstention[1]: asks nothing
        not read, though it could be a chat: 1M/10/chat.json (format beam); read it alone to see
            why
        """,
    )


def test_realmem(tmp_path: Path) -> None:
    path = sets.saved(tmp_path / "Ada_Vale_dialogues_256k.json", sets.REALMEM)
    check(
        read(path, "realmem"),
        """
        Ada_Vale (User, Assistant)
        session 1, 2025-12-19 00:00:00
        D1:1 None User: my kiln is blue
        D1:2 None Assistant: ok
        session 2, 2025-12-20 00:00:00
        D2:1 None User: the glaze is ash
        session 3, 2025-12-20 00:00:00
        D3:1 None User: Which kiln is mine?
        D3:2 None Assistant: the blue one
        session 4, None
        D4:1 None User: which kiln: the kiln is red now
        session 5, 2025-12-21 00:00:00
        D5:1 None User: Which glaze and kiln?
        D5:2 None Assistant: the blue one
        Q-1 dynamic_updating: Which kiln is mine? the blue one
            D1:1, D1:2 | c3 | a1, c3 2025-12-20 00:00:00
            {"before_session":3,"evidence_by":"session","topic":"Pottery"}
        Q-2 dynamic_updating: Which glaze and kiln? the blue one
            D2:1, D4:1 |  | b2, d4 2025-12-21 00:00:00
            {"before_session":5,"evidence_by":"session","topic":"Pottery"}
        8 entries = 8 in messages + 0 system + 0 left over
        """,
    )


def test_realmem_with_fields_missing(tmp_path: Path) -> None:
    turns: list[Any] = [
        {"speaker": "User", "content": "and now?", "is_query": True},
        {"speaker": 1},
    ]
    whole = {"dialogues": [{"session_uuid": "a", "dialogue_turns": turns}, 5]}
    reading = read(sets.saved(tmp_path / "x.json", whole), "realmem")
    [chat] = reading.corpus.chats
    [question] = chat.questions
    assert (chat.id, question.id, question.answer, question.evidence) == ("x", "D1:1", None, ())
    assert len(reading.ledger.leftovers) == 1


@pytest.mark.parametrize("beside", [True, False])
def test_locomo_plus(tmp_path: Path, beside: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))
    path = sets.saved(tmp_path / "plus" / "locomo_plus.json", sets.LOCOMO_PLUS)
    with refused("realtalk data get locomo"):
        open_reading(path)
    sets.locomo(tmp_path / ("plus" if beside else "cache/locomo"))
    # A week after 1 September, less two weeks; of the gap without a number, nothing.
    check(
        read(path.parent if beside else path, "locomo-plus"),
        """
        conv-1, 1 (Bo, Ann)
        session 1, 2023-05-08 13:56:00
        D1:1 None Bo: Bo says 1.1
        D1:2 None Ann: Ann says 1.2
        D1:3 None Bo: Bo says 1.3
        session 2, 2023-08-25 13:56:00
        cue:1 None Ann: I learned to say no.
        cue:2 None Bo: Good for you.
        session 3, 2023-09-01 13:56:00
        D2:1 None Bo: Bo says 1.1
        D2:2 None Ann: Ann says 1.2
        D2:3 None Bo: Bo says 1.3
        1 causal: so here I am again None
            cue:1, cue:2 |  |  2023-09-08 13:56:00
        conv-1, 3 (Bo, Ann)
        session 1, 2023-05-08 13:56:00
        D1:1 None Bo: Bo says 1.1
        D1:2 None Ann: Ann says 1.2
        D1:3 None Bo: Bo says 1.3
        session 2, 2023-09-01 13:56:00
        D2:1 None Bo: Bo says 1.1
        D2:2 None Ann: Ann says 1.2
        D2:3 None Bo: Bo says 1.3
        session 3, 2023-09-08 13:56:00
        cue:1 None Ann: I moved
        cue:2 None Bo: where to?
        3 causal: so here I am again None
            cue:1, cue:2 |  |  2023-09-08 13:56:00
        conv-2, 2 (Bo, Ann)
        session 1, 2023-05-08 13:56:00
        D1:1 None Bo: Bo says 2.1
        D1:2 None Ann: Ann says 2.2
        D1:3 None Bo: Bo says 2.3
        session 2, 2023-06-10 13:56:00
        cue:1 None Ann: the roof leaks
        session 3, 2023-09-01 13:56:00
        D2:1 None Bo: Bo says 2.1
        D2:2 None Ann: Ann says 2.2
        D2:3 None Bo: Bo says 2.3
        2 causal: so here I am again None
            cue:1 |  |  2023-09-08 13:56:00
        23 entries = 23 in messages + 0 system + 0 left over
        """,
    )


@cases("""
    gap                    | days
    Two weeks later        | 14
    roughly 3 months later | 90
    a year after           | 365
    soon                   | 0
""")
def test_gaps_in_days(gap: str, days: int) -> None:
    assert days_of(gap) == days


@pytest.mark.parametrize("header", [True, False])
def test_lmeb(tmp_path: Path, header: bool) -> None:
    sets.lmeb(tmp_path / "ConvoMem" / "user_evidence", header=header)
    check(
        read(tmp_path, "lmeb"),
        """
        scene_1 (User, Assistant)
        session 1, None
        scene_1_session_1_turn_1 None User: my kiln is blue
        session 2, None
        scene_1_session_2_turn_1 None Assistant: noted
        scene_1_q_0 user_evidence: Which kiln? None
            scene_1_session_1_turn_1 |  | scene_1_session_1_turn_1 None
        scene_12 (User, Bo)
        session 1, None
        scene_12_session_1_turn_1 None User: the glaze is ash
        session 2, None
        scene_12_session_2_turn_1 None Bo: fine
        scene_12_q_0 user_evidence: Which glaze? None
            scene_12_session_1_turn_1 | gone | scene_12_session_1_turn_1, gone None
        4 entries = 4 in messages + 0 system + 0 left over
        """,
    )


def test_lmeb_without_candidates_is_one_scene(tmp_path: Path) -> None:
    sets.lmeb(tmp_path / "a", candidates=False)
    sets.lmeb(tmp_path / "b")
    with (tmp_path / "b" / "corpus.jsonl").open("a") as stream:
        stream.write("{broken\n\n{}\n")
    reading = read(tmp_path, "lmeb")
    assert [len(chat.questions) for chat in reading.corpus.chats] == [2, 1, 1]
    assert len(reading.ledger.leftovers) == 2


@cases("""
    name | value | line
    chat.json | [{"batch_number": 1, "turns": [], "role": 0, "content": 0}] | no batch
    x.json | {"dialogues": 5, "session_uuid": 1, "dialogue_turns": 2} | list of 'dialogues'
    locomo_plus.json | [{"cue_dialogue": 5, "trigger_query": null}] | no message that can be
""")
def test_bad_input_is_one_line(tmp_path: Path, name: str, value: Any, line: str) -> None:
    sets.locomo(tmp_path / "beside")
    path = sets.saved(tmp_path / "beside" / name, value)
    with refused(line):
        open_reading(path)


# --- LongMemEval: questions with their haystacks ---


ITEM: dict[str, Any] = json.loads("""{"question_id": "q1", "question_type": "temporal-reasoning",
    "question": "How many plants?", "answer": 3, "question_date": "2023/10/02 (Mon) 04:40",
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/04/11 (Tue) 07:47", "soon"],
    "haystack_session_ids": ["late", "early", "undated"],
    "haystack_sessions": [[{"role": "assistant", "content": "three", "has_answer": true}],
        [{"role": "user", "content": "I have plants", "has_answer": false},
         {"role": "assistant", "content": "nice"}], []],
    "answer_session_ids": ["late", "gone"]}""")


def test_one_chat_a_question_in_time_order(tmp_path: Path) -> None:
    check(
        exported.read(tmp_path, {"lme.json": [ITEM]}, "longmemeval"),
        """
        q1 (user, assistant) {"order":[2,3,1],"session_ids":["early","undated","late"]}
        session 1, 2023-04-11 07:47:00
        D1:1 None user: I have plants
        D1:2 None assistant: nice
        session 2, None
        session 3, 2023-05-20 02:21:00
        D3:1 None assistant: three
            {"has_answer":true}
        q1 temporal_reasoning: How many plants? 3
            D3:1 | gone | late, gone 2023-10-02 04:40:00 {"answer":3}
        3 entries = 3 in messages + 0 system + 0 left over
        """,
    )


def test_abstention_and_repeated_ids(tmp_path: Path) -> None:
    item = {**ITEM, "question_id": "q2_abs", "answer": "It was never said."}
    first, second = exported.read(tmp_path, {"lme.json": [item, item]}, "longmemeval").corpus.chats
    assert (first.id, second.id) == ("q2_abs", "q2_abs-2")
    for chat in (first, second):
        assert chat.questions[0].answer == "It was never said."
        assert unpack_extra(chat.questions[0].extra) == {"abstention": True}


def test_bad_entries_are_left_over(tmp_path: Path) -> None:
    item = {**ITEM, "haystack_sessions": [[{"role": "user"}, {"role": "user", "content": "a"}]]}
    reading = exported.read(tmp_path, {"lme.json": [item, 5]}, "longmemeval")
    assert (reading.ledger.total, reading.ledger.in_messages) == (3, 1)
    assert reading.ledger.leftovers[0].where == "lme.json[0]: haystack_sessions[0][0]"


def test_the_oracle_sample(data: Path) -> None:
    reading = open_reading(data / "longmemeval", "longmemeval").reading
    questions = [question for chat in reading.corpus.chats for question in chat.questions]
    assert len(questions) == 99
    assert Counter(q.category for q in questions)["temporal_reasoning"] == 28
    assert all(q.evidence and not q.unresolved and q.asked for q in questions)
    assert sum(len(q.evidence) for q in questions) == 197
