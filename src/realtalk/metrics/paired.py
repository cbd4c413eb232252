"""Two ways compared on the same questions, and proportions with their intervals.

    compare_paired([1.0, 0.0, 0.5], [0.0, 0.0, 0.5], ["a", "a", "b"])
    → PairedTest(n=3, first=0.5, second=0.17, difference=-0.33, low=…, high=…, p=1.0,
                 test="permutation", by_chat=ByChat(chats=2, unscored="fewer than 5 chats: …"))
    wilson([1, 1, 0, 1])    → (0.30, 0.95)

Two answers to "is it only chance?". The first takes every question as independent: McNemar's
exact test where scores are right or wrong, else swapping the two scores of a question at random.
But questions of one chat share its speakers, its memory and its annotator. `by_chat` therefore
draws whole chats for the interval and swaps whole chats for the test. It is the one that speaks
of other chats than these, and the one to trust.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from realtalk.metrics.grouped import FEWEST_GROUPS, drawn_sums, group_sums, ratio
from realtalk.metrics.statistics import LEVEL, SEED, Array, Interval, percentile_interval

__all__ = ["FEWEST_CHATS", "ByChat", "PairedTest", "compare_paired", "wilson"]

FEWEST_CHATS = FEWEST_GROUPS
_SWAPS = 9999
_EXACT_CHATS = 16  # every way of swapping so many chats is tried: 65,536
_AT_ONCE = 1 << 20  # numbers drawn at a time

Test = Literal["permutation", "McNemar"]


@dataclass(frozen=True, slots=True)
class ByChat:
    """The same difference with the chat as the unit: interval, test, and how many chats.

    `better` and `worse` count the chats whose mean the second side raises or lowers. `exact`
    says whether the test tried every way of swapping whole chats, or drew some.
    """

    chats: int
    low: float | None = None
    high: float | None = None
    better: int = 0
    worse: int = 0
    p: float | None = None
    exact: bool | None = None
    unscored: str | None = None


@dataclass(frozen=True, slots=True)
class PairedTest:
    """Means of both sides, the second minus the first with its interval, and the test's p.

    `low`, `high`, `p` take questions as independent. `better` and `worse` count the questions
    on which the second side is.
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
    by_chat: ByChat

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare_paired(
    first: Sequence[float], second: Sequence[float], groups: Sequence[str]
) -> PairedTest | None:
    """The same questions scored twice, each with its chat; None without any."""
    if not len(first) == len(second) == len(groups):
        raise ValueError(f"{len(first)} scores against {len(second)} in {len(groups)} groups")
    if not first:
        return None
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    change = b - a
    better, worse = int((change > 0).sum()), int((change < 0).sum())
    right_or_wrong = set(np.unique(np.concatenate([a, b]))) <= {0.0, 1.0}
    test: Test = "McNemar" if right_or_wrong else "permutation"
    p = _sign_test(better, worse) if right_or_wrong else _flipped(change)[0]
    parts = np.column_stack([change, np.ones_like(change)])
    low, high = _interval(parts) or (None, None)
    means = float(a.mean()), float(b.mean()), float(change.mean())
    by_chat = _by_chat(parts, groups)
    return PairedTest(a.size, *means, low, high, better, worse, p, test, by_chat)


def _by_chat(parts: Array, groups: Sequence[str]) -> ByChat:
    by_group = group_sums(parts, groups)
    sums, sizes = by_group.T
    if len(sums) < FEWEST_CHATS:
        reason = f"fewer than {FEWEST_CHATS} chats: what holds for other chats cannot be told"
        return ByChat(len(sums), unscored=reason)
    sums[np.abs(sums) < 1e-12 * sizes] = 0.0  # changes that cancel out leave a crumb
    low, high = _interval(by_group) or (None, None)
    p, exact = _flipped(sums)
    better, worse = int((sums > 0).sum()), int((sums < 0).sum())
    return ByChat(len(sums), low, high, better, worse, p, exact)


def _sign_test(better: int, worse: int) -> float:
    from scipy import stats

    if not better + worse:
        return 1.0
    return float(stats.binomtest(better, better + worse, 0.5).pvalue)


def _flipped(change: Array) -> tuple[float, bool]:
    """How often swapping sides at random makes as large a sum, and whether every way was tried.

    A chat's changes are swapped together, so that a large chat weighs as its questions do.
    """
    from scipy import stats

    moved = change[change != 0]  # swapping equal sides changes nothing
    if moved.size < 2:
        return 1.0, True  # of one, either sign is as large
    exact = moved.size <= _EXACT_CHATS
    test = stats.permutation_test(
        (moved,),
        np.sum,
        permutation_type="samples",
        vectorized=True,
        n_resamples=2**moved.size if exact else _SWAPS,
        batch=max(1, _AT_ONCE // moved.size),
        rng=np.random.default_rng(SEED),
    )
    return float(test.pvalue), exact


def _interval(parts: Array) -> Interval | None:
    """The interval of the mean change, drawing lines of (sum, questions)."""
    return percentile_interval(ratio(drawn_sums([parts])[0]))


def wilson(values: Sequence[float]) -> Interval | None:
    """The 95 % interval of a proportion, which also holds near 0 and 1; None without values."""
    from scipy import stats

    if not len(values):
        return None
    interval = stats.binomtest(round(sum(values)), len(values)).proportion_ci(
        LEVEL, method="wilson"
    )
    return float(interval.low), float(interval.high)
