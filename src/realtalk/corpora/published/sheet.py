"""REALTALK's annotation sheet (XLSX), one sheet per chat, to a Chat and back.

    |        | Mara             |      | Theo   | Date, Time           | | | Question | Answer | ...
    |        | Session 1        |      | 02.03.2026, 18:03:12          |
    | Events | E: Mara moves.   |      | E: ... |
    | D1:1   | hey              |      |        | 02.03.2026, 18:03:12 | | | When ... | 02.03. | ...
    |        |                  | D1:2 | hi     | 02.03.2026, 18:04:40 |

A row with an id and a time but no text held a photo. As in the published JSON, which was
made from these sheets, it is no message of its own: its photo goes to the message that is
nearest in time within the session. `write` makes such a sheet from any chat, with one more
column for what the layout lacks (attachments), which `read` understands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

import orjson

from realtalk.chat import Attachment, Chat, Event, Message, Question, Session, pack_extra
from realtalk.corpora.aliases import learn
from realtalk.corpora.published.realtalk import parse_time
from realtalk.corpora.published.record import gathered, in_turn
from realtalk.corpora.published.sheet_writing import ASKED, HEADINGS, unescape, write
from realtalk.corpora.published.workbook import first_rows
from realtalk.corpora.questions import annotated_question, name_of
from realtalk.corpora.reading import Format, Ledger, Leftover, Reading, ReadOptions
from realtalk.corpora.source import Member, Source, holding
from realtalk.errors import RealtalkError

_ID = re.compile(r"D\d+:\d+")
# "Session 2.1" goes on after "Session 2" as a session of its own: the publication counts them
# through, which is why the D-number of an id is not always its session's.
_SESSION = re.compile(r"session\s+\d+(\.\d+)?", re.IGNORECASE)
_DONE = "done"  # what annotators write under a finished session


@dataclass
class _Columns:
    """Where the sheet's first row says things are."""

    speakers: list[tuple[str, int]]  # name and text column; the id stands one to the left
    time: int
    named: dict[str, int]

    def cell(self, row: Sequence[Any], name: str) -> Any:
        place = self.named.get(name.casefold())
        return None if place is None else row[place]


@dataclass
class _SheetDraft:
    """A session while its rows are being read."""

    number: int
    time: datetime | None
    messages: list[Message] = field(default_factory=list)
    photos: list[tuple[str, datetime | None]] = field(default_factory=list)


def _is_ours(member: Member) -> bool:
    rows = _rows(member, limit=1)
    return bool(rows) and _columns(rows[0]) is not None


def _read(source: Source, options: ReadOptions) -> Reading:
    members = source.having(".xlsx")
    if not members:
        raise RealtalkError("holds no .xlsx file", where=str(source.path))
    chats, ledgers = zip(*(_chat(member) for member in in_turn(members, options)), strict=True)
    return gathered(source, "realtalk", chats, ledgers)


def _rows(member: Member, limit: int | None = None) -> list[tuple[Any, ...]]:
    rows = first_rows(member.read(), member.where, limit)
    return [tuple(unescape(v) if isinstance(v, str) else v for v in row) for row in rows]


def _columns(header: Sequence[Any]) -> _Columns | None:
    named = {_plain(value).casefold(): place for place, value in enumerate(header) if value}
    time = named.get(HEADINGS.time.casefold())
    if time is None:
        return None
    speakers = [(_plain(header[place]), place) for place in range(1, time) if header[place]]
    return _Columns(speakers, time, named) if speakers else None


def _chat(member: Member) -> tuple[Chat, Ledger]:
    rows = _rows(member)
    columns = _columns(rows[0]) if rows else None
    if columns is None:
        raise RealtalkError(
            f"the first row has no '{HEADINGS.time}' after the speakers", where=member.where
        )
    drafts: list[_SheetDraft] = []
    events: list[Event] = []
    question_cells: list[tuple[Any, ...]] = []
    leftovers: list[Leftover] = []
    total = system = 0
    for line, row in enumerate(rows[1:], 2):
        question_cells += _asked(row, columns)
        if all(value is None for value in row[: columns.time + 1]):
            continue
        total += 1
        where = f"{member.name}: row {line}"
        if session := _session_of(row, columns):
            # A continuation repeats the date of what it continues: its first message tells.
            stamp = None if session[1] else _first_time(row[2 : columns.time])
            drafts.append(_SheetDraft(len(drafts) + 1, stamp))
            system += 1
        elif _plain(row[0]).casefold() == _DONE:
            system += 1
        elif not drafts:
            leftovers.append(Leftover(where, "stands before the first session"))
        elif _plain(row[0]).casefold() == HEADINGS.events.casefold():
            events += _events(row, columns, drafts[-1].number)
            system += 1
        elif not _take(row, columns, drafts[-1]):
            leftovers.append(Leftover(where, "is not a message, session or events row"))
    if not any(draft.messages for draft in drafts):
        raise RealtalkError("holds no message", where=member.where)
    sessions = tuple(_session(draft) for draft in drafts)
    speakers = tuple(name for name, _ in columns.speakers)
    ids = {message.id for session in sessions for message in session.messages}
    questions = tuple(_questions(question_cells, ids))
    aliases = learn(speakers, sessions, events, questions)
    ledger = Ledger("entries", total, total - system - len(leftovers), system, tuple(leftovers))
    return Chat(member.stem, speakers, sessions, tuple(events), questions, aliases), ledger


