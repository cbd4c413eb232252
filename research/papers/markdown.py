"""Headings and rows → a table in Markdown.

table(["facet", "r"], [["empathy", 0.93]])    → "| facet | r |\\n| --- | --- |\\n| empathy | 0.93 |"
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown; nothing in a cell can break it."""
    lines: list[Sequence[Any]] = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: Any) -> str:
    text = "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")
