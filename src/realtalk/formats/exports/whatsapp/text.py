"""The bytes of an export as a column of lines, whatever its encoding and line ends.

    lines(b"\\xef\\xbb\\xbf12/07/2017, 22:35 - Mara: hi\\r\\nthere")
    → ExportLines(["12/07/2017, 22:35 - Mara: hi", "there"], repaired=0)

Only LF, CRLF and (where there is no LF at all) CR end a line: people paste U+2028, form
feeds and the like into messages. Text in UTF-8 never becomes one Python string, which would take
four bytes per character as soon as there is an emoji.
"""

from __future__ import annotations

import codecs
import io
from functools import partial
from typing import NamedTuple

import polars as pl

from realtalk.formats.json_input import decode
from realtalk.formats.source import utf16

_PIECE = 1 << 20  # letters that are a Python string at a time
_REPLACED = "\ufffd".encode()


class ExportLines(NamedTuple):
    """The lines of a file, and what was wrong with its encoding."""

    lines: pl.Series
    repaired: int  # bytes that were no valid text and became U+FFFD
    guessed: bool = False  # no UTF-8 at all: read as Windows-1252


def head(data: bytes) -> str:
    """The start of a file as text with plain line ends, for telling formats apart."""
    text = decode(data).replace("\r\n", "\n")
    return text if "\n" in text else text.replace("\r", "\n")


def lines(data: bytes) -> ExportLines:
    """Every line of the file, without its end."""
    repaired = 0
    guessed = False
    if wide := utf16(data):
        text = data.decode(wide, "replace")
        repaired = text.count("\ufffd")
        data = text.encode("utf-8", "replace")
        del text
    data = data.removeprefix(codecs.BOM_UTF8)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
        if b"\n" not in data:
            data = data.replace(b"\r", b"\n")
    data = data.removesuffix(b"\n")
    if not data:
        return ExportLines(pl.Series(dtype=pl.String), repaired)
    try:
        column = pl.Series([data]).cast(pl.String)
    except pl.exceptions.PolarsError:  # not UTF-8
        # Where not one character of it is, an editor has saved it in the old way.
        guessed = data.decode("utf-8", "ignore").isascii()
        valid = _repair(data, "cp1252" if guessed else "utf-8")
        repaired += 0 if guessed else valid.count(_REPLACED) - data.count(_REPLACED)
        column = pl.Series([valid]).cast(pl.String)
    return ExportLines(column.str.split("\n").explode(), repaired, guessed)


def _repair(data: bytes, encoding: str) -> bytes:
    """The same as valid UTF-8, piece by piece."""
    stream = io.TextIOWrapper(io.BytesIO(data), encoding, "replace", newline="")
    return b"".join(piece.encode() for piece in iter(partial(stream.read, _PIECE), ""))
