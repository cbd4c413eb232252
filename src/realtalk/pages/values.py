"""What a page is made of: plain values that know nothing of HTML or of runs.

    Section("ei", "Speaker EI", "22 speakers in 10 chats.",
            tables=(TableView("Facets", ("facet", "mean", "95 % interval"),
                              (("reflective", 0.53, "0.49 … 0.57"),)),),
            charts=(ChartView("Reflective per speaker", {"mark": "bar", "data": {…}, …}),))

A cell is a word, a number or None. None is what could not be measured: it is shown as a
dash and sorted last, never as zero. Text is plain text; the page escapes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from realtalk.cells import Cell

_MOST_ROWS = 400  # what a page can hold and a person look through


@dataclass(frozen=True, slots=True)
class TableView:
    """A table: every row has as many cells as there are headings.

    With `find` it has a field that leaves the rows with what is typed into it; `links` are where
    the first cells of its rows lead, files beside the page.
    """

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    find: bool = False
    links: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a ragged table: its cells would stand under the wrong heading."""
        for row in self.rows:
            if len(row) != len(self.headings):
                raise ValueError(f"{self.title}: {len(row)} cells, {len(self.headings)} headings")


class ChartView(NamedTuple):
    """A chart: a Vega-Lite specification with its data inside."""

    title: str
    spec: Mapping[str, Any]
    note: str = ""


class Section(NamedTuple):
    """A part of the page with its own entry in the contents. `id` is the anchor.

    `depth` 1 is a part of the last section of depth 0: it is set smaller and indented.
    """

    id: str
    title: str
    lead: str = ""
    tables: tuple[TableView, ...] = ()
    charts: tuple[ChartView, ...] = ()
    notes: tuple[str, ...] = ()
    depth: int = 0


class KeyFigure(NamedTuple):
    """One of the few things that matter, for the first screen: a figure and its sentence.

    `figure` is short ("34 %"), `range` is its interval ("95 % interval 28 … 40 %"), `says` is
    a plain sentence, `section` the id of the section that holds the whole table, and `topic`
    a word or two above it all.
    """

    figure: str
    says: str
    range: str = ""
    section: str = ""
    topic: str = ""


def table(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    note: str = "",
    find: bool = False,
) -> TableView:
    """A table; of very many rows the first, and how many there are."""
    if len(rows) > _MOST_ROWS:
        more = f"The first {_MOST_ROWS:,} of {len(rows):,} rows; the run's own files hold them all."
        note = f"{note} {more}".strip()
    rows_shown = tuple(tuple(row) for row in rows[:_MOST_ROWS])
    return TableView(title, tuple(headings), rows_shown, note, find)
