"""Words shared, variety, meaning and distributions, against second ways of computing them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from persona_chats import WordEncoder
from realtalk.memory.rows import ANSWER_SCORES
from realtalk.metrics.answers import rouge_l_stemmed
from realtalk.metrics.similarity import Similarity, cosines, greedy
from realtalk.metrics.statistics import jensen_shannon
from realtalk.metrics.texts import distinct, length_ratio, overlap
from realtalk.persona.scoring import SCORES
from realtalk.text.words import words_and_emoji


def test_rouge_by_hand() -> None:
    found = overlap("see you there", "see you at the bar")
    assert found is not None
    # Two of three words and two of five: F1 = 2 · 2 / (3 + 5).
    assert found.rouge_1 == found.rouge_l == pytest.approx(0.5)
    turned = overlap("there you see", "see you there")
    assert turned is not None
    assert turned.rouge_1 == pytest.approx(1.0)
    assert turned.rouge_l == pytest.approx(1 / 3)


def test_the_two_rouge_l_have_two_names() -> None:
    """Answers are stemmed, turns are not: no column of the one is taken for the other's."""
    plain = overlap("lakes", "lake")
    assert plain is not None and plain.rouge_l == 0.0
    assert rouge_l_stemmed("lakes", "lake", "multi_hop") == 1.0
    assert not set(ANSWER_SCORES) & set(SCORES)


def test_what_has_no_word_has_no_score() -> None:
    assert overlap("ok", "😂😂") is None
    assert overlap("😂", "ok then") == overlap("…", "ok then")
    assert length_ratio("ok", "...") is None
    assert distinct([], 1) is None and distinct(["ok"], 2) is None


def test_words_are_of_every_script_and_emoji_too() -> None:
    assert words_and_emoji("Don't! 😂 καλημέρα") == ["don't", "😂", "καλημέρα"]
    assert length_ratio("😂😂", "ok") == 2.0
    assert length_ratio("ok", "ok see you") == pytest.approx(1 / 3)


def test_distinct_counts_different_grams() -> None:
    assert distinct(["ok", "ok then"], 1) == pytest.approx(2 / 3)
    assert distinct(["a b a b", "a b"], 2) == pytest.approx(2 / 4)


def test_greedy_matching_by_its_formula() -> None:
    rng = np.random.default_rng(5)
    a, b = (rng.normal(size=(n, 8)) for n in (4, 6))
    a, b = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (a, b))
    likeness = a @ b.T
    precision, recall = likeness.max(axis=1).mean(), likeness.max(axis=0).mean()
    found = greedy(a.astype(np.float32), b.astype(np.float32))
    f1 = 2 * precision * recall / (precision + recall)
    assert found == pytest.approx((precision, recall, f1), abs=1e-6)


def test_similarity_keeps_its_place_and_leaves_out_what_is_empty() -> None:
    near = Similarity(WordEncoder())
    same, none, other = near.scores([("red boat", "red boat"), ("ok", " "), ("red", "green")])
    assert same is not None and same.f1 == pytest.approx(1.0) and same.cosine == pytest.approx(1.0)
    assert none is None
    assert other is not None and other.f1 < 0.9


def test_jensen_shannon_is_scipys() -> None:
    first, second = ["joy"] * 6 + ["fear"] * 2, ["joy"] * 1 + ["love"] * 4
    found = jensen_shannon(first, second)
    shares = ([6 / 8, 2 / 8, 0], [1 / 5, 0, 4 / 5])
    assert found.value == pytest.approx(float(jensenshannon(*shares, base=2)) ** 2)
    assert found.low is not None and found.high is not None
    assert 0 <= found.low <= (found.value or 0) <= found.high <= 1
    assert jensen_shannon(["joy"], ["fear"]).value == pytest.approx(1.0)
    same = jensen_shannon(["joy", "fear"], ["fear", "joy"]).value
    assert same is not None and math.isclose(same, 0.0, abs_tol=1e-12)


def test_labels_that_are_missing_are_counted() -> None:
    found = jensen_shannon(["joy", None], ["joy"])
    assert (found.value, found.left_out, found.n) == (0.0, 1, 2)
    assert jensen_shannon([None], ["joy"]).unscored == "one side has no label"


@pytest.mark.parametrize("size", range(1, 40, 3))
def test_equal_rows_are_equally_near(size: int) -> None:
    rng = np.random.default_rng(size)
    row, asked = rng.normal(size=(2, 384)).astype(np.float32)
    found = cosines(np.tile(row, (size, 1)), asked)
    assert found == pytest.approx(float(row.astype(float) @ asked.astype(float)), rel=1e-4)
    assert set(found.tolist()) == {found[0].item()}
