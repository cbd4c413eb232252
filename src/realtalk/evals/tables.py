"""Figures of runs → tables for people, in one look for every benchmark.

    ResultTable("retrieved: scores", frame, ("2 questions are unscored",))
    figure(Estimate(0.844, 0.684, 1.0), 3)             → "0.844 [0.684, 1.000]"
    figure(average([0.2, 0.4, 0.9]), 2)                → "0.50 ± 0.36 [0.20, 0.90]"
    run_tables({"recent": run, "retrieved": other})    → [ResultTable, …]: one per kind of score
    compared_table({"500t": compared}, run.scores, …)  one line per score: difference, ratio, test

A ResultTable is a polars frame with a title and notes, for a prompt, a notebook and a page. Cells
are written as the command and the page write them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from realtalk.evals.comparing import RunComparison
from realtalk.evals.values import COUNTS, Fact, Lines, Reference, Runs, Score
from realtalk.grouping import grouped
from realtalk.metrics.statistics import Change, Estimate, interval_after
from realtalk.notebook import plural, table_html, table_text

if TYPE_CHECKING:
    import polars as pl


_WHOLE = frozenset({"n", "groups", "unscored", *COUNTS})
_TEXTS = frozenset(
    {
        *("variant", "group", "score", "measure", "facet", "first_label"),
        *("part", "model", "currency", "unpriced"),
    }
)
_MANY = 100  # from here on a fact is shown with one digit behind the point


class ResultTable:
    """A table of figures. `frame` is polars; `.to_pandas()` is one call away."""

    def __init__(
        self,
        title: str,
        frame: pl.DataFrame,
        notes: Sequence[str] = (),
        details: Mapping[str, Any] | None = None,
        lines: Lines | None = None,
    ) -> None:
        self.title = title
        self.frame = frame
        self.notes = tuple(notes)
        self._details = details
        self._lines = lines

    def __len__(self) -> int:
        return self.frame.height

    @property
    def lines(self) -> Lines:
        """Headings and rows as they are printed: those of the frame, or fewer and rounded."""
        return self._lines or (tuple(self.frame.columns), self.frame.rows())

    def to_json(self) -> dict[str, Any]:
        """The title, every row, the notes, and whatever else is known of the figures."""
        return {
            "title": self.title,
            "rows": self.frame.to_dicts(),
            "notes": list(self.notes),
            **(self._details or {}),
        }

    def __repr__(self) -> str:
        return table_text(self.title, *self.lines, self.notes)

    def _repr_html_(self) -> str:
        return table_html(self.title, *self.lines, self.notes)


def frame_of(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Rows as a frame with these columns: names are text, counts whole, all else numbers."""
    import polars as pl

    def kind(name: str) -> Any:
        return pl.String if name in _TEXTS else pl.Int64 if name in _WHOLE else pl.Float64

    schema = {name: kind(name) for name in columns}
    return pl.DataFrame([{name: row.get(name) for name in columns} for row in rows], schema=schema)


def table_of(title: str, lines: Lines, notes: Sequence[str] = ()) -> ResultTable:
    """Headings and rows as a table; a column holds whole numbers or texts."""
    import polars as pl

    headings, rows = lines
    columns = []
    for at, name in enumerate(headings):
        cells = [row[at] for row in rows]
        if all(isinstance(cell, int | None) for cell in cells):
            columns.append(pl.Series(name, cells, pl.Int64))
        else:
            texts = [None if cell is None else str(cell) for cell in cells]
            columns.append(pl.Series(name, texts, pl.String))
    return ResultTable(title, pl.DataFrame(columns), notes)


def figure(fact: Fact, digits: int = 3) -> str | None:
    """A figure with its interval, an average also with its deviation; None where there is none."""
    if not isinstance(fact, Estimate):
        return None if fact is None else f"{fact:,.{1 if abs(fact) >= _MANY else digits}f}"
    if fact.value is None:
        return None
    deviation = getattr(fact, "sd", None)
    text = f"{fact.value:.{digits}f}" + ("" if deviation is None else f" ± {deviation:.{digits}f}")
    return text + interval_after(fact, f"{{:.{digits}f}}".format)


