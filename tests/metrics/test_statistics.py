"""Statistics against scipy, scikit-learn and plain Python, and by hand; accuracy, F1, MCC, RMSE,
MAE and Spearman beside the libraries' own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from realtalk.metrics.statistics import (
    Estimate,
    bootstrap_interval,
    cliffs_delta,
    cohen_kappa,
    holm,
    pearson,
    percentile_interval,
    weighted_kappa,
)
from realtalk.metrics.sums import (
    CLASSIFICATION,
    REGRESSION,
    confusion,
    residuals,
    signed_exp,
    signed_log,
)
from tries import tries

LABELS = ["joy", "fear", "love", None]


def scikit_learns(pairs: Sequence[tuple[Any, Any]], **options: Any) -> float | None:
    """The kappa of the pairs that are whole; none where chance alone would always agree."""
    whole = [(a, b) for a, b in pairs if a is not None and b is not None]
    if len({each for pair in whole for each in pair}) < 2:
        return None
    return float(metrics.cohen_kappa_score(*zip(*whole, strict=True), **options))


def same(found: Estimate, expected: float | None) -> bool:
    if expected is None or found.value is None:
        return expected is None and found.value is None and found.unscored is not None
    return found.value == pytest.approx(expected, abs=1e-9)


@settings(max_examples=tries(60))
@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=30))
def test_kappa(pairs: list[tuple[str | None, str | None]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    found = cohen_kappa(first, second)
    assert same(found, scikit_learns(pairs))
    assert found.n + found.left_out == len(pairs)
    assert found == cohen_kappa(first, second)


@settings(max_examples=tries(60))
@given(st.lists(st.tuples(*[st.none() | st.integers(0, 6)] * 2), max_size=30))
def test_weighted_kappa(pairs: list[tuple[int | None, int | None]]) -> None:
    found = weighted_kappa([a for a, _ in pairs], [b for _, b in pairs])
    assert same(found, scikit_learns(pairs, weights="quadratic", labels=[*range(7)]))


@settings(max_examples=tries(60))
@given(st.lists(st.tuples(*[st.none() | st.integers(-5, 5)] * 2), min_size=3, max_size=30))
def test_pearson(pairs: list[tuple[int | None, int | None]]) -> None:
    found = pearson([a for a, _ in pairs], [b for _, b in pairs])
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    assert (found.n, found.left_out) == (len(known), len(pairs) - len(known))
    if len(known) < 3 or len({a for a, _ in known}) == 1 or len({b for _, b in known}) == 1:
        assert found.value is None and found.unscored
    else:
        theirs = stats.pearsonr(*zip(*known, strict=True))
        assert found.value == pytest.approx(theirs.statistic, abs=1e-9)
        if len(known) > 3 and abs(theirs.statistic) < 0.999999:
            interval = pytest.approx(tuple(theirs.confidence_interval()), abs=1e-6)
            assert (found.low, found.high) == interval


@settings(max_examples=tries(40))
@given(*[st.lists(st.integers(0, 5), min_size=1, max_size=12)] * 2)
def test_cliffs_delta(first: list[int], second: list[int]) -> None:
    above = sum(a > b for a in first for b in second)
    below = sum(a < b for a in first for b in second)
    found = cliffs_delta(first, second)
    assert found.value == pytest.approx((above - below) / (len(first) * len(second)))
    assert (found.low is None) == (min(len(first), len(second)) < 2)
    assert cliffs_delta(first, []).value is None


def test_sides_that_do_not_overlap_are_not_certain() -> None:
    few = cliffs_delta([7, 8, 9, 10], [1, 2, 3, 4])
    assert (few.value, few.high) == (1, 1)
    assert few.low == pytest.approx(0.1646, abs=1e-4)  # as far as four against four can tell
    turned = cliffs_delta([1, 2, 3, 4], [7, 8, 9, 10])
    assert few.low is not None
    assert turned.low == -1
    assert turned.high == pytest.approx(-few.low)
    many = cliffs_delta(range(1000, 2000), range(1000))
    assert many.low is not None and 0.99 < many.low < 1


@settings(max_examples=tries(60))
@given(st.lists(st.none() | st.floats(0, 1), max_size=12))
def test_holm(p_values: list[float | None]) -> None:
    """The textbook's definition: the largest (m - j) p over all that are not larger."""
    made = sorted(p for p in p_values if p is not None)
    for p, corrected in zip(p_values, holm(p_values), strict=True):
        if p is None:
            assert corrected is None
        else:
            steps = [
                min(1.0, (len(made) - rank) * other)
                for rank, other in enumerate(made)
                if other < p or rank == made.index(p)
            ]
            assert corrected == pytest.approx(max(steps))


