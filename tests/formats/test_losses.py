"""What each written format keeps of a corpus that has everything in it."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

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
from realtalk.formats.opening import open_reading
from realtalk.formats.registry import LOSSLESS, losses, not_kept
from text_tables import rows

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
