"""Where an encoder runs: the names, what is missing, and rows of one length run together."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import realtalk as rt
import realtalk_models
from realtalk.encoders import model as devices
from realtalk.encoders.pairs import PairEncoder
from realtalk.installing import cure
from refusals import refused

FOLDER = realtalk_models.path("ei")
PAIRS = [("", "hi"), ("how was it?", "awful. i froze"), ("hm", "the boiler is out again")] * 3


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
    alone = encoder.outputs(PAIRS)
    encoder._runs_together = True  # how rows are put together there; the session is the CPU's
    np.testing.assert_allclose(encoder.outputs(PAIRS), alone, atol=0.3)
    some = encoder._together([5, 9, 5, 9, 40_000, 40_000])
    assert some == [[0, 2], [1, 3], [4], [5]]
