"""Numbers about numbers, each with its interval: agreement, correlation, effect size.

    cohen_kappa(["joy", "joy", "fear"], ["joy", "fear", "fear"])
    → Estimate(value=0.4, low=0.0, high=1.0, n=3, left_out=0, unscored=None)
    cliffs_delta([3, 4, 5], [1, 2, 3]).value   → 0.89
    holm([0.01, 0.04, None, 0.03])             → [0.03, 0.06, None, 0.06]

Intervals are 95 %. What cannot be computed has value None and says why; pairs of which one
side is None or not a number are left out and counted.

    jensen_shannon(["joy", "joy", "fear"], ["joy", "fear", "fear"])  → Estimate(value=0.08, …, n=6)

The Jensen-Shannon divergence is in bits: 0 for the same shares, 1 where no label is shared.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from realtalk.cells import is_nothing

LEVEL = 0.95
RESAMPLES = 1000
SEED = 20250218
_AT_ONCE = 1 << 22  # numbers drawn at a time, which bounds the memory

Array: TypeAlias = NDArray[np.float64]
Whole: TypeAlias = NDArray[np.int64]
Truth: TypeAlias = NDArray[np.bool_]
Interval: TypeAlias = tuple[float | None, float | None]  # None where nothing tells
T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its interval. `n` entered it; `left_out` had no label; None is unscored."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    left_out: int = 0
    unscored: str | None = None

    def times(self, scale: float) -> Estimate:
        """The same in a unit of which there are `scale` times as many."""
        value, low, high = (
            None if number is None else number * scale
            for number in (self.value, self.low, self.high)
        )
        return replace(self, value=value, low=low, high=high)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def interval_after(estimate: Estimate, write: Callable[[float], str]) -> str:
    """ " [1.98, 2.37]", what stands behind a figure; nothing where there is no interval."""
    if estimate.low is None or estimate.high is None:
        return ""
    return f" [{write(estimate.low)}, {write(estimate.high)}]"


def quotient(above: Array, below: Array) -> Array:
    """Above divided by below, not a number where there is nothing below."""
    with np.errstate(divide="ignore", invalid="ignore"):
        parts: Array = np.where(below > 0, above / below, np.nan)
    return parts


def percentile_interval(draws: Array) -> Interval:
    """The middle 95 % of the draws; draws that failed (not a number) do not count."""
    finite = draws[np.isfinite(draws)]
    # Where half of the draws fail, the rest says little about the figure.
    if finite.size < max(2, draws.size / 2):
        return None, None
    low, high = np.quantile(finite, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(low), float(high)


def bootstrap_interval(
    samples: Sequence[Sequence[float] | Array],
    statistic: Callable[..., Any],
    *,
    paired: bool = False,
) -> Interval:
    """Percentile bootstrap of `statistic(*samples, axis=-1)`; None below two values.

    `paired` draws the same places from every sample, which keeps pairs together.
    """
    from scipy import stats

    arrays = tuple(np.asarray(sample, dtype=np.float64) for sample in samples)
    if min(array.size for array in arrays) < 2:
        return None, None
    largest = max(array.size for array in arrays)
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        # Some resamples have no figure (a variance of equal values); they do not count below.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        result = stats.bootstrap(
            arrays,
            statistic,
            paired=paired,
            vectorized=True,
            n_resamples=RESAMPLES,
            batch=max(1, _AT_ONCE // largest),
            confidence_level=LEVEL,
            method="percentile",
            rng=np.random.default_rng(SEED),
        )
    return percentile_interval(np.asarray(result.bootstrap_distribution, dtype=np.float64))


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction; tests that were not made (None, or no number) do not count."""
    ordered = sorted(
        (p, place) for place, p in enumerate(p_values) if p is not None and not math.isnan(p)
    )
    corrected: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, place) in enumerate(ordered):
        largest = max(largest, min(1.0, p * (len(ordered) - rank)))
        corrected[place] = largest
    return corrected


