"""The encoders in torch answer as the ONNX file does on the CPU, whatever else is asked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import realtalk as rt
import realtalk_models
from memory_chats import bakery
from realtalk.chat import Corpus
from realtalk.encoders.answers import answer_columns
from realtalk.encoders.pairs import PairEncoder
from realtalk.encoders.sentences import SentenceEncoder
from realtalk.encoders.stages import Stages
from realtalk.encoders.torch_pairs import TorchPairs
from realtalk.encoders.torch_sentences import TorchSentences
from realtalk.errors import RealtalkError
from realtalk.memory.retrieved import Retrieved

torch = pytest.importorskip("torch", reason="the extra train is not installed")

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


@pytest.fixture(scope="module", params=["ei", "ei_multilingual"])
def folder(request: pytest.FixtureRequest) -> Path:
    """The second has a table of words beside its layers."""
    return realtalk_models.path(request.param)


@pytest.fixture(scope="module")
def pairs(folder: Path) -> TorchPairs:
    return TorchPairs(folder, "cpu", "fp32")


@pytest.fixture(scope="module")
def sentences() -> TorchSentences:
    return TorchSentences("cpu", "fp32")


def test_pairs_are_answered_as_on_the_cpu(folder: Path, pairs: TorchPairs) -> None:
    theirs, ours = PairEncoder(folder).outputs(PAIRS), pairs.outputs(PAIRS)
    assert np.abs(ours - theirs).mean() < 0.03 < np.abs(theirs).mean()
    one, two = (answer_columns(each, pairs.settings) for each in (theirs, ours))
    for name in ("reflective", "grounding", "sentiment", "emotion"):
        assert one[name].tolist() == two[name].tolist()


def test_rows_are_put_together_as_on_the_cpu(folder: Path, pairs: TorchPairs) -> None:
    """What comes before is cut at its beginning, a long turn in its middle."""
    rows = pairs.rows(PAIRS)
    cpu = PairEncoder(folder)
    packed, border = torch.from_numpy(rows.packed), 5 * len(PAIRS)
    for batch in rows.batches:
        some = slice(batch.start, batch.stop)
        columns, tokens = packed[:border].view(-1, 5)[some], packed[border:]
        ids, own, mask = pairs._put_together(columns, tokens, batch.length)
        for place, at in enumerate(rows.order[some].tolist()):
            ((wanted, second),) = cpu._rows([PAIRS[at]])
            assert ids[place][mask[place]].tolist() == wanted
            assert own[place][mask[place]].tolist() == [n >= second for n in range(len(wanted))]


def test_a_pair_does_not_depend_on_its_batch(pairs: TorchPairs) -> None:
    together = pairs.outputs(PAIRS)
    alone = np.concatenate([pairs.outputs([pair]) for pair in PAIRS])
    np.testing.assert_allclose(together, alone, atol=0.3)
    assert np.abs(together - alone).mean() < 0.03
    assert pairs.outputs([]).shape == (0, int(pairs.settings["width"]))


def test_texts_are_encoded_as_on_the_cpu(sentences: TorchSentences) -> None:
    theirs, ours = SentenceEncoder().encode(TEXTS, GROUPS), sentences.encode(TEXTS, GROUPS)
    assert ours.offsets.tolist() == theirs.offsets.tolist()
    assert (ours.vectors * theirs.vectors).sum(1).min() > 0.995
    near = np.abs(ours.tokens.astype(int) - theirs.tokens.astype(int))
    assert near.mean() < 1.5 and ours.tokens.dtype == np.int8
    np.testing.assert_allclose(ours.weights, theirs.weights, atol=0.05)
    assert len(sentences.encode([])) == 0


def test_stages_are_timed(pairs: TorchPairs) -> None:
    pairs.clock = stages = Stages("cpu")
    pairs.outputs(PAIRS[:2])
    assert set(stages.seconds()) == {"preparing text", "tokenizing", "compute"}


def test_the_record_of_labels_says_where_they_were_made(tmp_path: Path) -> None:
    corpus = Corpus("bakery", "test", (bakery(),))
    labels = rt.label(corpus, device=TRIAL, out=tmp_path / "labels")
    solver = json.loads((tmp_path / "labels" / "run.json").read_text())["settings"]["solver"]
    assert solver["settings"] == {"device": TRIAL, "numbers": "fp32"}
    assert labels.frame["version"].unique().to_list() == [f"2 ({TRIAL}, fp32)"]
    here = rt.label(corpus).frame
    answers = ("reflective", "grounding", "sentiment", "emotion")
    assert labels.frame.select(answers).equals(here.select(answers))
    with pytest.raises(RealtalkError, match="device"):  # labels of two kinds in one folder
        rt.label(corpus, out=tmp_path / "labels")


def test_the_record_of_a_probe_says_where_its_memory_was_encoded(tmp_path: Path) -> None:
    memory = Retrieved(device=TRIAL, cache=tmp_path)
    assert memory.version == "1+2 (cpu, fp32)"
    index = memory.build(bakery()).index
    theirs = Retrieved(cache=tmp_path).build(bakery()).index  # not read from the other's file
    assert index.vectors.tobytes() != theirs.vectors.tobytes()
    assert (index.vectors * theirs.vectors).sum(1).min() > 0.99
    assert len(list(tmp_path.glob("*.npz"))) == 2
