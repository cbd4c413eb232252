"""A corpus as columns: what is stored, and what runs fast over a million messages.

    tables.messages   chat | session | session_time | id | speaker | time | text | ...
    tables.events     chat | session | speaker | kind | text | date | evidence | extra
    tables.questions  chat | id | text | answer | category | evidence | ...
    tables.chats      ChatRow(id, speakers, aliases, empty sessions), one a chat

`from_corpus` and `to_corpus` are exact inverses: no value is lost either way.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import Any, TypeAlias

import polars as pl
import pyarrow as pa

from realtalk.chat import Alias, Attachment, Chat, Corpus, Event, Message, Question, Session
from realtalk.errors import RealtalkError

__all__ = [
    "EVENTS",
    "MESSAGES",
    "QUESTIONS",
    "ChatRow",
    "Tables",
    "from_corpus",
    "message_frame",
    "to_corpus",
]

_Kinds: TypeAlias = dict[str, pl.DataType | type[pl.DataType]]

_TIME = pl.Datetime("us")
_ATTACHMENT = pl.Struct(
    {"kind": pl.String, "name": pl.String, "url": pl.String, "caption": pl.String}
)

_MESSAGES: _Kinds = {
    "chat": pl.String,
    "session": pl.Int32,
    "session_time": _TIME,
    "id": pl.String,
    "speaker": pl.String,
    "time": _TIME,
    "text": pl.String,
    "attachments": pl.List(_ATTACHMENT),
    "reply_to": pl.String,
    "edited": pl.Boolean,
    "deleted": pl.Boolean,
    "extra": pl.String,
}
MESSAGES = pl.Schema(_MESSAGES)
_EVENTS: _Kinds = {
    "chat": pl.String,
    "session": pl.Int32,
    "speaker": pl.String,
    "kind": pl.String,
    "text": pl.String,
    "date": pl.String,
    "evidence": pl.List(pl.String),
    "extra": pl.String,
}
EVENTS = pl.Schema(_EVENTS)
_QUESTIONS: _Kinds = {
    "chat": pl.String,
    "id": pl.String,
    "text": pl.String,
    "answer": pl.String,
    "category": pl.String,
    "evidence": pl.List(pl.String),
    "unresolved": pl.List(pl.String),
    "stated": pl.List(pl.String),
    "asked": _TIME,
    "extra": pl.String,
}
QUESTIONS = pl.Schema(_QUESTIONS)


@dataclass(frozen=True, slots=True)
class ChatRow:
    """What a chat has beyond its messages; small, so it lives beside the columns as JSON."""

    id: str
    speakers: tuple[str, ...]
    aliases: tuple[Alias, ...] = ()
    # Sessions without a message leave no row among the messages: number and date.
    empty_sessions: tuple[tuple[int, datetime | None], ...] = ()
    extra: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The columns of one corpus."""

    name: str
    format: str
    chats: tuple[ChatRow, ...]
    messages: pl.DataFrame
    events: pl.DataFrame
    questions: pl.DataFrame


def message_frame(columns: dict[str, Any]) -> pl.DataFrame:
    """Message columns in the stored order and types; what is left out gets its default."""
    frame = pl.DataFrame(columns)
    defaults: dict[str, Any] = {"attachments": [], "edited": False, "deleted": False, "extra": ""}
    missing = [
        pl.lit(defaults.get(name), dtype=kind).alias(name)
        for name, kind in MESSAGES.items()
        if name not in frame.columns
    ]
    return frame.with_columns(missing).select(
        pl.col(name).cast(kind) for name, kind in MESSAGES.items()
    )


def _frame(rows: Iterable[tuple[Any, ...]], schema: pl.Schema) -> pl.DataFrame:
    # Column lists are built by hand: polars infers row tuples several times slower.
    columns: list[list[Any]] = [[] for _ in schema]
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            column.append(value)
    return pl.DataFrame(
        {
            name: _column(name, column, kind)
            for (name, kind), column in zip(schema.items(), columns, strict=True)
        },
        schema=schema,
    )


