"""Intimacy of messages → its course in every unit and scale that Table 7 could be printed in.

    courses(labels)[0]
    → Course(unit="session", scale="as scored", centring="none", mean=0.11, linear=..., ...)
    course_rows(labels)      one line each: how many times the printed level, r, concordance
    as_printed(labels)       the same labels with intimacy on the scale that Table 7 is on

The printed columns show their scale themselves. Near a flat course y = a·e^(bx) has b = slope /
mean, whatever x counts, so that the linear column divided by the exponential one is the mean
intimacy of the paper's messages: .561. Scores of 0 to 1 have a mean of .11 here and of .23 in the
tweets (MINT) that the paper's classifier learned from, and the logistic function of .23 is .557.
The released code takes its classifier's answer from a `transformers` pipeline, which up to 4.45
put the logistic function on top of every single-output model. So Table 7's scores went through
one sigmoid more than ours, and so do ours where they are set beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from realtalk.ei.formulas import fit_exponential, slopes
from realtalk.ei.values import FACETS
from realtalk.metrics.statistics import Array
from realtalk.paper.judging import SpeakerKey, near, printed_column
from realtalk.paper.published import TABLE_7
from realtalk.stats.grids import Grid

LINEAR, EXPONENTIAL = "intimacy_linear", "intimacy_exponential"


def _sigmoid(values: Array) -> Array:
    through: Array = 1 / (1 + np.exp(-values))
    return through


SCALES: Mapping[str, Callable[[Array], Array]] = MappingProxyType(
    {
        "as scored, 0 to 1": lambda values: values,
        "through a sigmoid": _sigmoid,
        "through two sigmoids": lambda values: _sigmoid(_sigmoid(values)),
        "as 1 to 5, through a sigmoid": lambda values: _sigmoid(1 + 4 * values),
    }
)
CENTRINGS: Mapping[str, Callable[[Array], Array]] = MappingProxyType(
    {
        "none": lambda means: means,
        "less the speaker's mean": lambda means: means - means.mean(),
        "as a part of the speaker's mean": lambda means: means / means.mean(),
    }
)
UNITS = ("session", "day", "share of the chat", "message")


@dataclass(frozen=True, slots=True, eq=False)
class Course:
    """Both progressions of Table 7's speakers, in thousandths; None where no curve settles."""

    unit: str
    scale: str
    centring: str
    mean: float  # of the speakers' mean intimacy
    linear: Array
    exponential: Array | None


def as_printed(labels: pl.DataFrame) -> pl.DataFrame:
    """Labels whose intimacy went through one sigmoid more."""
    through = 1 / (1 + (-pl.col("intimacy").cast(pl.Float64)).exp())
    return labels.with_columns(through.alias("intimacy"))


def courses(
    labels: pl.DataFrame, centrings: Sequence[str] = ("none",), units: Sequence[str] = UNITS
) -> Iterator[Course]:
    """Every combination, over those of Table 7's speakers who are there."""
    people = {key: part for key in _here(labels) if (part := _scored(labels, key)).height}
    for unit in units:
        for scale, put in SCALES.items():
            points = [_points(part, unit, put) for part in people.values()]
            for centring in centrings:
                fits = [_fit(x, CENTRINGS[centring](y)) for x, y in points]
                exponents = [b for _, b in fits if b is not None]
                yield Course(
                    unit=unit,
                    scale=scale,
                    centring=centring,
                    mean=float(np.mean([y.mean() for _, y in points])),
                    linear=FACETS[LINEAR].scale * np.array([a for a, _ in fits]),
                    exponential=FACETS[EXPONENTIAL].scale * np.array(exponents)
                    if len(exponents) == len(fits)
                    else None,
                )


def _here(labels: pl.DataFrame) -> list[SpeakerKey]:
    known = set(labels.select("chat", "speaker").unique().iter_rows())
    return [key for key in TABLE_7 if key in known]


def _scored(labels: pl.DataFrame, key: SpeakerKey) -> pl.DataFrame:
    own = (pl.col("chat") == key[0]) & (pl.col("speaker") == key[1])
    return labels.filter(own & pl.col("intimacy").is_not_null()).sort("turn", maintain_order=True)


