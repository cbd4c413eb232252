"""A reproduction → tables for a terminal, CSV files, pictures and one page.

    figure_grid(exhibit.figures)    → Grid(["", "days", ...], [["Chat_1_…", "18 (-3)", ...], ...])
    write(study, Path("reproduced"))
    → reproduced/tables/*.csv, figures/*, reproduced.json, reproduced.html

A figure that comes out as printed stands alone; beside any other stands how far it is off.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from realtalk.cells import Grid
from realtalk.describe.figures import save_figures
from realtalk.files.writing import write_json, write_text
from realtalk.pages.sections import render
from realtalk.pages.values import ChartView, KeyFigure, Section, table
from research.papers.study import Reproduction
from research.papers.values import Exhibit, PaperFigure, Parity

HOLDING = (
    "What has to come out as published. A failure that is recorded with its reason stays a "
    "failure; the command exits with 1 where one is not recorded. Figures of Table 7 have to be "
    "half way from those of a dummy that knows each chat's mean to perfect, and beyond the dummy's "
    "when whole chats are drawn."
)
READING = (
    "a figure alone is as printed; in parentheses stands how far another is from the printed one"
)
_LISTED = 12  # figures that fit as one line each
_COLUMNS = ["row", "column", "published", "measured", "low", "high", "n", "difference"]
_COLUMNS += ["state", "unscored"]  # of a figure in a file


def figure_grid(figures: Sequence[PaperFigure], intervals: bool = True) -> Grid:
    """Few figures on one line each; many as the paper has them, one row per chat or speaker."""
    columns = list(dict.fromkeys(figure.column for figure in figures))
    if len(figures) <= _LISTED or len(columns) == 1:
        return _listed(figures)
    rows: dict[str, dict[str, str | None]] = {}
    for figure in figures:
        rows.setdefault(figure.row, {})[figure.column] = _cell(figure, intervals)
    return Grid(
        ["", *columns],
        [[name, *(row.get(column) for column in columns)] for name, row in rows.items()],
    )


def _cell(figure: PaperFigure, intervals: bool) -> str | None:
    if figure.measured is None:
        return None
    text = figure.shown(figure.measured)
    if intervals and figure.low is not None and figure.high is not None:
        text += f" [{figure.shown(figure.low)}, {figure.shown(figure.high)}]"
    return text if figure.state == "exact" else f"{text} ({_off(figure)})"


def _off(figure: PaperFigure) -> str:
    """How far from the printed figure; none where it comes out as printed."""
    off = figure.difference or 0.0
    return "0" if figure.state == "exact" else f"{off:+,.{figure.digits or 0}f}"


def _listed(figures: Sequence[PaperFigure]) -> Grid:
    rows = []
    for each in figures:
        known = each.low is not None and each.high is not None
        interval = f"{each.shown(each.low or 0)} … {each.shown(each.high or 0)}" if known else None
        rows.append(
            {
                "of": each.row,
                "figure": each.column,
                "printed": each.shown(each.published),
                "here": None if each.measured is None else each.shown(each.measured),
                "95 % interval": interval,
                "n": each.n,
                "difference": None if each.measured is None else _off(each),
                "verdict": each.unscored if each.state == "unscored" else each.state,
            }
        )
    return Grid.of(rows)


def verdict_grid(study: Reproduction) -> Grid:
    """One line per table or figure of the paper."""
    rows: list[list[Any]] = [
        [each.title, each.verdict.kind, each.verdict.line] for each in study.exhibits
    ]
    return Grid(["part of the paper", "verdict", "how"], rows)


def parity_grid(study: Reproduction) -> Grid:
    """What has to come out, whether it does, and why not where that is known."""
    rows: list[list[Any]] = [
        [each.name, each.wanted, each.reached, _now(each), each.known] for each in study.parities
    ]
    return Grid(["parity", "has to be", "reached", "now", "known failure, because"], rows)


def _now(parity: Parity) -> str:
    if parity.held is None:
        return "not tested"
    if parity.held:
        return "holds, recorded as failing" if parity.mended else "holds"
    return "BROKEN" if parity.broken else "fails"


def statement_grid(study: Reproduction) -> Grid:
    """Sentences of the paper beside what its own tables and data give."""
    rows: list[list[Any]] = [
        [each.where, "yes" if each.agrees else "no", each.says, each.found]
        for each in study.statements
    ]
    return Grid(["where", "agrees", "the paper says", "its tables and data give"], rows)


def write(study: Reproduction, folder: Path) -> list[Path]:
    """Everything but the pictures' own files: CSV, JSON and the page."""
    tables = folder / "tables"
    written = [
        _csv(tables / "verdicts.csv", verdict_grid(study)),
        _csv(tables / "parities.csv", parity_grid(study)),
        _csv(tables / "statements.csv", statement_grid(study)),
    ]
    for each in study.exhibits:
        if each.figures:
            rows = [[figure.to_json()[name] for name in _COLUMNS] for figure in each.figures]
            written.append(_csv(tables / f"{each.id}.csv", Grid(_COLUMNS, rows)))
        for number, (_, grid) in enumerate(each.grids, 1):
            written.append(_csv(tables / f"{each.id}-more-{number}.csv", grid))
    written.append(write_json(folder / "reproduced.json", study.to_json()))
    written.append(write_text(folder / "reproduced.html", _page(study)))
    return written


