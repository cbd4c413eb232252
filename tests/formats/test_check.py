"""Every oddity has its rule, its place and its weight, and what is in order has none; what each
written format keeps of a corpus that has everything in it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from audited_chats import audit, corpus
from exported import written
from realtalk.chat import (
    Alias,
    Attachment,
    Chat,
    Corpus,
    Event,
    Message,
    Question,
    Session,
)
from realtalk.formats.audit import Audit
from realtalk.formats.check import RULES, check
from realtalk.formats.opening import open_reading
from realtalk.formats.reading import Ledger, Leftover
from realtalk.formats.registry import LOSSLESS, losses, not_kept
from text_tables import cases, rows

START = datetime(2026, 3, 2, 18)


def said(id_: str, minutes: float | None, text: str = "hm", speaker: str = "Mara") -> Message:
    time = None if minutes is None else START + timedelta(minutes=minutes)
    return Message(id_, speaker, time, text)


def session(number: int, *messages: Message, minutes: float | None = None) -> Session:
    begins = None if minutes is None else START + timedelta(minutes=minutes)
    return Session(number, begins, messages)


def findings(
    *sessions: Session,
    events: tuple[Event, ...] = (),
    questions: tuple[Question, ...] = (),
    format_: str = "locomo",
) -> list[tuple[str, str]]:
    chat = Chat("c", ("Mara", "Theo"), sessions, events, questions)
    return [(each.rule, each.where) for each in check(Corpus("x", format_, (chat,))).findings]


def test_messages_are_measured_by_the_last_that_has_a_time() -> None:
    assert findings(session(1, said("D1:1", 3), said("D1:2", 3), said("D1:3", 4))) == []
    assert findings(session(1, said("D1:1", 3), said("D1:2", 2.9), said("D1:3", 4))) == [
        ("out-of-order", "D1:2")
    ]
    untimed = findings(session(1, said("D1:1", 3), said("D1:2", None), said("D1:3", 2)))
    assert untimed == [("out-of-order", "D1:3"), ("time-missing", "messages")]


def test_sessions_are_measured_by_the_last_that_has_a_time() -> None:
    first, second = session(1, said("D1:1", 9), minutes=9), session(2, said("D2:1", None))
    for minutes in (5, 9):
        third = session(3, said("D3:1", minutes), minutes=minutes)
        is_odd = ("session-order", "session 3") in findings(first, second, third)
        assert is_odd == (minutes < 9)


def test_what_a_message_is_and_whose() -> None:
    picture = Message("D1:3", "Theo", START, "", (Attachment("image"),))
    gone = Message("D1:4", "Theo", START, "", deleted=True)
    odd = (said("D1:1", 0, " "), said("D1:1", 0), said("D2:9", 0, speaker="Nobody"))
    assert findings(session(1, *odd, picture, gone), session(2)) == rows("""
        message-empty    | D1:1
        duplicate-id     | D1:1
        speaker-unlisted | D2:9
        session-empty    | session 2
        id-session       | messages
    """)


def test_events_need_a_session_and_words() -> None:
    events = (Event(1, "Mara", "walks"), Event(7, "Mara", "swims"), Event(1, "Mara", " "))
    assert findings(session(1, said("D1:1", 0)), events=events) == rows("""
        event-session-missing | session 7
        event-empty           | session 1
    """)


def asked(**changes: object) -> Question:
    whole = {"id": "Q", "text": "When?", "answer": "then", "category": "temporal"}
    return Question(**{**whole, "evidence": ("D1:1",), "stated": ("D1:1",), **changes})  # type: ignore[arg-type]


QUESTIONS = """
    {} |
    {"answer": null} | answer-missing
    {"answer": " "} | answer-missing
    {"answer": null, "category": "adversarial"} |      # which wants none
    {"category": "riddle"} | category-unknown
    {"text": " "} | question-empty
    {"stated": [], "evidence": []} | evidence-missing
    {"stated": [""], "evidence": []} | evidence-missing
    {"stated": [], "evidence": ["D1:1"]} |
    {"stated": ["D1;1"]} | evidence-repaired
    {"stated": ["D1:1", "D9:9"], "unresolved": ["D9:9"]} | evidence-unresolved
"""


@pytest.mark.parametrize(("changes", "rule"), rows(QUESTIONS))
def test_what_is_odd_about_a_question(changes: str, rule: str) -> None:
    question = asked(**json.loads(changes))
    found = findings(session(1, said("D1:1", 0)), questions=(question,))
    assert found == ([(rule, "Q")] if rule else [])


def test_a_format_without_categories_knows_no_wrong_one() -> None:
    assert (
        findings(session(1, said("D1:1", 0)), questions=(asked(category="riddle"),), format_="csv")
        == []
    )


@cases("""
    near | told
    D1:4 | true
    D1:2 | true
    D1:1 | false
