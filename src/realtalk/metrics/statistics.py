"""Numbers about numbers, each with its interval: agreement, correlation, effect size.

    cohen_kappa(["joy", "joy", "fear"], ["joy", "fear", "fear"])
    → Estimate(value=0.4, low=0.0, high=1.0, n=3, left_out=0, unscored=None)
    cliffs_delta([3, 4, 5], [1, 2, 3]).value   → 0.89
    holm([0.01, 0.04, None, 0.03])             → [0.03, 0.06, None, 0.06]

Intervals are 95 %. What cannot be computed has value None and says why; pairs of which one
side is None or not a number are left out and counted.

    jensen_shannon(["joy", "joy", "fear"], ["joy", "fear", "fear"])  → Estimate(value=0.08, …, n=6)

The Jensen-Shannon divergence is in bits: 0 for the same shares, 1 where no label is shared.

Rows in groups → figures made of sums, with intervals that draw whole groups.

    parts = np.array([[1, 1], [0, 1], [1, 1]])          # one line per row: what is summed
    grouped_estimates(parts, ["ann", "ann", "bo"], {"share": ratio})
    → {"share": Estimate(value=0.67, low=0.33, high=1.0, n=3)}
    grouped_changes(before, after, users, {"share": ratio})
    → {"share": Change(n=3, groups=2, first=0.33, second=0.67, difference=Estimate(…),
                       relative=Estimate(…), p=0.5)}

Rows of one person are alike, so persons are drawn, not rows. Accuracy, F1, MCC, RMSE, a mean and
a correlation are all functions of sums: a thousand draws are then one matrix product.

What several raters say of the same units → how far they agree beyond chance.

    krippendorff_alpha([["a", "a"], ["a", "b", "a"], ["b", "b"]])
    → Estimate(value=0.43, low=…, high=…, n=3, left_out=0)

Krippendorff's alpha for names (nominal): 1 is full agreement, 0 what chance gives. Any number of
raters may rate any number of units; a unit that fewer than two rated is left out. The interval
draws units.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
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
    a, b = np.array(pairs, dtype=np.float64).reshape(-1, 2).T.copy()
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
    n = sum(map(len, sides))
    left_out = len(first) + len(second) - n
    if not all(sides):
        return Estimate(None, n=n, left_out=left_out, unscored="one side has no label")
    order = sorted({*sides[0], *sides[1]})
    counts = [np.array([[side.count(label) for label in order]], np.float64) for side in sides]
    value = float(_divergence(*counts)[0])
    if not interval:
        return Estimate(value, n=n, left_out=left_out)
    rng = np.random.default_rng(SEED)
    resamples = (
        rng.multinomial(len(side), count[0] / len(side), RESAMPLES).astype(np.float64)
        for side, count in zip(sides, counts, strict=True)
    )
    spread = _divergence(*resamples)
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


Figure: TypeAlias = Callable[[Array], Array]  # sums of the parts on the last axis → the figure

_SWAPS = 9999
_EXACT = 12  # units; every way of swapping so many is tried
FEWEST_GROUPS = 5  # below, drawing whole groups says little about their spread


@dataclass(frozen=True, slots=True)
class Change:
    """The second side against the first on the same rows.

    `relative` is the second divided by the first, less 1: "198 %" is 1.98. `p` comes from
    swapping the two sides of whole groups, in every way where there are few; None where there are
    too few to tell. `p_holm` is corrected by whoever knows which figures belong together.
    """

    n: int
    groups: int
    first: float | None
    second: float | None
    difference: Estimate
    relative: Estimate
    p: float | None
    p_holm: float | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def ratio(sums: Array) -> Array:
    """The first sum divided by the second: a mean, where the second counts rows."""
    return quotient(sums[..., 0], sums[..., 1])


def grouped_estimates(
    parts: Array,
    groups: Sequence[str],
    figures: Mapping[str, Figure],
    *,
    left_out: int = 0,
    whole: bool = False,
) -> dict[str, Estimate]:
    """Each figure over all rows, with its interval. `left_out` rows are counted, not scored.

    `whole` draws groups however few there are.
    """
    n = len(groups)
    if not n:
        nothing = Estimate(None, left_out=left_out, unscored="nothing to score")
        return dict.fromkeys(figures, nothing)
    sums = _by_group(parts, groups, whole)
    resamples = drawn_sums([sums])[0]
    estimates = {}
    for name, figure in figures.items():
        value = _finite(figure(parts.sum(axis=0)))
        if value is None:
            reason = "it has no value on these rows"
            estimates[name] = Estimate(None, n=n, left_out=left_out, unscored=reason)
            continue
        estimates[name] = Estimate(value, *percentile_interval(figure(resamples)), n, left_out)
    return estimates


def grouped_changes(
    first: Array,
    second: Array,
    groups: Sequence[str],
    figures: Mapping[str, Figure],
    *,
    whole: bool = False,
) -> dict[str, Change]:
    """The same rows scored twice: difference and ratio of each figure, with intervals and p.

    `whole` draws and swaps groups however few there are.
    """
    n = len(groups)
    if not len(first) == len(second) == n:
        raise ValueError(f"{len(first)} rows against {len(second)} in {n} groups")
    if not n:
        nothing = Estimate(None, unscored="no row has both")
        return dict.fromkeys(figures, Change(0, 0, None, None, nothing, nothing, None))
    a, b = _by_group(first, groups, whole), _by_group(second, groups, whole)
    resamples = drawn_sums([a, b])
    swapped = _swap_units(a, b)
    group_count = len(dict.fromkeys(groups))
    changes = {}
    for name, figure in figures.items():
        first_value, second_value = (_finite(figure(side.sum(axis=0))) for side in (a, b))
        if first_value is None or second_value is None:
            nothing = Estimate(None, n=n, unscored="one side has no value")
            changes[name] = Change(
                n, group_count, first_value, second_value, nothing, nothing, None
            )
            continue
        before, after = (figure(side) for side in resamples)
        difference = Estimate(second_value - first_value, *percentile_interval(after - before), n)
        relative = Estimate(None, n=n, unscored="the first side is not above 0")
        if first_value > 0:
            # A draw whose first side is at or below 0 has no share to speak of.
            shares = percentile_interval(quotient(after, before) - 1)
            relative = Estimate(second_value / first_value - 1, *shares, n)
        # Rows of a few groups are alike: swapping them one by one would make chance look small.
        testable = len(a) >= 2 and (whole or group_count >= FEWEST_GROUPS)
        p = _p(abs(second_value - first_value), figure, swapped) if testable else None
        changes[name] = Change(n, group_count, first_value, second_value, difference, relative, p)
    return changes


def _finite(value: Array) -> float | None:
    return float(value) if np.isfinite(value) else None


def _by_group(parts: Array, groups: Sequence[str], whole: bool) -> Array:
    """Sums per group; single rows where there are too few groups to draw from."""
    if len(set(groups)) < FEWEST_GROUPS and not whole:
        return np.asarray(parts, dtype=np.float64)
    return group_sums(parts, groups)


def group_sums(parts: Array, groups: Sequence[str]) -> Array:
    """One line per group, in the order of their first rows."""
    names = {name: place for place, name in enumerate(dict.fromkeys(groups))}
    sums = np.zeros((len(names), parts.shape[1]))
    np.add.at(sums, [names[name] for name in groups], parts)
    return sums


def drawn_sums(sides: Sequence[Array]) -> list[Array]:
    """The sums of each draw; the same units are drawn on every side. No draw of a single unit."""
    units = len(sides[0])
    if units < 2:
        return [np.empty((0, side.shape[1])) for side in sides]
    shares = np.full(units, 1 / units)
    generator = np.random.default_rng(SEED)
    draws = (generator.multinomial(units, shares, size) for size in _steps(RESAMPLES, units))
    blocks = [[times @ side for side in sides] for times in (d.astype(np.float64) for d in draws)]
    return [np.concatenate(own) for own in zip(*blocks, strict=True)]


def _steps(total: int, width: int) -> Iterator[int]:
    """So many draws of `width` numbers, in steps that fit into the memory."""
    step = max(1, _AT_ONCE // width)
    return (min(step, total - start) for start in range(0, total, step))


def _swap_units(a: Array, b: Array) -> tuple[Array, Array]:
    """Both sides' sums after swapping whole units: in every way, or of many in random ones."""
    change = b - a
    moved = change[change.any(axis=1)]
    if len(moved) <= _EXACT:
        ways = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1
        moves = ways.astype(np.float64) @ moved
    else:
        generator = np.random.default_rng(SEED)
        sizes = ((size, len(moved)) for size in _steps(_SWAPS, len(moved)))
        swaps = (generator.integers(0, 2, size, dtype=np.int8) for size in sizes)
        moves = np.concatenate([swap.astype(np.float64) @ moved for swap in swaps])
    return a.sum(axis=0) + moves, b.sum(axis=0) - moves


