"""The bytes of an export as a column of lines, whatever its encoding and line ends.

    lines(b"\\xef\\xbb\\xbf12/07/2017, 22:35 - Mara: hi\\r\\nthere")
    → ExportLines(["12/07/2017, 22:35 - Mara: hi", "there"], repaired=0)

Only LF, CRLF and (where there is no LF at all) CR end a line: people paste U+2028, form
feeds and the like into messages. The bytes never become one Python string, which would
take four bytes per character as soon as there is an emoji.
"""

from __future__ import annotations

import array
import codecs
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from realtalk.formats.json_input import decode
from realtalk.formats.source import utf16

_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class ExportLines:
    """Lines in blocks (so that blocks can be worked on side by side), and repaired blocks."""

    blocks: tuple[pl.Series, ...]
    repaired: int  # bytes that were no valid text and became U+FFFD
    guessed: bool = False  # no UTF-8 at all: read as Windows-1252

    @property
    def count(self) -> int:
        return sum(len(block) for block in self.blocks)


def head(data: bytes) -> str:
    """The start of a file as text with plain line ends, for telling formats apart."""
    text = decode(data).replace("\r\n", "\n")
    return text if "\n" in text else text.replace("\r", "\n")


def lines(data: bytes) -> ExportLines:
    """Every line of the file, without its end."""
    repaired = 0
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
        return ExportLines((), repaired)
    with ThreadPoolExecutor(max_workers=min(4, os.cpu_count() or 1)) as pool:
        split = list(pool.map(_split, _blocks(data)))
    repaired += (broken := sum(count for _, count in split))
    if broken and data.decode("utf-8", "ignore").isascii():
        # Not one character of it is UTF-8, so an editor has saved it in the old way.
        repaired_lines = lines(data.decode("cp1252", "replace").encode())
        return ExportLines(repaired_lines.blocks, 0, guessed=True)
    return ExportLines(tuple(block for block, _ in split), repaired)


def _split(block: pl.Series) -> tuple[pl.Series, int]:
    """A block's lines, and how many bytes of it were no text."""
    repaired = 0
    try:
        text = block.cast(pl.String)
    except pl.exceptions.PolarsError:  # not UTF-8
        whole = block[0].decode("utf-8", "replace")
        repaired = whole.count("\ufffd") - block[0].count("\ufffd".encode())
        text = pl.Series([whole], dtype=pl.String)
    return text.str.split("\n").explode(), repaired


def _blocks(data: bytes) -> list[pl.Series]:
    # Cut after line ends; a block leaves out its own last line end. The columns share the
    # bytes instead of copying them.
    shared = pa.py_buffer(data)
    blocks: list[pl.Series] = []
    start = 0
    while start <= len(data):
        end = data.find(b"\n", start + _BLOCK) if start + _BLOCK < len(data) else -1
        end = len(data) if end < 0 else end
        offsets = pa.py_buffer(array.array("q", (start, end)))
        column = pa.Array.from_buffers(pa.large_binary(), 1, [None, offsets, shared])
        blocks.append(pl.Series(column))
        start = end + 1
    return blocks
