"""Paired tests against textbook values and against scipy called another way."""

from __future__ import annotations

import itertools

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
    found = compare_paired(
        [0.5] * 100, [0.5 + c for c in change], [str(n // 20) for n in range(100)]
    )
    assert found is not None
    low, high = found.by_chat.low, found.by_chat.high
    assert low is not None and high is not None
    assert found.low is not None and found.high is not None
    assert high - low > 2 * (found.high - found.low)
    assert low < 0 < found.low  # questions seem to tell what chats do not
    assert found.p < 0.001
    # Of the 2^4 ways to swap chats that differ (3, -1, 2 and 1), those at least 5 apart from 0:
    # 3+1+2+1 = 7, 3-1+2+1 = 5, 3+1+2-1 = 5, and their opposites.
    assert found.by_chat.p == pytest.approx(6 / 16)
    assert (found.by_chat.chats, found.by_chat.exact) == (5, True)
    assert (found.by_chat.better, found.by_chat.worse) == (3, 1)


def by_hand(sums: list[float]) -> float:
    """Every way of swapping chats, counted one by one."""
    seen = abs(sum(sums))
    ways = itertools.product((1, -1), repeat=len(sums))
    hits = [
        abs(sum(s * x for s, x in zip(signs, sums, strict=True))) >= seen - 1e-9 for signs in ways
    ]
    return sum(hits) / len(hits)


@pytest.mark.parametrize("chats", [5, 8, 12])
def test_swapping_whole_chats_is_exact_where_they_are_few(chats: int) -> None:
    rng = np.random.default_rng(chats)
    sizes = rng.integers(1, 9, chats)
    names = [f"chat {n}" for n, size in enumerate(sizes) for _ in range(size)]
    first = rng.random(len(names))
    second = first + np.repeat(rng.normal(0.05, 0.2, chats), sizes) + rng.normal(0, 0.1, len(names))
    found = compare_paired(list(first), list(second), names)
    assert found is not None and found.by_chat.exact
    change = second - first
    sums = [float(change[[n == name for n in names]].sum()) for name in dict.fromkeys(names)]
    assert found.by_chat.p == pytest.approx(by_hand(sums))


def test_many_chats_are_drawn_with_a_fixed_seed() -> None:
    rng = np.random.default_rng(3)
    names = [str(n // 4) for n in range(160)]
    first = list(rng.random(160))
    second = [value + rng.normal(0.03, 0.2) for value in first]
    found = compare_paired(first, second, names)
    assert found is not None and found.by_chat.exact is False
    assert found == compare_paired(first, second, names)
    means = np.subtract(second, first).reshape(40, 4).mean(axis=1)
    assert found.by_chat.p == pytest.approx(stats.ttest_1samp(means, 0).pvalue, abs=0.03)


def test_chats_of_one_question_each_agree_with_the_test_by_question() -> None:
    first, second = [0.0] * 9 + [1.0], [1.0] * 9 + [0.0]
    found = compare_paired(first, second, [str(n) for n in range(10)])
    assert found is not None and found.test == "McNemar"
    assert found.by_chat.p == pytest.approx(found.p)
    assert (found.by_chat.low, found.by_chat.high) == (found.low, found.high)


def test_few_chats_tell_nothing_of_others() -> None:
    found = compare_paired([0.0] * 40, [1.0] * 40, [str(n % 4) for n in range(40)])
    assert found is not None and found.p < 1e-6
    assert (found.by_chat.chats, found.by_chat.p, found.by_chat.low) == (4, None, None)
    assert found.by_chat.unscored is not None and "fewer than 5 chats" in found.by_chat.unscored
    least = compare_paired([0.0] * 40, [1.0] * 40, [str(n % 5) for n in range(40)])
    assert least is not None and least.by_chat.p == 2 / 2**5  # five chats cannot tell more


def test_changes_that_cancel_out_within_chats_are_no_change() -> None:
    first, second = [0.1, 0.2, 0.3] * 6, [0.3, 0.1, 0.2] * 6
    found = compare_paired(first, second, [str(n // 3) for n in range(18)])
    assert found is not None
    assert (found.by_chat.p, found.by_chat.better, found.by_chat.worse) == (1.0, 0, 0)


def test_questions_that_are_alike_within_chats_fool_only_the_test_by_question() -> None:
    """Chats differ by chance alone, and 5 % of tests may say otherwise."""
    rng = np.random.default_rng(11)
    wrong = np.zeros(2)
    names = [str(n // 12) for n in range(96)]
    for _ in range(40):
        change = np.repeat(rng.normal(0, 0.2, 8), 12) + rng.normal(0, 0.1, 96)
        found = compare_paired([0.5] * 96, list(0.5 + change), names)
        assert found is not None and found.by_chat.p is not None
        wrong += (found.p < 0.05, found.by_chat.p < 0.05)
    assert wrong[0] > 16 and wrong[1] <= 6


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
