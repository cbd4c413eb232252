"""BERTScore with a tiny random model saved to disk, against its formula written out."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from command import run_command
from realtalk.errors import MissingExtraError
from realtalk.persona.bertscore import LAYERS, BertScore
from refusals import refused
from tiny_models import needs_torch, roberta_tokenizer

TEXTS = (
    "we missed the last ferry and slept on the pier",
    "ha",
    "my grandmother's piano is finally in tune again",
    "ok see you at nine then, by the pier",
)
PAIRS = [(one, other) for one in TEXTS for other in TEXTS]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch, transformers = import_module("torch"), import_module("transformers")
    tokenizer = roberta_tokenizer(TEXTS, 320)
    torch.manual_seed(3)
    config = transformers.RobertaConfig(
        **{"vocab_size": 320, "hidden_size": 32, "num_hidden_layers": 3, "type_vocab_size": 1},
        **{"num_attention_heads": 2, "intermediate_size": 64, "initializer_range": 0.4},
        **{"max_position_embeddings": 130, "pad_token_id": 1},
    )
    saved = tmp_path_factory.mktemp("bert") / "tiny"
    transformers.RobertaModel(config).eval().save_pretrained(saved)
    tokenizer.save_pretrained(saved)
    return saved


def written_out(folder: Path, layer: int, said: str, real: str) -> float:
    """The formula without batches."""
    torch, transformers = import_module("torch"), import_module("transformers")
    model = transformers.RobertaModel.from_pretrained(folder, add_pooling_layer=False).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    sides = []
    for text in (said, real):
        ids = tokenizer(" " + text)["input_ids"]
        with torch.no_grad():
            found = model(torch.tensor([ids]), output_hidden_states=True).hidden_states[layer][0]
        sides.append(torch.nn.functional.normalize(found))
    likeness = sides[0] @ sides[1].T
    # The first and the last are the marks around the text: they can be met, but do not count.
    precision = likeness[1:-1].amax(dim=1).mean()
    recall = likeness[:, 1:-1].amax(dim=0).mean()
    return float(2 * precision * recall / (precision + recall))


@needs_torch
def test_scores_are_those_of_the_formula(folder: Path) -> None:
    found = BertScore(str(folder), layer=2).scores(PAIRS)
    assert found == [pytest.approx(written_out(folder, 2, *pair), abs=1e-5) for pair in PAIRS]
    assert len({round(score, 4) for score in found if score}) > 5  # it tells texts apart
    ends = BertScore(str(folder), layer=1).scores([("  ", "ha"), ("ha", "ha")])
    assert ends == [None, pytest.approx(1, abs=1e-5)]  # no tokens, no score


@needs_torch
def test_the_layer_must_be_known_or_named(folder: Path) -> None:
    with refused("`bertscore_layer=N`") as caught:
        BertScore(str(folder))
    assert str(folder.parent) not in str(caught.value)  # no folder of this machine
    with refused("no layer 4 of 3"):
        BertScore(str(folder), layer=4)
    assert BertScore(str(folder), layer=3).version.startswith("BERTScore tiny@")
    assert LAYERS["roberta-large"] == 17


@needs_torch
def test_a_simulation_can_be_scored_by_it(folder: Path, tmp_path: Path) -> None:
    from realtalk.evals.folder import RunFolder

    words = ["persona", "run", "sample", "-s", "Mara", "--simulator", "copy", "--limit", "6"]
    plain = run_command(*words, "--out", str(tmp_path / "plain"))
    words += ["--bertscore", str(folder), "--bertscore-layer", "2"]
    other = run_command(*words, "--out", str(tmp_path / "other"))
    assert plain.code == other.code == 0, other.err
    rows: list[Any] = [
        pl.read_parquet(tmp_path / name / "rows.parquet") for name in ("plain", "other")
    ]
    assert rows[0]["cosine"].equals(rows[1]["cosine"])
    scored = rows[1].drop_nulls("semantic")
    assert len(scored) >= 4
    pairs = list(zip(scored["answer"], scored["truth"], strict=True))
    wanted = BertScore(str(folder), layer=2).scores(pairs)
    assert scored["semantic"].to_list() == pytest.approx(wanted)
    settings = RunFolder.load(tmp_path / "other", "persona simulation").settings
    assert settings["scoring"]["semantic"].startswith("BERTScore tiny@")
    again = run_command("runs", "compare", *map(str, tmp_path.iterdir()))
    assert "semantic similarity" in again.err


def test_without_the_extra_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match="BERTScore"):
        BertScore("roberta-large")


def test_a_layer_alone_is_of_no_use() -> None:
    words = "persona run sample -s Mara --bertscore-layer 3"
    found = run_command(words)
    assert found.code != 0
    assert "--bertscore-layer" in found.err
