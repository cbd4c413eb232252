"""Trained weights → the compact ONNX that ships as the sentence encoder.

    python -m research.training.memory_export --weights build/memory/all.safetensors
    → src/realtalk_models/memory/{model.onnx, settings.json}
    python -m research.training.memory_export --open FOLDER
    → src/realtalk_models/memory_multilingual/{model.onnx, settings.json}, open_table/table.npz

Outputs: every token's state, its small vector (length 1) and its weight in a question. There is
no mask: rows of one length run together, so nothing is padded. Weights are 8-bit integers as in
the EI encoder, whose tokenizer is shared. Of the multilingual one (memory_languages.py) rows of the
table stay outside, where the name tagger finds them, too: it reads them as `words`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from transformers import BertConfig

from research.training.compact import coarse, compact, speed_up
from research.training.languages_vocab import FIRST, LAST
from research.training.memory_data import PASSAGE
from research.training.memory_model import CLS, SEP, Retriever

HERE = Path(__file__).parent
TARGET = HERE.parents[1] / "src" / "realtalk_models" / "memory"
MULTILINGUAL = TARGET.with_name("memory_multilingual")


class Shipped(torch.nn.Module):
    def __init__(self, model: Retriever) -> None:
        super().__init__()
        self.model = model

    def forward(self, given: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        there = torch.ones(given.shape[:2], dtype=torch.int64)
        states = self.model(given, there)
        late = torch.nn.functional.normalize(self.model.late(states), dim=-1)
        return states, late, self.model.weigh(states).squeeze(-1).sigmoid()


class OverRows(Retriever):
    """The multilingual retriever, over rows that were looked up."""

    def __init__(self, config: Any, late: int, projection: torch.Tensor) -> None:
        super().__init__(config, late)
        self.projection = torch.nn.Linear(*projection.shape, bias=False)
        self.projection.weight.data = projection.T.contiguous()

    def forward(self, rows: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        words = self.projection(rows)
        return self.encoder(inputs_embeds=words, attention_mask=mask).last_hidden_state  # type: ignore[no-any-return]


def built(weights: Path, base: Path, projection: torch.Tensor | None) -> Retriever:
    given = {name: value.float() for name, value in load_file(weights).items()}
    config = BertConfig.from_json_file(str(base / "config.json"))
    config._attn_implementation = "eager"
    late = len(given["late.weight"])
    if projection is None:
        model = Retriever(config, late)
    else:
        config.vocab_size = 1
        config.num_hidden_layers = sum(n.endswith("intermediate.dense.bias") for n in given)
        model = OverRows(config, late, projection)
        given |= {n: v for n, v in model.state_dict().items() if n not in given}
    model.load_state_dict(given, strict=True)
    speed_up(model.encoder)
    coarse(model)
    return model.eval()


def exported(model: Retriever, path: Path, name: str, example: torch.Tensor) -> None:
    outputs = ["states", "late", "weights"]
    axes = {each: {0: "batch", 1: "length"} for each in [name, *outputs]}
    torch.onnx.export(
        Shipped(model).eval(), (example,), str(path), input_names=[name], output_names=outputs,
        dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, help="of the English one")
    parser.add_argument("--open", type=Path, help="a folder that memory_languages.py saved")
    parser.add_argument("--base", type=Path, default=HERE / "build" / "minilm")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--row", type=int, default=128, help="tokens of neighbours in a row")
    parser.add_argument("--version", default="1")
    options = parser.parse_args()
    full = HERE / "build" / "memory" / "fp32.onnx"
    settings = {"version": options.version, "width": 384, "row": options.row, "longest": 256}
    settings["passage"] = PASSAGE
    if options.open:
        options.out = options.out or MULTILINGUAL
        with np.load(options.open / "open_table.npz") as file:
            table = {name: file[name] for name in ("rows", "scales")}
            projection = torch.from_numpy(file["projection"])
        model = built(options.open / "layers.safetensors", options.base, projection)
        exported(model, full, "words", torch.randn(2, 9, len(projection)))
        (options.out.parent / "open_table").mkdir(exist_ok=True)
        np.savez(options.out.parent / "open_table" / "table.npz", **table)
        settings |= {"tokenizer": "../ei_multilingual/tokenizer.json", "emoji_in_words": True}
        settings |= {"table": "../open_table/table.npz", "cls": FIRST, "sep": LAST}
    else:
        options.out = options.out or TARGET
        model = built(options.weights, options.base, None)
        exported(model, full, "tokens", torch.randint(1000, 2000, (2, 9)))
        settings |= {"tokenizer": "../ei/tokenizer.json", "cls": CLS, "sep": SEP}
    compact(full, options.out / "model.onnx")
    settings["late"] = model.late.out_features
    (options.out / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")
    size = (options.out / "model.onnx").stat().st_size
    print(f"{options.out / 'model.onnx'}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
