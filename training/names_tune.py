"""A trained tagger → one that knows chats: it goes on with messages of dialogues that name nobody.

    python training/names_tune.py --branch names.safetensors --encoder FOLDER --seconds 800
    → training/build/names/tuned/names.safetensors

Labelled sets are news and templates, dense with names; of a chat's words one in twenty is one, and
what was never seen is taken for a name ("perfecto", "noooo"). Here two thirds of the rows are lines
of public dialogues and messages (names_lines.py), in which every word is no name but those that may
be, which are left open. The others are labelled rows as before, a part in small letters. It runs
on a CPU.
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from names_data import BUILD, Row, Tests, is_dev, load, pack
from names_lines import lines, may_be_names, words_in_names
from names_model import NameTagger
from names_train import LANGUAGES, Packed, loss_of
from realtalk.encoders.onnx_weights import read_weights

LABELLED = 700  # rows of a language with names


def opened(rows: list[Row], packed: dict[str, Any], encoded: Any, names: set[str]) -> None:
    """Takes the words that may be names out of the reckoning."""
    for at, (row, each) in enumerate(zip(rows, encoded, strict=True)):
        maybe = may_be_names(row, names)
        for place, (start, end) in enumerate(each.offsets[: packed["sizes"][at]], 1):
            if any(s < end and start < e for s, e in maybe):
                packed["tags"][at, place] = -1


def model_of(branch: Path, config: Path, encoder: Path) -> NameTagger:
    from transformers import BertConfig, BertModel

    made = BertConfig.from_json_file(str(config))
    stored = read_weights(encoder / "model.onnx")
    rows = {
        name.removeprefix("encoder."): torch.from_numpy(values.copy())
        for name, values in stored.items()
        if name.startswith("encoder.embeddings.")
    }
    made.vocab_size = len(rows["embeddings.word_embeddings.weight"])
    made._attn_implementation = "eager"
    model = NameTagger(BertModel(made, add_pooling_layer=False), shared=0)
    missing = model.load_state_dict({**rows, **_float(load_file(str(branch)))}, strict=False)
    assert not missing.unexpected_keys, missing.unexpected_keys
    return model


def _float(weights: dict[str, Any]) -> dict[str, Any]:
    return {name: value.float() for name, value in weights.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--branch", type=Path, default=BUILD / "names.safetensors")
    add("--encoder", type=Path, default=LANGUAGES / "model")
    add("--config", type=Path, default=LANGUAGES / "config.json")
    add("--data", type=Path, default=BUILD / "data.jsonl.xz")
    add("--dialogues", type=Path, default=Path("../shared/data/multilingual"))
    add("--tests", type=Path, default=Path("../shared/data/names"))
    add("--chats", type=Path, default=Path(__file__).parent.parent / "bench" / "names")
    add("--languages", default="", help="of these only, with commas")
    add("--seconds", type=float, default=800)
    add("--budget", type=int, default=1_536)
    add("--lr", type=float, default=2e-4)
    add("--frozen", type=int, default=2, help="lower layers that stay as they are")
    add("--seed", type=int, default=0)
    add("--save", type=Path, default=BUILD / "tuned")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    torch.manual_seed(options.seed)
    began = time.time()
    labelled = load(options.data)
    names = words_in_names(labelled)
    print(f"{len(names):,} words may be names, {time.time() - began:.0f} s", flush=True)
    wanted = set(options.languages.split(",")) if options.languages else None
    tests = Tests(options.tests, options.chats)
    plain = [r for r in lines(options.dialogues, tests, rng) if wanted is None or r["l"] in wanted]
    print(f"{len(plain):,} lines, {time.time() - began:.0f} s", flush=True)
    by_lang: dict[str, list[Row]] = defaultdict(list)
    for row in labelled:
        if row["s"] and not is_dev(row["t"]) and (wanted is None or row["l"] in wanted):
            by_lang[row["l"]].append(row)
    rows = []
    for some in by_lang.values():
        rng.shuffle(some)
        some.sort(key=lambda row: row["src"] != "generated")
        half = LABELLED // 2
        for row in some[:half] + some[-half:]:
            small = row["t"].lower()
            rows.append(
                row | {"t": small} if rng.random() < 0.25 and len(small) == len(row["t"]) else row
            )
    tokenizer = Tokenizer.from_file(str(options.encoder / "tokenizer.json"))
    encoded = tokenizer.encode_batch([row["t"] for row in plain], add_special_tokens=False)
    packed = pack(plain, tokenizer, 64)
    opened(plain, packed, encoded, names)
    other = pack(rows, tokenizer, 64)
    both = {name: np.concatenate([packed[name], other[name]]) for name in packed}
    data = Packed(both, 2, 3, torch.device("cpu"))
    print(
        f"{len(plain):,} lines, {len(rows):,} labelled rows, {time.time() - began:.0f} s",
        flush=True,
    )
    model = model_of(options.branch, options.config, options.encoder)
    for layer in model.upper[: options.frozen]:
        for each in layer.parameters():
            each.requires_grad_(False)
    learned = [each for each in model.parameters() if each.requires_grad]
    optimizer = torch.optim.AdamW(learned, lr=options.lr, weight_decay=0.01)
    model.train()
    order, steps, began = np.random.default_rng(options.seed), 0, time.time()
    total = 0.0
    while (gone := (time.time() - began) / options.seconds) < 1:
        for part in data.batches(order.permutation(len(data.sizes)), options.budget, order):
            gone = (time.time() - began) / options.seconds
            if gone >= 1:
                break
            for group in optimizer.param_groups:
                group["lr"] = options.lr * min(1.0, (steps + 1) / 20) * (1 - gone)
            tokens, case, mask, tags, held = data.batch(part)
            loss = loss_of(model(tokens, case, mask), tags, held)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            steps += 1
            total += float(loss.detach())
            if steps % 20 == 0:
                print(f"{gone:.0%} step {steps} loss {total / 20:.3f}", flush=True)
                total = 0.0
    options.save.mkdir(parents=True, exist_ok=True)
    branch = {name: value.half().contiguous() for name, value in model.branch().items()}
    save_file(branch, str(options.save / "names.safetensors"))
    print(f"{steps} steps saved to {options.save}")


if __name__ == "__main__":
    main()
