"""Headings and rows, as the rooms make them → tables of the page.

table("Every chat", *chat_rows(stats))                 → TableView
stacked("Cost", "memory", {"recent": rows, "whole": rows})
→ a table whose first column says which run a row is of; two where headings differ
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from realtalk.report.values import TableView

_MOST_ROWS = 400  # what a page can hold and a person look through


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
    shown = tuple(tuple(row) for row in rows[:_MOST_ROWS])
    return TableView(title, tuple(headings), shown, note, find)


def stacked(
    title: str,
    first: str,
    parts: Mapping[str, tuple[Sequence[str], Sequence[Sequence[Any]]]],
    *,
    note: str = "",
) -> tuple[TableView, ...]:
    """Tables of one form under each other. Those of another form are tables of their own."""
    forms: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for name, (headings, rows) in parts.items():
        forms.setdefault(tuple(headings), []).extend((name, *row) for row in rows)
    forms_with_rows = [(headings, rows) for headings, rows in forms.items() if rows]
    return tuple(
        table(
            title if len(forms_with_rows) == 1 else f"{title} ({number} of {len(forms_with_rows)})",
            (first, *headings),
            rows,
            note=note,
        )
        for number, (headings, rows) in enumerate(forms_with_rows, 1)
    )
