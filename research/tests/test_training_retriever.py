"""The multilingual retriever's training: how texts are laid out, how the table is rounded and kept."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers", "safetensors")),
    reason="torch is not installed (extra 'train')",
)


def modules() -> tuple[Any, Any, Any]:
    return (
        import_module("torch"),
        import_module("research.training.memory_languages"),
        import_module("research.training.memory_model"),
    )


def test_what_it_reads_is_named_and_open() -> None:
    from research.training.memory_data import OPEN
    from research.training.terms import refuse_narrow, unnamed

    data = import_module("research.training.memory_languages_data")
    sources = {f"parallel.{each}" for each in data.OPEN} | OPEN | {"cldr"}
    assert not unnamed("memory_multilingual", sources)
    refuse_narrow(sources)


def test_each_text_gets_its_own_tokens_of_a_row() -> None:
    torch, languages, model = modules()
    laid = languages.laid([[7, 8], [9], [5, 5, 5]], [1, 1, 2], 16, 2, 3)
    assert laid.tokens[:, :6].tolist() == [[2, 7, 8, 3, 9, 3], [2, 5, 5, 5, 3, 0]]
    found = model.taken(laid.tokens[..., None].float(), laid.at)[..., 0]
    own = [row[real].tolist() for row, real in zip(found, laid.inside, strict=True)]
    assert own == [[7, 8, 3], [9, 3], [5, 5, 5, 3]]
    hidden = torch.randn(*laid.tokens.shape, 4)
    states, inside = model.spread(hidden, [(0, 1, 3), (0, 4, 2), (1, 1, 4)])
    assert torch.equal(states, model.taken(hidden, laid.at)) and torch.equal(inside, laid.inside)


def test_rounded_rows_have_few_levels_and_stay_rounded() -> None:
    torch, _, model = modules()
    rows = torch.randn(50, 96)
    rounded = model.stepped(rows)
    assert max(len(row.unique()) for row in rounded) <= 2 * model.STEPS + 1
    assert torch.allclose(model.stepped(rounded), rounded, atol=1e-6)
    assert (rounded - rows).abs().max() <= rows.abs().max() / model.STEPS / 2 + 1e-6


def test_what_is_saved_goes_on_as_it_was(tmp_path: Path) -> None:
    torch, languages, model = modules()
    from transformers import BertConfig

    config = BertConfig(
        vocab_size=9, hidden_size=64, num_hidden_layers=6, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=16,
    )  # fmt: skip
    teacher = model.Retriever(config, 8).eval()
    rng = np.random.default_rng(0)
    table = tmp_path / "first.npz"
    rows = rng.integers(-127, 128, (20, 6)).astype(np.int8)
    projection = rng.normal(size=(6, 64)).astype(np.float32)
    np.savez(table, rows=rows, scales=np.full(20, 0.01, np.float32), projection=projection)
    student = languages.begun(teacher, table, None).eval()
    theirs = teacher.encoder.encoder.layer[5].output.dense.weight
    assert torch.equal(student.encoder.encoder.layer[2].output.dense.weight, theirs)
    student.is_rounded = True
    languages.save(student, tmp_path, {"steps": 0})
    kept = languages.begun(teacher, tmp_path / "open_table.npz", tmp_path / "layers.safetensors")
    tokens = torch.tensor([[2, 7, 11, 3]])
    with torch.no_grad():
        first, again = (each.eval()(tokens, torch.ones_like(tokens)) for each in (student, kept))
    assert torch.allclose(first, again, atol=0.02)  # weights travel in 16 bits
