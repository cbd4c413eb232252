"""The glossary: what a chat is made of, as frozen values.

    Message("D1:2", "Mara", datetime(2026, 3, 2, 18, 4), "did you sleep at all")
    Session(1, datetime(2026, 3, 2, 18, 3), (message, message, ...))
    Chat("Chat_1_Mara_Theo", ("Mara", "Theo"), (session, ...), events, questions, aliases)
    Corpus("sample", "realtalk", (chat, chat))

A message is one bubble. A turn is what one speaker said before another did, inside
one session: it is derived, never stored. Nothing here writes, reads or mutates;
results are new values elsewhere that point back by message id.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

__all__ = [
    "Alias",
    "Attachment",
    "Chat",
    "Corpus",
    "Event",
    "EventKind",
    "Message",
    "Question",
    "Session",
    "Turn",
    "is_nobody",
    "pack_extra",
    "turns",
    "unpack_extra",
]

EventKind = Literal["event", "observation", "summary"]

_NOBODIES = frozenset({"", "[deleted]", "[removed]", "[deleted by user]"})


def is_nobody(name: str) -> bool:
    """Whether no one person goes by a name: accounts that are gone share it."""
    return name.strip().casefold() in _NOBODIES


def pack_extra(values: Mapping[str, Any]) -> str:
    """What a format says beyond this model, as canonical JSON ("" for nothing).

    A string is hashable, immutable and is stored as it is; the way back to the
    format reads it again with `unpack_extra`.
    """
    if not values:
        return ""
    return json.dumps(dict(values), ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def unpack_extra(extra: str) -> dict[str, Any]:
    """The mapping that `pack_extra` was given."""
    return dict(json.loads(extra)) if extra else {}


@dataclass(frozen=True, slots=True)
class Attachment:
    """A picture, sound or file that came with a message; `caption` is what it shows."""

    kind: str  # image, video, audio, sticker, file, contact, location, link, call, or media
    name: str = ""
    url: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """One bubble. `time` is the wall clock of the export, None where the source has none."""

    id: str
    speaker: str
    time: datetime | None
    text: str
    attachments: tuple[Attachment, ...] = ()
    reply_to: str | None = None
    edited: bool = False
    deleted: bool = False
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """Messages between two pauses; `time` is the source's own date, or its first message's."""

    number: int
    time: datetime | None
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Turn:
    """Consecutive messages of one speaker within one session."""

    session: int
    speaker: str
    messages: tuple[Message, ...]

    @property
    def text(self) -> str:
        """The messages' texts, a line each."""
        return "\n".join(message.text for message in self.messages)

    @property
    def time(self) -> datetime | None:
        """When the turn began."""
        return self.messages[0].time

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(message.id for message in self.messages)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that an annotator or a model noted about a session.

    `event` is about one speaker's life, `observation` also names its messages,
    `summary` tells the whole session (speaker None).
    """

    session: int
    speaker: str | None
    text: str
    kind: EventKind = "event"
    date: str = ""
    evidence: tuple[str, ...] = ()
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a chat with its answer and where the answer is said.

    `stated` is the evidence as published; `evidence` the message ids it resolves to;
    `unresolved` the pieces that name no message. `answer` is None where the source
    means that the chat does not tell (LoCoMo's adversarial questions).
    """

    id: str
    text: str
    answer: str | None
    category: str
    evidence: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    asked: datetime | None = None
    extra: str = ""


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of a speaker, and the message id or source it was learned from."""

    name: str
    speaker: str
    source: str


@dataclass(frozen=True)
class Chat:
    """One conversation of two or more speakers, in time order."""

    id: str
    speakers: tuple[str, ...]
    sessions: tuple[Session, ...]
    events: tuple[Event, ...] = ()
    questions: tuple[Question, ...] = ()
    aliases: tuple[Alias, ...] = ()
    extra: str = ""

    @property
    def messages(self) -> Iterator[Message]:
        for session in self.sessions:
            yield from session.messages

    @cached_property
    def by_id(self) -> Mapping[str, Message]:
        """Messages by id; of two with the same id, the first."""
        found: dict[str, Message] = {}
        for message in self.messages:
            found.setdefault(message.id, message)
        return found

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        return tuple(turn for session in self.sessions for turn in turns(session))

    def names_of(self, speaker: str) -> tuple[str, ...]:
        """Every name that the chat uses for a speaker, their own first."""
        return (speaker, *(alias.name for alias in self.aliases if alias.speaker == speaker))


@dataclass(frozen=True)
class Corpus:
    """Chats of one origin. `format` names the reader, and with it the question categories."""

    name: str
    format: str
    chats: tuple[Chat, ...] = field(default=())

    @property
    def speakers(self) -> tuple[str, ...]:
        """Every speaker, in order of first appearance."""
        return tuple(dict.fromkeys(name for chat in self.chats for name in chat.speakers))


def turns(session: Session) -> Iterator[Turn]:
    """A session's turns, oldest first."""
    for speaker, run in groupby(session.messages, key=lambda message: message.speaker):
        yield Turn(session.number, speaker, tuple(run))
