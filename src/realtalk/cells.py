"""Tables to print, and a value of one as people write it: one rule for page, terminal, notebook.

    cell_text(17109.84)   → "17,109.8"        cell_text(0.5)       → "0.5"
    cell_text(21.345)     → "21.35"           cell_text(0.03416)   → "0.034"
    cell_text(None)       → "–"               cell_text(0.0000034) → "3.4e-06"
    duration(2.2)         → "2.2 min"         size(97_500_000)     → "97.5 MB"
    Grid.of([{"speaker": "Mara", "n": 1}])   → Grid(["speaker", "n"], [["Mara", 1]])
    Grid(["speaker", "chat", "n"], [["Mara", "a", 1], ["Mara", "b", 2]]).told_apart()
    → Grid(["speaker, chat", "n"], [["Mara, a", 1], ["Mara, b", 2]])

One decimal from a hundred on, two below, and below a tenth two digits that say something: what
is small is never shown as nothing. A dash stands for what could not be measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

NOTHING = "–"
_LARGE, _SMALL = 100, 0.1
Cell = str | int | float | None
_NAMING = 3  # columns, at most, that together name a row
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def is_nothing(value: Any) -> bool:
    """Whether there is no value to show."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def cell_text(value: Any) -> str:
    """Numbers with their digits grouped, truth as yes and no, all else as it is."""
    if is_nothing(value):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return _number(value)
    return str(value)


def _number(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    size = abs(value)
    if size >= _LARGE:
        return f"{value:,.1f}"
    if 0 < size < _SMALL:
        return f"{value:.2g}"
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def size(count: int) -> str:
    """ "512 B", "1.0 kB", "97.5 MB" or "1.1 GB"."""
    value, units = float(count), ["B", "kB", "MB", "GB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.1f} {units[0]}" if units[0] != "B" else f"{count} B"


def duration(minutes: float) -> str:
    """ "45 s", "2.2 min", "27.9 h" or "3.1 d": the unit that a person would use."""
    seconds = minutes * 60
    for least, size, unit in ((2 * 86400, 86400, "d"), (3600, 3600, "h"), (60, 60, "min")):
        if seconds >= least:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


class Grid(NamedTuple):
    """A table to print: headings, and one list of values per row."""

    headings: list[str]
    rows: list[list[Cell]]

    @classmethod
    def of(cls, rows: Sequence[Mapping[str, Cell]]) -> Grid:
        """A table of rows that each name their columns; no row has no headings."""
        return cls(list(rows[0]) if rows else [], [list(row.values()) for row in rows])

    def told_apart(self) -> Grid:
        """The same with a first column that no two rows share, as far as joining can do that.

        A wide table is printed in parts that each begin with the first column alone: of two
        rows called "Mara" nobody could say there which chat each belongs to.
        """
        for size in range(1, min(_NAMING, len(self.headings)) + 1):
            names = [
                ", ".join("–" if cell is None else str(cell) for cell in row[:size] if cell != "")
                for row in self.rows
            ]
            if len(set(names)) == len(names):
                break
        else:
            return self
        if size == 1:
            return self
        headings = [", ".join(self.headings[:size]), *self.headings[size:]]
        rows = zip(names, self.rows, strict=True)
        return Grid(headings, [[name, *row[size:]] for name, row in rows])
