"""What a file holds by its first bytes, for files whose name does not say it.

    ending(b'{"name": "Ann", "messages": [')         → ".json"
    ending(b'{"speaker": "Ann"}\\n{"speaker": ...')   → ".jsonl"
    ending(b"AuthorID,Author,Date,Content")          → ".csv"
    ending(b"12/07/2017, 22:35 - Mara: hi")          → ".txt"
    ending(b"SQLite format 3\\0")                    → ".db"
    ending(b"\\x89PNG")                               → ""

People rename exports, mail programs take the ending off, and a pipe has no name at all.
"""

from __future__ import annotations

import codecs
import re

import orjson

_DATABASE = b"SQLite format 3\0"
_JSON = re.compile(r"\s*(?:\{|\[\s*[\[{])")
_PAGE = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)
# A line of column names: words, and nothing that a date or a sentence is made of.
_COLUMNS = re.compile(r'"?[^\W\d][\w \-]*"?(?:([,;\t])"?[^\W\d][\w \-]*"?)+\s*')


def utf16(data: bytes) -> str:
    """The byte order of UTF-16 text, also of one without a mark ("" for other text)."""
    if data.startswith(codecs.BOM_UTF16_LE) or data.startswith(codecs.BOM_UTF16_BE):
        return "utf-16"
    head = data[:512]
    if len(head) < 8:
        return ""
    # Dates, times and signs stand in one byte of the two; other text has no zero bytes.
    if head[1::2].count(0) * 3 > len(head[1::2]) and not head[0::2].count(0):
        return "utf-16-le"
    if head[0::2].count(0) * 3 > len(head[0::2]) and not head[1::2].count(0):
        return "utf-16-be"
    return ""


def ending(head: bytes) -> str:
    """The ending that a file with this head deserves; "" where it is no text."""
    if head.startswith(_DATABASE):
        return ".db"
    wide = utf16(head)
    if not wide and b"\0" in head:
        return ""
    text = head.decode(wide or "utf-8-sig", "replace")
    if _JSON.match(text):
        return ".jsonl" if _is_lines(text) else ".json"
    if _PAGE.match(text):
        return ".html"
    first = text.lstrip("\r\n").partition("\n")[0].rstrip("\r")
    columns = _COLUMNS.fullmatch(first)
    if columns is not None and _goes_on(text.lstrip("\r\n"), columns[1]):
        return ".tsv" if columns[1] == "\t" else ".csv"
    return ".txt" if text.strip() else ""


def _is_lines(text: str) -> bool:
    """Whether the first line is an object of its own and another one follows."""
    first, _, rest = text.lstrip().partition("\n")
    if not rest.lstrip().startswith("{"):
        return False
    try:
        return isinstance(orjson.loads(first), dict)
    except orjson.JSONDecodeError:
        return False


def _goes_on(text: str, delimiter: str) -> bool:
    """Whether what follows the names of columns is a row; a chat may be titled "Ann,Bo"."""
    rows = [line for line in text.split("\n", 20)[1:20] if line.strip()]
    return not rows or delimiter in rows[0] or '"' in rows[0]
