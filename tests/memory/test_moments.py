"""What a run may know: nothing after the question, also of published sets, and everything that it
did itself; sessions are scored as sessions."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import memory_sets as sets
from plain_reader import MessageReader
from realtalk.chat import Chat, Corpus, Event, Question, Session
from realtalk.evals.run import Run
from realtalk.evals.values import COUNTS, Cost
from realtalk.files.progress import Progress, silent
from realtalk.formats.opening import open_reading
from realtalk.memory.answers_elsewhere import read_answers, score_answers
from realtalk.memory.asking import Plan, known_by
from realtalk.memory.benchmark import building, run_probe
from realtalk.memory.golds import golds_named
from realtalk.memory.index import ChatIndex
from realtalk.memory.plain import Events, Recent, Whole
from realtalk.memory.registry import make_memory
from realtalk.memory.remembering import WORDING_VERSION, NoReader
from realtalk.memory.retrieved import Restored
from realtalk.memory.values import Budget, Context
from refusals import refused
from short_chats import said
from text_tables import cases

START = datetime(2026, 3, 2, 9)
Row = dict[str, Any]


def session(number: int) -> Session:
    lines = (f"{('Mara', 'Theo')[n % 2]}: kiln {n}" for n in (1, 2, 3, 4))
    return said(number, START + timedelta(days=number), *lines)


def question(number: int, asked: datetime | None = None, **given: Any) -> Question:
    told = {"evidence": (f"D{number}:1",), **given}
    return Question(f"Q{number}", "which kiln?", "the red one", "temporal", asked=asked, **told)


CHAT = Chat(
    "Chat_1",
    ("Mara", "Theo"),
    tuple(session(n) for n in (1, 2, 3)),
    tuple(Event(n, "Mara", f"Mara fires kiln {n}.") for n in (1, 2, 3)),
    tuple(question(n) for n in (1, 2, 3)),
)


def corpus(*questions: Question) -> Corpus:
    return Corpus("x", "test", (replace(CHAT, questions=questions or CHAT.questions),))


def plan_of(corpus: Corpus, memory: Any, budget: Budget | None = None, **options: Any) -> Plan:
    return Plan(corpus, memory, NoReader(), (budget or Budget(),), **options)


def run_of(memory: Any, *questions: Question, **given: Any) -> Run:
    return run_probe(plan_of(corpus(*questions), memory, **given))


def rows_of(*given: Any, **more: Any) -> list[Row]:
    return list(run_of(*given, **more).rows)


def test_nothing_of_a_later_day_than_the_question_is_shown() -> None:
    second = START + timedelta(days=2)
    early, late = question(1, asked=second - timedelta(hours=8)), question(3)
    shown, everything = rows_of(Whole(), early, late)
    # Hours before the session of the same day, which published questions are about.
    assert shown["message_ids"] == [f"D{n}:{m}" for n in (1, 2) for m in (1, 2, 3, 4)]
    assert len(everything["message_ids"]) == 12
    known = known_by(replace(CHAT, questions=(early,)), early)
    assert "kiln 3" not in Events().build(known).recall(early, Budget()).text
    assert known_by(CHAT, question(1)) is CHAT
    assert known_by(CHAT, question(1, START + timedelta(days=30))) is CHAT
    # Of a session that goes on past midnight the rest is gone, and what was noted of it.
    night = replace(CHAT.sessions[2].messages[3], time=START + timedelta(days=4))
    last = replace(CHAT.sessions[2], messages=(*CHAT.sessions[2].messages[:3], night))
    third = question(1, START + timedelta(days=3))
    cut = known_by(replace(CHAT, sessions=(*CHAT.sessions[:2], last)), third)
    assert len(cut.sessions[2].messages) == 3
    assert [event.session for event in cut.events] == [1, 2]


def test_no_room_for_a_message_is_none_found() -> None:
    """Left out of the mean, recall would be that of the questions that had room."""
    for row in rows_of(Restored(), budget=Budget(words=12)):
        assert row["message_ids"] == [] and row["words"] > 0
        assert row["recall@budget"] == 0.0
    assert [row["recall@budget"] for row in rows_of(Restored(around=-1))] == [None] * 3


def test_evidence_that_is_partly_unresolved_is_said() -> None:
    half = question(1, unresolved=("D9:9",))
    bare = question(2, evidence=(), unresolved=("D8:1",))  # of this one nothing is left to score
    run = run_of(Recent(), half, bare, question(3))
    assert [row["unresolved"] for row in run.rows] == [1, 1, 0]
    assert run.cautions == (
        "evidence: of 1 questions a piece names no message; they are scored on the rest",
    )


class Noting:
    """A memory whose building costs, and which could not take in one session."""

    name, version = "noting", "1"
    settings: dict[str, str | int | float | bool] = {}  # noqa: RUF012
    cost = Cost(calls=3, tokens_in=70, tokens_out=9)
    unscored = {2: "malformed answer"}  # noqa: RUF012

    def build(self, chat: Chat, progress: Progress = silent) -> Noting:
        return self

    def recall(self, question: Question, budget: Budget) -> Context:
        return Context("a note", (), 2, 2, tells=True)


def test_what_building_a_memory_takes_is_told(tmp_path: Path) -> None:
    two = Corpus("x", "test", (CHAT, replace(CHAT, id="Chat_2")))
    plan = Plan(two, Noting(), MessageReader(), (Budget(),))
    run = run_probe(plan, tmp_path)
    built = building(run) or {}
    assert [built[name] for name in COUNTS] == [6, 140, 9 * 2]
    facts = run.variants["all"].facts
    assert (facts["build calls"], facts["build tokens"]) == (6.0, 158.0)
    assert isinstance(facts["build s"], float) and facts["build s"] >= 0
    assert "not remembered: 2 sessions (malformed answer)" in run.cautions
    again = building(run_probe(plan, tmp_path)) or {}
    assert again["calls"] == 6  # not counted twice
    free = run_probe(plan_of(two, Recent()), tmp_path / "none")
    built = building(free) or {}  # it asked nobody, and took its time
    assert (built["calls"], built["tokens_in"]) == (0, 0) and built["seconds"] > 0
    assert not list((tmp_path / "none").glob("preparations*"))


def test_two_wordings_of_a_judge_are_two_scores() -> None:
    run = run_of(Recent())
    judgements = [
        {"group": row["group"], "sample": row["sample"], "variant": "all", "judge": "a/b"}
        | {"wording": "strict", "prompts": version, "right": right, "unscored": None}
        for row in run.rows
        for version, right in ((WORDING_VERSION, 0.0), ("sha256:12ab", 1.0))
    ]
    judged = replace(run, judgements=judgements).variants["all"].overall
    assert judged["strict by a/b"].value == 0.0
    assert judged["strict, prompts sha256:12ab by a/b"].value == 1.0
    one, other = (
        replace(run, judgements=[each for each in judgements if each["prompts"] == version])
        for version in (WORDING_VERSION, "sha256:12ab")
    )
    assert not any("a/b" in name for name in one.changes(other)["all"].changes)
    assert any("a/b" in name for name in one.changes(one)["all"].changes)


def test_one_id_for_two_questions_cannot_be_compared() -> None:
    run = run_of(Recent())
    rows = [row | {"question": "another?"} if row["sample"] == "Q2" else row for row in run.rows]
    run.compare(run)
    with refused("Chat_1: the runs ask different questions under 'Q2'"):
        run.compare(replace(run, rows=rows))


@cases("""
    given                                       | line
    {"message_ids": 5}                          | line 1: message_ids is no list of ids
    {"message_ids": "D1:1"}                     | line 1: message_ids is no list of ids
    {"message_ids": ["D1:1"], "tokens": "many"} | line 1: tokens is no count
    {"message_ids": ["D1:1"], "tokens": true}   | line 1: tokens is no count
    {"message_ids": ["D7:7"]}                   | line 1: no message 'D7:7' in Chat_1
    {"answer": true}                            | line 1: the answer is no text
    {"budget": "much"}                          | line 1: the budget is none
    {"budget": "1000,2000"}                     | line 1: the budget is none
