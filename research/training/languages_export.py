"""Weights as they travelled → the compact ONNX of the multilingual encoder.

    python -m research.training.languages_export --weights FOLDER [FOLDER …] [--mix F | --direct] [--words F]
    → build/languages/model/{model.onnx, tokenizer.json, settings.json}

In the same form as the English encoder (ei_export.py, compact.py): 8-bit weights, rows of
embeddings in 8 bits, same inputs, the English heads at the same places before the others. With the
map of languages_mix.py the rubric's heads are sums of all heads that ship: sums of linear heads
are linear heads, so the file does not change its form. The table of languages_words.py is added to
the heads as they are then.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

from research.training.compact import compact
from research.training.ei_export import built, exported, settings_of
from research.training.ei_model import EiModel
from research.training.languages_heads import HEADS, MIXED_ANSWERS, PLACES
from research.training.languages_vocab import FIRST, LAST, OUT
from research.training.languages_weights import load, mean
from research.training.word_table import restored

VERSION = "1"


def mixed(model: EiModel, path: Path) -> None:
    """Folds the map into the heads."""
    ships = [
        at
        for name, place in PLACES.items()
        if HEADS[name].shipped
        for at in range(place.start, place.stop)
    ]
    weight, bias = (values.detach()[ships].clone() for values in model.heads.parameters())
    with np.load(path) as file, torch.no_grad():
        for name in (each for each in file.files if not each.endswith("_constant")):
            by, constant = (torch.from_numpy(file[n]).float() for n in (name, f"{name}_constant"))
            model.heads.weight[PLACES[name]] = by.T @ weight
            model.heads.bias[PLACES[name]] = by.T @ bias + constant


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--weights",
        type=Path,
        nargs="+",
        required=True,
        help="folders of their parts; of several, the mean",
    )
    parser.add_argument("--config", type=Path, default=OUT / "config.json")
    parser.add_argument("--vocab", type=Path, default=OUT / "tokenizer.json")
    parser.add_argument("--mix", type=Path, help="what languages_mix.py made")
    parser.add_argument("--direct", action="store_true", help="heads were trained to be read alone")
    parser.add_argument("--words", type=Path, help="what languages_words.py made")
    parser.add_argument("--out", type=Path, default=OUT / "model")
    options = parser.parse_args()
    model = built(mean([load(folder) for folder in options.weights]), options.config)
    if options.mix:
        mixed(model, options.mix)
    if options.words:
        with np.load(options.words) as file:
            model.words = restored({name: torch.from_numpy(file[name]) for name in file.files})
    fast = options.out.parent / "fast.onnx"
    options.out.mkdir(parents=True, exist_ok=True)
    exported(model, fast, fast=True, heads=HEADS)
    compact(fast, options.out / "model.onnx")
    shutil.copy(options.vocab, options.out / "tokenizer.json")
    settings = settings_of(HEADS, VERSION, FIRST, LAST)
    if options.mix or options.direct:
        settings["answers"] = MIXED_ANSWERS
    # The mark of a word's beginning says nothing of a word that has no pieces.
    settings["silent"] = [Tokenizer.from_file(str(options.vocab)).token_to_id("▁")]
    (options.out / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")
    for path in sorted(options.out.iterdir()):
        print(f"{path}: {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
