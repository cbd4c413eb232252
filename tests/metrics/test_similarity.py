"""Nearness of token vectors by hand, and equal texts that are equally near."""

from __future__ import annotations

import numpy as np
import pytest

from persona_chats import WordEncoder
from realtalk.metrics.similarity import Similarity, cosines, greedy


def test_greedy_matching_by_hand() -> None:
    """Two tokens said, one of them right, of three that are true."""
    east, north = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    said = np.array([east, -north], np.float32)
    true = np.array([east, east, north], np.float32)
    precision, recall, f1 = greedy(said, true)
    assert precision == pytest.approx((1 + 0) / 2)
    assert recall == pytest.approx((1 + 1 + 0) / 3)
    assert f1 == pytest.approx(2 * (1 / 2) * (2 / 3) / (1 / 2 + 2 / 3))
    assert greedy(true, said) == pytest.approx((recall, precision, f1))


def test_pairs_keep_their_places_and_what_has_no_token_is_none() -> None:
    pairs = [("tea please", "tea please"), ("", "tea"), ("tea", "salt tea"), ("oar", " ")]
    same, nothing, part, lost = Similarity(WordEncoder()).scores(pairs)
    assert same is not None and same.f1 == pytest.approx(1) == same.cosine
    assert nothing is None is lost
    assert part is not None and part.precision == pytest.approx(1) and part.recall < 1


@pytest.mark.parametrize("size", range(1, 40))
def test_equal_rows_are_equally_near(size: int) -> None:
    rng = np.random.default_rng(size)
    row, asked = rng.normal(size=(2, 384)).astype(np.float32)
    found = cosines(np.tile(row, (size, 1)), asked)
    assert found == pytest.approx(float(row.astype(float) @ asked.astype(float)), rel=1e-4)
    assert set(found.tolist()) == {found[0].item()}
