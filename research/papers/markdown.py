"""A reproduction → one Markdown text, for a repository's documents.

    markdown(study)    → "# The REALTALK paper, reproduced\\n\\n…| Table 1: … | exact | 6 of 6 …"

It holds what fits a page: verdicts, what has to hold, the paper beside itself, and every table
that is not too wide. The rest is in the CSV files.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from typing import Any

from realtalk.cells import Grid
from research.papers.showing import (
    HOLDING,
    READING,
    figure_grid,
    parity_grid,
    statement_grid,
    verdict_grid,
)
from research.papers.study import Reproduction
from research.papers.values import Exhibit

_WIDEST = 9  # columns that a page holds


def markdown(study: Reproduction, command: str) -> str:
    """The whole text; every line of it comes from the run, which `command` starts again."""
    held = sum(parity.held is True for parity in study.parities)
    known = sum(parity.held is False and parity.known is not None for parity in study.parities)
    parts = [
        "# The REALTALK paper, reproduced",
        f"Made by `{command}`: every table and figure of arXiv:2502.13270 that the "
        "published chats allow, beside the printed figures. Figure 1 is a drawn example and Table "
        "4 tells who took part; neither is in the data. Last comes PersonaConvBench "
        "(arXiv:2505.14106), whose data is not at hand: its claims, on other threads.",
        f"{held} of {len(study.parities)} parities hold, {known} fail as recorded. "
        + ", ".join(f"{name} {version}" for name, version in study.versions.items())
        + "; EI labels: "
        + " ".join(str(value) for value in study.settings["labels"].values())
        + f", on a processor of the kind {platform.machine()}: on another kind their figures may "
        "differ in the second or third decimal.",
        "## Verdicts",
        table(*verdict_grid(study)),
        "## What has to hold",
        HOLDING,
        table(*parity_grid(study)),
        "## The paper beside its own tables and data",
        table(*statement_grid(study)),
        *(part for exhibit in study.exhibits for part in _exhibit(exhibit)),
    ]
    return "\n\n".join(parts) + "\n"


def _exhibit(exhibit: Exhibit) -> list[str]:
    parts = [f"## {exhibit.title}", f"**{exhibit.verdict.kind}**: {exhibit.verdict.line}"]
    grids: Sequence[tuple[str, Grid]] = exhibit.grids
    if exhibit.figures:
        grids = (("", figure_grid(exhibit.figures, intervals=False)), *grids)
    for title, grid in grids:
        if len(grid.headings) > _WIDEST:
            where = f"`tables/{exhibit.id}*.csv`"
            parts.append(f"{title or 'Printed and measured'}: {len(grid.rows)} rows, in {where}.")
            continue
        if title:
            parts.append(f"{title}:")
        parts.append(table(*grid))
        if "" in grid.headings:
            parts.append(f"({READING})")
    if exhibit.notes:
        parts.append("\n".join(f"- {note}" for note in exhibit.notes))
    return parts


def table(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown; nothing in a cell can break it."""
    lines: list[Sequence[Any]] = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(value: Any) -> str:
    text = "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
    return text.replace("|", "\\|").replace("\n", " ")
