"""Figures of sums: drawn by person, compared in pairs; agreement of several raters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from realtalk.metrics.statistics import (
    Array,
    grouped_changes,
    grouped_estimates,
    krippendorff_alpha,
    ratio,
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