def cliffs_delta(first: Sequence[float] | Array, second: Sequence[float] | Array) -> Estimate:
    """How much more often a value of the first exceeds one of the second than falls below: -1..1.

    This is the rank-biserial correlation of the Mann-Whitney test. Where no value of one side
    lies among the other's, all resamples agree and tell nothing: there the interval is Newcombe's
    (his fifth method), which knows how few values there are.
    """
    a, b = (np.asarray(side, dtype=np.float64) for side in (first, second))
    a, b = a[~np.isnan(a)], b[~np.isnan(b)]
    n = a.size + b.size
    left_out = len(first) + len(second) - n
    if not a.size or not b.size:
        return Estimate(None, n=n, left_out=left_out, unscored="one side has no value")
    value = float(_delta(a, b))
    low, high = bootstrap_interval((a, b), _delta)
    if low is not None and abs(value) == 1:
        near = 2 * _least_share(a.size, b.size) - 1
        low, high = (near, 1.0) if value > 0 else (-1.0, -near)
    return Estimate(value, low, high, n, left_out)


def _least_share(n: int, others: int) -> float:
    """How small P(first > second) may be where all of n values exceed all of the others."""
    from scipy import optimize, stats

    z = float(stats.norm.ppf((1 + LEVEL) / 2))
    more = (n + others) / 2 - 1

    def beyond(share: float) -> float:
        spread = 1 + more * ((1 - share) / (2 - share) + share / (1 + share))
        return (1 - share) - z * math.sqrt(share * (1 - share) * spread / (n * others))

    # At 1 both sides are 0 whatever the sizes: the other crossing is the bound.
    return float(optimize.brentq(beyond, 0.0, 1 - 1e-9))


def _delta(a: Array, b: Array, axis: int = -1) -> Any:
    from scipy import stats

    # By ranks, as the table of all pairs would not fit for large corpora.
    ranks = stats.rankdata(np.concatenate([a, b], axis=axis), axis=axis)
    n, others = a.shape[axis], b.shape[axis]
    above = ranks[..., :n].sum(axis=axis) - n * (n + 1) / 2
    return 2 * above / (n * others) - 1


def pearson(first: Sequence[float | None], second: Sequence[float | None]) -> Estimate:
    """Pearson's r with Fisher's interval."""
    from scipy import stats

    pairs, left_out = _pairs(first, second)
    a = np.array([first_value for first_value, _ in pairs], dtype=np.float64)
    b = np.array([second_value for _, second_value in pairs], dtype=np.float64)
    n = len(pairs)
    if n < 3:
        return Estimate(None, n=n, left_out=left_out, unscored="fewer than three pairs")
    if _constant(a) or _constant(b):
        return Estimate(None, n=n, left_out=left_out, unscored="one side never changes")
    result = stats.pearsonr(a, b)
    # Fisher's interval needs a fourth pair.
    low, high = map(float, result.confidence_interval(LEVEL)) if n > 3 else (None, None)
    return Estimate(float(result.statistic), low, high, n, left_out)


def _constant(values: Array) -> bool:
    # Below this spread scipy warns that r is mostly rounding.
    return float(np.ptp(values)) <= 1e-12 * float(np.abs(values).max())


def cohen_kappa(
    first: Sequence[T | None], second: Sequence[T | None], *, interval: bool = True
) -> Estimate:
    """Agreement of two labellers beyond chance, all disagreements alike."""
    pairs, left_out = _pairs(first, second)
    order = list(dict.fromkeys(label for pair in pairs for label in pair))
    weights = 1.0 - np.eye(len(order))
    return _kappa(pairs, left_out, order, weights, interval=interval)


def weighted_kappa(first: Sequence[int | None], second: Sequence[int | None]) -> Estimate:
    """Quadratic weighted kappa (QWK) of whole numbers: being off by two costs four times one."""
    pairs, left_out = _pairs(first, second)
    order = sorted({label for pair in pairs for label in pair})
    values = np.array(order, dtype=np.float64)
    weights = (values[:, None] - values[None, :]) ** 2
    return _kappa(pairs, left_out, order, weights)


