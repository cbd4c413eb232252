"""AUC from sums: the library's value, with DeLong's spread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from realtalk.metrics.statistics import drawn_sums, grouped_estimates
from research.papers.auc import auc, placements


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=2, max_size=40))
def test_it_is_the_librarys_with_ties(pairs: list[tuple[bool, int]]) -> None:
    truth, likely = [real for real, _ in pairs], [said / 5 for _, said in pairs]
    found = auc(placements(truth, likely).sum(axis=0))
    if len(set(truth)) < 2:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(roc_auc_score(truth, likely))


def test_draws_spread_as_delong_has_it() -> None:
    draws = np.random.default_rng(5)
    truth = draws.random(400) < 0.8
    likely = draws.normal(truth * 0.8, 1.0)
    lines = placements(truth, likely)
    yes, no = likely[truth], likely[~truth]
    above = (yes[:, None] > no[None]).astype(float)
    variance = above.mean(axis=1).var(ddof=1) / len(yes) + above.mean(axis=0).var(ddof=1) / len(no)
    spread = auc(drawn_sums([lines])[0]).std()
    assert spread == pytest.approx(np.sqrt(variance), rel=0.1)


def test_an_interval_draws_whole_people() -> None:
    truth, likely = [True, False] * 20, [0.9, 0.2, 0.4, 0.6] * 10
    people = [f"p{at % 8}" for at in range(40)]
    found = grouped_estimates(placements(truth, likely), people, {"auc": auc})["auc"]
    assert found.value == pytest.approx(0.75)
    assert found.low is not None and found.high is not None
    assert found.low < 0.75 < found.high
    assert grouped_estimates(placements([True], [1.0]), ["p"], {"auc": auc})["auc"].value is None
