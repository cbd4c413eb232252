"""The test that swaps whole groups, against counting by hand and against scipy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from scipy import stats

from realtalk.metrics.statistics import Change, grouped_changes, ratio, wilson


def changed(first: Sequence[float], second: Sequence[float], groups: Sequence[str]) -> Change:
    before, after = (np.array([values, np.ones(len(values))]).T for values in (first, second))
    return grouped_changes(before, after, groups, {"mean": ratio})["mean"]


def test_groups_that_disagree_are_counted_as_groups() -> None:
    change = [0.3] * 20 + [-0.1] * 20 + [0.2] * 20 + [0.0] * 20 + [0.1] * 20
    found = changed([0.5] * 100, [0.5 + c for c in change], [str(n // 20) for n in range(100)])
    assert found.difference.low is not None and found.difference.low < 0
    # Of the 2^4 ways to swap groups that differ (3, -1, 2 and 1), those at least 5 apart from 0:
    # 3+1+2+1 = 7, 3-1+2+1 = 5, 3+1+2-1 = 5, and their opposites.
    assert found.p == pytest.approx(6 / 16)
    assert found.groups == 5


@pytest.mark.parametrize("groups", [5, 8, 12])
def test_swapping_whole_groups_is_exact_where_they_are_few(groups: int) -> None:
    rng = np.random.default_rng(groups)
    sizes = rng.integers(1, 9, groups)
    names = [f"group {n}" for n, size in enumerate(sizes) for _ in range(size)]
    first = rng.random(len(names))
    shifts = np.repeat(rng.normal(0.05, 0.2, groups), sizes)
    second = first + shifts + rng.normal(0, 0.1, len(names))
    change = second - first
    sums = [float(change[[n == name for n in names]].sum()) for name in dict.fromkeys(names)]
    known = stats.permutation_test((sums,), np.sum, permutation_type="samples", n_resamples=np.inf)
    assert changed(list(first), list(second), names).p == pytest.approx(known.pvalue)


def test_many_groups_are_drawn_with_a_fixed_seed() -> None:
    rng = np.random.default_rng(3)
    names = [str(n // 4) for n in range(160)]
    first = list(rng.random(160))
    second = [value + rng.normal(0.03, 0.2) for value in first]
    found = changed(first, second, names)
    assert found == changed(first, second, names)
    means = np.subtract(second, first).reshape(40, 4).mean(axis=1)
    assert found.p == pytest.approx(stats.ttest_1samp(means, 0).pvalue, abs=0.03)


def test_few_groups_tell_nothing_of_others() -> None:
    found = changed([0.0] * 40, [1.0] * 40, [str(n % 4) for n in range(40)])
    assert (found.groups, found.p, found.p_holm) == (4, None, None)
    least = changed([0.0] * 40, [1.0] * 40, [str(n % 5) for n in range(40)])
    assert least.p == 2 / 2**5  # five groups cannot tell more


def test_changes_that_cancel_out_within_groups_are_no_change() -> None:
    first, second = [0.1, 0.2, 0.3] * 6, [0.3, 0.1, 0.2] * 6
    assert changed(first, second, [str(n // 3) for n in range(18)]).p == 1.0


def test_wilson_holds_at_the_ends() -> None:
    assert wilson([]) == (None, None)
    assert wilson([0.0] * 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson([1.0] * 8 + [0.0] * 2) == pytest.approx((0.4902, 0.9433), abs=1e-4)