""")
def test_lost_evidence_beside_a_photo_is_told_so(near: str, told: bool) -> None:
    photo = Message(near, "Theo", START, "look", (Attachment("image"),))
    question = asked(stated=("D1:3",), evidence=(near,), unresolved=("D1:3",))
    chat = Chat("c", ("Theo",), (session(1, photo),), questions=(question,))
    (found,) = (
        finding.detail
        for finding in check(Corpus("x", "locomo", (chat,))).findings
        if finding.rule == "evidence-unresolved"
    )
    assert found == ("D1:3" + f" (next to {near}, which carries a photo)" * told)


def test_the_gravest_comes_first_whatever_the_order() -> None:
    note = session(1, said("D1:1", None))
    warning = session(2)
    error = session(3, said("D3:1", 0), said("D3:1", 0))

    def severity(*sessions: Session) -> str | None:
        return check(Corpus("x", "csv", (Chat("c", ("Mara",), sessions),))).severity()

    assert [severity(*part) for part in ((), (note,), (note, warning), (note, warning, error))] == [
        *(None, "note", "warning", "error")
    ]
    told = check(Corpus("x", "csv", (Chat("c", ("Mara",), (note, warning, error)),))).to_json()
    assert (told["errors"], told["warnings"], told["notes"]) == (1, 1, 1)
    assert list(told["counts"]) == [rule for rule in RULES if rule in told["counts"]]


def test_what_became_no_message_is_a_finding() -> None:
    ledger = Ledger("lines", 2, 1, 0, (Leftover("a.csv:2", "no sender"),))
    (found,) = check(Corpus("x", "csv"), ledger).findings
    assert (found.rule, found.severity) == ("left-over", "warning")
    assert (found.where, found.detail) == ("a.csv:2", "no sender")


def test_what_an_audit_found_is_listed_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Audit, "load_shipped", staticmethod(audit))
    found = [each for each in check(corpus()).findings if "audit" in RULES[each.rule][1]]
    assert [(each.rule, each.where, each.severity) for each in found] == rows("""
        evidence-audited  | Q1 | note
        gold-wrong        | Q2 | warning
        gold-incomplete   | Q3 | warning
        gold-unanswerable | Q4 | warning
    """)
    assert found[0].detail == "D2:1, D2:3" and found[1].detail == "Not Salt."


# --- what is lost ---


DAY = datetime(2024, 1, 2, 3, 4, 5)


def everything() -> Corpus:
    messages = (
        Message("D1:1", "Mara", DAY.replace(microsecond=123456), 'hi, "you"\nand\ttabs = 1'),
        Message(
            "D1:2",
            "Theo: K",
            DAY,
            "",
            (Attachment("image", "a.jpg", "https://x.example/a.jpg", "a cat"),),
            reply_to="D1:1",
        ),
        Message("D1:3", "Mara", DAY, "", deleted=True),
        Message("D1:4", "Mara", None, "better", edited=True, extra='{"likes":1}'),
    )
    chat = Chat(
        "a chat",
        ("Mara", "Theo: K"),
        (Session(1, DAY, messages),),
        (Event(1, "Mara", "ran"), Event(1, None, "they talk", "summary")),
        (Question("Q1", "who?", "Mara", "temporal", ("D1:1",), (), ("D1:1",), DAY),),
        (Alias("Momo", "Mara", "D1:2"),),
        '{"topic":"run"}',
    )
    return Corpus("all", "whatsapp", (chat,))


@pytest.mark.parametrize("name", LOSSLESS)
def test_what_is_called_lossless_is(tmp_path: Path, name: str) -> None:
    written(name, everything(), tmp_path / "out")
    assert losses(everything(), open_reading(tmp_path / "out").reading.corpus) == {}


LOST = """
    csv      | attachments, events, questions
    realtalk | times, attachments, replies, edited marks, deleted marks, events, questions
    sheet    | times, replies, edited marks, deleted marks, events, questions
"""


@pytest.mark.parametrize(("name", "expected"), rows(LOST))
def test_what_the_others_lose_is_said(tmp_path: Path, name: str, expected: str) -> None:
    (tmp_path / "other.json").write_text("{}")
    everywhere = {"further fields of messages", "aliases", "further fields of chats"}
    lost = set(not_kept(everything(), name, written(name, everything(), tmp_path)))
    assert lost == everywhere.union(expected.split(", "))


def test_missing_chats_and_messages_are_counted() -> None:
    (chat,) = everything().chats
    session = Session(1, DAY, chat.sessions[0].messages[:2])
    short = Corpus("all", "whatsapp", (Chat("a chat", chat.speakers, (session,)),))
    found = losses(everything(), short)
    assert found["messages"] == 2 and found["events"] == 2
    assert losses(everything(), Corpus("all", "whatsapp", ())) == {"chats": 1}