def write_pictures(study: Reproduction, folder: Path) -> list[Path]:
    """PNG, SVG and HTML of every chart."""
    charts = {each.id: each.chart for each in study.exhibits if each.chart is not None}
    return save_figures(charts, folder / "figures")


def _csv(path: Path, grid: Grid) -> Path:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows([grid.headings, *grid.rows])
    return write_text(path, buffer.getvalue())


def _page(study: Reproduction) -> str:
    agreed = sum(each.agrees for each in study.statements)
    sections = [
        Section(
            "verdicts",
            "Every table and figure",
            f"{len(study.exhibits)} parts of the paper, each beside what was measured here. "
            "Figure 1 is a drawn example and Table 4 tells who took part, which is not in the "
            "data: neither is reproduced. PersonaConvBench's claims come last.",
            (table("Verdicts", *verdict_grid(study)),),
        ),
        Section("parities", "What has to hold", HOLDING, (table("Parities", *parity_grid(study)),)),
        Section(
            "statements",
            "The paper beside its own tables and data",
            f"{agreed} of {len(study.statements)} statements agree with them.",
            (table("Statements", *statement_grid(study)),),
        ),
        *map(_section, study.exhibits),
    ]
    return render(
        "The REALTALK paper, reproduced",
        sections,
        made={name: str(value) for name, value in study.versions.items()},
        lead="Lee et al. (2025), arXiv:2502.13270, table by table: printed figures beside those "
        "measured on this machine from the published chats.",
        key_figures=_key_figures(study),
    )


def _section(exhibit: Exhibit) -> Section:
    tables = [table(title, *grid) for title, grid in exhibit.grids]
    if exhibit.figures:
        note = ""
        if len(exhibit.figures) > _LISTED:
            note = _sentence(READING)
            if any(figure.low is not None for figure in exhibit.figures):
                note += " In brackets: 95 % intervals."
        tables.insert(0, table("Printed and measured", *figure_grid(exhibit.figures), note=note))
    charts = () if exhibit.chart is None else (ChartView(exhibit.title, exhibit.chart.to_dict()),)
    return Section(
        exhibit.id,
        exhibit.title,
        _sentence(str(exhibit.verdict)),
        tuple(tables),
        charts,
        tuple(map(_sentence, exhibit.notes)),
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _key_figures(study: Reproduction) -> list[KeyFigure]:
    """How much holds, of Table 7 too, and where the paper is at odds with itself."""
    figures = []
    tested = [each for each in study.parities if each.held is not None]
    if tested:
        held = sum(each.held is True for each in tested)
        says = "things that have to come out as published do."
        figures.append(KeyFigure(f"{held} of {len(tested)}", says, section="parities"))
    facets = {each.name.split(", ")[1] for each in tested if each.name.startswith("Table 7, ")}
    if facets:
        kept = {
            what: sum(_kept(tested, facet, what) for facet in facets) for what in ("order", "scale")
        }
        says = (
            "facets of Table 7 order speakers better than knowing their chat alone does; "
            f"{kept['scale']} of them come out on its scale."
        )
        figures.append(KeyFigure(f"{kept['order']} of {len(facets)}", says, section="table-7"))
    if study.statements:
        off = sum(not each.agrees for each in study.statements)
        says = "statements that were checked do not agree with the paper's own tables or chats."
        figures.append(KeyFigure(f"{off} of {len(study.statements)}", says, section="statements"))
    return figures


def _kept(tested: Sequence[Parity], facet: str, what: str) -> bool:
    """Whether a facet of Table 7 holds over all and within circles."""
    own = [each for each in tested if each.name.startswith(f"Table 7, {facet}, {what} ")]
    return all(each.held is True for each in own)
