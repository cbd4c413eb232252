"""The first sheet of an .xlsx file as rows of values, in one pass.

    first_rows(data, "annotate.xlsx")
    → [(None, "Mara", None, "Theo", "Date, Time"), ("D1:1", "hey", None, None, datetime(...)), ...]

Only what a sheet says is read: strings, numbers, dates, truth values. openpyxl, which writes our
sheets, reads every part of a book into objects, and a few kilobytes of styles or far-off cells keep
it busy for minutes; here each part is measured while it is unpacked (`limits`).
"""

from __future__ import annotations

import io
import posixpath
import zipfile
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any
from xml.parsers import expat

from realtalk.corpora.archives import UNPACKING_ERRORS
from realtalk.corpora.limits import Allowance, Measure, raised
from realtalk.errors import RealtalkError

__all__ = ["first_rows"]

_MOST_CELLS = 3_000_000  # with the empty ones between: one cell far off asks for millions
_MOST_COLUMNS, _MOST_ROWS = 1 << 14, 1 << 20  # what the format allows
_DEEPEST = 100  # tags inside each other
_PIECE = 1 << 18
_TEXT = frozenset({"t", "v"})


class _Unreadable(Exception):
    """XML that no office program writes."""


class _Walk:
    """Tags of one part with their attributes and text, without their namespaces.

    `ended` is called at the end of each tag: its name, attributes, and the text in it where that
    is a string or a value.
    """

    def __init__(self, ended: Callable[[str, Mapping[str, str], str], None]) -> None:
        self._ended = ended
        self._open: list[tuple[str, Mapping[str, str]]] = []
        self._text: list[str] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        # A document type can define entities that grow without end; office programs write none.
        self.parser.StartDoctypeDeclHandler = self._refuse

    def _refuse(self, *_: Any) -> None:
        raise _Unreadable

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        plain = name.rpartition(":")[2]
        self._open.append((plain, attributes))
        if len(self._open) > _DEEPEST:
            raise _Unreadable
        if plain in _TEXT:
            self._text = []
            self.parser.CharacterDataHandler = self._text.append
        self.began(plain, attributes)

    def _end(self, _: str) -> None:
        plain, attributes = self._open.pop()
        text = ""
        if plain in _TEXT:
            text = "".join(self._text)
            self.parser.CharacterDataHandler = None
        self._ended(plain, attributes, text)

    def began(self, name: str, attributes: Mapping[str, str]) -> None:
        """For those who need to know where a tag begins."""


class _Book:
    """An open file: its parts, measured together."""

    def __init__(self, data: bytes, where: str) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        self._allowance = Allowance(len(data), where)
        self._names = {name.lower(): name for name in self._archive.namelist()}

    def pieces(self, name: str) -> Iterator[bytes]:
        """The bytes of a part; nothing where it does not exist."""
        known = self._names.get(name.lower())
        if known is None:
            return
        measure = Measure()
        with self._archive.open(known) as stream:
            while piece := stream.read(_PIECE):
                measure.add(piece)
                self._allowance.note(known, measure)
                yield piece

    def walk(self, name: str, walk: _Walk) -> None:
        some = False
        for piece in self.pieces(name):
            walk.parser.Parse(piece, False)
            some = True
        if some:
            walk.parser.Parse(b"", True)


def first_rows(data: bytes, where: str, limit: int | None = None) -> list[tuple[Any, ...]]:
    """The rows of the first sheet, or the first `limit`, each at least as wide as the first."""
    try:
        book = _Book(data, where)
        target, strings, epoch_1904 = _first_sheet(book)
        sheet = _Sheet(_shared(book, strings), _dated(book), epoch_1904, where)
        for piece in book.pieces(target):
            sheet.parser.Parse(piece, False)
            if limit is not None and len(sheet.rows) >= limit:
                return sheet.padded()[:limit]
        sheet.parser.Parse(b"", True)
        return sheet.padded()
    except RealtalkError:
        raise
    except (expat.ExpatError, _Unreadable, IndexError, OverflowError, *UNPACKING_ERRORS) as error:
        raise RealtalkError("not a readable .xlsx file", where=where) from error


def _first_sheet(book: _Book) -> tuple[str, str, bool]:
    """The paths of the first sheet and of the shared strings, and from which year dates count."""
    names: list[str] = []
    epoch: list[str] = []

    def listed(tag: str, given: Mapping[str, str], _: str) -> None:
        if tag == "sheet":
            names.append(next((v for k, v in given.items() if k.rpartition(":")[2] == "id"), ""))
        elif tag == "workbookPr":
            epoch.append(given.get("date1904", ""))

    targets: dict[str, str] = {}
    sheets: set[str] = set()
    strings: list[str] = []

    def related(tag: str, given: Mapping[str, str], _: str) -> None:
        if tag == "Relationship":
            path = posixpath.normpath(posixpath.join("/xl", given.get("Target", ""))).lstrip("/")
            kind = given.get("Type", "").rpartition("/")[2]
            if kind == "worksheet":
                sheets.add(given.get("Id", ""))
                targets[given.get("Id", "")] = path
            elif kind == "sharedStrings":
                strings.append(path)

    book.walk("xl/workbook.xml", _Walk(listed))
    book.walk("xl/_rels/workbook.xml.rels", _Walk(related))
    first = next((targets[name] for name in names if name in sheets), None)
    if first is None:
        raise KeyError("no sheet")
    return first, strings[0] if strings else "", epoch[:1] in (["1"], ["true"])


