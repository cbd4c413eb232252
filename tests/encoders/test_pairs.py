"""The pair encoder: one row per pair, whatever else is asked in the same call; where it runs, what
is missing there, and the weights in a model.onnx."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

import realtalk as rt
import realtalk_models
from realtalk.encoders import model as devices
from realtalk.encoders.pairs import PairEncoder
from realtalk.encoders.weights import read_weights
from realtalk.installing import cure
from refusals import refused

FOLDER = realtalk_models.path("ei")
PAIRS = [
    ("", "hi"),
    ("how was the interview?", "awful. i froze at the second question and they noticed"),
    ("the boiler is out again", "oh no. did the landlord pick up this time?"),
    ("hm", "no " * 400),
    ("x " * 300, "a long story before, a short answer now"),
    ("see you", "🙂"),
] * 3


@pytest.fixture(scope="module")
def encoder() -> PairEncoder:
    return PairEncoder(FOLDER)


def test_a_row_does_not_depend_on_its_batch(encoder: PairEncoder) -> None:
    together = encoder.outputs(PAIRS)
    alone = np.concatenate([encoder.outputs([pair]) for pair in PAIRS])
    assert together.tobytes() == alone.tobytes()


@pytest.mark.slow
def test_a_row_does_not_depend_on_threads(encoder: PairEncoder) -> None:
    assert PairEncoder(FOLDER, threads=1).outputs(PAIRS).tobytes() == (
        encoder.outputs(PAIRS).tobytes()
    )


def test_what_came_before_matters(encoder: PairEncoder) -> None:
    first, second = encoder.outputs([("i won!", "really?"), ("he died", "really?")])
    assert np.abs(first - second).max() > 0.1


def test_of_a_long_turn_before_the_end_is_read(encoder: PairEncoder) -> None:
    filler = "and then we waited " * 20  # more words than are read
    heads = [(f"{head} {filler}", "really?") for head in ("i won!", "he died")]
    tails = [(f"{filler} {tail}", "really?") for tail in ("i won!", "he died")]
    first, second = encoder.outputs(heads)
    assert first.tobytes() == second.tobytes()
    first, second = encoder.outputs(tails)
    assert np.abs(first - second).max() > 0.1


def test_of_a_long_turn_the_beginning_and_the_end_are_read(encoder: PairEncoder) -> None:
    filler = "and then we waited " * 60
    halves = [f"{filler} {word} {filler}" for word in ("joyful", "dreadful")]
    first, second = encoder.outputs([("", text) for text in halves])
    assert first.tobytes() == second.tobytes()
    for form in ("{word} {filler}", "{filler} {word}"):
        pair = [form.format(word=word, filler=filler * 2) for word in ("joyful", "dreadful")]
        first, second = encoder.outputs([("", text) for text in pair])
        assert first.tobytes() != second.tobytes(), form


def test_no_pairs(encoder: PairEncoder) -> None:
    assert encoder.outputs([]).shape == (0, encoder.settings["width"])


def test_a_broken_model_is_one_clear_error(tmp_path: Path) -> None:
    for name in ("tokenizer.json", "settings.json"):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with refused("encoder cannot be loaded"):
        PairEncoder(tmp_path)


def test_marks_before_an_unknown_word_are_not_read(tmp_path: Path) -> None:
    for name in ("tokenizer.json", "model.onnx"):
        (tmp_path / name).symlink_to(FOLDER / name)
    settings = json.loads((FOLDER / "settings.json").read_text("utf-8"))
    mark = Tokenizer.from_file(str(FOLDER / "tokenizer.json")).token_to_id("-")
    for silent, is_read in (([], True), ([mark], False)):
        (tmp_path / "settings.json").write_text(json.dumps({**settings, "silent": silent}))
        assert PairEncoder(tmp_path).reads(["- \ua66e", "- hi"]) == [is_read, True]


# --- devices ---


THREE = [("", "hi"), ("how was it?", "awful. i froze"), ("hm", "the boiler is out again")] * 3


def test_an_unknown_device_is_named() -> None:
    with refused("unknown-device"):
        PairEncoder(FOLDER, device="cudda")


def test_without_torch_the_cure_is_named(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_torch", lambda: None)
    monkeypatch.setattr(devices, "_has_onnx_cuda", lambda: False)
    for command in (("ei", "sample"), ("probe", "sample", "--reader", "none")):
        status, _, err = run(*command, "--device", "cuda")
        line = " ".join(err.split())
        assert status == 2
        assert f"--device cuda needs the extra 'train'; install it with: {cure('train')}" in line


def test_a_torch_that_cannot_be_loaded_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('libcudart.so: cannot open')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    with refused(r"torch is installed but cannot be loaded \(OSError\)"):
        PairEncoder(FOLDER, device="cuda")


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_without_a_gpu_it_is_said() -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with refused("no CUDA device can be used; leave `device=` out"):
        rt.label("sample", device="cuda")


def test_a_device_is_for_an_encoder() -> None:
    with refused("`device=` is not for `measures=judge`"):
        rt.label("sample", measures="judge", model="openai/gpt-4o-mini", device="cuda")
    with refused("`device=` is for the memory retrieved"):
        rt.probe("sample", memory="recent", device="cuda")
    with refused("without an encoder"):
        rt.probe("sample", memory="retrieved", settings={"way": "bm25"}, device="cuda")


def test_rows_of_one_length_run_together_as_alone() -> None:
    encoder = PairEncoder(FOLDER)
    alone = encoder.outputs(THREE)
    encoder._runs_together = True  # how rows are put together there; the session is the CPU's
    np.testing.assert_allclose(encoder.outputs(THREE), alone, atol=0.3)
    some = encoder._together([5, 9, 5, 9, 40_000, 40_000])
    assert some == [[0, 2], [1, 3], [4], [5]]


# --- weights ---


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