def _column(name: str, values: list[Any], kind: pl.DataType) -> pl.Series:
    if not isinstance(kind, pl.List):
        return pl.Series(name, values, dtype=kind, strict=False)
    # By Arrow: polars takes fifty microseconds for each list, an hour for a large export.
    flat = [value for inner in values for value in inner]
    offsets = pa.array(accumulate(map(len, values), initial=0), pa.int64())
    if kind.inner == _ATTACHMENT:
        fields = [field.name for field in _ATTACHMENT.fields]
        parts = [pa.array([getattr(a, one) for a in flat], pa.large_string()) for one in fields]
        inside = pa.StructArray.from_arrays(parts, fields)
    else:
        inside = pa.array(flat, pa.large_string())
    return pl.Series(name, pa.LargeListArray.from_arrays(offsets, inside))


def from_corpus(corpus: Corpus) -> Tables:
    """Values to columns."""

    def messages() -> Iterable[tuple[Any, ...]]:
        for chat in corpus.chats:
            for session in chat.sessions:
                for m in session.messages:
                    yield (
                        chat.id,
                        session.number,
                        session.time,
                        m.id,
                        m.speaker,
                        m.time,
                        m.text,
                        m.attachments,
                        m.reply_to,
                        m.edited,
                        m.deleted,
                        m.extra,
                    )

    def events() -> Iterable[tuple[Any, ...]]:
        for chat in corpus.chats:
            for e in chat.events:
                yield (chat.id, e.session, e.speaker, e.kind, e.text, e.date, e.evidence, e.extra)

    def questions() -> Iterable[tuple[Any, ...]]:
        for chat in corpus.chats:
            for q in chat.questions:
                yield (
                    chat.id,
                    q.id,
                    q.text,
                    q.answer,
                    q.category,
                    q.evidence,
                    q.unresolved,
                    q.stated,
                    q.asked,
                    q.extra,
                )

    rows = tuple(
        ChatRow(
            chat.id,
            chat.speakers,
            chat.aliases,
            tuple((s.number, s.time) for s in chat.sessions if not s.messages),
            chat.extra,
        )
        for chat in corpus.chats
    )
    return Tables(
        corpus.name,
        corpus.format,
        rows,
        _frame(messages(), MESSAGES),
        _frame(events(), EVENTS),
        _frame(questions(), QUESTIONS),
    )


def to_corpus(tables: Tables) -> Corpus:
    """Columns to values."""
    sessions: dict[str, dict[int, tuple[datetime | None, list[Message]]]] = {
        row.id: {} for row in tables.chats
    }
    for row in tables.messages.iter_rows():
        chat, number, session_time, id_, speaker, time, text, files, reply, edited, gone, extra = (
            row
        )
        attachments = tuple(Attachment(**file) for file in files) if files else ()
        message = Message(id_, speaker, time, text, attachments, reply, edited, gone, extra)
        if chat not in sessions:
            raise RealtalkError(
                f"a message belongs to chat '{chat}', which corpus.json does not list",
                where=f"message {id_}",
                fix="read the source again",
            )
        sessions[chat].setdefault(number, (session_time, []))[1].append(message)
    events: dict[str, list[Event]] = {row.id: [] for row in tables.chats}
    for chat, session, speaker, kind, text, date, evidence, extra in tables.events.iter_rows():
        events[chat].append(Event(session, speaker, text, kind, date, tuple(evidence or ()), extra))
    questions: dict[str, list[Question]] = {row.id: [] for row in tables.chats}
    for row in tables.questions.iter_rows():
        chat, id_, text, answer, category, evidence, unresolved, stated, asked, extra = row
        questions[chat].append(
            Question(
                id=id_,
                text=text,
                answer=answer,
                category=category,
                evidence=tuple(evidence or ()),
                unresolved=tuple(unresolved or ()),
                stated=tuple(stated or ()),
                asked=asked,
                extra=extra,
            )
        )
    return Corpus(
        tables.name,
        tables.format,
        tuple(
            Chat(
                row.id,
                row.speakers,
                _sessions(sessions[row.id], row.empty_sessions),
                tuple(events[row.id]),
                tuple(questions[row.id]),
                row.aliases,
                row.extra,
            )
            for row in tables.chats
        ),
    )


def _sessions(
    filled: dict[int, tuple[datetime | None, list[Message]]],
    empty: tuple[tuple[int, datetime | None], ...],
) -> tuple[Session, ...]:
    sessions = [
        Session(number, time, tuple(messages)) for number, (time, messages) in filled.items()
    ]
    if empty:
        sessions += [Session(number, time, ()) for number, time in empty]
        sessions.sort(key=lambda session: session.number)
    return tuple(sessions)
