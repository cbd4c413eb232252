r"""Rows of messages to a Corpus and back: CSV and TSV with a header line, and JSON Lines.

    From;Date;Message
    Mara;2026-03-02 18:03;"hey,
    are you up"
    → Message("D1:1", "Mara", 2026-03-02 18:03, "hey,\nare you up")

The header shows which of comma, semicolon, tab and bar separates. Columns are matched by name or
by the user (`columns`). Writing is lossy: a row holds a message's own fields, the names of its
attachments and, where any message has some, its reactions as JSON; events, questions, aliases,
other extras and empty sessions stay behind (JSON Lines keeps them). A cell that a spreadsheet would
take for a formula gets an apostrophe in front, and the column `apostrophe_before` names the columns
where one was put, so that reading takes off these and no other.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import IO, Any

import orjson

from realtalk.chat import Chat, Corpus, Event, Message, Question, Reaction, Session, reactions_in
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.files.spreadsheets import guard_cell, unguard_cell
from realtalk.files.writing import atomic_path, file_stem
from realtalk.formats.json_input import BLANK, NOT_TEXT, Fields, head_text, json_lines
from realtalk.formats.limits import MOST_COLUMNS, scale
from realtalk.formats.published.columns import FIELDS, TableRows, map_columns
from realtalk.formats.published.record import Part, gather, members_ending, record, restore
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import FormatFiles, Member, Source

_SUFFIXES = (".csv", ".tsv")
_DELIMITERS = (",", ";", "\t", "|")
_LONGEST_CELL = 1 << 28
_PIECE = 1 << 20
_GUESSED = "cp1252"
_REACTIONS = "reactions"
_GUARDED = "apostrophe_before"  # names the columns of a row
_HEADER = ("chat", "session", "id", *FIELDS[3:], "attachments")


def _encoding(data: bytes) -> str:
    """UTF-16 where it says so, UTF-8 where it is that, else Windows-1252."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16"
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        # In pieces: as one text, a single emoji makes every letter take four bytes.
        for start in range(0, len(data), _PIECE):
            decoder.decode(data[start : start + _PIECE], start + _PIECE >= len(data))
    except UnicodeDecodeError:
        return _GUESSED
    return "utf-8-sig"


def _opening(data: bytes) -> str:
    """The start of a table as text, enough to tell how it is written."""
    return data[:_PIECE].decode(_encoding(data), "replace")


def _delimiter(text: str) -> str | None:
    """The separator that the header uses most, outside quotes."""
    counts = dict.fromkeys(_DELIMITERS, 0)
    quoted = False
    for letter in text:
        if letter == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif letter in counts:
            counts[letter] += 1
        elif letter in "\r\n" and any(counts.values()):
            break
    best = max(_DELIMITERS, key=lambda delimiter: counts[delimiter])
    return best if counts[best] else None


def _is_table(member: Member) -> bool:
    text = _opening(member.head())
    return "\x00" not in text and _delimiter(text.lstrip().partition("\n")[0]) is not None


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    members = members_ending(source, _SUFFIXES, "no .csv or .tsv file found")
    notes: list[str] = []
    parts = [_read_table(member, options, notes) for member in options.in_turn(members)]
    return gather(source, "csv", parts, notes, unit="lines")


def _read_table(member: Member, options: ReadOptions, notes: list[str]) -> Part:
    data = member.read()
    encoding = _encoding(data)
    if encoding == _GUESSED:
        notes.append(f"{member.name} is not UTF-8; it was read as Windows-1252")
    # Chats hold longer cells than the module's 128 KB.
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST_CELL))
    text = io.TextIOWrapper(io.BytesIO(data), encoding, "replace", newline="")
    records = _records(text, _delimiter(_opening(data)) or ",", member)
    total = in_messages = system = 0
    leftovers: list[Leftover] = []
    header: list[str] = []
    reacted = guards = False
    rows: TableRows | None = None
    for cells, first, last in records:
        total = last
        count = last - first + 1
        if not any(cell.strip() for cell in cells):
            system += count
        elif rows is None:
            header = _header(cells, member)
            columns = map_columns(header, options, member.where)
            reacted = _REACTIONS not in columns.values()  # the user may mean something else
            guards = _GUARDED in header and _GUARDED not in columns.values()
            rows = TableRows(columns, options, member.stem, notes)
            system += count
        else:
            row: Fields = dict(zip(header, cells, strict=False))
            if over := cells[len(header) :]:
                row["(more)"] = "\n".join(over)
            if guards and (names := _guarded_columns(row.get(_GUARDED), header)):
                del row[_GUARDED]
                row.update({name: unguard_cell(row.get(name, "")) for name in names})
            if reacted and (listed := _parse_list(row.get(_REACTIONS))):
                row[_REACTIONS] = listed
            reason = rows.add(row, f"{member.name}:{first}")
            if reason is None:
                in_messages += count
            else:
                places = range(first, last + 1)
                leftovers += [Leftover(f"{member.name}:{place}", reason) for place in places]
    if rows is None:
        raise member.error("has no header line")
    return rows.chats(), Ledger("lines", total, in_messages, system, tuple(leftovers))


