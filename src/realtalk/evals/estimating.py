"""Rows and scores → figures with intervals that draw whole groups.

    estimate(rows, scores)["f1"]          → Estimate(value=0.21, low=0.18, high=0.25, n=728)
    estimate(rows, scores, strict=True)   → the same, unscored rows taken as wrong
    average([0.2, 0.4, None, 0.9])        → Average(value=0.5, sd=0.36, low=0.2, high=0.9, n=3)

Scores that share their parts are drawn together. A row that a score does not apply to is left
out and counted. A proportion has Wilson's interval where draws tell too little: over the groups
where all of them agree, and over the rows where there are too few groups to be drawn. A score
that only a group alone has is averaged over groups, as papers average over people.

The rows of one variant of a run → its figures, over all and slice by slice.

    scores = summarise(rows, benchmark.scores, slices="domain")
    scores.overall["mcc"]     → Estimate(value=0.24, low=0.21, high=0.27, n=…)
    scores.strict["mcc"]      → the same with what is unscored taken as wrong
    scores.slices["College"]["mcc"]

Rows without a truth count nowhere but among the reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from realtalk.evals.values import COUNTS, Fact, Pairs, Parts, Row, Score, by_column, column
from realtalk.metrics.grouped import FEWEST_GROUPS, grouped_estimates
from realtalk.metrics.statistics import Array, Estimate, Truth, bootstrap_interval, wilson


@dataclass(frozen=True, slots=True)
class Average(Estimate):
    """Over `n` groups that count the same. Without deviation and interval where there is one."""

    sd: float | None = None


def average(values: Iterable[float | None], left_out: int = 0) -> Average:
    """The mean over groups; those without a figure do not count."""
    numbers = [value for value in values if value is not None]
    if not numbers:
        return Average(None, left_out=left_out)
    mean = float(np.mean(numbers))
    if len(numbers) < 2:
        return Average(mean, n=len(numbers), left_out=left_out)
    low, high = bootstrap_interval((numbers,), np.mean)
    return Average(mean, low, high, len(numbers), left_out, sd=float(np.std(numbers, ddof=1)))


def shared_parts(
    scores: Sequence[Score], *, strict: bool = False
) -> Iterator[tuple[Parts, list[Score]]]:
    """Scores in groups that are made from the same sums."""
    groups: dict[Parts, list[Score]] = {}
    for score in scores:
        if score.strict or not strict:
            parts = score.strict if strict else score.parts
            groups.setdefault(parts or column(score.name), []).append(score)
    yield from groups.items()


def estimate(
    rows: Sequence[Row], scores: Sequence[Score], *, strict: bool = False
) -> dict[str, Estimate]:
    """Each score over the rows, in the order of `scores`."""
    figures: dict[str, Estimate] = {}
    if not strict:
        figures = {score.name: _of_groups(rows, score.alone) for score in scores if score.alone}
    summed = [score for score in scores if score.alone is None]
    for parts, sharing in shared_parts(summed, strict=strict):
        lines = parts(rows)
        whole = whole_lines(lines)
        groups = [row["group"] for row, keep in zip(rows, whole, strict=True) if keep]
        estimates = grouped_estimates(
            lines[whole],
            groups,
            {score.name: score.figure for score in sharing},
            left_out=len(rows) - len(groups),
            whole=sharing[0].whole,
        )
        for score in sharing:
            figures[score.name] = _proportion(score, estimates[score.name], lines[whole], groups)
    return {score.name: figures[score.name] for score in scores if score.name in figures}


def _of_groups(rows: Sequence[Row], alone: Callable[[Sequence[Row]], Estimate]) -> Estimate:
    figures = [alone(own) for own in by_column(rows, "group").values()]
    if len(figures) == 1:
        return figures[0]
    left_out = sum(figure.left_out for figure in figures)
    return average((figure.value for figure in figures), left_out)


def whole_lines(lines: Array) -> Truth:
    """Which rows a score applies to."""
    return np.asarray(np.isfinite(lines).all(axis=1))


def _proportion(score: Score, estimate: Estimate, lines: Array, groups: Sequence[str]) -> Estimate:
    """With Wilson's interval where draws cannot tell how uncertain a proportion is."""
    if not score.proportion or estimate.value is None:
        return estimate
    count = len(set(groups))
    if count >= FEWEST_GROUPS or score.whole:  # groups were drawn
        values = [estimate.value] * count
        if estimate.value not in (0, 1):
            return estimate
    else:
        values = [float(score.figure(line)) for line in lines]
        if not {0.0, 1.0}.issuperset(values):
            return estimate
    low, high = wilson(values)
    return replace(estimate, low=low, high=high)


def paired_lines(pairs: Pairs, parts: Parts) -> tuple[Array, Array, list[str]]:
    """The lines of rows that both sides have, and their groups."""
    first, second = (parts([pair[side] for pair in pairs]) for side in (0, 1))
    whole = whole_lines(first) & whole_lines(second)
    if whole.all():
        return first, second, [row["group"] for row, _ in pairs]
    # What a row weighs may depend on which others of its group count.
    return paired_lines([pair for pair, keep in zip(pairs, whole, strict=True) if keep], parts)


@dataclass(frozen=True, slots=True)
class VariantScores:
    """One variant of a run. `unscored`, `untold` and `left_out` count rows by reason.

    `facts` is what the benchmark tells of the rows beside their scores.
    """

    rows: int
    scored: int
    groups: int
    overall: Mapping[str, Estimate]
    strict: Mapping[str, Estimate]
    slices: Mapping[str, Mapping[str, Estimate]]
    unscored: Mapping[str, int]
    untold: Mapping[str, int]
    left_out: Mapping[str, int]
    calls: int
    tokens_in: int
    tokens_out: int
    facts: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def with_truth(self) -> int:
        """Rows with a truth."""
        return self.rows - sum(self.untold.values())

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def summarise(
    rows: Sequence[Row],
    scores: Sequence[Score],
    *,
    slices: str = "",
    averages: Mapping[str, Sequence[Score]] | None = None,
    facts: Mapping[str, Fact] | None = None,
) -> VariantScores:
    """Figures over all rows; of every value of the column `slices`; and by other `averages`."""
    true = [row for row in rows if row["untold"] is None]
    good = [row for row in true if row["unscored"] is None]
    overall = estimate(true, scores)
    parts = by_column(true, slices) if slices else {}
    return VariantScores(
        rows=len(rows),
        scored=len(good),
        groups=len({row["group"] for row in true}),
        overall=overall,
        # Where nothing is unscored, strict is the same: no need to draw again.
        strict=overall if len(good) == len(true) else estimate(true, scores, strict=True),
        slices={
            **{name: estimate(true, others) for name, others in (averages or {}).items()},
            **{name: estimate(parts[name], scores) for name in sorted(parts)},
        },
        unscored=_count_reasons(row["unscored"] for row in true),
        untold=_count_reasons(row["untold"] for row in rows),
        left_out=_count_reasons(reason for row in good for reason in row["left_out"]),
        facts=facts or {},
        **{name: sum(row[name] for row in rows) for name in COUNTS},
    )


def _count_reasons(reasons: Iterable[str | None]) -> dict[str, int]:
    return dict(Counter(reason for reason in reasons if reason).most_common())