def _p(seen: float, figure: Figure, swapped: tuple[Array, Array]) -> float | None:
    """How often chance alone makes the two sides differ as much."""
    before, after = (figure(side) for side in swapped)
    apart = np.abs(after - before)
    apart = apart[np.isfinite(apart)]
    if not apart.size:
        return None
    # A hair less, so that the same sums in another order count as the same. How much a sum can
    # be off grows with what is summed: an RMSE of votes runs into thousands.
    hair = 1e-12 * max(1.0, float(np.max(np.abs(before), initial=0.0, where=np.isfinite(before))))
    as_much = int((apart >= seen - hair).sum())
    if len(before) != _SWAPS:
        return as_much / apart.size  # every way was tried, that which was seen among them
    return (as_much + 1) / (apart.size + 1)


def krippendorff_alpha(units: Sequence[Sequence[Hashable]]) -> Estimate:
    """The agreement over units, each of which is what its raters say."""
    rated = [Counter(unit) for unit in units if len(unit) > 1]
    left_out = len(units) - len(rated)
    if not rated:
        return Estimate(None, left_out=left_out, unscored="no unit has two raters")
    values = list(dict.fromkeys(value for unit in rated for value in unit))
    # What is summed over units: disagreement, then how often each value is given.
    lines = np.array(
        [[_apart(unit), *(unit[value] for value in values)] for unit in rated], np.float64
    )
    value = float(_alpha(lines.sum(axis=0)))
    if not np.isfinite(value):
        return Estimate(None, n=len(rated), left_out=left_out, unscored="only one value is given")
    interval = percentile_interval(_alpha(drawn_sums([lines])[0]))
    return Estimate(value, *interval, len(rated), left_out)


def _apart(unit: Counter[Hashable]) -> float:
    """Pairs of raters who differ, each rating weighing the same whatever the unit's number."""
    raters = unit.total()
    return (raters**2 - sum(count**2 for count in unit.values())) / (raters - 1)


def _alpha(sums: Array) -> Array:
    counts = sums[..., 1:]
    total = counts.sum(axis=-1)
    expected = (total**2 - (counts**2).sum(axis=-1)) / (total - 1)
    return 1 - quotient(sums[..., 0], expected)