def figure_text(row: Mapping[str, Any]) -> str | None:
    """The figure of a row of a summary with its interval in one cell."""
    return figure(Estimate(row["estimate"], row["low"], row["high"]))


def run_tables(runs: Runs, *, groups: bool = True, published: bool = True) -> list[ResultTable]:
    """Runs of one benchmark side by side: a line per run and variant, a table per kind of score.

    With `groups` also every value of the slice: a category, a speaker, a domain. `published`
    figures of papers stand below. A run on what a shipped part learned from is marked.
    """
    benchmark = next(iter(runs.values())).benchmark
    references = [
        reference
        for reference in benchmark.references(runs)
        if published or not reference.published
    ]
    marked = {f"{name} (in-sample)" if run.in_sample else name: run for name, run in runs.items()}
    scores = {score.name: score for run in runs.values() for score in run.scores}
    kinds = grouped((score.table, score) for score in scores.values() if score.shown)
    tables: list[ResultTable] = []
    for kind, own in kinds.items():
        lines = _summary_lines(marked, own, references, facts=not tables)
        notes = () if tables else (benchmark.reading,)
        tables.append(table_of(kind or benchmark.name, lines, notes))
    sliced = benchmark.group if benchmark.slices == "group" else benchmark.slices
    for kind, own in kinds.items() if groups and sliced else ():
        lines = _slice_lines(marked, own, references, sliced)
        tables.append(table_of(f"{kind or benchmark.name}, by {sliced}", lines))
    return [*tables, *(table_of(title, lines) for title, lines in benchmark.tables(runs).items())]


def _summary_lines(
    runs: Runs, scores: Sequence[Score], references: Sequence[Reference], facts: bool
) -> Lines:
    benchmark = next(iter(runs.values())).benchmark
    parts = [part for run in runs.values() for part in run.variants.values() if facts]
    fact_names = list(dict.fromkeys(name for part in parts for name in part.facts))
    rows: list[tuple[Any, ...]] = []
    for name, run in runs.items():
        for variant, summary in run.variants.items():
            about = (summary.groups, *(figure(summary.facts.get(fact)) for fact in fact_names))
            counts = f"{summary.scored:,} of {summary.with_truth:,}"
            if cells := _cells(summary.overall, scores):
                rows.append((name, variant, counts, *about, *cells))
            if cells and summary.unscored and (cells := _cells(summary.strict, scores)):
                rows.append((f"{name}, strict", variant, f"{summary.with_truth:,}", *about, *cells))
    rows += _reference_rows(references, "", (None, None), fact_names, scores)
    words = (benchmark.solver, benchmark.variant, plural(benchmark.sample), plural(benchmark.group))
    return _without_empty((*words, *fact_names, *(score.title for score in scores)), rows)


def _slice_lines(
    runs: Runs, scores: Sequence[Score], references: Sequence[Reference], sliced: str
) -> Lines:
    benchmark = next(iter(runs.values())).benchmark
    fact_names = benchmark.group_facts if benchmark.slices == "group" else ()
    rows: list[tuple[Any, ...]] = []
    for name, run in runs.items():
        facts = {fact["group"]: fact for fact in run.facts}
        for variant, summary in run.variants.items():
            for part, figures in summary.slices.items():
                cells = _cells(figures, scores)
                if not cells:
                    continue
                n = max(figures[score.name].n for score in scores if score.name in figures)
                beside = (_plain(facts.get(part, {}).get(fact)) for fact in fact_names)
                rows.append((name, variant, part or "(none)", n, *beside, *cells))
                rows += _reference_rows(references, part, (part, None), fact_names, scores)
    titles = (score.title for score in scores)
    return _without_empty(
        (benchmark.solver, benchmark.variant, sliced, "n", *fact_names, *titles), rows
    )


def _cells(figures: Mapping[str, Estimate], scores: Sequence[Score]) -> list[str | None]:
    """A cell per score; none at all where there is no such figure."""
    if not any(score.name in figures for score in scores):
        return []
    return [figure(figures.get(score.name), score.digits) for score in scores]


