"""A corpus as columns: what is stored, and what runs fast over a million messages.

    tables.messages   chat | session | session_time | id | speaker | time | text | ...
    tables.events     chat | session | speaker | kind | text | date | evidence | extra
    tables.questions  chat | id | text | answer | category | evidence | ...
    tables.chats      ChatRow(id, speakers, aliases, empty sessions), one per chat

`from_corpus` and `to_corpus` are exact inverses: no value is lost either way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import accumulate
from operator import attrgetter
from typing import Any, TypeVar

import polars as pl
import pyarrow as pa

from realtalk.chat import Alias, Attachment, Chat, Corpus, Event, Message, Question, Session
from realtalk.errors import RealtalkError
from realtalk.formats.json_input import Fields

V = TypeVar("V", Event, Question)
_Filled = dict[int, tuple[datetime | None, list[Message]]]  # sessions by their numbers
_TIME = pl.Datetime("us")
_TEXTS = pl.List(pl.String)
_ATTACHMENT = pl.Struct(dict.fromkeys(("kind", "name", "url", "caption"), pl.String))
_KINDS: Fields = {  # of the columns that are not plain text
    "session": pl.Int32,
    "session_time": _TIME,
    "time": _TIME,
    "asked": _TIME,
    "attachments": pl.List(_ATTACHMENT),
    "edited": pl.Boolean,
    "deleted": pl.Boolean,
    "evidence": _TEXTS,
    "unresolved": _TEXTS,
    "stated": _TEXTS,
}


def _schema(columns: str) -> pl.Schema:
    return pl.Schema({name: _KINDS.get(name, pl.String) for name in columns.split()})


MESSAGES = _schema(
    "chat session session_time id speaker time text attachments reply_to edited deleted extra"
)
EVENTS = _schema("chat session speaker kind text date evidence extra")
QUESTIONS = _schema("chat id text answer category evidence unresolved stated asked extra")


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
    events: pl.DataFrame = field(default_factory=partial(pl.DataFrame, schema=EVENTS))
    questions: pl.DataFrame = field(default_factory=partial(pl.DataFrame, schema=QUESTIONS))


FRAMES = ("messages", "events", "questions")


def join_tables(name: str, format: str, parts: Sequence[Tables]) -> Tables:
    """The chats of all parts, one part after the other."""
    chats = tuple(row for part in parts for row in part.chats)
    frames = {frame: pl.concat([getattr(part, frame) for part in parts]) for frame in FRAMES}
    return Tables(name, format, chats, **frames)


def rename_chats(tables: Tables, ids: Mapping[str, str]) -> Tables:
    """Those chats that have a new name, with all that belongs to them."""
    chats = tuple(replace(row, id=ids[row.id]) for row in tables.chats if row.id in ids)
    own = pl.col.chat.is_in(list(ids))
    frames = {
        name: getattr(tables, name).filter(own).with_columns(pl.col.chat.replace(ids))
        for name in FRAMES
    }
    return replace(tables, chats=chats, **frames)


def message_frame(columns: Fields | pl.DataFrame) -> pl.DataFrame:
    """Message columns in the stored order and types; what is left out gets its default."""
    frame = pl.DataFrame(columns)
    defaults: Fields = {"attachments": [], "edited": False, "deleted": False, "extra": ""}
    missing = [
        pl.lit(defaults.get(name), dtype=kind).alias(name)
        for name, kind in MESSAGES.items()
        if name not in frame.columns
    ]
    return frame.with_columns(missing).select(
        pl.col(name).cast(kind) for name, kind in MESSAGES.items()
    )


def first_case(cases: Mapping[str, pl.Expr], otherwise: pl.Expr) -> pl.Expr:
    """The word of the first case that holds."""
    words = (pl.when(case).then(pl.lit(word)) for word, case in cases.items())
    return pl.coalesce(*words, otherwise)


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
        parts = [
            pa.array([getattr(file, name) for file in flat], pa.large_string()) for name in fields
        ]
        inside = pa.StructArray.from_arrays(parts, fields)
    else:
        inside = pa.array(flat, pa.large_string())
    return pl.Series(name, pa.LargeListArray.from_arrays(offsets, inside))


def from_corpus(corpus: Corpus) -> Tables:
    """Values to columns."""
    message_fields = attrgetter("id", *MESSAGES.names()[4:])
    event_fields = attrgetter("session", *EVENTS.names()[2:])
    question_fields = attrgetter("id", *QUESTIONS.names()[2:])
    messages = (
        (chat.id, session.number, session.time, *message_fields(message))
        for chat in corpus.chats
        for session in chat.sessions
        for message in session.messages
    )
    events = ((chat.id, *event_fields(event)) for chat in corpus.chats for event in chat.events)
    questions = ((chat.id, *question_fields(q)) for chat in corpus.chats for q in chat.questions)
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
        _frame(messages, MESSAGES),
        _frame(events, EVENTS),
        _frame(questions, QUESTIONS),
    )


def to_corpus(tables: Tables) -> Corpus:
    """Columns to values."""
    sessions: dict[str, _Filled] = {row.id: {} for row in tables.chats}
    for chat, number, date, id_, speaker, time, text, files, *rest in tables.messages.iter_rows():
        attachments = tuple(Attachment(**file) for file in files) if files else ()
        if chat not in sessions:
            raise RealtalkError(
                f"a message belongs to chat '{chat}', which corpus.json does not list",
                where=f"message {id_}",
                fix="read the source again",
            )
        message = Message(id_, speaker, time, text, attachments, *rest)
        sessions[chat].setdefault(number, (date, []))[1].append(message)
    events, questions = _values(Event, tables.events), _values(Question, tables.questions)
    chats = (
        Chat(
            row.id,
            row.speakers,
            _sessions(sessions[row.id], row.empty_sessions),
            tuple(events.get(row.id, ())),
            tuple(questions.get(row.id, ())),
            row.aliases,
            row.extra,
        )
        for row in tables.chats
    )
    return Corpus(tables.name, tables.format, tuple(chats))


def _values(kind: type[V], frame: pl.DataFrame) -> dict[str, list[V]]:
    """Rows as values of one kind, by their chats."""
    lists = [name for name, column in frame.schema.items() if column == _TEXTS]
    values: dict[str, list[V]] = {}
    for row in frame.iter_rows(named=True):
        row |= {name: tuple(row[name] or ()) for name in lists}
        values.setdefault(row.pop("chat"), []).append(kind(**row))
    return values


def _sessions(
    filled: _Filled,
    empty: tuple[tuple[int, datetime | None], ...],
) -> tuple[Session, ...]:
    sessions = [
        Session(number, time, tuple(messages)) for number, (time, messages) in filled.items()
    ]
    if empty:
        sessions += [Session(number, time, ()) for number, time in empty]
        sessions.sort(key=lambda session: session.number)
    return tuple(sessions)
