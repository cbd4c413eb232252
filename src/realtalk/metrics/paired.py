"""Two ways compared on the same questions, and proportions with their intervals.

    compare_paired([1.0, 0.0, 0.5], [0.0, 0.0, 0.5], ["a", "a", "b"])
    → PairedTest(n=3, first=0.5, second=0.17, difference=-0.33, low=…, high=…, p=1.0,
                 test="permutation")
    wilson([1, 1, 0, 1])    → (0.30, 0.95)

The interval of a difference draws whole chats where there are enough, as questions of one chat
are alike. Scores that are right or wrong are tested by McNemar's exact test, others by
swapping the two scores of a question at random.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from realtalk.metrics.statistics import LEVEL, RESAMPLES, SEED, Array, percentile_interval

__all__ = ["PairedTest", "compare_paired", "wilson"]

_SWAPS = 9999
_AT_ONCE = 1 << 20  # numbers drawn at a time
_FEWEST_GROUPS = 5  # below, drawing whole groups says little about their spread

Test = Literal["permutation", "McNemar"]


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Means of both sides, the second minus the first with its interval, and the test's p.

    `better` and `worse` count the questions on which the second side is.
    """

    n: int
    first: float
    second: float
    difference: float
    low: float | None
    high: float | None
    better: int
    worse: int
    p: float
    test: Test

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare_paired(
    first: Sequence[float], second: Sequence[float], groups: Sequence[str], seed: int = SEED
) -> PairedTest | None:
    """The same questions scored twice; None without any."""
    from scipy import stats

    if not len(first) == len(second) == len(groups):
        raise ValueError(f"{len(first)} scores against {len(second)} in {len(groups)} groups")
    if not first:
        return None
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    change = b - a
    better, worse = int((change > 0).sum()), int((change < 0).sum())
    test: Test
    if set(np.unique(np.concatenate([a, b]))) <= {0.0, 1.0}:
        test = "McNemar"
        p = 1.0
        if better + worse:
            p = float(stats.binomtest(better, better + worse, 0.5).pvalue)
    else:
        test, p = "permutation", 1.0
        if better + worse:
            found = stats.permutation_test(
                (a, b),
                lambda x, y, axis: np.mean(y - x, axis=axis),
                permutation_type="samples",
                vectorized=True,
                n_resamples=_SWAPS,
                batch=max(1, _AT_ONCE // a.size),
                rng=np.random.default_rng(seed),
            )
            p = float(found.pvalue)
    low, high = _interval(change, groups, seed) or (None, None)
    mean = float(change.mean())
    return PairedTest(
        a.size, float(a.mean()), float(b.mean()), mean, low, high, better, worse, p, test
    )


def _interval(change: Array, groups: Sequence[str], seed: int) -> tuple[float, float] | None:
    """The interval of the mean change, drawing groups or, where there are few, single ones."""
    names = {name: place for place, name in enumerate(dict.fromkeys(groups))}
    unit = np.array([names[name] for name in groups])
    if len(names) < _FEWEST_GROUPS:
        unit = np.arange(change.size)
    sizes = np.bincount(unit).astype(np.float64)
    sums = np.bincount(unit, weights=change)
    if sizes.size < 2:
        return None
    shares = np.full(sizes.size, 1 / sizes.size)
    times = np.random.default_rng(seed).multinomial(sizes.size, shares, RESAMPLES)
    return percentile_interval((times @ sums) / (times @ sizes))


def wilson(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of a proportion of ones, which holds also near 0 and 1; None for none."""
    from scipy import stats

    if not len(values):
        return None
    found = stats.binomtest(round(sum(values)), len(values)).proportion_ci(LEVEL, method="wilson")
    return float(found.low), float(found.high)
