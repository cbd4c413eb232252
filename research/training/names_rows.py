"""Labelled sentences, messages, chats and plain lines → the rows that the tagger learns from.

    python -m research.training.names_rows
    → build/names/rows.jsonl.xz: {"t": text, "s": [[start, end, kind]], "u": [], "l": lang, "src": set}
      build/names/rows.npz: the same as pieces, which is all that training reads

Labelled sets are news, dense with names; of a chat's words one in twenty is one, and what was never
seen is taken for a name ("perfecto", "noooo"). So beside labelled sentences stand messages made
from templates (names_messages.py), chats of our own (names_chats.py), lines of public dialogues
(names_lines.py), in which every word is no name but those that may be (`u`), and a message and a
line in one. Messages of chats come back with other names in them (names_swaps.py). Every row says
which set it is from; a part of all is read in small letters (names_train.py).
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from research.training.names_chats import OWN, chats
from research.training.names_data import BUILD, Row, Tests, held_out, load, pack, save
from research.training.names_lines import lines, may_be_names, words_in_names
from research.training.names_messages import JOINED
from research.training.names_swaps import Swaps
from research.training.terms import refuse_narrow

MADE = ("generated", *OWN)

LABELLED = 3_000  # rows of a language's public sets
WOVEN = 0.3  # share of messages that stand beside a line
# Times that a message of a chat is there, with names and without; the long chats are mostly English.
COPIES = {"chats": (14, 4), "named": (14, 4), "fiction": (6, 1)}
ENCODER = Path(__file__).parents[2] / "src" / "realtalk_models" / "ei_multilingual"
HELD = 60  # dev rows of a language and source
OTHERS = 200  # lines of a language that no message is in


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
    kept: dict[tuple[str, str, bool], list[Row]] = defaultdict(list)
    for row in labelled:
        source = row["src"] if row["src"] in MADE else "public"
        beside = by_lang[row["l"]]
        is_woven = source == "generated" and beside and rng.random() < WOVEN
        made = woven(row, rng.choice(beside), rng) if is_woven else row
        kept[source, row["l"], held_out(row)].append(made)
    with_messages = {lang for source, lang, _ in kept if source == "generated"}
    rows = []
    for lang, some in by_lang.items():
        learned = [line for line in some if not held_out(line)]
        rows += learned if lang in with_messages else learned[:OTHERS]
        rows += [line for line in some if held_out(line)][:HELD]
    swap = Swaps([row for row in labelled if row["src"] in OWN and not held_out(row)], rng)
    for (source, _, is_held), some in sorted(kept.items()):
        rng.shuffle(some)
        most = {"public": LABELLED}.get(source, len(some))
        rows += some[: HELD if is_held and source not in OWN else most]
        if source in OWN and not is_held:
            named, unnamed = COPIES[source]
            for row in some:
                rows += [swap(row) for _ in range((named if row["s"] else unnamed) - 1)]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--data", type=Path, default=BUILD / "data.jsonl.xz")
    add("--dialogues", type=Path, default=Path("../shared/data/multilingual"))
    add("--tests", type=Path, default=Path("../shared/data/names"))
    add("--chats", type=Path, default=Path(__file__).parents[2] / "bench" / "names")
    add("--tokenizer", type=Path, default=ENCODER / "tokenizer.json")
    add("--seed", type=int, default=0)
    add("--out", type=Path, default=BUILD / "rows.jsonl.xz")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    labelled = [*load(options.data), *chats()]
    names = words_in_names(labelled)
    plain = list(lines(options.dialogues, Tests(options.tests, options.chats), rng))
    for line in plain:
        line["u"] = may_be_names(line, names)
        del line["as"]
    rows = chosen(labelled, plain, rng)
    refuse_narrow(row["src"] for row in rows)
    rng.shuffle(rows)
    save(rows, options.out)
    tokenizer = Tokenizer.from_file(str(options.tokenizer))
    np.savez_compressed(options.out.parent / "rows.npz", **pack(rows, tokenizer))
    print(f"{len(rows):,} rows, {len(plain):,} lines: {options.out.stat().st_size / 1e6:.1f} MB")
    print(Counter(row["src"] for row in rows).most_common())


if __name__ == "__main__":
    main()
