"""The tagger's trained branch → an int8 ONNX of a few MB, to be run over the EI encoder's states.

    python training/names_export.py --branch training/build/names/names.safetensors
    → training/build/names/model/{branch.onnx, settings.json}

Inputs are the states after the shared layers, [batch, length, width], and the case of every piece's
word; outputs the tags' logits. Rows of one length run together, so there is no mask. Whatever
runs the EI encoder hands in its states of layer `shared`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import Tensor

from compact import Fast, compact
from names_data import BUILD, KINDS
from names_model import NameTagger, _only
from names_train import LANGUAGES


class Branch(torch.nn.Module):
    def __init__(self, model: NameTagger) -> None:
        super().__init__()
        self.upper, self.case, self.head = model.upper, model.case, model.head

    def forward(self, states: Tensor, case: Tensor) -> Tensor:
        states = states + self.case(case)
        for layer in self.upper:
            states = _only(layer(states))
        return self.head(states)  # type: ignore[no-any-return]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--branch", type=Path, default=BUILD / "names.safetensors")
    parser.add_argument("--config", type=Path, default=LANGUAGES / "config.json")
    parser.add_argument("--out", type=Path, default=BUILD / "model")
    options = parser.parse_args()
    from transformers import BertConfig, BertModel

    weights = {name: value.float() for name, value in load_file(str(options.branch)).items()}
    own = 1 + max(int(name.split(".")[1]) for name in weights if name.startswith("upper."))
    config = BertConfig.from_json_file(str(options.config))
    config.vocab_size, config._attn_implementation = 16, "eager"  # the table is the encoder's
    shared = config.num_hidden_layers - own
    model = NameTagger(BertModel(config, add_pooling_layer=False), shared)
    model.load_state_dict(weights, strict=False)
    for layer in model.upper:
        layer.intermediate.intermediate_act_fn = Fast()
    options.out.mkdir(parents=True, exist_ok=True)
    full = options.out.parent / "branch-fp32.onnx"
    example = (torch.randn(2, 9, config.hidden_size), torch.ones(2, 9, dtype=torch.int64))
    axes = {name: {0: "batch", 1: "length"} for name in ("states", "case", "tags")}
    torch.onnx.export(
        Branch(model).eval(), example, str(full), input_names=["states", "case"],
        output_names=["tags"], dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip
    compact(full, options.out / "branch.onnx")
    settings: dict[str, Any] = {"version": "1", "shared": shared, "kinds": KINDS, "cases": 6}
    (options.out / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")
    print(f"branch.onnx: {(options.out / 'branch.onnx').stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
