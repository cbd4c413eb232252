"""The weights in a model.onnx, by name and shape."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import realtalk_models
from realtalk.encoders.weights import read_weights
from refusals import refused

LAYER = "encoder.encoder.layer.5"


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
