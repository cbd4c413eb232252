"""A table and a screen's width → parts that fit, with no word and no figure torn in two.

    parts(("score", "figure", "n"), [("f1", "0.844 [0.684, 1.000]", 51)], 80)
    → [Part((0, 1, 2), (5, 20, 2))]          columns side by side, and how wide each is
    parts(columns, rows, 40)                 → two parts, each headed by the first column

Columns that do not fit beside each other stand below each other. A cell of many words may be
wrapped between them; a figure with its interval is never wrapped. A table of which even two columns
do not fit has no parts: its rows are written one cell per line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_BETWEEN = 3  # letters from one column to the next
_EDGE = 2  # at the left and the right of a table
_PROSE = 28  # letters, from which a cell may be wrapped
_FIGURE = re.compile(r"[+\-–<]?\s?[\d.,]+%?(\s(±|of)\s[\d.,]+)?(\s\[[^\]]*\])?(\s\w+)?")


class Part(NamedTuple):
    """Columns that stand side by side, and their widths."""

    columns: tuple[int, ...]
    widths: tuple[int, ...]


class _Column(NamedTuple):
    least: int  # letters that it needs
    whole: int  # letters with which nothing is wrapped


def parts(headings: Sequence[str], rows: Sequence[Sequence[str]], screen: int) -> list[Part]:
    """The parts of a table whose cells are written already; none where two columns do not fit."""
    columns = [
        _column([heading, *(row[at] for row in rows)]) for at, heading in enumerate(headings)
    ]
    groups: list[list[int]] = [[0]]
    for at in range(1, len(columns)):
        if len(groups[-1]) > 1 and _least(columns, [*groups[-1], at]) > screen:
            groups.append([0])
        groups[-1].append(at)
    if any(_least(columns, group) > screen for group in groups):
        return []
    return [Part(tuple(group), _widths(columns, group, screen)) for group in groups]


def _column(cells: Sequence[str]) -> _Column:
    from rich.cells import cell_len

    whole = max(map(cell_len, cells))
    least = 0
    for text in cells:
        wrapped = len(text) > _PROSE and not _FIGURE.fullmatch(text)
        words = [*text.split(), " " * _PROSE] if wrapped else [text]
        least = max(least, *map(cell_len, words))
    return _Column(least, whole)


def _least(columns: Sequence[_Column], group: Sequence[int]) -> int:
    return sum(columns[at].least + _BETWEEN for at in group) - _BETWEEN + _EDGE


def _widths(columns: Sequence[_Column], group: Sequence[int], screen: int) -> tuple[int, ...]:
    """What each column needs; what is left goes to those that would be wrapped, in turn."""
    widths = {at: columns[at].least for at in group}
    spare = screen - _least(columns, group)
    while spare > 0 and (short := [at for at in group if widths[at] < columns[at].whole]):
        for at in short[:spare]:
            widths[at] += 1
            spare -= 1
    return tuple(widths[at] for at in group)
