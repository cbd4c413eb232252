"""The trained tagger → the files that ship beside the open table of pieces.

    python -m research.training.names_export --tagger FOLDER --table table.npz --out FOLDER
    → FOLDER/{model.onnx, pieces.npz, settings.json}

Numbers of pieces are not in the ONNX file: whoever runs it (`realtalk.encoders.name_tagger`) looks
them up in the shared table and in pieces.npz, and hands both in, [1, length, R + own], with the
case of every piece's word. Weights keep 63 levels per block, the tagger's own numbers of pieces 31
per row, so that they pack small. One text runs at a time, so there is no mask. Thresholds are
chosen by names_thresholds.py.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from research.training.compact import Fast, coarse, compact, quicken
from research.training.languages_vocab import FIRST, LAST
from research.training.names_data import BUILD, KINDS
from research.training.names_model import LONGEST, NameTagger
from research.training.names_train import body_of, restored, table_of

VERSION = "3"
LEVELS = 15  # of a piece's own number, above nothing and below


class Exported(torch.nn.Module):
    def __init__(self, model: NameTagger) -> None:
        super().__init__()
        self.model = model

    def forward(self, words: Tensor, case: Tensor) -> Tensor:
        return self.model.read(words, case)


def built(tagger: Path, table: Path, body: Path, config: Path) -> NameTagger:
    options = json.loads((tagger / "names.json").read_text("utf-8"))["options"]
    rows, projection = table_of(table)
    base = body_of(body, config, attention="eager")
    model = NameTagger(rows, projection, base, int(options["layers"]), int(options["own"]))
    restored(model, tagger)
    for layer in model.upper:
        layer.intermediate.intermediate_act_fn = Fast()
    return model.eval()


def exported(model: NameTagger, out: Path) -> Path:
    """Writes model.onnx."""
    full = out.parent / f"{out.name}-fp32.onnx"
    example = (torch.randn(1, 9, model.projection.in_features), torch.ones(1, 9, dtype=torch.int64))
    axes = {name: {0: "batch", 1: "length"} for name in ("words", "case", "tags")}
    coarse(model)
    torch.onnx.export(
        Exported(model).eval(), example, str(full), input_names=["words", "case"],
        output_names=["tags"], dynamic_axes=axes, opset_version=17, dynamo=False,
    )  # fmt: skip
    compact(full, out / "model.onnx")
    quicken(out / "model.onnx")
    full.unlink()
    return out / "model.onnx"


def stored(model: NameTagger, path: Path) -> None:
    """The tagger's own numbers of pieces, in whole ones with a scale per row."""
    values = model.own.weight.detach().numpy()
    scales = np.maximum(np.abs(values).max(1) / LEVELS, 1e-12).astype(np.float32)
    rows = np.rint(values / scales[:, None]).astype(np.int8)
    np.savez_compressed(path, rows=rows, scales=scales)


def settings_of(table: str, tokenizer: str) -> dict[str, Any]:
    """What whoever runs it must know."""
    return {
        "version": VERSION,
        "tokenizer": tokenizer,
        "tables": [table, "pieces.npz"],
        "kinds": list(KINDS),
        "cls": FIRST,
        "sep": LAST,
        "longest": LONGEST - 2,
        # A chance from which on a kind is replaced, and from which on that is sure.
        "thresholds": {kind: [0.5, 0.9] for kind in KINDS},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tagger", type=Path, default=BUILD)
    parser.add_argument("--table", type=Path, required=True)
    parser.add_argument("--body", type=Path, required=True)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--beside", default="../open_table/table.npz", help="from --out")
    parser.add_argument("--tokenizer", default="../ei_multilingual/tokenizer.json")
    parser.add_argument("--out", type=Path, default=BUILD / "model")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    model = built(options.tagger, options.table, options.body, options.config)
    stored(model, options.out / "pieces.npz")
    path = exported(model, options.out)
    settings = json.dumps(settings_of(options.beside, options.tokenizer), indent=1)
    (options.out / "settings.json").write_text(settings + "\n")
    print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
