"""Intimacy of messages → its course in every unit and scale that Table 7 could be printed in.

    courses(labels)[0]
    → Course(unit="session", scale="as scored", centring="none", mean=0.11, linear=..., ...)
    course_rows(labels)      one line each: the mean, who rises, r and concordance with print
    as_printed(labels)       the same labels with intimacy on the scale that comes nearest

The printed columns hint at their scale. Near a flat course y = a·e^(bx) has b = slope / mean,
whatever x counts, so that the linear column divided by the exponential one is the mean intimacy
of the paper's messages: .561. Ours have a mean of .11 on 0 to 1, and of .53 after one sigmoid.

That the paper's scores went through one sigmoid more than ours is a conjecture. For it: the tweets
(MINT) that its classifier learned from have a mean of .23 on 0 to 1, which is .557 after a sigmoid,
and the released code asks a `transformers` pipeline, which up to 4.45 put one on top of every
single output. Against it: the classifier's card reads its score as the sigmoid of its output, and
so does `ei.hub`; then that pipeline's answer is the plain score of 0 to 1, and the paper's messages
simply score higher than ours. The paper's own scores are not published, so neither is shown. The
sigmoid was picked among the scales below, in four units, because our columns come near to
Table 7 with it: how near they come speaks for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl

from realtalk.cells import Grid
from realtalk.ei.formulas import fit_exponential, slopes
from realtalk.ei.values import FACETS
from realtalk.metrics.statistics import Array
from research.papers.published import TABLE_7, SpeakerKey, printed_column
from research.papers.rule import correlation

LINEAR, EXPONENTIAL = "intimacy_linear", "intimacy_exponential"
SCALE_NOTE = (
    "intimacy is set beside the table after one sigmoid more than our labels have. Of 16 units and "
    "scales (`research.papers.intimacy_courses`) this one was picked by its fit to Table 7 and to "
    "the released code, which counts sessions; that the paper's scores went through it is a conjecture, and its "
    "classifier's card, which reads the plain score as a sigmoid already, speaks against it"
)


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
    """Labels whose intimacy goes through one sigmoid more, which is nearest to Table 7."""
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
    headings += ["linear: mean (rise)", "r", "concordance"]
    headings += ["exponential: mean (rise)", "r ", "concordance "]
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
    printed = [printed_column(name) for name in (LINEAR, EXPONENTIAL)]
    signed = [[_level(each), None, None] for each in printed]
    rows.append(["Table 7", None, None, None, f"{_ratio(*printed):.3f}", *signed[0], *signed[1]])
    if len(centrings) == 1:  # a page holds nine columns, and the ratio is the mean again
        headings = [*headings[:2], *headings[4:]]
        rows = [[*row[:2], *row[4:]] for row in rows]
    return Grid(headings, rows)


def course_note(labels: pl.DataFrame) -> str:
    """What the scale does to our level, and what it leaves."""
    by_scale = {each.scale: each for each in courses(labels, units=("session",))}
    plain, through = by_scale["as scored, 0 to 1"], by_scale["through a sigmoid"]
    printed = [printed_column(name) for name in (LINEAR, EXPONENTIAL)]
    ratio = _ratio(*printed)
    levels = [
        f"{name} {_level(mine)} against {_level(theirs)}"
        for name, mine, theirs in zip(
            ("linear", "exponential"), (through.linear, through.exponential), printed, strict=True
        )
        if mine is not None
    ]
    return (
        f"intimacy: the printed columns stand in the ratio {ratio:.3f}, the mean intimacy behind "
        f"them; ours has a mean of {plain.mean:.3f}, {through.mean:.3f} after the sigmoid. Signed "
        f"means in thousandths per session (who rises), ours against the printed: "
        f"{'; '.join(levels)}. What is left between them is not explained"
    )


def _level(values: Array) -> str:
    """The signed mean, and how many speakers rise: a mean of absolute values would hide both."""
    return f"{values.mean():+.3f} ({int((values > 0).sum())} of {values.size})"


def _ratio(linear: Array, exponential: Array) -> float:
    """The slope through zero of one column on the other: the mean intimacy behind them."""
    return float(linear @ exponential / (exponential @ exponential))


def _beside(ours: Array | None, facet: str) -> list[str | None]:
    if ours is None:
        return [None, "no curve settles", None]
    printed = printed_column(facet)
    r = correlation(printed, ours)
    return [_level(ours), None if r is None else f"{r:.2f}", f"{concordance(printed, ours):.2f}"]


def concordance(printed: Array, ours: Array) -> float:
    """Lin's: r, lowered by how far levels and widths are apart."""
    together = float(((printed - printed.mean()) * (ours - ours.mean())).mean())
    apart = float(printed.var() + ours.var() + (printed.mean() - ours.mean()) ** 2)
    return 2 * together / apart
