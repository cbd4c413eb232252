"""LongMemEval questions with their haystacks."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import exported
from realtalk.chat import unpack_extra
from realtalk.formats.opening import open_reading
from shown import check

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
    for chat in reading.corpus.chats:
        days = [session.time for session in chat.sessions if session.time is not None]
        assert days == sorted(days)
        assert len(days) == len(chat.sessions)
