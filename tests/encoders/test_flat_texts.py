"""Texts in one array, and rows of it in batches."""

from __future__ import annotations

import numpy as np
import pytest

import realtalk_models
from realtalk.encoders.flat_texts import FlatTexts, batches, spans
from realtalk.encoders.model_folder import ModelFolder

FOLDER = realtalk_models.path("ei")


def test_texts_stand_behind_one_another() -> None:
    tokenizer = ModelFolder(FOLDER)._tokenizer
    texts = ["hey you", "", "the boiler is out again"]
    flat = FlatTexts.of(tokenizer, texts)
    for at, text in enumerate(texts):
        own = flat.tokens[flat.starts[at] : flat.starts[at] + flat.lengths[at]]
        assert own.tolist() == tokenizer.encode(text, add_special_tokens=False).ids
    assert FlatTexts.of(tokenizer, []).tokens.tolist() == []


@pytest.mark.parametrize("room", [1, 64, 1000, 100_000])
def test_every_row_is_in_one_batch_that_it_fits(room: int) -> None:
    lengths = np.random.default_rng(0).integers(3, 228, 500)
    order, found = batches(lengths, room)
    assert sorted(order.tolist()) == list(range(500))
    assert [each.start for each in found] == [0, *(each.stop for each in found[:-1])]
    assert found[-1].stop == 500
    for each in found:
        rows = lengths[order[each.start : each.stop]]
        assert rows.max() <= each.length and each.length % 8 == 0
        assert len(rows) * each.length <= room or len(rows) == 1


def test_no_rows_no_batches() -> None:
    order, found = batches(np.zeros(0, np.int64), 64)
    assert (order.tolist(), found) == ([], [])


def test_spans_are_counted_out() -> None:
    counted = spans(np.array([5, 0, 9]), np.array([2, 0, 3]))
    assert counted.tolist() == [5, 6, 9, 10, 11]