def _records(text: IO[str], delimiter: str, member: Member) -> Iterator[tuple[list[str], int, int]]:
    """Rows with the numbers of their first and last line."""
    reader = csv.reader(text, delimiter=delimiter)
    first = 1
    try:
        for cells in reader:
            yield cells, first, reader.line_num
            first = reader.line_num + 1
    except csv.Error as error:
        where = f"{member.where}, line {reader.line_num}"
        raise RealtalkError("is not readable as CSV", where=where) from error


def _parse_list(cell: str | None) -> list[Any] | None:
    """A cell of reactions as `_write` makes it; None for anything else."""
    if not cell or not cell.startswith("["):
        return None
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return None
    return value if len(reactions_in(value)) == len(value) else None


def _guarded_columns(cell: str | None, header: list[str]) -> list[str]:
    """The columns that a cell of `_write` names; none where it is anything else."""
    names = (cell or "").split()
    return names if set(names) <= set(header) - {_GUARDED} else []


def _header(cells: list[str], member: Member) -> list[str]:
    """Column names, each once: a second "name" is "name.2"."""
    if len(cells) > scale(MOST_COLUMNS):
        raise member.error(f"has {len(cells):,} columns, more than any table of messages")
    names = UniqueNames("{}.{}")
    return [names.free(cell.strip() or f"column {n}") for n, cell in enumerate(cells, 1)]


def _target(corpus: Corpus, path: Path, suffixes: tuple[str, ...]) -> Path:
    """A path with one of these endings is the file; any other is the folder that it goes to."""
    is_file = path.suffix.lower() in suffixes
    return path if is_file else path / f"{file_stem(corpus.name)}{suffixes[0]}"


def _write(corpus: Corpus, path: Path) -> tuple[Path, ...]:
    path = _target(corpus, path, _SUFFIXES)
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter)
        reacted = any(m.reactions for chat in corpus.chats for m in chat.messages)
        header = (*_HEADER, _REACTIONS) if reacted else _HEADER
        guards = any(guard_cell(cell) != cell for row in _table(corpus, reacted) for cell in row)
        writer.writerow((*header, _GUARDED) if guards else header)
        for row in _table(corpus, reacted):
            safe = [guard_cell(cell) for cell in row]
            changed = (name for name, old, new in zip(header, row, safe, strict=True) if old != new)
            writer.writerow((*safe, " ".join(changed)) if guards else safe)
    return (path,)


def _table(corpus: Corpus, reacted: bool) -> Iterator[tuple[str, ...]]:
    for chat in corpus.chats:
        for session in chat.sessions:
            for message in session.messages:
                row = (chat.id, str(session.number), *_cells(message))
                yield (*row, _marks(message.reactions)) if reacted else row


def _cells(message: Message) -> tuple[str, ...]:
    return (
        message.id,
        message.speaker,
        "" if message.time is None else message.time.isoformat(" "),
        message.text,
        message.reply_to or "",
        "true" if message.edited else "",
        "true" if message.deleted else "",
        "; ".join(file.name or file.url or file.caption for file in message.attachments),
    )


def _marks(reactions: tuple[Reaction, ...]) -> str:
    entries = [
        {"emoji": reaction.emoji, "count": reaction.count, "by": list(reaction.by)}
        for reaction in reactions
    ]
    return json.dumps(entries, ensure_ascii=False) if entries else ""


CSV = Format(
    "CSV or TSV with a header line", FormatFiles(_SUFFIXES, _is_table).sniff, _read, _write
)


# JSON Lines: this package's own lossless layout, and anybody's with one message per line.
#
#     {"type": "corpus", "realtalk": 1, "name": "sample", "format": "whatsapp"}
#     {"type": "chat", "id": "family", "speakers": ["Mara", "Theo"]}
#     {"type": "session", "chat": "family", "number": 1, "time": "2026-03-02T18:03:00"}
#     {"type": "message", "chat": "family", "session": 1, "id": "D1:1", "speaker": "Mara", …}
#     {"type": "event", "chat": "family", "session": 1, "speaker": "Mara", "text": "…"}
#     {"type": "question", "chat": "family", "id": "Q1", "text": "…", "answer": "…"}
#
# What is written is read back unchanged, with the corpus's name and format. A file
# without that first line is somebody else's: its keys are matched by name (`columns`), a key
# inside an object as `author.name`.

_LINES = (".jsonl", ".ndjson")
_VERSION = 1
_FIRST_ROWS = 200  # how many lines show the keys of a foreign file
_BLANK = (None, BLANK)  # the word null says nothing either


_LINE_FILES = FormatFiles(_LINES, lambda member: head_text(member).lstrip().startswith("{"))


def _read_lines(source: Source, options: ReadOptions) -> ReadCorpus:
    members = members_ending(source, _LINES, "no .jsonl file found")
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


def _write_lines(corpus: Corpus, path: Path) -> tuple[Path, ...]:
    path = _target(corpus, path, _LINES)
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        for line in _own_lines(corpus):
            stream.write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))
    return (path,)


def _own_lines(corpus: Corpus) -> Iterator[Fields]:
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


JSONL = Format("JSON Lines, one message per line", _LINE_FILES.sniff, _read_lines, _write_lines)
