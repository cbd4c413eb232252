"""Dates with the month's name, as older phones wrote them, in numbers.

    "12 Jan 2024, 22:35 - Mara: hi"          → "2024-01-12, 22:35 - Mara: hi"
    "[Jan 12, 2024, 9:05:11 PM] Mara: hi"    → "[2024-01-12, 9:05:11 PM] Mara: hi"
    "12. März 2024 um 22:35 - Mara: hi"      → "2024-03-12 um 22:35 - Mara: hi"

Only the start of a line is looked at. The year comes first in the result, so that nothing
is left to guess about the order.
"""

from __future__ import annotations

import re

import polars as pl

from realtalk.corpora.exports.whatsapp.wording import WORDING

_OPEN = "^([\u200e\u200f\u061c\u202a-\u202e\ufeff]*\\[?)"
_DAY = "([0-9]{1,2})(?:st|nd|rd|th|\\.|º)?"
_YEAR = "([0-9]{4})\\b"


def _patterns() -> list[tuple[str, str]]:
    """What to look for, and what to put there; the groups are opening, day and year."""
    patterns = []
    for number, begins in enumerate(WORDING["months"].split("\n"), 1):
        name = rf"(?i:{begins})\p{{L}}*\.?"
        shape = f"${{1}}${{3}}-{number:02}-${{2}}"
        patterns += [
            (rf"{_OPEN}{_DAY}[ \-/](?:de |of )?{name},?[ \-/](?:de )?{_YEAR}", shape),
            (rf"{_OPEN}{name} {_DAY},? {_YEAR}", shape),
        ]
    return patterns


_PATTERNS = _patterns()
_PLAIN = [
    (re.compile(pattern.replace(r"\p{L}", r"[^\W\d_]")), re.sub(r"\$\{(\d)\}", r"\\g<\1>", shape))
    for pattern, shape in _PATTERNS
]


def line_in_numbers(line: str) -> str:
    """One line; as it is where it begins with no such date."""
    for pattern, shape in _PLAIN:
        if pattern.match(line):
            return pattern.sub(shape, line, count=1)
    return line


def in_numbers(block: pl.Series) -> pl.Series:
    """A column of lines."""
    for pattern, shape in _PATTERNS:
        block = block.str.replace(pattern, shape)
    return block
