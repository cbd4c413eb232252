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
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from xml.parsers import expat

from realtalk.corpora.archives import UNPACKING_ERRORS
from realtalk.corpora.limits import VARIABLE, Allowance, Measure, raised
from realtalk.errors import RealtalkError

_MOST_CELLS = 3_000_000  # with the empty ones between: one cell far off asks for millions
_MOST_COLUMNS, _MOST_ROWS = 1 << 14, 1 << 20  # what the format allows
# Rows that are written out: so many in any file, beyond that one for so many bytes on disk.
_LEAST_ROWS, _ROW_BYTES = 50_000, 8
_DEEPEST = 100  # tags inside each other
_PIECE = 1 << 18
_TEXT = frozenset({"t", "v"})


class _Unreadable(Exception):
    """XML that no office program writes."""


class _Tag(NamedTuple):
    """The begin or the end of a tag, without its namespace; at the end of a value, its text."""

    name: str
    given: Mapping[str, str]
    ends: bool
    text: str = ""

    def get(self, key: str, default: str = "") -> str:
        return self.given.get(key, default)


class _Book:
    """An open file: its parts, measured together."""

    def __init__(self, data: bytes, where: str) -> None:
        self._archive = zipfile.ZipFile(io.BytesIO(data))
        self._allowance = Allowance(len(data), where)
        self._where = where
        self._most_rows = raised(max(_LEAST_ROWS, len(data) // _ROW_BYTES))
        self._names = {name.lower(): name for name in self._archive.namelist()}

    def _pieces(self, name: str) -> Iterator[bytes]:
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

    def check_rows(self, name: str) -> None:
        """Refuses a sheet of rows of nothing: to count them takes a hundredth of reading them."""
        rows = 0
        for piece in self._pieces(name):
            rows += piece.count(b"<row")
            if rows > self._most_rows:
                raise RealtalkError(
                    f"has more than {self._most_rows:,} rows, which is out of proportion to its "
                    "size",
                    where=self._where,
                    fix=f"if you trust it, set {VARIABLE}=10",
                )

    def tags(self, name: str) -> Iterator[list[_Tag]]:
        """The tags of a part, as many at a time as one piece of it holds."""
        tags: list[_Tag] = []
        around: list[tuple[str, Mapping[str, str]]] = []
        text: list[str] = []
        parser = expat.ParserCreate()
        parser.buffer_text = True

        def start(name: str, given: dict[str, str]) -> None:
            plain = name.rpartition(":")[2]
            around.append((plain, given))
            if len(around) > _DEEPEST:
                raise _Unreadable
            if plain in _TEXT:
                text.clear()
                parser.CharacterDataHandler = text.append
            tags.append(_Tag(plain, given, ends=False))

        def end(_: str) -> None:
            plain, given = around.pop()
            value = "".join(text) if plain in _TEXT else ""
            if plain in _TEXT:
                parser.CharacterDataHandler = None
            tags.append(_Tag(plain, given, ends=True, text=value))

        def refuse(*_: Any) -> None:
            raise _Unreadable

        parser.StartElementHandler, parser.EndElementHandler = start, end
        # A document type can define entities that grow without end; office programs write none.
        parser.StartDoctypeDeclHandler = refuse
        some = False
        for piece in self._pieces(name):
            some = True
            parser.Parse(piece, False)
            yield tags
            tags.clear()
        if some:
            parser.Parse(b"", True)
            yield tags

    def ends(self, name: str) -> Iterator[tuple[_Tag, bool]]:
        """The ends of all tags of a part, and whether they lie in its cell styles or reading aids.

        How a word is pronounced stands beside it.
        """
        inside = 0
        for tag in (tag for tags in self.tags(name) for tag in tags):
            if tag.name in ("cellXfs", "rPh"):
                inside += -1 if tag.ends else 1
            elif tag.ends:
                yield tag, inside > 0


def first_rows(data: bytes, where: str, limit: int | None = None) -> list[tuple[Any, ...]]:
    """The rows of the first sheet, or the first `limit`, each at least as wide as the first."""
    try:
        book = _Book(data, where)
        target, strings, epoch_1904 = _first_sheet(book)
        if limit is None:
            book.check_rows(target)
        sheet = _Sheet(_shared(book, strings), _dated(book), epoch_1904, where)
        for tags in book.tags(target):
            for tag in tags:
                sheet.take(tag)
            if limit is not None and len(sheet.rows) >= limit:
                return sheet.padded()[:limit]
        return sheet.padded()
    except RealtalkError:
        raise
    except (expat.ExpatError, _Unreadable, IndexError, OverflowError, *UNPACKING_ERRORS) as error:
        raise RealtalkError("not a readable .xlsx file", where=where) from error


def _first_sheet(book: _Book) -> tuple[str, str, bool]:
    """The paths of the first sheet and of the shared strings, and from which year dates count."""
    names: list[str] = []
    epochs: list[str] = []
    for tag, _ in book.ends("xl/workbook.xml"):
        if tag.name == "sheet":
            ids = (value for key, value in tag.given.items() if key.rpartition(":")[2] == "id")
            names.append(next(ids, ""))
        elif tag.name == "workbookPr":
            epochs.append(tag.get("date1904"))
    targets: dict[str, str] = {}
    strings: list[str] = []
    for tag, _ in book.ends("xl/_rels/workbook.xml.rels"):
        path = posixpath.normpath(posixpath.join("/xl", tag.get("Target"))).lstrip("/")
        kind = tag.get("Type").rpartition("/")[2] if tag.name == "Relationship" else ""
        if kind == "worksheet":
            targets[tag.get("Id")] = path
        elif kind == "sharedStrings":
            strings.append(path)
    first = next((targets[name] for name in names if name in targets), None)
    if first is None:
        raise KeyError("no sheet")
    return first, strings[0] if strings else "", epochs[:1] in (["1"], ["true"])


def _shared(book: _Book, name: str) -> list[str]:
    texts: list[str] = []
    pieces: list[str] = []
    for tag, in_reading_aid in book.ends(name) if name else ():
        if tag.name == "t" and not in_reading_aid:
            pieces.append(tag.text)
        elif tag.name == "si":
            texts.append("".join(pieces))
            pieces.clear()
    return texts


def _dated(book: _Book) -> list[bool]:
    """Of each style of a cell, whether its number is a date."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS, is_date_format

    formats: dict[str, str] = {str(number): form for number, form in BUILTIN_FORMATS.items()}
    styles: list[bool] = []
    for tag, of_cells in book.ends("xl/styles.xml"):
        if tag.name == "numFmt":
            formats[tag.get("numFmtId")] = tag.get("formatCode")[:255]
        elif tag.name == "xf" and of_cells:
            styles.append(bool(is_date_format(formats.get(tag.get("numFmtId"), "General"))))
    return styles


class _Sheet:
    """Rows and cells, of which a sheet may leave out the empty ones."""

    def __init__(self, strings: list[str], dated: list[bool], epoch_1904: bool, where: str) -> None:
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

    def take(self, tag: _Tag) -> None:
        if tag.ends:
            self._end(tag)
        elif tag.name == "row":
            number = tag.get("r")
            gap = int(number) - 1 - len(self.rows) if number[:10].isdecimal() else 0
            if gap > 0:
                self._count(gap)
                self.rows += [()] * gap
            self._row, self._column = {}, 0
        elif tag.name == "c":
            self._column = _column(tag.get("r")) or self._column + 1
            if self._column > _MOST_COLUMNS:
                raise _Unreadable
            self._value, self._pieces = None, []

    def _end(self, tag: _Tag) -> None:
        if tag.name == "v":
            self._value = tag.text
        elif tag.name == "t":
            self._pieces.append(tag.text)
        elif tag.name == "c":
            value = self._of(tag.get("t", "n"), tag.get("s", "0"))
            if value is not None:
                self._row[self._column] = value
        elif tag.name == "row":
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
