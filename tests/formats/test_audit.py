"""The audit: known by what chats say, read from files, never taken for another chat's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from audited_chats import asked, audit, write_audit
from realtalk.formats.audit import Audit, counts, question_key
from realtalk.formats.opening import open_reading
from refusals import refused
from text_tables import rows


def test_a_chat_is_known_by_what_it_says_and_not_by_its_name() -> None:
    chat = asked()
    found = audit().of(chat)
    assert found["Q2"].verdict == "wrong" and list(found) == ["Q1", "Q2", "Q3", "Q4", "Q5"]
    assert audit().of(replace(chat, id="renamed")) == found
    first, *others = chat.sessions
    said = replace(first.messages[0], text="good evening")
    other = replace(first, messages=(said, *first.messages[1:]))
    assert audit().of(replace(chat, sessions=(other, *others))) == {}
    moved = replace(first.messages[0], id="D1:77")
    other = replace(first, messages=(moved, *first.messages[1:]))
    assert audit().of(replace(chat, sessions=(other, *others))) == {}
    assert audit().of(replace(chat, questions=())) == {}


def test_a_verdict_is_about_a_question_and_its_answer() -> None:
    chat = asked()
    corrected = replace(chat.questions[1], answer="Pepper")
    assert question_key(corrected) != question_key(chat.questions[1])
    assert question_key(replace(corrected, answer=" salt! ")) == question_key(chat.questions[1])
    found = audit().of(replace(chat, questions=(chat.questions[0], corrected)))
    assert list(found) == ["Q1"]


def test_an_audit_comes_back_from_its_file(tmp_path: Path) -> None:
    read = Audit.read(write_audit(tmp_path / "mine.jsonl"))
    assert read.chats == audit().chats
    assert read.name.startswith("audited ") and read.name != audit().name
    assert counts(read.of(asked()).values()) == {
        "ok": 2,
        "wrong": 1,
        "incomplete": 1,
        "unanswerable": 1,
    }


REFUSED = """
    {  | line 1: not JSON
    [] | holds no audited question
    {"chat": "a", "question": "b"} | not a line of an audit
    {"chat": "a", "question": "b", "answer": "c", "verdict": "bad"} | no such verdict
    {"chat": "a", "question": "b", "answer": "c", "verdict": "ok", "accept": ""} | accept is of
    {"chat": "a", "question": "b", "answer": "c", "verdict": "ok", "why": 3} | why is of another
    | holds no audited question
"""


@pytest.mark.parametrize(("line", "said"), rows(REFUSED))
def test_what_is_no_audit_is_refused_in_one_line(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(line)
    with refused(said):
        Audit.read(path)
    with refused("cannot be read"):
        Audit.read(tmp_path / "nowhere.jsonl")
    (tmp_path / "errors_conv_1.json").write_text('{"errors": []}')
    with refused("not a correction of LoCoMo"):
        Audit("a", {}).with_fetched(tmp_path)


def test_the_shipped_audit_knows_the_ten_chats_and_no_other() -> None:
    shipped = Audit.load_shipped()
    assert len(shipped.chats) == 10
    found = [each for questions in shipped.chats.values() for each in questions.values()]
    assert counts(found) == {
        "ok": 518,
        "wrong": 41,
        "incomplete": 114,
        "ambiguous": 48,
        "unanswerable": 5,
        "malformed": 2,
    }
    assert all(each.evidence and each.answer for each in found)
    assert not any(shipped.of(chat) for chat in open_reading("sample").reading.corpus.chats)