""")
def test_answers_that_say_odd_things_are_refused_in_a_line(
    tmp_path: Path, given: Row, line: str
) -> None:
    path = tmp_path / "answers.jsonl"
    # With the mark that Windows tools put before the first line.
    path.write_text(json.dumps({"id": "Q1", "answer": "x", **given}) + "\n", "utf-8-sig")
    with refused(line):
        score_answers(corpus(), read_answers(path), tmp_path / "run")
    path.write_text("  \n", "utf-8")
    with refused("answers.jsonl: holds no answer"):
        read_answers(path)


# --- published sets: no question sees what came after it ---


LONGMEMEVAL = json.loads("""[{"question_id": "q1", "question_type": "multi-session",
    "question": "Which kiln?", "answer": "blue", "question_date": "2023/05/02 (Tue) 04:40",
    "answer_session_ids": ["s"], "haystack_session_ids": ["s", "late"],
    "haystack_dates": ["2023/05/01 (Mon) 07:00", "2023/06/01 (Thu) 07:00"],
    "haystack_sessions": [[{"role": "user", "content": "my kiln is blue", "has_answer": true}],
        [{"role": "user", "content": "my kiln is red"}]]}]""")


def _beam(folder: Path) -> Path:
    return sets.beam(folder / "1").parent


def _plus(folder: Path) -> Path:
    sets.locomo(folder)
    return sets.saved(folder / "locomo_plus.json", sets.LOCOMO_PLUS).parent


# Of each set: how to write it, and the last message that each question may see.
SETS: dict[str, tuple[Callable[[Path], Path], list[str]]] = {
    "beam": (_beam, ["4", "4", "4"]),
    "realmem": (lambda folder: sets.saved(folder / "x.json", sets.REALMEM), ["D2:1", "D4:1"]),
    "locomo": (sets.locomo, ["D2:3"] * 8),
    "locomo-plus": (_plus, ["D2:3", "cue:2", "D2:3"]),
    "lmeb": (sets.lmeb, ["scene_1_session_2_turn_1", "scene_12_session_2_turn_1"]),
    "longmemeval": (lambda folder: sets.saved(folder / "x.json", LONGMEMEVAL), ["D1:1"]),
}


class Told:
    """A memory that notes what it is built from and asked."""

    name, version = "told", "1"
    settings: dict[str, str | int | float | bool] = {}  # noqa: RUF012

    def __init__(self) -> None:
        self.last: list[str] = []

    def build(self, chat: Chat) -> Told:
        self.ids = [message.id for message in chat.messages]
        return self

    def recall(self, question: Question, budget: Budget) -> Context:
        self.last.append(self.ids[-1])
        return Context("", tuple(self.ids), ranked=tuple(self.ids))


@pytest.mark.parametrize("name", SETS)
def test_no_question_sees_what_came_after_it(tmp_path: Path, name: str) -> None:
    write, last = SETS[name]
    opened = open_reading(write(tmp_path))
    assert opened.format == name
    memory = Told()
    run_probe(plan_of(opened.reading.corpus, memory))
    assert memory.last == last


def test_an_index_knows_only_earlier_sessions(tmp_path: Path) -> None:
    memory = make_memory("retrieved", {"way": "fused"})
    first, second = run_probe(plan_of(_realmem(tmp_path), memory)).rows
    assert set(first["message_ids"]) == {"D1:1", "D1:2", "D2:1"}
    assert {id_.partition(":")[0] for id_ in second["message_ids"]} == {"D1", "D2", "D3", "D4"}


def _realmem(folder: Path) -> Corpus:
    return open_reading(sets.saved(folder / "x.json", sets.REALMEM)).reading.corpus


def test_sessions_are_scored_as_sessions(tmp_path: Path) -> None:
    class Ranking(Told):
        def recall(self, question: Question, budget: Budget) -> Context:
            return Context("x", ("D1:1", "D2:1"), ranked=("D2:1", "D1:2", "D1:1"))

    run = run_probe(plan_of(_realmem(tmp_path), Ranking()))
    first, second = run.rows
    assert (first["evidence"], first["ranked"], first["ranks"]) == (["D1"], ["D2", "D1"], [2])
    assert (first["any@5"], first["recall@budget"], first["unresolved"]) == (1.0, 1.0, 1)
    assert (second["evidence"], second["ranks"]) == (["D2", "D4"], [1, None])
    assert (second["all@5"], second["recall@10"], second["recall@budget"]) == (0.0, 0.5, 0.5)
    assert any("it is whole sessions" in line for line in run.cautions)
    lines = run.benchmark.evidence(second, None)
    assert lines == ["evidence D2 (shown, rank 1)", "evidence D4 (not shown)"]


def test_what_was_encoded_before_is_not_encoded_again(tmp_path: Path) -> None:
    memory = make_memory("retrieved", {})
    [chat] = _realmem(tmp_path).chats
    encoder = memory.load_encoder()  # type: ignore[attr-defined]
    texts: list[str] = []
    encode = encoder.encode

    def counting(some: list[str], *rest: object) -> object:
        texts.extend(some)
        return encode(some, *rest)

    encoder.encode = counting
    known: dict[str, object] = {}
    for sessions in (chat.sessions[:2], chat.sessions, chat.sessions[1:]):
        part = Chat("x", chat.speakers, sessions)
        index = ChatIndex.of(part, encoder, cache=tmp_path / "kept", known=known)  # type: ignore[arg-type]
        texts_so_far = len(texts)
        whole = ChatIndex.of(part, encoder, cache=tmp_path / f"{len(sessions)}")
        assert len(texts) == texts_so_far + len(index.ids)
        del texts[texts_so_far:]
        assert index.encoded is not None and whole.encoded is not None
        for name in ("vectors", "tokens", "offsets"):
            assert (getattr(index.encoded, name) == getattr(whole.encoded, name)).all()
    assert len(texts) == len(chat.messages)


def _errors(folder: Path) -> Path:
    """Corrections of the second chat: another message for one question, another answer for one."""
    told: tuple[Any, ...] = (
        ("WRONG_CITATION", ["D2:2; D2:3"], "2.2"),
        ("HALLUCINATION", [], "tea"),
    )
    errors = [
        {
            **{"question_id": f"locomo_1_qa{at}", "question": f"What says Bo {at + 1}?"},
            **{"error_type": kind, "cited_evidence": ["D1:2"]},
            **{"correct_evidence": right, "correct_answer": answer},
        }
        for at, (kind, right, answer) in enumerate(told, 1)
    ]
    return sets.saved(folder / "errors_conv_0.json", errors)


@pytest.mark.parametrize("fetched", [True, False])
def test_locomo_by_the_corrections_that_were_fetched(
    tmp_path: Path, fetched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))
    corpus = open_reading(sets.locomo(tmp_path)).reading.corpus
    with refused("realtalk data get locomo-audit"):
        plan_of(corpus, Whole(), golds=golds_named("audited"))
    file = _errors(tmp_path / "cache" / "locomo-audit" if fetched else tmp_path)
    golds = golds_named("audited" if fetched else str(file))
    # Both chats ask the same here; in LoCoMo no two do.
    right, cited, wrong, adversarial = golds.of(corpus.chats[1]).values()
    assert (right.answer, right.evidence) == ("2.1", ("D1:1",))
    assert (cited.answer, cited.evidence) == ("2.2", ("D2:2", "D2:3"))
    assert (wrong.answer, wrong.evidence) == ("tea", ())
    assert adversarial.left_out == "the audit does not cover it"
    rows = run_probe(plan_of(corpus, Whole(), golds=golds)).rows
    assert [row["recall@budget"] for row in rows[4:]] == [1.0, 1.0, None, None]


@pytest.mark.parametrize("text", ["[{}]", "[5", '[{"question_id": "q"}]'])
def test_what_is_no_correction_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "errors.json"
    path.write_text(text)
    with refused(r"errors\.json.*not (a correction|valid JSON)"):
        golds_named(str(path))
