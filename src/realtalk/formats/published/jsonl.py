"""JSON Lines: this package's own lossless layout, and anybody's with one message per line.

    {"type": "corpus", "realtalk": 1, "name": "sample", "format": "whatsapp"}
    {"type": "chat", "id": "family", "speakers": ["Mara", "Theo"]}
    {"type": "session", "chat": "family", "number": 1, "time": "2026-03-02T18:03:00"}
    {"type": "message", "chat": "family", "session": 1, "id": "D1:1", "speaker": "Mara", …}
    {"type": "event", "chat": "family", "session": 1, "speaker": "Mara", "text": "…"}
    {"type": "question", "chat": "family", "id": "Q1", "text": "…", "answer": "…"}

What `write` makes, `read` gives back unchanged, with the corpus's name and format. A file
without that first line is somebody else's: its keys are matched by name (`columns`), a key
inside an object as `author.name`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from realtalk.chat import Chat, Corpus, Event, Message, Question, Session
from realtalk.errors import RealtalkError
from realtalk.files.writing import atomic_path, file_stem
from realtalk.formats.json_input import BLANK, NOT_TEXT, Fields, head_text, json_lines
from realtalk.formats.published.columns import TableRows, map_columns
from realtalk.formats.published.record import Part, gather, members_ending, record, restore
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import FormatFiles, Member, Source

_SUFFIXES = (".jsonl", ".ndjson")
_VERSION = 1
_FIRST_ROWS = 200  # how many lines show the keys of a foreign file
_BLANK = (None, BLANK)  # the word null says nothing either


_FILES = FormatFiles(_SUFFIXES, lambda member: head_text(member).lstrip().startswith("{"))


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    members = members_ending(source, _SUFFIXES, "no .jsonl file found")
    parts: list[Part] = []
    notes: list[str] = []
    name, format_ = source.name, "jsonl"
    for member in options.in_turn(members):
        first = next((value for _, value in json_lines(member) if value not in _BLANK), None)
        if isinstance(first, dict) and first.get("type") == "corpus" and "realtalk" in first:
            parts.append(_read_own(member, first))
            if len(members) == 1:
                name, format_ = str(first.get("name")), str(first.get("format"))
        else:
            parts.append(_read_foreign(member, options, notes))
    return gather(source, format_, parts, notes, unit="lines", name=name)


@dataclass
class _LinesDraft:
    """A chat whose lines are still coming."""

    head: Chat
    times: dict[int, datetime | None] = field(default_factory=dict)
    messages: dict[int, list[Message]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    def chat(self) -> Chat:
        sessions = tuple(
            Session(number, time, tuple(self.messages.get(number, ())))
            for number, time in self.times.items()
        )
        events, questions = tuple(self.events), tuple(self.questions)
        return replace(self.head, sessions=sessions, events=events, questions=questions)


def _read_own(member: Member, first: Fields) -> Part:
    """A file of our own making."""
    if first.get("realtalk") != _VERSION:
        raise member.error("was written by a later version", "update realtalk")
    drafts: dict[str, _LinesDraft] = {}
    total = messages = 0
    leftovers = []
    for total, value in json_lines(member):
        where = f"{member.name}:{total}"
        try:
            messages += value not in _BLANK and _take(value, drafts, where) == "message"
        except RealtalkError as error:
            leftovers.append(Leftover(where, error.what))
    rest = total - messages - len(leftovers)
    ledger = Ledger("lines", total, messages, rest, tuple(leftovers))
    return [draft.chat() for draft in drafts.values()], ledger


def _take(value: Any, drafts: dict[str, _LinesDraft], where: str) -> str:
    """Adds what a line says to its chat, and answers of which type it is."""
    kind = str(value.get("type")) if isinstance(value, dict) else ""
    if kind == "corpus":
        return kind
    if kind == "chat":
        head = restore(Chat, {**value, "sessions": []}, where)
        if head.id in drafts:
            raise RealtalkError("repeats a chat", where=where)
        drafts[head.id] = _LinesDraft(head)
        return kind
    if kind not in ("session", "message", "event", "question"):
        raise RealtalkError("is of no known type", where=where)
    draft = drafts.get(str(value.get("chat")))
    if draft is None:
        raise RealtalkError("names a chat that no line before it describes", where=where)
    if kind == "session":
        session = restore(Session, {**value, "messages": []}, where)
        draft.times.setdefault(session.number, session.time)
    elif kind == "message":
        message = restore(Message, value, where)
        holder = {"number": value.get("session"), "time": None, "messages": []}
        number = restore(Session, holder, where).number
        draft.times.setdefault(number, message.time)
        draft.messages.setdefault(number, []).append(message)
    elif kind == "event":
        draft.events.append(restore(Event, value, where))
    else:
        draft.questions.append(restore(Question, value, where))
    return kind


def _read_foreign(member: Member, options: ReadOptions, notes: list[str]) -> Part:
    """A file of somebody else's with one message per line."""
    keys: dict[str, None] = {}
    for number, value in json_lines(member):
        if number > _FIRST_ROWS:
            break
        if isinstance(value, dict):
            keys.update(dict.fromkeys(_flat(value)))
    if not keys:
        raise member.error("does not hold one JSON object per line")
    columns = map_columns(list(keys), options, member.where)
    rows = TableRows(columns, options, member.stem, notes)
    leftovers = []
    total = blank = 0
    for total, value in json_lines(member):
        reason: str | None = None
        where = f"{member.name}:{total}"
        if value in _BLANK:
            blank += 1
        elif not isinstance(value, dict):
            reason = "is not a JSON object"
        elif isinstance(value.get(columns["text"]), dict):  # which `_flat` takes apart
            reason = NOT_TEXT
        else:
            reason = rows.add(_flat(value), where)
        if reason is not None:
            leftovers.append(Leftover(where, reason))
    ledger = Ledger("lines", total, total - blank - len(leftovers), blank, tuple(leftovers))
    return rows.chats(), ledger


def _flat(value: Fields) -> Fields:
    """Keys of objects inside the line as `outer.inner`, one level deep."""
    flat: Fields = {}
    for key, item in value.items():
        if isinstance(item, dict):
            flat.update((f"{key}.{inner}", deep) for inner, deep in item.items())
        else:
            flat[key] = item
    return flat


def _write(corpus: Corpus, path: Path) -> tuple[Path, ...]:
    """A path that ends in .jsonl is the file; any other is the folder it goes to."""
    if path.suffix.lower() not in _SUFFIXES:
        path = path / f"{file_stem(corpus.name)}.jsonl"
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        for line in _records(corpus):
            stream.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    return (path,)


def _records(corpus: Corpus) -> Iterator[Fields]:
    about = {"name": corpus.name, "format": corpus.format}
    yield {"type": "corpus", "realtalk": _VERSION, **about}
    for chat in corpus.chats:
        head = record(Chat(chat.id, chat.speakers, (), aliases=chat.aliases, extra=chat.extra))
        del head["sessions"]
        yield {"type": "chat", **head}
        for session in chat.sessions:
            time = session.time and session.time.isoformat()
            yield {"type": "session", "chat": chat.id, "number": session.number, "time": time}
            for message in session.messages:
                fields = record(message, full=True)
                yield {"type": "message", "chat": chat.id, "session": session.number, **fields}
        for event in chat.events:
            yield {"type": "event", "chat": chat.id, **record(event)}
        for question in chat.questions:
            yield {"type": "question", "chat": chat.id, **record(question)}


FORMAT = Format("JSON Lines, one message per line", _FILES.sniff, _read, _write)
