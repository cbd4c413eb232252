"""r and concordance of Table 7's columns, as Lin and the libraries have them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from research.papers.judging import NEARNESS, products

NUMBERS = st.lists(
    st.tuples(st.integers(-400, 1500), st.floats(-400, 1500, allow_nan=False)),
    min_size=3,
    max_size=60,
)


@given(NUMBERS)
@settings(max_examples=60, deadline=None)
def test_concordance_as_lin_has_it(pairs: list[tuple[int, float]]) -> None:
    truth, said = np.array([float(a) for a, _ in pairs]), np.array([b for _, b in pairs])
    sums = products(truth.tolist(), said.tolist()).sum(axis=0)
    found = {name: float(figure(sums)) for name, figure in NEARNESS.items()}
    assert found["error"] == pytest.approx(metrics.mean_absolute_error(truth, said))
    if len(set(truth)) > 1 and np.ptp(said) > 1e-3:
        assert found["r"] == pytest.approx(stats.pearsonr(truth, said).statistic, abs=1e-6)
    whole = truth.var() + said.var() + (truth.mean() - said.mean()) ** 2
    if whole > 1e-3:
        covariance = np.mean((truth - truth.mean()) * (said - said.mean()))
        assert found["concordance"] == pytest.approx(2 * covariance / whole, abs=1e-9)


def test_concordance_sees_level_and_width() -> None:
    truth = [1.0, 2.0, 3.0, 4.0]

    def found(said: list[float]) -> dict[str, float]:
        sums = products(truth, said).sum(axis=0)
        return {name: float(figure(sums)) for name, figure in NEARNESS.items()}

    assert found(truth) == pytest.approx({"r": 1, "concordance": 1, "error": 0})
    assert found([value + 10 for value in truth])["concordance"] < 0.03
    assert found([10 * value - 22.5 for value in truth])["concordance"] < 0.25
    flat = found([2.5] * 4)
    assert np.isnan(flat["r"])
    assert flat["concordance"] == 0
    # A unit in thousandths loses no digits.
    small = products([each * 1e-9 for each in truth], [each * 1e-9 for each in truth])
    assert float(NEARNESS["r"](small.sum(axis=0))) == pytest.approx(1)
