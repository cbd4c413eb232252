"""Accuracy, F1, MCC, RMSE, MAE and Spearman beside scikit-learn's and scipy's own."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics

from realtalk.metrics.sums import (
    CLASSIFICATION,
    REGRESSION,
    confusion,
    residuals,
    signed_exp,
    signed_log,
)
from tries import tries

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
