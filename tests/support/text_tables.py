"""Cases as a table in text, a line each: what is tried and what is expected of it.

rows('''
last friday | 2024-01-12     # a comment
next friday | 2024-01-19
''')  → [("last friday", "2024-01-12"), ("next friday", "2024-01-19")]

@cases('''
    text        | days             # the names of the arguments
    last friday | 7
    whenever    | null             # a cell is JSON where it reads as such, else its own text
''')
"""

from __future__ import annotations

import json
import re
from typing import Any

import pytest


def lines(table: str) -> list[str]:
    """The lines that hold something, without comments."""
    texts = (re.sub(r"\s+# .*", "", line).strip() for line in table.splitlines())
    return [text for text in texts if text]


def rows(table: str) -> list[tuple[str, ...]]:
    """The cells of every line, which "|" parts."""
    return [tuple(cell.strip() for cell in line.split("|")) for line in lines(table)]


def unescaped(cell: str) -> bytes:
    r"""The bytes that a cell spells: "\x89PNG\n" of a raw table."""
    return cell.encode().decode("unicode_escape").encode("latin-1")


def cases(table: str) -> pytest.MarkDecorator:
    """The test for each line of the table, whose first line names the arguments."""
    names, *cells = rows(table)
    return pytest.mark.parametrize(names, [tuple(map(_value, line)) for line in cells])


def records(table: str) -> list[dict[str, Any]]:
    """The same lines as dictionaries."""
    names, *cells = rows(table)
    return [dict(zip(names, map(_value, line), strict=True)) for line in cells]


def _value(cell: str) -> Any:
    try:
        return json.loads(cell)
    except ValueError:
        return cell


def spoken(talk: str) -> tuple[tuple[str, str], ...]:
    """Who says what, line by line: "Mara: hi" → ("Mara", "hi")."""
    return tuple((who, text) for who, _, text in (line.partition(": ") for line in lines(talk)))
