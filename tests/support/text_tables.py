"""Cases as a table in text, a line each: what is tried and what is expected of it.

rows('''
last friday | 2024-01-12     # a comment
next friday | 2024-01-19
''')  → [("last friday", "2024-01-12"), ("next friday", "2024-01-19")]
"""

from __future__ import annotations

import re


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