def test_the_bootstrap_of_a_mean_is_near_the_textbook() -> None:
    values = np.random.default_rng(3).normal(10, 2, 400)
    found = bootstrap_interval([values], np.mean)
    assert found[0] is not None and found[1] is not None
    half = 1.96 * values.std() / 20
    assert found[0] == pytest.approx(values.mean() - half, abs=0.03)
    assert found[1] == pytest.approx(values.mean() + half, abs=0.03)
    assert found == bootstrap_interval([values], np.mean)
    assert bootstrap_interval([[1.0]], np.mean) == (None, None)


def test_paired_resampling_keeps_pairs_together() -> None:
    first = np.arange(50.0)

    def gap(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:
        return np.asarray((a - b).mean(axis=axis))

    assert bootstrap_interval([first, first + 1], gap, paired=True) == (-1.0, -1.0)
    apart = bootstrap_interval([first, first + 1], gap)
    assert apart[0] is not None and apart[0] < -2
    assert apart[1] is not None and apart[1] > 0


def test_failed_draws_do_not_count() -> None:
    draws = np.array([1.0, 2.0, 3.0, math.nan])
    assert percentile_interval(draws) == pytest.approx((1.05, 2.95))
    assert percentile_interval(np.array([1.0, math.nan, math.nan, math.nan])) == (None, None)


def test_not_a_number_is_missing() -> None:
    nan = math.nan
    left = pearson([1, 2, nan, 4, 5.5], [2, 3, 6, nan, 9])
    assert (left.n, left.left_out) == (3, 2)
    assert left.value == pytest.approx(stats.pearsonr([1, 2, 5.5], [2, 3, 9]).statistic)
    assert holm([nan, 0.01, 0.04]) == [None, 0.02, 0.04]
    delta = cliffs_delta([1, nan, 3], [0, 0])
    assert (delta.value, delta.n, delta.left_out) == (1.0, 4, 1)
    assert cliffs_delta([nan], [1.0]).unscored == "one side has no value"


# --- figures of sums ---


PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60)
NUMBERS = st.lists(
    st.tuples(st.integers(-400, 1500), st.floats(-400, 1500, allow_nan=False)),
    min_size=3,
    max_size=60,
)


@given(PAIRS)
@settings(max_examples=tries(60))
def test_classes_as_scikit_learn_has_them(pairs: list[tuple[bool, bool]]) -> None:
    truth, said = [a for a, _ in pairs], [b for _, b in pairs]
    found = {
        name: float(figure(confusion(truth, said).sum(axis=0)))
        for name, figure in CLASSIFICATION.items()
    }
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(truth, said))
    if len(set(truth)) == 2:
        assert found["balanced_accuracy"] == pytest.approx(
            metrics.balanced_accuracy_score(truth, said)
        )
        assert found["mcc"] == pytest.approx(metrics.matthews_corrcoef(truth, said))
    else:
        assert np.isnan(found["balanced_accuracy"])
        assert np.isnan(found["mcc"])
    if any(truth) or any(said):
        assert found["positive_f1"] == pytest.approx(metrics.f1_score(truth, said))
    else:
        assert np.isnan(found["positive_f1"])
    assert found["macro_f1"] == pytest.approx(metrics.f1_score(truth, said, average="macro"))


@given(NUMBERS)
@settings(max_examples=tries(60))
def test_numbers_as_the_libraries_have_them(pairs: list[tuple[int, float]]) -> None:
    truth, said = [float(a) for a, _ in pairs], [b for _, b in pairs]
    found = {
        name: float(figure(residuals(truth, said).sum(axis=0)))
        for name, figure in REGRESSION.items()
    }
    logs = signed_log(truth), signed_log(said)
    assert found["rmse"] == pytest.approx(metrics.root_mean_squared_error(truth, said))
    assert found["mae"] == pytest.approx(metrics.mean_absolute_error(truth, said))
    assert found["rmse_log"] == pytest.approx(metrics.root_mean_squared_error(*logs))
    assert found["mae_log"] == pytest.approx(metrics.mean_absolute_error(*logs))
    if len(set(truth)) > 1 and len(set(said)) > 1:
        assert found["spearman"] == pytest.approx(stats.spearmanr(truth, said).statistic)
    else:
        assert np.isnan(found["spearman"])


def test_the_signed_log_goes_there_and_back() -> None:
    assert signed_log([-3.0, 0.0, 1.0]) == pytest.approx([-np.log(4), 0.0, np.log(2)])
    values = [-360.0, -1.0, 0.0, 1.0, 1425.0]
    assert signed_exp(signed_log(values)) == pytest.approx(values)