def _reference_rows(
    references: Sequence[Reference],
    part: str,
    about: tuple[str | None, ...],
    told: Sequence[str],
    scores: Sequence[Score],
) -> list[tuple[Any, ...]]:
    names = [score.name for score in scores]
    return [
        (
            reference.name,
            reference.variant,
            *about,
            *(reference.cells.get(name) for name in (*told, *names)),
        )
        for reference in references
        if reference.part == part and any(name in reference.cells for name in names)
    ]


def _plain(value: Any) -> Any:
    return f"{value:.2f}" if isinstance(value, float) else value


def _without_empty(headings: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Lines:
    """Without columns in which no row has anything."""
    columns = [at for at in range(len(headings)) if any(row[at] not in (None, "") for row in rows)]
    return tuple(headings[at] for at in columns), [tuple(row[at] for at in columns) for row in rows]


def compared_table(
    comparisons: Mapping[str, RunComparison], scores: Sequence[Score], *, samples: str, groups: str
) -> Lines:
    """The second side against the first in each variant, which is named where there are several."""
    scores_by_name = {score.name: score for score in scores}
    rows: list[tuple[Any, ...]] = []
    for variant, compared in comparisons.items():
        better = compared.further.get("better", {})  # (groups for whom it is, for whom it is not)
        for name, change in compared.changes.items():
            score = scores_by_name[name]
            sides = (Estimate(change.first), Estimate(change.second), change.difference)
            rows.append(
                (
                    *(variant, score.title, change.n, change.groups),
                    *(figure(side, score.digits) for side in sides),
                    *(share(change.relative), p_value(change.p), p_value(change.p_holm)),
                    better_side(score, change, compared.names),
                    f"{better[name][0]} of {sum(better[name])}" if name in better else None,
                )
            )
    names = next(iter(comparisons.values())).names
    tested = ("difference", "relative", "p", "p (Holm)", "better", "better for")
    headings: tuple[str, ...] = ("variant", "score", samples, groups, *names, *tested)
    told = any(compared.further.get("better") for compared in comparisons.values())
    shown = slice(int(len(comparisons) == 1), len(headings) if told else -1)
    return headings[shown], [row[shown] for row in rows]


def share(change: Estimate) -> str | None:
    """A relative change with its interval: "+198% [+120%, +260%]"."""
    if change.value is None:
        return None
    return f"{change.value:+.0%}{interval_after(change, '{:+.0%}'.format)}"


def p_value(value: float | None) -> str | None:
    return None if value is None else "< .001" if value < 0.001 else f"{value:.3f}"


def better_side(score: Score, change: Change, names: tuple[str, str]) -> str | None:
    """The side that is better beyond chance: the interval leaves 0 out and so does the test."""
    low, high = change.difference.low, change.difference.high
    if not score.better or low is None or high is None or change.p_holm is None:
        return None
    if low <= 0 <= high or change.p_holm >= 0.05:
        return None
    return names[1] if (low > 0) == (score.better > 0) else names[0]


def estimate_figure(frame: pl.DataFrame, title: str) -> Any:
    """One dot per score with its 95 % interval, one colour per variant."""
    import altair as alt

    from realtalk.describe.figures import style_chart

    rows = frame.drop_nulls("estimate")
    data = alt.InlineData(values=rows.to_dicts())
    base = alt.Chart(data).encode(
        y=alt.Y("score:N", sort=rows["score"].unique(maintain_order=True).to_list(), title=None),
        yOffset="variant:N",
        color=alt.Color("variant:N"),
    )
    bars = base.mark_rule().encode(
        x=alt.X("low:Q", title="estimate, with 95 % interval"), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=70, opacity=1).encode(
        x="estimate:Q",
        tooltip=["variant:N", "score:N", "estimate:Q", "low:Q", "high:Q", "n:Q", "unscored:Q"],
    )
    most = int(rows["n"].cast(int).max() or 0)  # type: ignore[arg-type]
    return style_chart(
        alt.layer(bars, dots).properties(width=480, height=alt.Step(22, **{"for": "position"})),
        title,
        [f"n up to {most:,}"],
    )
