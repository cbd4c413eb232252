"""The glossary: what a chat is made of, as frozen values.

    Message("D1:2", "Mara", datetime(2026, 3, 2, 18, 4), "did you sleep at all")
    Session(1, datetime(2026, 3, 2, 18, 3), (message, message, ...))
    Chat("Chat_1_Mara_Theo", ("Mara", "Theo"), (session, ...), events, questions, aliases)
    Corpus("sample", "realtalk", (chat, chat))

A message is one bubble. A turn is what one speaker said before another did, inside
one session: it is derived, never stored. Nothing here writes, reads or mutates;
results are new values elsewhere that point back by message id.

    chat.messages[-3:]    the last three messages
    message.reactions     (Reaction("❤", by=("Theo",), count=1),), where the app has them
    chat.calls            (Call("Theo", datetime(…)),), where the app tells them
    corpus.frame          polars: one row per message
    print(corpus)         → <Corpus sample (realtalk): 3 chats, 4 speakers, 2,012 messages>

What a value prints as holds ids, names, times and counts, never what somebody wrote.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from realtalk.notebook import counted, plain, table_html

if TYPE_CHECKING:
    import polars as pl

EventKind = Literal["event", "observation", "summary"]

MARK = " (simulated)"  # after the name of a person who did not write it
_NOBODIES = frozenset({"", "[deleted]", "[removed]", "[deleted by user]"})


def is_nobody(name: str) -> bool:
    """Whether no one person goes by a name: accounts that are gone share it."""
    return name.strip().casefold() in _NOBODIES


def person_key(name: str) -> str:
    """By which a person is known wherever they write, or are written as: "Mara (simulated)": mara.

    Two people of one name count as one.
    """
    plain = unicodedata.normalize("NFC", name).casefold().strip()
    return plain.removesuffix(MARK.strip()).strip()


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
class Call:
    """A call that somebody made, answered or not. The app tells it: it is no message."""

    speaker: str
    time: datetime | None


@dataclass(frozen=True, slots=True)
class Attachment:
    """A picture, sound or file that came with a message; `caption` is what it shows."""

    kind: str  # image, video, audio, sticker, file, contact, location, link, call, or media
    name: str = field(default="", repr=False)
    url: str = field(default="", repr=False)
    caption: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Reaction:
    """An emoji that people gave a message: `by` whom, where the app says so, and how many."""

    emoji: str
    by: tuple[str, ...] = ()
    count: int = 1


@dataclass(frozen=True, slots=True, repr=False)
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

    @property
    def reactions(self) -> tuple[Reaction, ...]:
        """The reactions that a reader kept in `extra`; none where it holds anything else."""
        return reactions_in(_stored(self.extra, "reactions"))

    def __repr__(self) -> str:
        length = counted(len(self.text), "character")
        return f"<Message {self.id!r} {self.speaker!r}{_at(self.time)}: {length}>"


@dataclass(frozen=True, slots=True, repr=False)
class Session:
    """Messages between two pauses; `time` is the source's own date, or its first message's."""

    number: int
    time: datetime | None
    messages: tuple[Message, ...]

    def __repr__(self) -> str:
        return f"<Session {self.number}{_at(self.time)}: {counted(len(self.messages), 'message')}>"


@dataclass(frozen=True, slots=True, repr=False)
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

    def __repr__(self) -> str:
        length = counted(len(self.messages), "message")
        return f"<Turn {self.speaker!r} in session {self.session}{_at(self.time)}: {length}>"


@dataclass(frozen=True, slots=True)
class Event:
    """Something that an annotator or a model noted about a session.

    `event` is about one speaker's life, `observation` also names its messages,
    `summary` tells the whole session (speaker None).
    """

    session: int
    speaker: str | None
    text: str = field(repr=False)
    kind: EventKind = "event"
    date: str = ""
    evidence: tuple[str, ...] = ()
    extra: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a chat with its answer and where the answer is said.

    `stated` is the evidence as published; `evidence` the message ids it resolves to;
    `unresolved` the pieces that name no message. `answer` is None where the source
    means that the chat does not tell (LoCoMo's adversarial questions).
    """

    id: str
    text: str = field(repr=False)
    answer: str | None = field(repr=False)
    category: str
    evidence: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    stated: tuple[str, ...] = ()
    asked: datetime | None = None
    extra: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name of a speaker, and the message id or source it was learned from."""

    name: str
    speaker: str
    source: str


@dataclass(frozen=True, repr=False)
class Chat:
    """One conversation of two or more speakers, in time order."""

    id: str
    speakers: tuple[str, ...]
    sessions: tuple[Session, ...]
    events: tuple[Event, ...] = ()
    questions: tuple[Question, ...] = ()
    aliases: tuple[Alias, ...] = ()
    extra: str = ""

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """Every message, oldest first."""
        return tuple(message for session in self.sessions for message in session.messages)

    @cached_property
    def by_id(self) -> Mapping[str, Message]:
        """Messages by id; of two with the same id, the first."""
        messages: dict[str, Message] = {}
        for message in self.messages:
            messages.setdefault(message.id, message)
        return messages

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """Every turn, oldest first."""
        return tuple(turn for session in self.sessions for turn in turns(session))

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """The calls that a reader kept in `extra`, by those who made them."""
        return calls_in(self.extra)

    def names_of(self, speaker: str) -> tuple[str, ...]:
        """Every name that the chat uses for a speaker, their own first."""
        return (speaker, *(alias.name for alias in self.aliases if alias.speaker == speaker))

    def __repr__(self) -> str:
        counts = [
            counted(len(getattr(self, name)), name.removesuffix("s"))
            for name in ("speakers", "sessions", "messages", "events", "questions")
            if getattr(self, name)
        ]
        return f"<Chat {plain(self.id)}: {', '.join(counts) or 'nothing'}>"


@dataclass(frozen=True, repr=False)
class Corpus:
    """Chats of one origin. `format` names the reader, and with it the question categories."""

    name: str
    format: str
    chats: tuple[Chat, ...] = field(default=())

    @property
    def speakers(self) -> tuple[str, ...]:
        """Every speaker, in order of first appearance."""
        return tuple(dict.fromkeys(name for chat in self.chats for name in chat.speakers))

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per message, as a polars table; `files` is how many came with it."""
        import polars as pl

        kinds: dict[str, Any] = {
            **{"chat": pl.String, "session": pl.Int32, "id": pl.String, "speaker": pl.String},
            **{"time": pl.Datetime("us"), "text": pl.String, "files": pl.Int32},
            **{"reply_to": pl.String, "edited": pl.Boolean, "deleted": pl.Boolean},
        }
        columns: dict[str, list[Any]] = {name: [] for name in kinds}
        for chat in self.chats:
            for session in chat.sessions:
                messages = session.messages
                columns["chat"] += [chat.id] * len(messages)
                columns["session"] += [session.number] * len(messages)
                columns["files"] += [len(message.attachments) for message in messages]
                for name in ("id", "speaker", "time", "text", "reply_to", "edited", "deleted"):
                    columns[name] += [getattr(message, name) for message in messages]
        return pl.DataFrame(columns, schema=kinds)

    def __repr__(self) -> str:
        messages = sum(len(session.messages) for chat in self.chats for session in chat.sessions)
        parts = (
            counted(len(self.chats), "chat"),
            counted(len(self.speakers), "speaker"),
            counted(messages, "message"),
        )
        return f"<Corpus {plain(self.name)} ({self.format}): {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        """One row per chat, as a notebook shows it."""
        names = ("speakers", "sessions", "messages", "events", "questions")
        rows = [(chat.id, *(len(getattr(chat, name)) for name in names)) for chat in self.chats]
        return table_html(f"{self.name} ({self.format})", ("chat", *names), rows)


def _at(time: datetime | None) -> str:
    return "" if time is None else f" at {time:%Y-%m-%d %H:%M}"


def _stored(extra: str, name: str) -> Any:
    """What a reader kept in `extra` under a name; None where it holds anything else."""
    if f'"{name}"' not in extra:  # of a million messages few have one
        return None
    try:
        fields = json.loads(extra)
    except (ValueError, RecursionError):
        return None
    return fields.get(name) if isinstance(fields, dict) else None


def reactions_in(value: Any) -> tuple[Reaction, ...]:
    """The reactions of a JSON list of {"emoji", "by", "count"}; what is none is passed over.

    A count that is not stated is that of the people named, or one.
    """
    reactions: list[Reaction] = []
    for entry in value if isinstance(value, list) else ():
        emoji = entry.get("emoji") if isinstance(entry, dict) else None
        if not isinstance(emoji, str) or not emoji:
            continue
        people, count = entry.get("by"), entry.get("count")
        listed = people if isinstance(people, list) else ()
        by = tuple(name for name in listed if isinstance(name, str) and name)
        stated = isinstance(count, int) and not isinstance(count, bool) and count > 0
        reactions.append(Reaction(emoji, by, count if stated else len(by) or 1))
    return tuple(reactions)


def calls_in(extra: str) -> tuple[Call, ...]:
    """The calls in the JSON of a chat's `extra`; what is none is passed over."""
    calls_by_speaker = _stored(extra, "calls")
    calls: list[Call] = []
    for speaker, times in (calls_by_speaker if isinstance(calls_by_speaker, dict) else {}).items():
        for text in times if isinstance(times, list) else ():
            try:
                calls.append(Call(speaker, datetime.fromisoformat(text) if text else None))
            except (ValueError, TypeError):
                continue
    return tuple(calls)


def turns(session: Session) -> Iterator[Turn]:
    """A session's turns, oldest first."""
    for speaker, run in groupby(session.messages, key=lambda message: message.speaker):
        yield Turn(session.number, speaker, tuple(run))
