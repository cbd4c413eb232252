"""A table that is to be printed: headings and rows of plain values.

Grid.of([{"speaker": "Mara", "n": 1}])   → Grid(["speaker", "n"], [["Mara", 1]])
Grid(["speaker", "chat", "n"], [["Mara", "a", 1], ["Mara", "b", 2]]).told_apart()
→ Grid(["speaker, chat", "n"], [["Mara, a", 1], ["Mara, b", 2]])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

Cell = str | int | float | None
_NAMING = 3  # columns, at most, that together name a row


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
