"""What goes wrong on a GPU is said in one line; on the CPU a failure stays what it is."""

from __future__ import annotations

import numpy as np
import pytest

import realtalk_models
from realtalk.encoders import devices
from realtalk.encoders.gpu_failures import gpu_failures
from realtalk.encoders.stages import Untimed
from realtalk.encoders.torch_pairs import TorchPairs
from realtalk.encoders.torch_sentences import TorchSentences
from realtalk.encoders.torch_transfer import Parcel
from realtalk.errors import RealtalkError

torch = pytest.importorskip("torch", reason="the extra train is not installed")

FOLDER = realtalk_models.path("ei")
UNUSABLE = r"^the GPU cannot be used \(.+\); leave --device out$"
no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")


@no_gpu
def test_weights_that_cannot_go_there() -> None:
    with pytest.raises(RealtalkError, match=UNUSABLE):
        TorchPairs(FOLDER, "cuda", "fp16")
    with pytest.raises(RealtalkError, match=UNUSABLE):
        TorchSentences("cuda", "fp16")


@no_gpu
def test_a_transfer_that_fails() -> None:
    """Memory that cannot be paged is the driver's to give."""
    device = torch.device("cuda")
    with pytest.raises(RealtalkError, match=UNUSABLE), gpu_failures(device):
        Parcel(device, Untimed()).take(np.zeros(3, np.int32))


@no_gpu
def test_work_that_fails_on_the_way() -> None:
    """A card that goes away after loading: each step that reaches for it says so."""
    gone = torch.device("cuda")
    pairs, sentences = TorchPairs(FOLDER, "cpu", "fp32"), TorchSentences("cpu", "fp32")
    pairs._bert.device = sentences._bert.device = gone
    with pytest.raises(RealtalkError, match=UNUSABLE):
        pairs.outputs([("", "hi")])
    with pytest.raises(RealtalkError, match=UNUSABLE):
        sentences.embed(["hi"])


def test_a_full_card_is_told_from_a_broken_one() -> None:
    device = torch.device("cuda")
    with pytest.raises(RealtalkError, match="the GPU's memory is full; end"), gpu_failures(device):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    with pytest.raises(RealtalkError) as caught, gpu_failures(device):
        raise RuntimeError("CUDA error: no kernel image is available\nCompile with DSA=1")
    assert "no kernel image is available); leave" in str(caught.value)
    with pytest.raises(RealtalkError, match="RuntimeError"), gpu_failures(device):
        raise RuntimeError


def test_on_the_cpu_a_failure_is_a_bug() -> None:
    with pytest.raises(RuntimeError, match="shapes"), gpu_failures(torch.device("cpu")):
        raise RuntimeError("shapes cannot be multiplied")


def test_what_runs_on_a_gpu_is_what_was_measured() -> None:
    """bench/README.md has the figures of fp16, rounded."""
    assert devices.NUMBERS == "fp16"
    shipped = TorchPairs(FOLDER, "cpu", "fp32").outputs([("", "hi there")])
    plain = TorchPairs(FOLDER, "cpu", "fp32", rounded=False).outputs([("", "hi there")])
    rounded = TorchPairs(FOLDER, "cpu", "fp32", rounded=True).outputs([("", "hi there")])
    assert np.array_equal(shipped, rounded) and not np.array_equal(shipped, plain)
