"""The participants' guidelines as a checker."""

from __future__ import annotations

import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from realtalk.chat import Attachment, Chat, Corpus, Message, Session
from research.papers.guidelines import (
    GUIDELINES,
    MESSAGES_A_DAY,
    check_guidelines,
    refers_to_time,
)

PHOTO = Attachment("image", "kiln.jpg", "https://example.org/kiln.jpg")


def session(number: int, day: datetime, each: int = MESSAGES_A_DAY, **change: Any) -> Session:
    """So many messages of both people, with a photo and a word of time from each."""
    messages = []
    for at in range(2 * each):
        speaker = ("Ines", "Tobias")[at % 2]
        text = "see you next week" if at < 2 else "the kiln is warm"
        shared = (change.get("photo", PHOTO),) if at < 2 and number == 1 else ()
        messages.append(
            Message(f"D{number}:{at}", speaker, day + timedelta(minutes=at), text, shared)
        )
    return Session(number, day, tuple(messages))


def corpus(*sessions: Session) -> Corpus:
    return Corpus("kilns", "realtalk", (Chat("kiln", ("Ines", "Tobias"), sessions),))


def test_a_chat_that_keeps_them() -> None:
    found = check_guidelines(
        corpus(session(1, datetime(2026, 5, 4, 9)), session(2, datetime(2026, 5, 5, 9)))
    )
    assert found.findings == ()
    assert found.severity() is None
    assert found.counts() == dict.fromkeys(GUIDELINES, 0)
    assert [
        (day.day, dict(day.messages), day.images, day.time_references) for day in found.days
    ] == [
        (date(2026, 5, 4), {"Ines": 50, "Tobias": 50}, 2, 2),
        (date(2026, 5, 5), {"Ines": 50, "Tobias": 50}, 0, 2),
    ]


def test_every_rule_can_be_broken() -> None:
    few = session(1, datetime(2026, 5, 4, 9), 2, photo=Attachment("image", "IMG_1.jpg"))
    evening = Message("D2:1", "Ines", datetime(2026, 5, 6, 21), "good morning!")
    silent = Message("D2:2", "Nell", datetime(2026, 5, 6, 21), "hm")
    lost = Message("D3:1", "Ines", None, "hm")
    chat = Chat(
        "kiln",
        ("Ines", "Tobias", "Nell"),
        (few, Session(2, None, (evening, silent)), Session(3, None, (lost,))),
    )
    found = check_guidelines(Corpus("kilns", "realtalk", (chat,)))
    assert {rule for rule, count in found.counts().items() if count} == set(GUIDELINES)
    where = {(each.rule, each.where): each.detail for each in found.findings}
    assert where["messages-a-day", "2026-05-04 Ines"] == "2"
    assert where["messages-a-day", "2026-05-04 Nell"] == "0"
    assert ("day-silent", "2026-05-05") in where
    assert where["image-source", "D1:0"] == "IMG_1.jpg"
    assert ("images", "Nell") in where
    assert ("time-references", "Nell") in where
    assert where["greeting-clock", "D2:1"] == "21:00"
    assert where["day-unknown", "messages"] == "1"
    assert found.severity() == "warning"


@pytest.mark.parametrize(
    "text",
    [
        *("last Friday was grim", "when I was ten years old", "back in 2013", "i start at 9"),
        *("two weeks ago", "See you TOMORROW", "in May we move", "what did you have for lunch"),
    ],
)
def test_references_to_time(text: str) -> None:
    assert refers_to_time(text)


@pytest.mark.parametrize(
    "text", ["you may march on", "the kiln is warm", "sunlight", "i have 3 kilns", "timeless"]
)
def test_no_reference_to_time(text: str) -> None:
    assert not refers_to_time(text)


def test_the_session_dates_a_message_without_a_time() -> None:
    alone = Session(1, datetime(2026, 5, 4), (Message("D1:1", "Ines", None, "hm"),))
    found = check_guidelines(corpus(alone))
    assert [day.day for day in found.days] == [date(2026, 5, 4)]
    assert not found.counts()["day-unknown"]


def test_the_command(research: Any) -> None:
    status, out, err = research("papers.guidelines", "sample")
    assert status == 1
    assert "messages-a-day" in out
    assert "not checked: pronoun use" in err
    status, out, _ = research("papers.guidelines", "sample", "--json")
    told = json.loads(out)
    assert status == 1
    assert told["counts"]["messages-a-day"] > 0
    assert told["days"][0]["chat"]


def test_realtalk_itself(data: Path) -> None:
    """The paper asked for fifty a day; most days have fewer, and nobody shared no image."""
    from realtalk.formats.opening import open_reading

    found = check_guidelines(open_reading(str(data / "realtalk")).reading.corpus)
    counts = found.counts()
    assert counts["images"] == counts["time-references"] == 0
    asked = sum(len(day.messages) for day in found.days)
    assert counts["messages-a-day"] / asked > 0.9
