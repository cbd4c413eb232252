"""A trained tagger → one that knows chats: it goes on with messages and with lines of dialogues.

    python training/names_tune.py --branch names.safetensors --encoder FOLDER --seconds 4000
    → training/build/names/tuned/names.safetensors

Labelled sets are news, dense with names; of a chat's words one in twenty is one, and what was never
seen is taken for a name ("perfecto", "noooo"). Here three of four rows are messages of our own
(names_messages.py), lines of public dialogues (names_lines.py), in which every word is no name but
those that may be, and both in one message. The others are labelled rows as before, a part in small
letters. It runs on a CPU.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import defaultdict
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from names_data import BUILD, Row, Tests, held_out, load, pack
from names_lines import lines, may_be_names, words_in_names
from names_messages import JOINED
from names_model import NameTagger
from names_train import LANGUAGES, Packed, train
from realtalk.encoders.onnx_weights import read_weights

LABELLED = 150  # rows of a language's public sets
WOVEN = 0.3  # share of messages that stand beside a line
HELD = 40  # dev rows of a language and source
OTHERS = 200  # lines of a language that no message is in


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
    # Many small products are slow on CPUs: the fused ones drop nothing.
    made._attn_implementation, made.attention_probs_dropout_prob = "sdpa", 0.0
    model = NameTagger(BertModel(made, add_pooling_layer=False), shared=0)
    trained = {name: value.float() for name, value in load_file(str(branch)).items()}
    missing = model.load_state_dict({**rows, **trained}, strict=False)
    assert not missing.unexpected_keys, missing.unexpected_keys
    return model


def smaller(row: Row, rng: random.Random) -> Row:
    """A quarter of the rows in small letters."""
    small = row["t"].lower()
    return row | {"t": small} if rng.random() < 0.25 and len(small) == len(row["t"]) else row


def woven(row: Row, line: Row, rng: random.Random) -> Row:
    """A message and a line of a dialogue in one, in either order."""
    first, second = (row, line) if rng.random() < 0.5 else (line, row)
    joint = rng.choice(JOINED)
    by = len(first["t"]) + len(joint)
    return row | {
        "t": first["t"] + joint + second["t"],
        "s": first["s"] + [[s + by, e + by, kind] for s, e, kind in second["s"]],
        "u": [*first.get("u", ()), *((s + by, e + by) for s, e in second.get("u", ()))],
    }


def chosen(labelled: list[Row], plain: list[Row], rng: random.Random) -> list[Row]:
    """The rows of this training, and few of the dev part to look at."""
    by_lang: dict[str, list[Row]] = defaultdict(list)
    for line in plain:
        by_lang[line["l"]].append(line)
    kept: dict[tuple[bool, str, bool], list[Row]] = defaultdict(list)
    for row in labelled:
        is_own, beside = row["src"] == "generated", by_lang[row["l"]]
        is_woven = is_own and beside and rng.random() < WOVEN
        made = woven(row, rng.choice(beside), rng) if is_woven else row
        kept[is_own, row["l"], held_out(row)].append(made)
    with_messages = {lang for is_own, lang, _ in kept if is_own}
    rows = []
    for lang, some in by_lang.items():
        learned = [line for line in some if not held_out(line)]
        rows += learned if lang in with_messages else learned[:OTHERS]
        rows += [line for line in some if held_out(line)][:HELD]
    for (is_own, _, is_held), some in sorted(kept.items()):
        rng.shuffle(some)
        most = HELD if is_held else len(some) if is_own else LABELLED
        rows += [row if is_own or is_held else smaller(row, rng) for row in some[:most]]
    return rows


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
    add("--seconds", type=float, default=4000)
    add("--budget", type=int, default=1_024)
    add("--lr", type=float, default=3e-4)
    add("--frozen", type=int, default=3, help="lower layers that stay as they are")
    add("--seed", type=int, default=0)
    add("--limit", type=int, default=0, help="so many rows only")
    add("--save", type=Path, default=BUILD / "tuned")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    torch.manual_seed(options.seed)
    began = time.time()
    labelled = load(options.data)
    names = words_in_names(labelled)
    tests = Tests(options.tests, options.chats)
    plain = list(lines(options.dialogues, tests, rng))
    for line in plain:
        line["u"] = may_be_names(line, names)
    rows = chosen(labelled, plain, rng)
    rng.shuffle(rows)
    rows = rows[: options.limit or len(rows)]
    tokenizer = Tokenizer.from_file(str(options.encoder / "tokenizer.json"))
    data = Packed(pack(rows, tokenizer, 64), 2, 3, torch.device("cpu"))
    print(f"{len(rows):,} rows, {len(plain):,} lines, {time.time() - began:.0f} s", flush=True)
    model = model_of(options.branch, options.config, options.encoder)
    for part in (*model.upper[: options.frozen], *([model.case] if options.frozen else ())):
        part.requires_grad_(False)
    result = train(model, data, options)
    options.save.mkdir(parents=True, exist_ok=True)
    branch = {name: value.half().contiguous() for name, value in model.branch().items()}
    save_file(branch, str(options.save / "names.safetensors"))
    (options.save / "names.json").write_text(json.dumps(result, indent=1))
    print(f"{result['steps']} steps saved to {options.save}")


if __name__ == "__main__":
    main()