def _shared(book: _Book, name: str) -> list[str]:
    texts: list[str] = []
    pieces: list[str] = []
    reading_aid: list[int] = []  # how a word is pronounced stands beside it

    class _Strings(_Walk):
        def began(self, name: str, _: Mapping[str, str]) -> None:
            if name == "rPh":
                reading_aid.append(1)

    def ended(tag: str, _: Mapping[str, str], text: str) -> None:
        if tag == "t" and not reading_aid:
            pieces.append(text)
        elif tag == "rPh":
            reading_aid.pop()
        elif tag == "si":
            texts.append("".join(pieces))
            pieces.clear()

    if name:
        book.walk(name, _Strings(ended))
    return texts


def _dated(book: _Book) -> list[bool]:
    """Of each style of a cell, whether its number is a date."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format

    formats: dict[str, str] = {str(number): form for number, form in BUILTIN_FORMATS.items()}
    styles: list[bool] = []
    inside: list[int] = []

    class _Styles(_Walk):
        def began(self, name: str, _: Mapping[str, str]) -> None:
            if name == "cellXfs":
                inside.append(1)

    def ended(tag: str, given: Mapping[str, str], _: str) -> None:
        if tag == "numFmt":
            formats[given.get("numFmtId", "")] = given.get("formatCode", "")[:255]
        elif tag == "cellXfs":
            inside.pop()
        elif tag == "xf" and inside:
            styles.append(bool(is_date_format(formats.get(given.get("numFmtId", ""), "General"))))

    book.walk("xl/styles.xml", _Styles(ended))
    return styles


class _Sheet(_Walk):
    """Rows and cells, of which a sheet may leave out the empty ones."""

    def __init__(self, strings: list[str], dated: list[bool], epoch_1904: bool, where: str) -> None:
        super().__init__(self._close)
        self.rows: list[tuple[Any, ...]] = []
        self._strings = strings
        self._dated = dated
        self._epoch_1904 = epoch_1904
        self._where = where
        self._row: dict[int, Any] = {}
        self._column = 0
        self._value: str | None = None
        self._pieces: list[str] = []
        self._cells = 0

    def padded(self) -> list[tuple[Any, ...]]:
        width = len(self.rows[0]) if self.rows else 0
        self._count(sum(max(0, width - len(row)) for row in self.rows))
        return [row + (None,) * (width - len(row)) for row in self.rows]

    def _count(self, cells: int) -> None:
        self._cells += cells
        if len(self.rows) > _MOST_ROWS:
            raise _Unreadable
        if self._cells > raised(_MOST_CELLS):
            raise RealtalkError(
                f"has more than {_MOST_CELLS:,} cells with the empty ones", where=self._where
            )

    def began(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "row":
            number = attributes.get("r", "")
            gap = int(number) - 1 - len(self.rows) if number[:10].isdecimal() else 0
            if gap > 0:
                self._count(gap)
                self.rows += [()] * gap
            self._row, self._column = {}, 0
        elif name == "c":
            self._column = _column(attributes.get("r", "")) or self._column + 1
            if self._column > _MOST_COLUMNS:
                raise _Unreadable
            self._value, self._pieces = None, []

    def _close(self, name: str, attributes: Mapping[str, str], text: str) -> None:
        if name == "v":
            self._value = text
        elif name == "t":
            self._pieces.append(text)
        elif name == "c":
            value = self._of(attributes.get("t", "n"), attributes.get("s", "0"))
            if value is not None:
                self._row[self._column] = value
        elif name == "row":
            width = max(self._row, default=0)
            self._count(1 + width)
            self.rows.append(tuple(self._row.get(place) for place in range(1, width + 1)))

    def _of(self, kind: str, style: str) -> Any:
        """A cell's value as its type says."""
        if kind == "inlineStr":
            return "".join(self._pieces) if self._pieces else None
        text = self._value
        if text is None or text == "":
            return None
        if kind == "s":
            place = int(text)
            return self._strings[place] if place >= 0 else None
        if kind == "b":
            return text not in ("0", "false")
        if kind == "d":
            return _moment(text)
        return text if kind in ("str", "e") else self._number(text, style)

    def _number(self, text: str, style: str) -> Any:
        from openpyxl.utils.datetime import MAC_EPOCH, WINDOWS_EPOCH, from_excel

        value = float(text) if any(sign in text for sign in ".eE") else int(text)
        place = int(style) if style.isdecimal() else 0
        if place < len(self._dated) and self._dated[place]:
            try:
                return from_excel(value, MAC_EPOCH if self._epoch_1904 else WINDOWS_EPOCH)
            except (ValueError, OverflowError):
                return value
        return value


def _moment(text: str) -> datetime | str:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=None)
    except ValueError:
        return text


def _column(reference: str) -> int:
    """The column of "AB12", from 1; 0 where there is none."""
    number = 0
    for letter in reference[:3]:
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
