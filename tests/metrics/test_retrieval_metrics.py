"""Retrieval scores against a second, naive implementation and hand-computed nDCG."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from realtalk.errors import RealtalkError
from realtalk.metrics.retrieval import (
    MESSAGES,
    TOKEN_BUDGETS,
    WORD_BUDGETS,
    score_ranking,
)
from tries import tries


def naive(
    ranked: list[str], evidence: set[str], words: dict[str, int], tokens: dict[str, int]
) -> dict[str, float]:
    """The definitions read aloud, one message at a time."""
    seen: list[str] = []
    for message in ranked:
        if message not in seen:
            seen.append(message)
    sets = {f"{k}": seen[:k] for k in MESSAGES}
    for costs, budgets, unit in ((words, WORD_BUDGETS, "w"), (tokens, TOKEN_BUDGETS, "t")):
        for budget in budgets:
            fitting, left = [], budget
            for message in seen:
                if costs[message] > left:
                    break
                left -= costs[message]
                fitting.append(message)
            sets[f"{budget}{unit}"] = fitting
    scores = {}
    for at, shown in sets.items():
        found = [message for message in evidence if message in shown]
        scores[f"any@{at}"] = 1.0 if found else 0.0
        scores[f"all@{at}"] = 1.0 if len(found) == len(evidence) else 0.0
        scores[f"recall@{at}"] = len(found) / len(evidence)
    gains = [1.0 if message in evidence else 0.0 for message in seen[:10]]
    ideal = [1.0] * min(10, len(evidence))
    scores["ndcg@10"] = dcg(gains) / dcg(ideal)
    return scores


def dcg(gains: list[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


names = st.integers(0, 80).map(lambda number: f"D{number}")


@settings(max_examples=tries(150), deadline=None)
@given(
    ranked=st.lists(names, max_size=90),
    evidence=st.sets(names, min_size=1, max_size=14),
    seed=st.integers(0, 999),
)
def test_equals_the_naive_implementation(ranked: list[str], evidence: set[str], seed: int) -> None:
    draw = np.random.default_rng(seed)
    words = {name: int(draw.integers(0, 300)) for name in sorted(set(ranked))}
    tokens = {name: int(draw.integers(0, 900)) for name in sorted(set(ranked))}
    scores = score_ranking(ranked, evidence, words=words, tokens=tokens)
    assert scores is not None
    assert scores == pytest.approx(naive(ranked, evidence, words, tokens))


def test_ndcg_by_hand() -> None:
    # Found at ranks 1 and 3 of two: (1 + 1/2) / (1 + 1/log2(3)).
    scores = score_ranking(["a", "x", "b"], {"a", "b"})
    assert scores is not None
    assert scores["ndcg@10"] == pytest.approx(1.5 / (1 + 1 / math.log2(3)))
    assert scores["ndcg@10"] == pytest.approx(0.9197207891481876)  # scikit-learn's ndcg_score
    late = score_ranking([*"0123456789", "a"], {"a"})
    assert late is not None
    assert late["ndcg@10"] == 0
    assert (late["any@10"], late["any@20"]) == (0, 1)


def test_a_budget_ends_at_the_first_message_that_does_not_fit() -> None:
    scores = score_ranking(
        ["a", "long", "b"], {"a", "b"}, words={"a": 400, "long": 200, "b": 1}, word_budgets=(500,)
    )
    assert scores is not None
    assert scores["recall@500w"] == 0.5  # "b" would fit, but stands behind what does not
    exact = score_ranking(["a"], {"a"}, tokens={"a": 1000})
    assert exact is not None
    assert exact["all@1000t"] == 1


def test_no_evidence_is_unscored() -> None:
    assert score_ranking(["a"], ()) is None


def test_costs_must_be_known() -> None:
    with pytest.raises(RealtalkError, match="D9: a ranked message has no cost"):
        score_ranking(["D9"], {"D9"}, words={})
    with pytest.raises(RealtalkError, match="less than nothing"):
        score_ranking(["D9"], {"D9"}, words={"D9": -1})
