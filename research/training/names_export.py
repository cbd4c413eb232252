"""The tagger's trained layers → the compact ONNX that ships beside the multilingual encoder.

    python -m research.training.names_export --branch names.safetensors --encoder FOLDER --out FOLDER
    → FOLDER/{model.onnx, settings.json}

The tagger has layers of its own over the encoder's embeddings. Rows of words are not in it:
whoever runs it looks them up in the encoder's file (`realtalk.encoders.name_tagger`) and hands them
in, [batch, length, width], with the case of every piece's word. Places, type and normalisation of
the embedding are small and come along, in the numbers that the encoder's file holds. Rows of
one length run together, so there is no mask. Thresholds are chosen by names_thresholds.py.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from realtalk.encoders.weights import read_weights
from research.training.compact import Fast, compact
from research.training.languages_vocab import FIRST, LAST
from research.training.names_data import BUILD, KINDS
from research.training.names_model import NameTagger, _only
from research.training.names_train import LANGUAGES

LONGEST = 94  # pieces of a row, without its marks: what training saw
EMBEDDINGS = "encoder.embeddings"
TABLE = f"{EMBEDDINGS}.word_embeddings.weight"
VERSION = "1"


class Branch(torch.nn.Module):
    def __init__(self, model: NameTagger) -> None:
        super().__init__()
        self.upper, self.case, self.head = model.upper, model.case, model.head
        embeddings = model.embeddings
        places = embeddings.position_embeddings.weight[: LONGEST + 2]
        # A message to tag is a turn, of type 1.
        self.register_buffer("places", places + embeddings.token_type_embeddings.weight[1])
        self.norm = embeddings.LayerNorm

    def forward(self, words: Tensor, case: Tensor) -> Tensor:
        states = self.norm(words + self.places[: words.shape[1]]) + self.case(case)
        for layer in self.upper:
            states = _only(layer(states))
        return self.head(states)  # type: ignore[no-any-return]


def built(branch: Path, config: Path, encoder: Path) -> NameTagger:
    """The trained layers over the embedding as the encoder's file has it."""
    from transformers import BertConfig, BertModel

    weights = {name: value.float() for name, value in load_file(str(branch)).items()}
    own = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("upper."))
    made = BertConfig.from_json_file(str(config))
    made.vocab_size, made._attn_implementation = 16, "eager"  # the rows of words stay outside
    model = NameTagger(BertModel(made, add_pooling_layer=False), layers=own)
    model.load_state_dict(weights, strict=False)
    stored = read_weights(encoder / "model.onnx")
    small = {
        f"embeddings.{name}": torch.from_numpy(stored[f"{EMBEDDINGS}.{name}"].copy())
        for name in (
            "position_embeddings.weight", "token_type_embeddings.weight", "LayerNorm.weight",
            "LayerNorm.bias",
        )
    }  # fmt: skip
    model.load_state_dict(small, strict=False)
    for layer in model.upper:
        layer.intermediate.intermediate_act_fn = Fast()
    return model.eval()


def exported(model: NameTagger, out: Path) -> Path:
    """Writes model.onnx."""
    width = model.head.in_features
    full = out.parent / f"{out.name}-fp32.onnx"
    example = (torch.randn(2, 9, width), torch.ones(2, 9, dtype=torch.int64))
    axes = {name: {0: "batch", 1: "length"} for name in ("words", "case", "tags")}
    torch.onnx.export(
        Branch(model).eval(), example, str(full), input_names=["words", "case"],
        output_names=["tags"], dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip
    compact(full, out / "model.onnx")
    full.unlink()
    return out / "model.onnx"


def settings_of(beside: str) -> dict[str, Any]:
    """What whoever runs it must know; `beside` is where the encoder's folder lies from there."""
    return {
        "version": VERSION,
        "tokenizer": f"{beside}/tokenizer.json",
        "table": f"{beside}/model.onnx",
        "table_name": TABLE,
        "kinds": list(KINDS),
        "cls": FIRST,
        "sep": LAST,
        "longest": LONGEST,
        # A chance from which on a kind is replaced, and from which on that is sure.
        "thresholds": {kind: [0.5, 0.9] for kind in KINDS},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--branch", type=Path, default=BUILD / "names.safetensors")
    parser.add_argument("--config", type=Path, default=LANGUAGES / "config.json")
    parser.add_argument("--encoder", type=Path, default=LANGUAGES / "model")
    parser.add_argument("--beside", default="../ei_multilingual", help="the encoder, from --out")
    parser.add_argument("--out", type=Path, default=BUILD / "model")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    path = exported(built(options.branch, options.config, options.encoder), options.out)
    settings = json.dumps(settings_of(options.beside), indent=1)
    (options.out / "settings.json").write_text(settings + "\n")
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
