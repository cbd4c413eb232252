"""The encoders in torch, as on a GPU: the CPU's answers, and failures of a card in one line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import realtalk as rt
import realtalk_models
from memory_chats import bakery
from realtalk.chat import Corpus
from realtalk.encoders.model import NUMBERS
from realtalk.encoders.pairs import PairEncoder, answer_columns
from realtalk.encoders.sentences import SentenceEncoder
from realtalk.encoders.torch_session import TorchSession, gpu_failures
from refusals import refused

torch = pytest.importorskip("torch", reason="the extra train is not installed")
pytest.importorskip("transformers", reason="the extra train is not installed")

TRIAL = "cpu-torch"
PAIRS = [
    ("", "hi"),
    ("how was the interview?", "awful. i froze at the second question and they noticed"),
    ("the boiler is out again", "oh no. did the landlord pick up this time?"),
    ("hm", "no " * 400),
    ("x " * 300, "a long story before, a short answer now"),
    ("see you", "🙂"),
    ("awful. i froze at the second question and they noticed", "i am so sorry, that is rough"),
]
TEXTS = [f"Mara: {text}" for _, text in PAIRS]
GROUPS = [1, 1, 1, 2, 2, 3, 3]
WEIGHTS = realtalk_models.path("ei") / "model.onnx"
UNUSABLE = r"^the GPU cannot be used \(.+\); leave `device=` out$"
no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")


@pytest.fixture(scope="module", params=["ei", "ei_multilingual"])
def folder(request: pytest.FixtureRequest) -> Path:
    """The second has a table of words beside its layers."""
    return realtalk_models.path(request.param)


@pytest.fixture(scope="module")
def pairs(folder: Path) -> PairEncoder:
    return PairEncoder(folder, device=TRIAL)


@pytest.fixture(scope="module")
def sentences() -> SentenceEncoder:
    return SentenceEncoder(device=TRIAL)


def test_pairs_are_answered_as_on_the_cpu(folder: Path, pairs: PairEncoder) -> None:
    theirs, ours = PairEncoder(folder).outputs(PAIRS), pairs.outputs(PAIRS)
    assert np.abs(ours - theirs).mean() < 0.03 < np.abs(theirs).mean()
    one, two = (answer_columns(each, pairs.settings) for each in (theirs, ours))
    for name in ("reflective", "grounding", "sentiment", "emotion"):
        assert one[name].tolist() == two[name].tolist()


def test_texts_are_encoded_as_on_the_cpu(sentences: SentenceEncoder) -> None:
    theirs, ours = SentenceEncoder().encode(TEXTS, GROUPS), sentences.encode(TEXTS, GROUPS)
    assert ours.offsets.tolist() == theirs.offsets.tolist()
    assert (ours.vectors * theirs.vectors).sum(1).min() > 0.995
    near = np.abs(ours.tokens.astype(int) - theirs.tokens.astype(int))
    assert near.mean() < 1.5 and ours.tokens.dtype == np.int8
    np.testing.assert_allclose(ours.weights, theirs.weights, atol=0.05)
    assert len(sentences.encode([])) == 0


def test_the_record_of_labels_says_where_they_were_made(tmp_path: Path) -> None:
    corpus = Corpus("bakery", "test", (bakery(),))
    labels = rt.label(corpus, device=TRIAL, out=tmp_path / "labels")
    solver = json.loads((tmp_path / "labels" / "run.json").read_text())["settings"]["solver"]
    assert solver["settings"] == {"device": TRIAL, "numbers": "fp32"}
    assert labels.frame["version"].unique().to_list() == [f"2 ({TRIAL}, fp32)"]
    here = rt.label(corpus).frame
    answers = ("reflective", "grounding", "sentiment", "emotion")
    assert labels.frame.select(answers).equals(here.select(answers))
    with refused("device"):  # labels of two kinds in one folder
        rt.label(corpus, out=tmp_path / "labels")


@no_gpu
def test_work_that_fails_on_the_way() -> None:
    """A card that goes away after loading."""
    session = TorchSession(WEIGHTS, "cpu", "fp32")
    session._device = torch.device("cuda")
    with refused(UNUSABLE):
        session.run(None, {"tokens": np.array([[101, 102]])})


def test_a_full_card_is_told_from_a_broken_one() -> None:
    device = torch.device("cuda")
    with refused("the GPU's memory is full; end"), gpu_failures(device):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
    with refused() as caught, gpu_failures(device):
        raise RuntimeError("CUDA error: no kernel image is available\nCompile with DSA=1")
    assert "no kernel image is available); leave" in str(caught.value)
    with refused("RuntimeError"), gpu_failures(device):
        raise RuntimeError


def test_on_the_cpu_a_failure_is_a_bug() -> None:
    with pytest.raises(RuntimeError, match="shapes"), gpu_failures(torch.device("cpu")):
        raise RuntimeError("shapes cannot be multiplied")


def test_what_runs_on_a_gpu_is_what_was_measured() -> None:
    """bench/README.md has the figures of fp16, rounded."""
    assert NUMBERS == "fp16"
    row = {"tokens": np.array([[101, 102, 7592, 102]]), "types": np.array([[0, 0, 1, 1]])}
    shipped, rounded, plain = (
        TorchSession(WEIGHTS, "cpu", "fp32", **how).run(None, row)[0]
        for how in ({}, {"rounded": True}, {"rounded": False})
    )
    assert np.array_equal(shipped, rounded) and not np.array_equal(shipped, plain)
