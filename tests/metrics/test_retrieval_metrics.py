"""Retrieval scores against a second, naive implementation and hand-computed nDCG."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from realtalk.metrics.retrieval import MESSAGES, score_ranking
from tries import tries


def naive(ranked: list[str], evidence: set[str]) -> dict[str, float]:
    """The definitions read aloud, one message at a time."""
    seen: list[str] = []
    for message in ranked:
        if message not in seen:
            seen.append(message)
    scores = {}
    for k in MESSAGES:
        found = [message for message in evidence if message in seen[:k]]
        scores[f"any@{k}"] = 1.0 if found else 0.0
        scores[f"all@{k}"] = 1.0 if len(found) == len(evidence) else 0.0
        scores[f"recall@{k}"] = len(found) / len(evidence)
    gains = [1.0 if message in evidence else 0.0 for message in seen[:10]]
    ideal = [1.0] * min(10, len(evidence))
    scores["ndcg@10"] = dcg(gains) / dcg(ideal)
    return scores


def dcg(gains: list[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))


names = st.integers(0, 80).map(lambda number: f"D{number}")


@settings(max_examples=tries(150))
@given(ranked=st.lists(names, max_size=90), evidence=st.sets(names, min_size=1, max_size=14))
def test_equals_the_naive_implementation(ranked: list[str], evidence: set[str]) -> None:
    assert score_ranking(ranked, evidence) == pytest.approx(naive(ranked, evidence))


def test_ndcg_by_hand() -> None:
    # Found at ranks 1 and 3 of two: (1 + 1/2) / (1 + 1/log2(3)).
    scores = score_ranking(["a", "x", "b"], {"a", "b"})
    assert scores["ndcg@10"] == pytest.approx(1.5 / (1 + 1 / math.log2(3)))
    assert score_ranking(["a"], ()) == {}  # without evidence: unscored
