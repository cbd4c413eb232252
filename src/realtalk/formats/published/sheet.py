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

import io
import re
import zipfile
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from realtalk.chat import (
    Attachment,
    Chat,
    Corpus,
    Event,
    Message,
    Question,
    Session,
    pack_extra,
    unpack_extra,
)
from realtalk.errors import RealtalkError
from realtalk.files.writing import atomic_path, file_stems
from realtalk.formats.limits import VARIABLE, Allowance, scale
from realtalk.formats.published.realtalk import learn, parse_time, stamp
from realtalk.formats.published.record import Part, corpus_format
from realtalk.formats.questions import annotated_question, name_of, number_of
from realtalk.formats.reading import Ledger, Leftover
from realtalk.formats.source import UNPACKING_ERRORS, FormatFiles, Member
from realtalk.grouping import grouped
from realtalk.text.calendars import MONTHS

# The first sheet of an .xlsx file as rows of text.
#
#     first_rows(member)
#     → [(None, "Mara", None, "Theo", "Date, Time"), ("D1:1", "hey", None, None, "2026-03-02 …"), …]
#
# The library lays a sheet out as a full rectangle of cells, so a few kilobytes with one cell far
# off could ask for all memory: the parts of the file are measured before it is let near them.

_MOST_CELLS = 3_000_000  # with the empty ones between
# Rows that are written out: so many in any file, beyond that one for so many bytes on disk.
_LEAST_ROWS, _ROW_BYTES = 50_000, 8
_PIECE = 1 << 18
_ROW = re.compile(rb"<(?:\w+:)?row\b")
_CELL = re.compile(rb"<(?:\w+:)?c\b")
_PLACE = re.compile(rb"""\sr\s*=\s*["']\s*([A-Za-z]{0,9})([0-9]{0,9})""")


def first_rows(member: Member, limit: int | None = None) -> list[tuple[str | None, ...]]:
    """The rows of the first sheet, or the first `limit`, all of one width; dates in ISO form."""
    import fastexcel

    data = member.read()
    try:
        _check_parts(data, member.where)
        sheet = fastexcel.read_excel(data).load_sheet(
            0, header_row=None, n_rows=limit, dtypes="string"
        )
        return sheet.to_polars().rows()
    except RealtalkError:
        raise
    except (fastexcel.FastExcelError, *UNPACKING_ERRORS) as error:
        raise member.error("not a readable .xlsx file", "save it again, or as .csv") from error


