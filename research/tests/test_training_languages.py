"""Training in many languages: where pieces begin, how rows are batched, how files travel."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

needs_torch = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "sklearn", "safetensors")),
    reason="torch is not installed (extra 'train')",
)


def packed(rows: list[tuple[list[int], list[int]]]) -> tuple[Any, Any]:
    flat = [token for before, turn in rows for token in before + turn]
    sizes = [[len(before), len(turn)] for before, turn in rows]
    return np.array(flat, np.uint16), np.array(sizes, np.uint8)


# Pieces 4 to 7 are gato, come, perro, duerme; English 1000 to 1003 are cat, eats, dog, sleeps.
TURNS = [([4, 5], [1000, 1001]), ([6, 7], [1002, 1003]), ([4, 7], [1000, 1003])]
TURNS += [([6, 5], [1002, 1001])]


def made_file() -> dict[str, Any]:
    heads = import_module("research.training.languages_heads").HEADS
    tokens, sizes = packed([([], turn) for turn, _ in TURNS * 5])
    twins, twin_sizes = packed([([], turn) for _, turn in TURNS])
    count = len(sizes)
    file: dict[str, Any] = {
        **{"tokens": tokens, "sizes": sizes, "twin_tokens": twins, "twin_sizes": twin_sizes},
        "twin": np.arange(count, dtype=np.int32) % 4,
        **{"lang_names": np.array(["es"]), "lang": np.zeros(count, np.uint8)},
        **{"set_names": np.array(["brighter"]), "set": np.zeros(count, np.uint8)},
        **{"split_names": np.array(["train"]), "split": np.zeros(count, np.uint8)},
        "group": np.arange(count, dtype=np.uint32),
        **{"matches": np.full(9, -1, np.int32), "kin": np.full(9, -1, np.int32)},
        "marks": np.array([2, 3, 1], np.int32),
    }
    file["kin"][8] = 4  # a longer form of the first
    for name, head in heads.items():
        shape = (0,) if head.kind == "softmax" else (0, head.size)
        file |= {f"at_{name}": np.zeros(0, np.int32), f"is_{name}": np.zeros(shape, np.float16)}
    file["at_brighter"] = np.array([0, 1], np.int32)
    file["is_brighter"] = np.array([[1, 0, 0, 0, 0, np.nan], [0, 0, 0, 1, 0, 0]], np.float16)
    return file


@needs_torch
def test_rows_are_built_as_the_encoder_reads_them() -> None:
    import torch

    rows_of = import_module("research.training.ei_rows").Rows
    rows = rows_of(*packed([([7, 8], [9]), ([], [65_000, 6])]), torch.device("cpu"), 2, 3)
    tokens, types, mask = rows.batch(torch.tensor([0, 1]), 6)
    assert tokens.tolist() == [[2, 7, 8, 3, 9, 3], [2, 3, 65_000, 6, 3, 0]]
    assert types.tolist() == [[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 0]]
    assert mask.tolist() == [[1] * 6, [1] * 5 + [0]]


@needs_torch
def test_a_piece_begins_as_what_it_translates() -> None:
    import torch

    start = import_module("research.training.languages_start")
    data = import_module("research.training.languages_rows").LanguageData(
        made_file(), torch.device("cpu")
    )
    table = torch.nn.functional.normalize(torch.randn(1100, 16, generator=torch.manual_seed(0)))
    rows, seen = start.translated(data, table)
    for piece, word in zip(range(4, 8), (1000, 1001, 1002, 1003), strict=True):
        assert (table @ rows[piece]).argmax() == word
    assert seen[8] == 0  # nobody said it


@needs_torch
def test_batches_have_one_size_for_one_width_and_a_part_can_be_left_out() -> None:
    import torch

    data = import_module("research.training.languages_rows").LanguageData(
        made_file(), torch.device("cpu")
    )
    rng = np.random.default_rng(0)
    rows = data.chosen(rng)
    assert len(rows) == 3 * 20  # of a scored set, each three times
    sizes = {(len(batch), width) for batch, width in data.batches(rows, 32, rng)}
    assert sizes == {(32 // 5, 5)}
    data.without(0)
    assert np.isnan(data.labels["brighter"][0]).all()
    assert data.labels["brighter"][1, 3] == 1


@needs_torch
def test_weights_travel_in_parts_and_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    weights = import_module("research.training.languages_weights")
    monkeypatch.setattr(weights, "PART", 1000)
    state = {weights.WORDS: torch.randn(50, 16), "heads.bias": torch.randn(7)}
    assert len(weights.save(state, tmp_path)) > 1
    back = weights.load(tmp_path)
    step = state[weights.WORDS].abs().amax(1, keepdim=True) / 127
    assert ((back[weights.WORDS] - state[weights.WORDS]).abs() <= step * 0.51).all()
    again = weights.load(weights.save(back, tmp_path / "again")[0].parent)
    assert torch.equal(again[weights.WORDS], back[weights.WORDS])


@needs_torch
def test_where_yes_begins_is_a_languages_own_matter() -> None:
    measures = import_module("research.training.languages_measures")
    rng = np.random.default_rng(0)
    truth = rng.random((4000, 1)) < 0.3
    langs = np.where(np.arange(4000) % 2, "aa", "bb")
    shift = np.where(langs == "aa", 1.5, -1.5)[:, None]
    logits = np.where(truth, 1.0, -1.0) + shift + rng.normal(0, 0.3, (4000, 1))
    labels = truth.astype(float)
    cuts = measures.cuts_by_language(logits, labels, langs)
    assert cuts["aa"][0] - cuts["bb"][0] == pytest.approx(3, abs=0.6)
    scores = measures.f1_by_language(logits, labels, langs, cuts)
    assert min(scores.values()) > 0.95
    labels[:] = np.nan  # nobody was asked
    assert np.isnan(measures.macro_f1(labels, logits > 0))
