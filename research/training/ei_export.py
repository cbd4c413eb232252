"""Trained weights → the compact ONNX that is to ship with the package.

    python -m research.training.ei_export --weights build/student.safetensors
    → src/realtalk_models/ei/{model.onnx, tokenizer.json, settings.json}

Weights become 8-bit integers (see compact.py): a quarter of the size, twice the speed.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import BertConfig

from research.training.compact import compact, speed_up
from research.training.ei_data import PREVIOUS, TURN
from research.training.ei_heads import ANSWERS, HEADS, Head, places
from research.training.ei_model import CLS, SEP, EiModel

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "src" / "realtalk_models" / "ei"
VERSION = "2"
COMPARED = (
    *("reflective", "grounding", "sentiment", "emotion"),
    *("emotional_reaction_level", "interpretation_level", "exploration_level"),
)


class Shipped(torch.nn.Module):
    """The encoder and the heads that ship, side by side."""

    def __init__(self, model: EiModel, heads: Mapping[str, Head]) -> None:
        super().__init__()
        self.model = model
        at = places(heads)
        shipped = [at[name] for name, head in heads.items() if head.shipped]
        keep = [at for place in shipped for at in range(place.start, place.stop)]
        self.register_buffer("keep", torch.tensor(keep))

    def forward(self, tokens: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        # No mask: rows of one length run together, so nothing is padded.
        return self.model(tokens, types, torch.ones_like(tokens)).index_select(1, self.keep)


def shipped_places(heads: Mapping[str, Head]) -> dict[str, list[int]]:
    found, start = {}, 0
    for name, head in heads.items():
        if head.shipped:
            found[name] = [start, start + head.size]
            start += head.size
    return found


def built(weights: Mapping[str, torch.Tensor], config: Path) -> EiModel:
    """A model of these weights, whatever its vocabulary and its heads."""
    made = BertConfig.from_json_file(str(config))
    made._attn_implementation = "eager"
    made.vocab_size = len(weights["encoder.embeddings.word_embeddings.weight"])
    model = EiModel(made, width=len(weights["heads.bias"]))
    model.load_state_dict({k: v.float() for k, v in weights.items()}, strict=False)
    missing = set(model.state_dict()) - set(weights)
    assert not {m for m in missing if "position_ids" not in m}, missing
    return model


def exported(model: EiModel, path: Path, fast: bool, heads: Mapping[str, Head] = HEADS) -> None:
    if fast:
        speed_up(model.encoder)
    shipped = Shipped(model, heads).eval()
    example = (
        torch.randint(1000, 2000, (2, 9)),
        torch.tensor([[0] * 4 + [1] * 5] * 2),
    )
    names = ["tokens", "types"]
    axes = {name: {0: "batch", 1: "length"} for name in names} | {"outputs": {0: "batch"}}
    torch.onnx.export(
        shipped, example, str(path), input_names=names, output_names=["outputs"],
        dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip


def settings_of(heads: Mapping[str, Head], version: str, first: int, last: int) -> dict[str, Any]:
    """What whoever runs the model must know: how rows are made, where each answer stands."""
    found = shipped_places(heads)
    return {
        "version": version,
        "width": max(stop for _, stop in found.values()),
        "previous": PREVIOUS,
        "turn": TURN,
        "emoji_in_words": True,
        "cls": first,
        "sep": last,
        "places": found,
        "answers": ANSWERS,
    }


def full_answers(full: Path, shipped: Path) -> None:
    """What fp32 answers on the sample corpora: the tests hold the shipped file to it."""
    from realtalk.ei.embedded import EmbeddedLabeller
    from realtalk.ei.labels import turn_inputs
    from realtalk.formats.opening import open_reading

    folder = full.parent / "full"
    folder.mkdir(exist_ok=True)
    for name in ("tokenizer.json", "settings.json"):
        shutil.copy(shipped / name, folder / name)
    shutil.copy(full, folder / "model.onnx")
    labeller = EmbeddedLabeller(folder)
    rows = {}
    for sample in ("sample", "sample-simulated"):
        labels = labeller.label(turn_inputs(open_reading(sample).reading.corpus))
        rows[sample] = [[getattr(label, name) for name in COMPARED] for label in labels]
    text = json.dumps({"answers": COMPARED, **rows}, separators=(",", ":"))
    (HERE.parents[1] / "tests" / "ei" / "ei_fp32.json").write_text(text + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--base", type=Path, default=HERE / "build" / "minilm")
    parser.add_argument("--out", type=Path, default=TARGET)
    options = parser.parse_args()
    full = HERE / "build" / "ei-fp32.onnx"
    fast = HERE / "build" / "ei-fast.onnx"
    model = built(load_file(options.weights), options.base / "config.json")
    exported(model, full, fast=False)  # what the tests compare with
    exported(model, fast, fast=True)
    compact(fast, options.out / "model.onnx")
    shutil.copy(options.base / "tokenizer.json", options.out / "tokenizer.json")
    settings = settings_of(HEADS, VERSION, CLS, SEP)
    (options.out / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")
    if options.out == TARGET:
        full_answers(full, options.out)
    size = (options.out / "model.onnx").stat().st_size
    print(f"{options.out / 'model.onnx'}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