def _check_parts(data: bytes, where: str) -> None:
    """Refuses a file whose parts, rows or cells are out of proportion to its size."""
    allowance = Allowance(len(data), where)
    most_rows = scale(max(_LEAST_ROWS, len(data) // _ROW_BYTES))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            measure, part, rows = allowance.measure(name), bytearray(), 0
            with archive.open(name) as stream:
                while piece := stream.read(_PIECE):
                    measure(piece)
                    part += piece
                    rows += len(_ROW.findall(piece))
                    if rows > most_rows:
                        raise RealtalkError(
                            f"has more than {most_rows:,} rows, which is out of proportion to its "
                            "size",
                            where=where,
                            fix=f"if you trust it, set {VARIABLE}=10",
                        )
            if rows and _cells(bytes(part)) > scale(_MOST_CELLS):
                raise RealtalkError(
                    f"has more than {_MOST_CELLS:,} cells with the empty ones", where=where
                )


def _cells(part: bytes) -> int:
    """How many cells the rectangle has at most that holds every cell of a sheet."""
    rows = _ROW.split(part)[1:]
    places = _PLACE.findall(part)
    height = max(len(rows), *(int(number or 0) for _, number in places), 0)
    farthest = max((_column(letters) for letters, _ in places), default=0)
    return height * (farthest + max(len(_CELL.findall(row)) for row in rows))


def _column(letters: bytes) -> int:
    """The number of column "AB", from 1."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - ord("A") + 1
    return number


# A chat as an annotation sheet (XLSX) that a person can fill in.
#
#     write(corpus, folder) → folder/<chat>.xlsx, one per chat; the layout is in `sheet`
#
# Message text is data: a text that begins with "=" is written as text, never as a formula.


# The words of the layout, shared by reader and writer.
_TIME, _EVENTS, _ATTACHMENTS = "Date, Time", "Events", "Attachments"
_ASKED = ("Question", "Answer", "Evidence", "Category")
_CELL_LIMIT = 32_767  # Excel's; openpyxl would cut the text silently
# Of a row of a sheet: what stands in which of its columns; and the columns by their names.
_Cells = dict[int, Any]
_Places = dict[str, int]


# XML cannot hold control characters: Excel writes _x0007_ for them, and _x005F_ for the
# underscore of a text that really says "_x0007_".
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")


def escape(text: str) -> str:
    """A text as a cell can hold it."""
    return _FORBIDDEN.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def write(corpus: Corpus, folder: Path) -> tuple[Path, ...]:
    """One workbook per chat."""
    return tuple(
        _write_chat(chat, folder / f"{stem}.xlsx")
        for stem, chat in zip(file_stems(corpus), corpus.chats, strict=True)
    )


def _write_chat(chat: Chat, path: Path) -> Path:
    import openpyxl
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    columns = _layout_columns(chat)
    # All of them first: a text that does not fit stops here.
    rows = [
        ({place: _cell_value(value, chat) for place, value in values.items() if value}, heavy)
        for values, heavy in _layout(chat, columns)
    ]
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    widths = {f"text {name}": 52 for name in chat.speakers}
    widths |= {_ASKED[0]: 36, _ASKED[1]: 36, _TIME: 20}
    for name, width in widths.items():
        sheet.column_dimensions[get_column_letter(columns[name] + 1)].width = width
    sheet.freeze_panes = "A2"
    wrap, bold = Alignment(wrap_text=True, vertical="top"), Font(bold=True)
    for values, heavy in rows:
        cells: list[Any] = [None] * (columns[_ATTACHMENTS] + 1)
        for place, value in values.items():
            cell = WriteOnlyCell(sheet, value=value)
            if isinstance(value, str):
                cell.data_type = "s"  # also where it looks like a formula
            cell.alignment = wrap
            if heavy:
                cell.font = bold
            cells[place] = cell
        sheet.append(cells)
    with atomic_path(path) as temporary:
        book.save(temporary)
    return path


def _cell_value(value: Any, chat: Chat) -> Any:
    """What a cell can hold of a value; a text that does not fit is an error."""
    if not isinstance(value, str):
        return value
    if len(value) > _CELL_LIMIT:
        raise RealtalkError(
            f"a text of {len(value):,} characters does not fit a cell ({_CELL_LIMIT:,} at most)",
            where=f"chat {chat.id}",
            fix="export with `to=realtalk` or jsonl",
        )
    return escape(value)


def _layout(chat: Chat, columns: _Places) -> Iterator[tuple[_Cells, bool]]:
    head = {columns[name]: name for name in (_TIME, *_ASKED, _ATTACHMENTS)}
    yield head | {columns[f"text {name}"]: name for name in chat.speakers}, True
    dated = columns[_TIME] - 1
    if len(chat.speakers) > 1:
        dated = columns[f"text {chat.speakers[1]}"]  # where the published sheets have it
    questions = deque(chat.questions)
    for session in chat.sessions:
        yield {}, False
        yield {1: f"Session {session.number}", dated: stamp(session.time)}, True
        yield {}, False
        yield {0: _EVENTS} | _event_cells(chat, session.number, columns), False
        yield {}, False
        for message in session.messages:
            cells = _message_cells(message, columns)
            if questions:
                cells |= _question_cells(questions.popleft(), columns)
            yield cells, False
    for question in questions:
        yield _question_cells(question, columns), False


def _layout_columns(chat: Chat) -> _Places:
    """Two columns per speaker, then the published layout's order and gaps."""
    columns = {f"text {name}": 2 * place + 1 for place, name in enumerate(chat.speakers)}
    time = 2 * len(chat.speakers)
    columns[_TIME] = time
    columns |= {name: time + 3 + place for place, name in enumerate(_ASKED)}
    columns[_ATTACHMENTS] = time + 8
    return columns


def _event_cells(chat: Chat, session: int, columns: _Places) -> _Cells:
    cells: _Cells = {}
    for name in chat.speakers:
        lines = [
            f"{unpack_extra(event.extra).get('id', 'E')}: {event.text}"
            for event in chat.events
            if event.kind == "event" and event.session == session and event.speaker == name
        ]
        cells[columns[f"text {name}"]] = "\n".join(lines)
    return cells


def _message_cells(message: Message, columns: _Places) -> _Cells:
    place = columns[f"text {message.speaker}"]
    cells: _Cells = {place - 1: message.id, place: message.text}
    cells[columns[_TIME]] = stamp(message.time)
    # A row without text is a photo's, unless something stands here.
    if message.attachments or not message.text:
        files = [asdict(file) for file in message.attachments]
        cells[columns[_ATTACHMENTS]] = orjson.dumps({"attachments": files}).decode()
    return cells


def _question_cells(question: Question, columns: _Places) -> _Cells:
    cells = (
        question.text,
        question.answer,
        ", ".join(question.stated or question.evidence),
        number_of("realtalk", question.category) or question.category,
    )
    return {columns[name]: cell for name, cell in zip(_ASKED, cells, strict=True)}


_ID = re.compile(r"D\d+:\d+")
# "Session 2.1" goes on after "Session 2" as a session of its own: the publication counts them
# through, which is why the D-number of an id is not always its session's.
_SESSION = re.compile(r"session\s+\d+(\.\d+)?", re.IGNORECASE)
_CELL_DATE = "%Y-%m-%d %H:%M:%S"  # how a cell that holds a date is written as text
_DONE = "done"  # what annotators write under a finished session


@dataclass
class _Columns:
    """Where the sheet's first row says things are."""

    speakers: list[tuple[str, int]]  # name and text column; the id stands one to the left
    time: int
    places: _Places

    def cell(self, row: Sequence[Any], name: str) -> Any:
        place = self.places.get(name.casefold())
        return None if place is None else row[place]


@dataclass
class _SheetDraft:
    """A session while its rows are being read."""

    number: int
    time: datetime | None
    messages: list[Message] = field(default_factory=list)
    photos: list[Message] = field(default_factory=list)


def _is_ours(member: Member) -> bool:
    rows = first_rows(member, limit=1)
    return bool(rows) and _columns(rows[0]) is not None


def _columns(header: Sequence[Any]) -> _Columns | None:
    places = {_plain(value).casefold(): place for place, value in enumerate(header) if value}
    time = places.get(_TIME.casefold())
    if time is None:
        return None
    speakers = [(_plain(header[place]), place) for place in range(1, time) if header[place]]
    return _Columns(speakers, time, places) if speakers else None


def _chat(member: Member) -> Part:
    rows = first_rows(member)
    columns = _columns(rows[0]) if rows else None
    if columns is None:
        raise member.error(f"the first row has no '{_TIME}' after the speakers")
    drafts: list[_SheetDraft] = []
    events: list[Event] = []
    question_cells: list[tuple[Any, ...]] = []
    leftovers: list[Leftover] = []
    total = system = 0
    for line, row in enumerate(rows[1:], 2):
        cells = tuple(columns.cell(row, name) for name in _ASKED)
        if cells[0] is not None:
            question_cells.append(cells)
        if all(value is None for value in row[: columns.time + 1]):
            continue
        total += 1
        where = f"{member.name}: row {line}"
        # A message may say "session 3" too, but it has a time.
        session = _SESSION.fullmatch(_plain(row[1])) if row[columns.time] is None else None
        if session:
            # A continuation repeats the date of what it continues: its first message tells.
            times = () if session[1] else map(_moment, row[2 : columns.time])
            drafts.append(_SheetDraft(len(drafts) + 1, next(filter(None, times), None)))
            system += 1
        elif _plain(row[0]).casefold() == _DONE:
            system += 1
        elif not drafts:
            leftovers.append(Leftover(where, "stands before the first session"))
        elif _plain(row[0]).casefold() == _EVENTS.casefold():
            events += _events(row, columns, drafts[-1].number)
            system += 1
        elif not _take(row, columns, drafts[-1]):
            leftovers.append(Leftover(where, "is not a message, session or events row"))
    if not any(draft.messages for draft in drafts):
        raise member.error("holds no message")
    sessions = tuple(_session(draft) for draft in drafts)
    speakers = tuple(name for name, _ in columns.speakers)
    ids = {message.id for session in sessions for message in session.messages}
    questions = tuple(_questions(question_cells, ids))
    aliases = learn(speakers, sessions, events, questions)
    chat = Chat(member.stem, speakers, sessions, tuple(events), questions, aliases)
    return [chat], Ledger.of(total - len(leftovers) - system, leftovers, system)


def _take(row: Sequence[Any], columns: _Columns, draft: _SheetDraft) -> bool:
    """A message or photo row into the session; False where it is neither."""
    time = _moment(row[columns.time])
    for speaker, place in columns.speakers:
        id_ = _plain(row[place - 1])
        if not _ID.fullmatch(id_):
            continue
        text = row[place]
        files = _files(columns.cell(row, _ATTACHMENTS))
        kind = draft.photos if text is None and files is None else draft.messages
        kind.append(Message(id_, speaker, time, text or "", files or ()))
        return True
    return False


def _files(cell: Any) -> tuple[Attachment, ...] | None:
    """What our own sheets keep beside a message; another sheet's remark is not ours to read."""
    try:
        files = orjson.loads(str(cell))["attachments"] if cell else None
        keys = ("kind", "name", "url", "caption")
        return files and tuple(Attachment(*(str(file[key]) for key in keys)) for file in files)
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None


def _session(draft: _SheetDraft) -> Session:
    """Photos go to the message nearest in time, the earlier one where two are equally near."""
    messages = draft.messages
    photos_of = grouped(
        (min(range(len(messages)), key=lambda at: _far(messages[at], photo)), photo.id)
        for photo in (draft.photos if messages else ())
    )
    first = messages[0].time if messages else None
    for at, photos in photos_of.items():
        files = (*messages[at].attachments, *(Attachment("image") for _ in photos))
        extra = pack_extra({"photo_rows": photos})
        messages[at] = replace(messages[at], attachments=files, extra=extra)
    return Session(draft.number, draft.time or first, tuple(messages))


def _far(message: Message, photo: Message) -> timedelta:
    if message.time is None or photo.time is None:
        return timedelta.max
    return abs(message.time - photo.time)


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


def _questions(rows: Sequence[tuple[Any, ...]], ids: set[str]) -> Iterator[Question]:
    for index, (question, answer, evidence, category) in enumerate(rows, 1):
        cell = _text(evidence).strip()
        stated = tuple(piece.strip() for piece in re.split(r"[,\n]", cell)) if cell else ()
        answer_text = None if answer is None else _text(answer).strip()
        name = name_of("realtalk", category)
        yield annotated_question(
            f"Q{index}", _text(question).strip(), answer_text, name, stated, ids
        )


def _plain(value: Any) -> str:
    return "" if value is None else str(value).strip()


def _moment(cell: Any) -> datetime | None:
    """A time as the layout writes it, or as a program keeps it in a cell of its own kind."""
    return parse_time(cell, _CELL_DATE) or parse_time(cell)


def _text(value: str | None) -> str:
    """A cell as its annotator meant it: a date cell is "30 December, 2023"."""
    day = parse_time(value, _CELL_DATE)
    return value or "" if day is None else f"{day.day} {MONTHS[day.month - 1]}, {day.year}"


FORMAT = corpus_format(
    "REALTALK annotation sheet (XLSX)",
    "realtalk",
    FormatFiles((".xlsx",), _is_ours, "holds no .xlsx file"),
    _chat,
    write,
)