def _points(part: pl.DataFrame, unit: str, put: Callable[[Array], Array]) -> tuple[Array, Array]:
    """x and y of a speaker: single messages, or the means of sessions in order."""
    scores = put(part["intimacy"].cast(pl.Float64).to_numpy())
    if unit == "message":
        return np.arange(1.0, scores.size + 1), scores
    means = (
        part.with_columns(pl.Series("score", scores))
        .group_by("session", maintain_order=True)
        .agg(pl.col("score").mean(), pl.col("time").min().dt.date().alias("day"))
    )
    order = np.arange(1.0, means.height + 1)
    if unit == "day":
        days = means["day"].cast(pl.Int32).to_numpy().astype(np.float64)
        return days - days[0], means["score"].to_numpy()
    return order / order.size if unit != "session" else order, means["score"].to_numpy()


def _fit(x: Array, y: Array) -> tuple[float, float | None]:
    # a·e^(bx) keeps its sign, so that nothing centred on its mean has such a course.
    curve = None if y.min() < 0 < y.max() else fit_exponential(x, y)
    return float(slopes(x, y[None, :])[0]), None if curve is None else curve[1]


def course_rows(labels: pl.DataFrame, centrings: Sequence[str] = ("none",)) -> Grid:
    """One line per unit, scale and centring, for all of Table 7's speakers."""
    headings = ["x counts", "intimacy", "centred", "mean", "linear / exponential"]
    headings += ["linear: × level", "r", "concordance"]
    headings += ["exponential: × level", "r ", "concordance "]
    rows: list[list[Any]] = []
    for each in courses(labels, centrings):
        if each.linear.size == len(TABLE_7):
            own = None if each.exponential is None else _ratio(each.linear, each.exponential)
            rows.append(
                [
                    each.unit,
                    each.scale,
                    each.centring,
                    f"{each.mean:.3f}",
                    None if own is None else f"{own:.3f}",
                    *_beside(each.linear, LINEAR),
                    *_beside(each.exponential, EXPONENTIAL),
                ]
            )
    ratio = _ratio(printed_column(LINEAR), printed_column(EXPONENTIAL))
    rows.append(["Table 7", None, None, None, f"{ratio:.3f}", *[None] * 6])
    if len(centrings) == 1:  # a page holds nine columns, and the ratio is the mean again
        headings = [*headings[:2], *headings[4:]]
        rows = [[*row[:2], *row[4:]] for row in rows]
    return Grid(headings, rows)


def course_note(labels: pl.DataFrame) -> str:
    """What the printed scale explains of our level, and what it leaves."""
    by_scale = {each.scale: each for each in courses(labels, units=("session",))}
    plain, through = by_scale["as scored, 0 to 1"], by_scale["through a sigmoid"]
    ratio = _ratio(printed_column(LINEAR), printed_column(EXPONENTIAL))
    before, after = (
        f"{_beside(each.linear, LINEAR)[0]} and {_beside(each.exponential, EXPONENTIAL)[0]}"
        for each in (plain, through)
    )
    return (
        f"intimacy: the printed columns stand in the ratio {ratio:.3f}, the mean intimacy behind "
        f"them, which a score of 0 to 1 with a mean of {np.log(ratio / (1 - ratio)):.3f} has after "
        f"one more sigmoid; ours has a mean of {plain.mean:.3f} and {through.mean:.3f} after it. "
        f"As scored our progressions are {before} times the printed level (linear, exponential), "
        f"after the sigmoid {after} times: that rest, and why our messages score lower, is not "
        "explained. The released code counts sessions"
    )


def _ratio(linear: Array, exponential: Array) -> float:
    """The slope through zero of one column on the other: the mean intimacy behind them."""
    return float(linear @ exponential / (exponential @ exponential))


def _beside(ours: Array | None, facet: str) -> list[str | None]:
    if ours is None:
        return [None, "no curve settles", None]
    closeness = near(ours, facet)
    level = float(np.abs(ours).mean() / np.abs(printed_column(facet)).mean())
    values = (closeness[name].value for name in ("r", "concordance"))
    return [f"{level:,.2f}", *(None if value is None else f"{value:.2f}" for value in values)]
