"""Figures of sums: drawn by person, compared in pairs; groups that are swapped whole; agreement of
several raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy import stats

from realtalk.metrics.statistics import (
    Array,
    Change,
    grouped_changes,
    grouped_estimates,
    krippendorff_alpha,
    ratio,
    wilson,
)
from realtalk.metrics.sums import CLASSIFICATION, confusion

SHARE = {"share": ratio}


def _parts(values: list[float]) -> Array:
    return np.array([[value, 1.0] for value in values]).reshape(-1, 2)


def test_the_value_is_over_rows_and_the_interval_over_people() -> None:
    # Ten people of ten rows each, all right or all wrong: ten things are known, not a hundred.
    people = [f"u{at // 10}" for at in range(100)]
    values = [float(at // 10 < 5) for at in range(100)]
    by_person: Any = grouped_estimates(_parts(values), people, SHARE)["share"]
    by_row: Any = grouped_estimates(_parts(values), [str(at) for at in range(100)], SHARE)["share"]
    assert by_person.value == by_row.value == 0.5
    assert by_person.n == 100
    assert by_person.high - by_person.low > 2.5 * (by_row.high - by_row.low)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    draws = np.random.default_rng(1)
    inside = 0
    for _ in range(100):
        means = draws.beta(2, 2, 30)
        values = [float(draws.random() < mean) for mean in means for _ in range(8)]
        people = [f"u{at}" for at in range(30) for _ in range(8)]
        found: Any = grouped_estimates(_parts(values), people, SHARE)["share"]
        inside += found.low <= 0.5 <= found.high
    assert 88 <= inside <= 99


def test_nothing_and_no_value_are_unscored_with_the_reason() -> None:
    nothing = grouped_estimates(_parts([]), [], SHARE, left_out=3)["share"]
    assert (nothing.value, nothing.n, nothing.left_out) == (None, 0, 3)
    assert nothing.unscored == "nothing to score"
    parts = confusion([True] * 6, [True] * 6)
    alone = grouped_estimates(parts, list("abcdef"), CLASSIFICATION)
    assert alone["accuracy"].value == 1.0
    assert alone["mcc"].value is None and alone["mcc"].unscored
    one = grouped_estimates(_parts([1.0]), ["a"], SHARE)["share"]
    assert (one.value, one.low, one.high) == (1.0, None, None)


def test_a_change_has_its_difference_its_ratio_and_a_test() -> None:
    people = [f"u{at // 4}" for at in range(400)]
    draws = np.random.default_rng(3)
    first = (draws.random(400) < 0.3).astype(float).tolist()
    second = (draws.random(400) < 0.6).astype(float).tolist()
    found: Any = grouped_changes(_parts(first), _parts(second), people, SHARE)["share"]
    assert found.first == pytest.approx(np.mean(first))
    assert found.second == pytest.approx(np.mean(second))
    assert found.difference.value == pytest.approx(np.mean(second) - np.mean(first))
    assert found.relative.value == pytest.approx(np.mean(second) / np.mean(first) - 1)
    assert found.difference.low > 0 and found.relative.low > 0 and found.p < 0.001
    assert (found.n, found.groups) == (400, 100)


def test_the_same_twice_and_a_first_side_of_zero() -> None:
    people = [f"u{at}" for at in range(20)]
    same = _parts([float(at % 2) for at in range(20)])
    found = grouped_changes(same, same, people, SHARE)["share"]
    assert found.p == 1.0
    assert (found.difference.value, found.difference.low, found.difference.high) == (0, 0, 0)
    zero = grouped_changes(_parts([0.0] * 20), same, people, SHARE)["share"]
    assert zero.relative.value is None and zero.relative.unscored
    assert zero.difference.value == 0.5
    with pytest.raises(ValueError, match="20 rows against 1"):
        grouped_changes(same, _parts([1.0]), people, SHARE)


def test_the_same_sums_in_another_order_are_the_same_however_large() -> None:
    """Of five people's swaps every sixteenth gives back the difference seen."""
    draws = np.random.default_rng(3)
    before = draws.normal(3e9, 1e8, 5)
    after = before + draws.uniform(1e7, 3e7, 5)  # everybody moves one way: the largest difference
    one, other = (np.column_stack([side, np.ones(5)]) for side in (before, after))
    found = grouped_changes(one, other, list("abcde"), {"mean": ratio})["mean"]
    assert found.p == pytest.approx(2 / 2**5, abs=0.01)


# Krippendorff's own example: four raters, twelve units, some not rated by all.
RATED = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
UNITS = [
    [said for said in unit if said != "."]
    for unit in zip(*(line.split() for line in RATED), strict=True)
]


def test_alpha_is_as_its_author_computes_it() -> None:
    found: Any = krippendorff_alpha(UNITS)
    assert found.value == pytest.approx(0.743, abs=0.0005)
    assert (found.n, found.left_out) == (11, 1)
    assert found.low < 0.743 < found.high


def test_what_has_no_alpha_says_why() -> None:
    assert krippendorff_alpha([["a"], []]).unscored == "no unit has two raters"
    assert krippendorff_alpha([["a", "a"], ["a", "a"]]).unscored == "only one value is given"
    assert krippendorff_alpha([["a", "a"], ["b", "b"]]).value == 1.0


# --- tests over groups ---


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
