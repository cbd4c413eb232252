"""Weights as they travelled → the compact ONNX of the multilingual encoder.

    python training/languages_export.py --weights FOLDER --name s
    → training/build/languages/model/{model.onnx, tokenizer.json, settings.json}

In the same form as the English encoder (ei_export.py, compact.py): 8-bit weights, rows of
embeddings in 8 bits, same inputs, the English heads at the same places before the others.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

from tokenizers import Tokenizer

from compact import compact
from ei_export import built, exported, settings_of
from languages_heads import HEADS
from languages_vocab import FIRST, LAST, OUT
from languages_weights import load

VERSION = "1"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, required=True, help="the folder of their parts")
    parser.add_argument("--name", default="s", help="of the run that made them")
    parser.add_argument("--config", type=Path, default=OUT / "config.json")
    parser.add_argument("--vocab", type=Path, default=OUT / "tokenizer.json")
    parser.add_argument("--out", type=Path, default=OUT / "model")
    options = parser.parse_args()
    model = built(load(options.weights, options.name), options.config)
    fast = options.out.parent / "fast.onnx"
    options.out.mkdir(parents=True, exist_ok=True)
    exported(model, fast, fast=True, heads=HEADS)
    compact(fast, options.out / "model.onnx")
    shutil.copy(options.vocab, options.out / "tokenizer.json")
    settings = settings_of(HEADS, VERSION, FIRST, LAST)
    # The mark of a word's beginning says nothing of a word that has no pieces.
    settings["silent"] = [Tokenizer.from_file(str(options.vocab)).token_to_id("▁")]
    (options.out / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")
    for path in sorted(options.out.iterdir()):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
