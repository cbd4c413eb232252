"""Trained weights → the compact ONNX that ships as the sentence encoder.

    python -m research.training.memory_export --weights build/memory/all.safetensors
    → src/realtalk_models/memory/{model.onnx, settings.json}

Outputs: every token's state, its small vector (length 1) and its weight in a question. There is
no mask: rows of one length run together, so nothing is padded. Weights are 8-bit integers as in
the EI encoder, whose tokenizer is shared.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import BertConfig

from research.training.compact import compact, speed_up
from research.training.memory_data import PASSAGE
from research.training.memory_model import CLS, SEP, Retriever

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "src" / "realtalk_models" / "memory"


class Shipped(torch.nn.Module):
    def __init__(self, model: Retriever) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        states = self.model(tokens, torch.ones_like(tokens))
        late = torch.nn.functional.normalize(self.model.late(states), dim=-1)
        return states, late, self.model.weigh(states).squeeze(-1).sigmoid()


def exported(weights: Path, base: Path, path: Path) -> None:
    given = {name: value.float() for name, value in load_file(weights).items()}
    config = BertConfig.from_json_file(str(base / "config.json"))
    config._attn_implementation = "eager"
    model = Retriever(config, len(given["late.weight"]))
    model.load_state_dict(given, strict=True)
    speed_up(model.encoder)
    outputs = ["states", "late", "weights"]
    axes = {name: {0: "batch", 1: "length"} for name in ["tokens", *outputs]}
    torch.onnx.export(
        Shipped(model).eval(), (torch.randint(1000, 2000, (2, 9)),), str(path),
        input_names=["tokens"], output_names=outputs, dynamic_axes=axes, opset_version=17,
        dynamo=False,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--base", type=Path, default=HERE / "build" / "minilm")
    parser.add_argument("--out", type=Path, default=TARGET)
    parser.add_argument("--row", type=int, default=128, help="tokens of neighbours in a row")
    parser.add_argument("--version", default="1")
    options = parser.parse_args()
    full = HERE / "build" / "memory" / "fp32.onnx"
    exported(options.weights, options.base, full)
    compact(full, options.out / "model.onnx")
    late = len(load_file(options.weights)["late.weight"])
    settings = {
        "version": options.version,
        "tokenizer": "../ei/tokenizer.json",
        "width": 384,
        "late": late,
        "row": options.row,
        "longest": 256,
        "passage": PASSAGE,
        "cls": CLS,
        "sep": SEP,
    }
    (options.out / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")
    size = (options.out / "model.onnx").stat().st_size
    print(f"{options.out / 'model.onnx'}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
