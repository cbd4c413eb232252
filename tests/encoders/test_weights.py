"""The weights in a model.onnx, by name and shape."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import realtalk_models
from realtalk.encoders.sentences import SentenceEncoder
from realtalk.encoders.weights import read_model, read_weights
from refusals import refused

LAYER = "encoder.encoder.layer.5"
# Of the file of version 2 as it was exported, before it was kept beside another.
MEMORY = "cfa453dc186ece2ed57fada849ad71d606aa63f1063b3b631189d7407e5cd88a"


@pytest.mark.parametrize(
    ("model", "own"),
    [("ei", {"keep", "heads.weight", "heads.bias"}), ("memory", {"late.weight", "weigh.weight"})],
)
def test_every_weight_has_its_name_and_shape(model: str, own: set[str]) -> None:
    weights = read_weights(realtalk_models.path(model) / "model.onnx")
    assert own <= set(weights)
    assert weights["encoder.embeddings.word_embeddings.weight"].shape == (30522, 384)
    assert weights[f"{LAYER}.attention.self.key.weight"].shape == (384, 384)
    assert weights[f"{LAYER}.intermediate.dense.weight"].shape == (1536, 384)
    assert weights[f"{LAYER}.output.dense.weight"].shape == (384, 1536)
    assert {each.dtype for each in weights.values()} == {np.dtype(np.float32)}
    assert all(0 < np.abs(each).max() < 120 for each in weights.values())


@pytest.mark.parametrize("kept", [0, 100, 5_000, 1_000_000])
def test_a_file_that_is_cut_off_is_one_line(tmp_path: Path, kept: int) -> None:
    whole = (realtalk_models.path("ei") / "model.onnx").read_bytes()
    (tmp_path / "model.onnx").write_bytes(whole[:kept])
    with refused("weights cannot be read") as caught:
        read_weights(tmp_path / "model.onnx")
    assert "install the package again" in str(caught.value)


def test_a_model_that_is_kept_beside_another_is_whole_again() -> None:
    folder = realtalk_models.path("memory")
    whole = read_model(folder / "model.onnx")
    assert hashlib.sha256(whole).hexdigest() == MEMORY
    with np.load(folder / "model.npz") as file:
        own, its, length = file["parts"][0]
        table = np.frombuffer(whole, np.int8, length, own).astype(int)
    other = (realtalk_models.path("ei") / "model.onnx").read_bytes()
    away = table - np.frombuffer(other, np.int8, length, its)
    assert np.abs(away).mean() < np.abs(table).mean() / 3  # which is why it packs better


@pytest.mark.parametrize("broken", ["beside", "cut", "changed", "absent"])
def test_a_model_beside_another_file_is_one_line(tmp_path: Path, broken: str) -> None:
    folder = tmp_path / "memory"
    folder.mkdir()
    (tmp_path / "ei").mkdir()
    ours = realtalk_models.path("memory")
    tokenizer = str(realtalk_models.path("ei") / "tokenizer.json")
    settings = json.loads((ours / "settings.json").read_text("utf-8"))
    (folder / "settings.json").write_text(json.dumps({**settings, "tokenizer": tokenizer}))
    stored = (ours / "model.npz").read_bytes()
    changed = stored[:120] + b"\xff" * 8 + stored[128:]  # what says which numbers follow
    kept = {"cut": stored[:5_000], "changed": changed}.get(broken, stored)
    (folder / "model.npz").write_bytes(kept)
    other = bytearray((realtalk_models.path("ei") / "model.onnx").read_bytes())
    with np.load(ours / "model.npz") as file:
        other[file["parts"][0, 1]] ^= 1
    if broken != "absent":
        (tmp_path / "ei" / "model.onnx").write_bytes(other)
    with refused("weights cannot be read"):
        read_weights(folder / "model.onnx")
    with refused("encoder cannot be loaded"):
        SentenceEncoder(folder)