def _session_of(row: Sequence[Any], columns: _Columns) -> re.Match[str] | None:
    # A message may say "session 3" too, but it has a time.
    return _SESSION.fullmatch(_plain(row[1])) if row[columns.time] is None else None


def _first_time(cells: Sequence[Any]) -> datetime | None:
    stamps = (parse_time(_plain(cell)) for cell in cells)
    return next((stamp for stamp in stamps if stamp), None)


def _take(row: Sequence[Any], columns: _Columns, draft: _SheetDraft) -> bool:
    """A message or photo row into the session; False where it is neither."""
    time = row[columns.time]
    stamp = time if isinstance(time, datetime) else parse_time(_plain(time))
    for speaker, place in columns.speakers:
        id_ = _plain(row[place - 1])
        if not _ID.fullmatch(id_):
            continue
        text = row[place]
        kept = _kept(columns.cell(row, HEADINGS.attachments))
        if text is None and kept is None:
            draft.photos.append((id_, stamp))
        else:
            draft.messages.append(Message(id_, speaker, stamp, _text(text), kept or ()))
        return True
    return False


def _kept(cell: Any) -> tuple[Attachment, ...] | None:
    """What our own sheets keep beside a message; another sheet's remark is not ours to read."""
    try:
        files = orjson.loads(str(cell))["attachments"] if cell else None
        return None if files is None else tuple(_attachment(file) for file in files)
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None


def _attachment(file: Mapping[str, Any]) -> Attachment:
    return Attachment(*(str(file[key]) for key in ("kind", "name", "url", "caption")))


def _session(draft: _SheetDraft) -> Session:
    first = draft.messages[0].time if draft.messages else None
    return Session(draft.number, draft.time or first, tuple(_with_photos(draft)))


def _with_photos(draft: _SheetDraft) -> Iterator[Message]:
    """Photos go to the message nearest in time, the earlier one where two are equally near."""
    photos_of: dict[int, list[str]] = {}
    for id_, stamp in draft.photos:
        if draft.messages:
            far = [
                (abs((m.time - stamp).total_seconds()) if m.time and stamp else float("inf"), at)
                for at, m in enumerate(draft.messages)
            ]
            photos_of.setdefault(min(far)[1], []).append(id_)
    for at, message in enumerate(draft.messages):
        if photos := photos_of.get(at):
            yield replace(
                message,
                attachments=message.attachments + tuple(Attachment("image") for _ in photos),
                extra=pack_extra({"photo_rows": photos}),
            )
        else:
            yield message


def _events(row: Sequence[Any], columns: _Columns, session: int) -> Iterator[Event]:
    for speaker, place in columns.speakers:
        cell = row[place]
        if cell is None:
            continue
        for line in str(cell).split("\n"):
            mark, colon, text = line.partition(":")
            # The publication's own rule: what stands before the colon is the event's id.
            id_, text = (mark, text) if colon else (line, line)
            extra = pack_extra({} if id_ == "E" else {"id": id_})
            yield Event(session, speaker, text.strip(), extra=extra)


def _asked(row: Sequence[Any], columns: _Columns) -> Iterator[tuple[Any, ...]]:
    cells = tuple(columns.cell(row, name) for name in ASKED)
    if cells[0] is not None:
        yield cells


def _questions(rows: Sequence[tuple[Any, ...]], ids: set[str]) -> Iterator[Question]:
    for index, (question, answer, evidence, category) in enumerate(rows, 1):
        cell = _text(evidence).strip()
        stated = tuple(piece.strip() for piece in re.split(r"[,\n]", cell)) if cell else ()
        number = int(category) if isinstance(category, float) else category
        answer_text = None if answer is None else _text(answer).strip()
        name = name_of("realtalk", number)
        yield annotated_question(
            f"Q{index}", _text(question).strip(), answer_text, name, stated, ids
        )


def _plain(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _text(value: Any) -> str:
    """A cell as its annotator meant it: 9.0 is "9", a date cell "30 December, 2023"."""
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime | date):
        return f"{value.day} {value:%B}, {value.year}"
    return str(value)


FORMAT = Format("REALTALK annotation sheet (XLSX)", holding((".xlsx",), _is_ours), _read, write)
