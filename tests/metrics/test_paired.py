"""Paired tests against textbook values and against scipy called another way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from realtalk.metrics.paired import compare_paired, wilson


def test_mcnemar_is_a_sign_test_of_the_changed() -> None:
    first = [1.0] * 30 + [0.0] * 20 + [1.0] * 3 + [0.0] * 12
    second = [1.0] * 30 + [0.0] * 20 + [0.0] * 3 + [1.0] * 12
    found = compare_paired(first, second, ["a"] * 65)
    assert found is not None
    assert (found.better, found.worse, found.test) == (12, 3, "McNemar")
    assert found.p == pytest.approx(0.03515625)  # 2 · P(X ≤ 3), X ~ B(15, ½)
    assert found.difference == pytest.approx(9 / 65)
    assert found.low is not None and found.high is not None
    assert found.low < 9 / 65 < found.high


def test_other_scores_are_tested_by_swapping() -> None:
    rng = np.random.default_rng(1)
    first = rng.random(40)
    second = np.clip(first + rng.normal(0.1, 0.2, 40), 0, 1)
    found = compare_paired(list(first), list(second), [str(n % 8) for n in range(40)])
    assert found is not None and found.test == "permutation"
    assert found.p == pytest.approx(stats.ttest_rel(first, second).pvalue, abs=0.03)
    assert found.difference == pytest.approx(second.mean() - first.mean())


def test_chats_that_disagree_widen_the_interval() -> None:
    change = [0.3] * 20 + [-0.1] * 20 + [0.2] * 20 + [0.0] * 20 + [0.1] * 20
    by_chat = compare_paired(
        [0.5] * 100, [0.5 + c for c in change], [str(n // 20) for n in range(100)]
    )
    alone = compare_paired([0.5] * 100, [0.5 + c for c in change], ["one"] * 100)
    assert by_chat is not None and alone is not None
    assert by_chat.low is not None and by_chat.high is not None
    assert alone.low is not None and alone.high is not None
    assert by_chat.high - by_chat.low > 2 * (alone.high - alone.low)


def test_nothing_and_no_difference() -> None:
    assert compare_paired([], [], []) is None
    found = compare_paired([0.5, 0.2], [0.5, 0.2], ["a", "b"])
    assert found is not None
    assert (found.p, found.difference, found.better) == (1.0, 0.0, 0)
    with pytest.raises(ValueError, match="2 scores against 1"):
        compare_paired([0.5, 0.2], [0.5], ["a", "b"])


def test_wilson_holds_at_the_ends() -> None:
    assert wilson([]) is None
    assert wilson([0.0] * 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert wilson([1.0] * 8 + [0.0] * 2) == pytest.approx((0.4902, 0.9433), abs=1e-4)
