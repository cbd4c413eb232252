"""A chat as an annotation sheet (XLSX) that a person can fill in.

    write(corpus, folder) → folder/<chat>.xlsx, one per chat; the layout is in `sheet`

Message text is data: a text that begins with "=" is written as text, never as a formula.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from realtalk.chat import Chat, Corpus, Message, Question, unpack_extra
from realtalk.corpora.published.realtalk import TIME
from realtalk.corpora.questions import number_of
from realtalk.errors import RealtalkError
from realtalk.local.writing import atomic_path, file_stems


@dataclass(frozen=True)
class Headings:
    """The words of the layout, shared by reader and writer."""

    time: str = "Date, Time"
    events: str = "Events"
    question: str = "Question"
    answer: str = "Answer"
    evidence: str = "Evidence"
    category: str = "Category"
    attachments: str = "Attachments"


HEADINGS = Headings()
ASKED = (HEADINGS.question, HEADINGS.answer, HEADINGS.evidence, HEADINGS.category)
_CELL_LIMIT = 32_767  # Excel's; openpyxl would cut the text silently


# XML cannot hold control characters: Excel writes _x0007_ for them, and _x005F_ for the
# underscore of a text that really says "_x0007_".
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


def escape(text: str) -> str:
    """A text as a cell can hold it."""
    return _FORBIDDEN.sub(lambda match: f"_x{ord(match[0]):04X}_", text)


def unescape(text: str) -> str:
    """The text that `escape`, or Excel, was given."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text)


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

    columns = _columns(chat)
    rows = list(_rows(chat, columns))  # all of them first: a text that does not fit stops here
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Sheet1")
    widths = {f"text {name}": 52 for name in chat.speakers}
    widths |= {HEADINGS.question: 36, HEADINGS.answer: 36, HEADINGS.time: 20}
    for name, width in widths.items():
        sheet.column_dimensions[get_column_letter(columns[name] + 1)].width = width
    sheet.freeze_panes = "A2"
    wrap, bold = Alignment(wrap_text=True, vertical="top"), Font(bold=True)
    for values, heavy in rows:
        cells: list[Any] = [None] * (columns[HEADINGS.attachments] + 1)
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


def _rows(chat: Chat, columns: dict[str, int]) -> Iterator[tuple[dict[int, Any], bool]]:
    """Cells by place, and whether the row is a heading."""
    for values, heavy in _layout(chat, columns):
        filled = {place: value for place, value in values.items() if value not in (None, "")}
        for place, value in filled.items():
            if isinstance(value, str):
                if len(value) > _CELL_LIMIT:
                    raise RealtalkError(
                        f"a text of {len(value):,} characters does not fit a cell "
                        f"({_CELL_LIMIT:,} at most)",
                        where=f"chat {chat.id}",
                        fix="export with --to realtalk or jsonl",
                    )
                filled[place] = escape(value)
        yield filled, heavy


def _layout(chat: Chat, columns: dict[str, int]) -> Iterator[tuple[dict[int, Any], bool]]:
    head = {columns[name]: name for name in (HEADINGS.time, *ASKED, HEADINGS.attachments)}
    yield head | {columns[f"text {name}"]: name for name in chat.speakers}, True
    dated = columns[HEADINGS.time] - 1
    if len(chat.speakers) > 1:
        dated = columns[f"text {chat.speakers[1]}"]  # where the published sheets have it
    questions = deque(chat.questions)
    for session in chat.sessions:
        yield {}, False
        yield {1: f"Session {session.number}", dated: _stamp(session.time)}, True
        yield {}, False
        yield {0: HEADINGS.events} | _event_cells(chat, session.number, columns), False
        yield {}, False
        for message in session.messages:
            cells = _message_cells(message, columns)
            if questions:
                cells |= _question_cells(questions.popleft(), columns)
            yield cells, False
    for question in questions:
        yield _question_cells(question, columns), False


def _columns(chat: Chat) -> dict[str, int]:
    """Two columns per speaker, then the published layout's order and gaps."""
    columns = {f"text {name}": 2 * place + 1 for place, name in enumerate(chat.speakers)}
    time = 2 * len(chat.speakers)
    columns[HEADINGS.time] = time
    columns |= {name: time + 3 + place for place, name in enumerate(ASKED)}
    columns[HEADINGS.attachments] = time + 8
    return columns


def _stamp(time: datetime | None) -> str | None:
    return None if time is None else time.strftime(TIME)


def _event_cells(chat: Chat, session: int, columns: dict[str, int]) -> dict[int, Any]:
    cells: dict[int, Any] = {}
    for name in chat.speakers:
        lines = [
            f"{unpack_extra(event.extra).get('id', 'E')}: {event.text}"
            for event in chat.events
            if event.kind == "event" and event.session == session and event.speaker == name
        ]
        cells[columns[f"text {name}"]] = "\n".join(lines)
    return cells


def _message_cells(message: Message, columns: dict[str, int]) -> dict[int, Any]:
    place = columns[f"text {message.speaker}"]
    cells: dict[int, Any] = {place - 1: message.id, place: message.text}
    cells[columns[HEADINGS.time]] = _stamp(message.time)
    # A row without text is a photo's, unless something stands here.
    if message.attachments or not message.text:
        files = [asdict(file) for file in message.attachments]
        cells[columns[HEADINGS.attachments]] = orjson.dumps({"attachments": files}).decode()
    return cells


def _question_cells(question: Question, columns: dict[str, int]) -> dict[int, Any]:
    cells = (
        question.text,
        question.answer,
        ", ".join(question.stated or question.evidence),
        number_of("realtalk", question.category) or question.category,
    )
    return {columns[name]: cell for name, cell in zip(ASKED, cells, strict=True)}
