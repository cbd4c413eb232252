"""Trained weights → the compact ONNX that is to ship with the package.

    python training/ei_export.py --weights training/build/student.safetensors
    → src/realtalk/encoders/ei/{model.onnx, tokenizer.json, settings.json}

Weights become 8-bit integers (see compact.py): a quarter of the size, twice the speed.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import BertConfig

from compact import compact, speed_up
from ei_data import PREVIOUS, TURN
from ei_heads import ANSWERS, HEADS, PLACES
from ei_model import CLS, SEP, EiModel

HERE = Path(__file__).parent
TARGET = HERE.parent / "src" / "realtalk" / "encoders" / "ei"
VERSION = "2"
COMPARED = (
    *("reflective", "grounding", "sentiment", "emotion"),
    *("emotional_reaction_level", "interpretation_level", "exploration_level"),
)


class Shipped(torch.nn.Module):
    """The encoder and the heads that ship, side by side."""

    def __init__(self, model: EiModel) -> None:
        super().__init__()
        self.model = model
        shipped = [PLACES[name] for name, head in HEADS.items() if head.shipped]
        keep = [at for place in shipped for at in range(place.start, place.stop)]
        self.register_buffer("keep", torch.tensor(keep))

    def forward(self, tokens: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        # No mask: rows of one length run together, so nothing is padded.
        return self.model(tokens, types, torch.ones_like(tokens)).index_select(1, self.keep)


def shipped_places() -> dict[str, list[int]]:
    found, start = {}, 0
    for name, head in HEADS.items():
        if head.shipped:
            found[name] = [start, start + head.size]
            start += head.size
    return found


def exported(weights: Path, base: Path, path: Path, fast: bool) -> None:
    config = BertConfig.from_json_file(str(base / "config.json"))
    config._attn_implementation = "eager"
    model = EiModel(config)
    model.load_state_dict({k: v.float() for k, v in load_file(weights).items()}, strict=False)
    missing = set(model.state_dict()) - set(load_file(weights))
    assert not {m for m in missing if "position_ids" not in m}, missing
    if fast:
        speed_up(model.encoder)
    shipped = Shipped(model).eval()
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


def full_answers(full: Path, shipped: Path) -> None:
    """What fp32 answers on the sample corpora: the tests hold the shipped file to it."""
    from realtalk.corpora.opening import open_reading
    from realtalk.ei.embedded import EmbeddedLabeller
    from realtalk.ei.labels import turn_inputs

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
    (HERE.parent / "tests" / "measures" / "ei_fp32.json").write_text(text + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--base", type=Path, default=HERE / "build" / "minilm")
    parser.add_argument("--out", type=Path, default=TARGET)
    options = parser.parse_args()
    full = HERE / "build" / "ei-fp32.onnx"
    fast = HERE / "build" / "ei-fast.onnx"
    exported(options.weights, options.base, full, fast=False)  # what the tests compare with
    exported(options.weights, options.base, fast, fast=True)
    compact(fast, options.out / "model.onnx")
    shutil.copy(options.base / "tokenizer.json", options.out / "tokenizer.json")
    places = shipped_places()
    settings: dict[str, Any] = {
        "version": VERSION,
        "width": max(stop for _, stop in places.values()),
        "previous": PREVIOUS,
        "turn": TURN,
        "emoji_in_words": True,
        "cls": CLS,
        "sep": SEP,
        "places": places,
        "answers": ANSWERS,
    }
    (options.out / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")
    if options.out == TARGET:
        full_answers(full, options.out)
    size = (options.out / "model.onnx").stat().st_size
    print(f"{options.out / 'model.onnx'}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
