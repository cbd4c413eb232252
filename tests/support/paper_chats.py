"""Small invented chats under the names of the published files, for tests of what knows them."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from realtalk.chat import Attachment, Chat, Corpus, Event, Message, Question, Session
from realtalk.files.download import DATASETS
from realtalk.formats.published.realtalk import FORMAT

CHATS = tuple(file.name.removesuffix(".json") for file in DATASETS["realtalk"].files)

_SAID = (
    ("the ferry is late again, i waited for an hour", "oh no, are you still at the pier?"),
    ("yes, with two crates of pears", "haha keep one for me"),
    ("i think i worry too much about the pears", "i get that, my plums make me nervous too"),
)


def invented(id_: str) -> Chat:
    """Three sessions of two people; the first of a pair writes twice in a row."""
    first, second = id_.split("_")[2:4]
    sessions = []
    for number, (one, other) in enumerate(_SAID, 1):
        begin = datetime(2026, 4, number, 9, 0)
        photo = Attachment(
            "image", "pears.jpg", "https://example.org/pears.jpg", "a crate of pears"
        )
        said = (
            (first, f"good morning {number}", ()),
            (first, one, (photo,) if number == 1 else ()),
            (second, other, ()),
        )
        messages = tuple(
            Message(f"D{number}:{at}", who, begin + timedelta(minutes=at), text, tuple(shared))
            for at, (who, text, shared) in enumerate(said, 1)
        )
        sessions.append(Session(number, begin, messages))
    events = (Event(1, first, "waits for the ferry"),)
    asked = Question("Q1", "What is in the crates?", "pears", "multi_hop", ("D1:2",), (), ("D1:2",))
    return Chat(id_, (first, second), tuple(sessions), events, (asked,))


def write_data(folder: Path, chats: int = len(CHATS)) -> Path:
    """A data folder with the first of the paper's chats, each of them invented."""
    corpus = Corpus("realtalk", "realtalk", tuple(invented(name) for name in CHATS[:chats]))
    assert FORMAT.write is not None
    FORMAT.write(corpus, folder / "realtalk")
    return folder
