"""Figures of runs → tables for people, in one look for every benchmark.

    ResultTable("retrieved: scores", frame, ("2 questions are unscored",))
    figure(Estimate(0.844, 0.684, 1.0), 3)             → "0.844 [0.684, 1.000]"
    figure(average([0.2, 0.4, 0.9]), 2)                → "0.50 ± 0.36 [0.20, 0.90]"
    run_tables({"recent": run, "retrieved": other})    → [ResultTable, …]: one per kind of score
    compared_table(compared, run.scores, …)            one line per score: difference, ratio, test

A ResultTable is a polars frame with a title and notes, for a prompt, a notebook and a page. Cells
are written as the command and the page write them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from realtalk.evals.comparing import Compared
from realtalk.evals.estimating import Average
from realtalk.evals.values import Fact, Lines, Reference, Score
from realtalk.metrics.grouped import Change
from realtalk.metrics.statistics import Estimate
from realtalk.notebook import plural, table_html, table_text

if TYPE_CHECKING:
    import polars as pl

    from realtalk.evals.run import Run

_COUNTS = frozenset({"n", "groups", "unscored"})
_TEXTS = frozenset({"variant", "group", "score", "measure", "facet", "first_label"})
_MANY = 100  # from here on a fact is shown with one digit behind the point


class ResultTable:
    """A table of figures. `frame` is polars; `.to_pandas()` is one call away."""

    def __init__(
        self,
        title: str,
        frame: pl.DataFrame,
        notes: Sequence[str] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        self.title = title
        self.frame = frame
        self.notes = tuple(notes)
        self._details = details

    def __len__(self) -> int:
        return self.frame.height

    @property
    def lines(self) -> Lines:
        """Headings and rows."""
        return tuple(self.frame.columns), self.frame.rows()

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
        return pl.String if name in _TEXTS else pl.Int64 if name in _COUNTS else pl.Float64

    schema = {name: kind(name) for name in columns}
    return pl.DataFrame([{name: row.get(name) for name in columns} for row in rows], schema=schema)


def table_of(title: str, lines: Lines, notes: Sequence[str] = ()) -> ResultTable:
    """Headings and rows as a table; a column holds whole numbers or texts."""
    import polars as pl

    headings, rows = lines
    columns: dict[str, pl.Series] = {}
    for at, name in enumerate(headings):
        cells = [row[at] for row in rows]
        whole = all(isinstance(cell, int | None) for cell in cells)
        texts = [None if cell is None else str(cell) for cell in cells]
        columns[name] = pl.Series(name, cells if whole else texts, pl.Int64 if whole else pl.String)
    return ResultTable(title, pl.DataFrame(list(columns.values())), notes)


def figure(found: Fact, digits: int = 3) -> str | None:
    """A figure with its interval, an average also with its deviation; None where there is none."""
    if not isinstance(found, Estimate):
        return None if found is None else f"{found:,.{1 if abs(found) >= _MANY else digits}f}"
    if found.value is None:
        return None
    text = f"{found.value:.{digits}f}"
    if isinstance(found, Average) and found.sd is not None:
        text += f" ± {found.sd:.{digits}f}"
    if found.low is not None and found.high is not None:
        text += f" [{found.low:.{digits}f}, {found.high:.{digits}f}]"
    return text


def figure_text(row: Mapping[str, Any]) -> str | None:
    """The figure of a row of a summary with its interval in one cell."""
    return figure(Estimate(row["estimate"], row["low"], row["high"]))


def run_tables(
    runs: Mapping[str, Run], *, groups: bool = True, published: bool = True
) -> list[ResultTable]:
    """Runs of one benchmark side by side: a line per run and variant, a table per kind of score.

    With `groups` also every value of the slice: a category, a speaker, a domain. `published`
    figures of papers stand below.
    """
    first = next(iter(runs.values()))
    benchmark, scores = first.benchmark, _all_scores(runs.values())
    references = [each for each in benchmark.references(runs) if published or not each.published]
    kinds = list(dict.fromkeys(score.table for score in scores if score.shown))
    tables: list[ResultTable] = []
    for number, kind in enumerate(kinds):
        own = [score for score in scores if score.shown and score.table == kind]
        lines = _summary_lines(runs, own, references, facts=not number)
        tables.append(table_of(kind or benchmark.name, lines, [benchmark.reading] * (not number)))
    sliced = benchmark.group if benchmark.slices == "group" else benchmark.slices
    for kind in kinds if groups and benchmark.slices else ():
        own = [score for score in scores if score.shown and score.table == kind]
        lines = _slice_lines(runs, own, references, sliced)
        tables.append(table_of(f"{kind or benchmark.name}, by {sliced}", lines))
    own_tables = benchmark.tables(runs)
    return [*tables, *(table_of(title, lines) for title, lines in own_tables.items())]


def _all_scores(runs: Iterable[Run]) -> list[Score]:
    return list({score.name: score for run in runs for score in run.scores}.values())


def _summary_lines(
    runs: Mapping[str, Run], scores: Sequence[Score], references: Sequence[Reference], facts: bool
) -> Lines:
    benchmark = next(iter(runs.values())).benchmark
    named = dict.fromkeys(
        fact for run in runs.values() for each in run.variants.values() for fact in each.facts
    )
    told = list(named) if facts else []
    words = (benchmark.solver, benchmark.variant, plural(benchmark.sample), plural(benchmark.group))
    rows: list[tuple[Any, ...]] = []
    for name, run in runs.items():
        for variant, found in run.variants.items():
            if not any(score.name in found.overall for score in scores):
                continue
            about = (found.groups, *(figure(found.facts.get(fact)) for fact in told))
            cells = (figure(found.overall.get(each.name), each.digits) for each in scores)
            counted = f"{found.scored:,} of {found.with_truth:,}"
            rows.append((name, variant, counted, *about, *cells))
            if found.unscored and any(score.name in found.strict for score in scores):
                cells = (figure(found.strict.get(each.name), each.digits) for each in scores)
                rows.append((f"{name}, strict", variant, f"{found.with_truth:,}", *about, *cells))
    for each in references:
        if not each.part and any(score.name in each.cells for score in scores):
            beside = (each.cells.get(fact) for fact in told)
            cells = (each.cells.get(score.name) for score in scores)
            rows.append((each.name, each.variant, None, None, *beside, *cells))
    return _without_empty((*words, *told, *(score.title for score in scores)), rows)


def _slice_lines(
    runs: Mapping[str, Run], scores: Sequence[Score], references: Sequence[Reference], sliced: str
) -> Lines:
    benchmark = next(iter(runs.values())).benchmark
    told = benchmark.group_facts if benchmark.slices == "group" else ()
    rows: list[tuple[Any, ...]] = []
    for name, run in runs.items():
        about = {fact["group"]: fact for fact in run.facts}
        for variant, found in run.variants.items():
            for part, figures in found.slices.items():
                own = [figures[score.name] for score in scores if score.name in figures]
                if not own:
                    continue
                known = about.get(part, {})
                rows.append(
                    (
                        *(name, variant, part or "(none)", max(each.n for each in own)),
                        *(_plain(known.get(fact)) for fact in told),
                        *(figure(figures.get(each.name), each.digits) for each in scores),
                    )
                )
                for each in references:
                    if each.part == part and any(score.name in each.cells for score in scores):
                        cells = (each.cells.get(name) for name in told)
                        beside = (each.cells.get(score.name) for score in scores)
                        rows.append((each.name, each.variant, part, None, *cells, *beside))
    titles = (score.title for score in scores)
    return _without_empty((benchmark.solver, benchmark.variant, sliced, "n", *told, *titles), rows)


def _plain(value: Any) -> Any:
    return f"{value:.2f}" if isinstance(value, float) else value


def _without_empty(headings: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Lines:
    """Without columns in which no row has anything."""
    kept = [at for at in range(len(headings)) if any(row[at] not in (None, "") for row in rows)]
    return tuple(headings[at] for at in kept), [tuple(row[at] for at in kept) for row in rows]


def compared_table(
    compared: Compared,
    scores: Sequence[Score],
    *,
    samples: str,
    groups: str,
    strict: bool = False,
) -> Lines:
    """The second side against the first."""
    first, second = compared.names
    tested = ("difference", "relative", "p", "p (Holm)", "better")
    known = {score.name: score for score in scores}
    better = compared.further.get("better", {})  # (groups for whom it is, for whom it is not)
    rows: list[tuple[Any, ...]] = []
    for name, change in (compared.strict if strict else compared.changes).items():
        score = known[name]
        sides = (figure(Estimate(side), score.digits) for side in (change.first, change.second))
        row = (
            score.title,
            change.n,
            change.groups,
            *sides,
            figure(change.difference, score.digits),
            share(change.relative),
            p_value(change.p),
            p_value(change.p_holm),
            better_side(score, change, compared.names),
        )
        counted = (f"{better[name][0]} of {sum(better[name])}",) if name in better else ()
        rows.append((*row, *counted))
    headings = ("score", samples, groups, first, second, *tested)
    return (*headings, "better for") if better else headings, rows


def share(found: Estimate) -> str | None:
    """A relative change with its interval: "+198% [+120%, +260%]"."""
    if found.value is None:
        return None
    text = f"{found.value:+.0%}"
    if found.low is not None and found.high is not None:
        text += f" [{found.low:+.0%}, {found.high:+.0%}]"
    return text


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

    from realtalk.describe.figures import styled

    kept = frame.drop_nulls("estimate")
    data = alt.InlineData(values=kept.to_dicts())
    base = alt.Chart(data).encode(
        y=alt.Y("score:N", sort=kept["score"].unique(maintain_order=True).to_list(), title=None),
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
    most = int(kept["n"].cast(int).max() or 0)  # type: ignore[arg-type]
    return styled(
        alt.layer(bars, dots).properties(width=480, height=alt.Step(22, **{"for": "position"})),
        title,
        [f"n up to {most:,}"],
    )