def _pairs(first: Sequence[T | None], second: Sequence[T | None]) -> tuple[list[tuple[T, T]], int]:
    if len(first) != len(second):
        raise ValueError(f"{len(first)} labels against {len(second)}")
    pairs = [
        cast("tuple[T, T]", (first_label, second_label))
        for first_label, second_label in zip(first, second, strict=True)
        if not (is_nothing(first_label) or is_nothing(second_label))
    ]
    return pairs, len(first) - len(pairs)


def _kappa(
    pairs: Sequence[tuple[T, T]],
    left_out: int,
    order: Sequence[T],
    weights: Array,
    *,
    interval: bool = True,
) -> Estimate:
    n, size = len(pairs), len(order)
    if not n:
        return Estimate(None, left_out=left_out, unscored="no pair of labels")
    code = {label: place for place, label in enumerate(order)}
    table = np.zeros((1, size, size))
    for first_label, second_label in pairs:
        table[0, code[first_label], code[second_label]] += 1
    value = float(_kappas(table, weights)[0])
    if math.isnan(value):
        reason = "both sides give one and the same label"
        return Estimate(None, n=n, left_out=left_out, unscored=reason)
    if n == 1 or not interval:
        return Estimate(value, n=n, left_out=left_out)
    # Drawing pairs with replacement is drawing a confusion table.
    tables = np.random.default_rng(SEED).multinomial(n, table.ravel() / n, RESAMPLES)
    kappas = _kappas(tables.reshape(-1, size, size).astype(np.float64), weights)
    return Estimate(value, *percentile_interval(kappas), n, left_out)


def _kappas(tables: Array, weights: Array) -> Array:
    """Kappa of each confusion table: 1 - observed / expected disagreement."""
    n = tables.sum(axis=(1, 2))
    expected = np.einsum("rij,rkl,il->r", tables, tables, weights, optimize=True) / n
    observed = np.einsum("rij,ij->r", tables, weights)
    return 1 - quotient(observed, expected)


def wilson(values: Sequence[float]) -> Interval:
    """The 95 % interval of a proportion, which also holds near 0 and 1; None without values."""
    from scipy import stats

    if not len(values):
        return None, None
    interval = stats.binomtest(round(sum(values)), len(values)).proportion_ci(
        LEVEL, method="wilson"
    )
    return float(interval.low), float(interval.high)


def jensen_shannon(
    first: Sequence[str | None], second: Sequence[str | None], *, interval: bool = True
) -> Estimate:
    """The divergence with a bootstrap interval; labels that are None are left out and counted."""
    sides = [[label for label in side if label is not None] for side in (first, second)]
    left_out = len(first) + len(second) - len(sides[0]) - len(sides[1])
    n = len(sides[0]) + len(sides[1])
    if not sides[0] or not sides[1]:
        return Estimate(None, n=n, left_out=left_out, unscored="one side has no label")
    order = sorted(set(sides[0]) | set(sides[1]))
    counts = [
        np.array([side.count(label) for label in order], np.float64)[None, :] for side in sides
    ]
    value = float(_divergence(counts[0], counts[1])[0])
    if not interval:
        return Estimate(value, n=n, left_out=left_out)
    rng = np.random.default_rng(SEED)
    resamples = [
        rng.multinomial(len(side), count[0] / len(side), RESAMPLES).astype(np.float64)
        for side, count in zip(sides, counts, strict=True)
    ]
    spread = _divergence(resamples[0], resamples[1])
    # Noise never brings two samples nearer on average: the draws are set back by their excess.
    spread = np.clip(spread - spread.mean() + value, 0.0, 1.0)
    return Estimate(value, *percentile_interval(spread), n, left_out)


def _divergence(first: Array, second: Array) -> Array:
    from scipy.special import rel_entr

    p, q = (side / side.sum(axis=1, keepdims=True) for side in (first, second))
    middle = (p + q) / 2
    nats = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=1) / 2
    divergence: Array = (nats / np.log(2)).clip(0.0, 1.0)
    return divergence
