"""The tagger's chances on held-out texts → how redaction is to read them: prior.npy, settings.json.

    python training/names_thresholds.py --model src/realtalk/encoders/names

Labelled sentences are dense with names; of a chat's words one in twenty is one. So chances are read
beside how often the pieces of a word are in names at all (prior.npy, counted in the training data
and in lines of public dialogues), by a logistic regression: on chats of our own that were held out,
and on lines of dialogues that were not counted, whose words are no names unless they may be
(names_lines.py). No name of those chats was put into the lists. From the first threshold on a word
is replaced: where F2, recall counting twice, is best in the chats while so many of what is replaced
are right; from the second on that is sure. No chat of bench/names and no test file is read.
Persons, places and organisations are one thing to find.
"""

from __future__ import annotations

import argparse
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from names_data import ALIKE, BUILD, KINDS, Tests, chats, held_out, is_dev, load
from names_lines import WORD, lines, may_be_names, words_in_names
from realtalk.encoders.name_tagger import NameTagger
from realtalk.encoders.name_words import NameWords
from realtalk.encoders.tag_spans import features, words_in

LINES = 0.25  # what all lines weigh beside the chats
RIGHT, SURE = 0.79, 0.9  # of words; of whole persons that are replaced more are right
GRID = np.arange(0.05, 0.96, 0.025)
STEPS = 16  # of a log of odds
LANGUAGES = "ar de en es fr hi hi-Latn id it ja ko nl pl pt ru tr vi zh uk sv ro fa th".split()  # noqa: SIM905 - reads better


def counted(rows: list[Any], plain: list[Any], tokenizer: Any) -> Any:
    """The log of the odds that a piece is in a name."""
    seen, named = (np.zeros(tokenizer.get_vocab_size()) for _ in range(2))
    for some in (rows, plain):
        for at in range(0, len(some), 20_000):
            part = some[at : at + 20_000]
            encoded = tokenizer.encode_batch([r["t"] for r in part], add_special_tokens=False)
            for row, each in zip(part, encoded, strict=True):
                ids, places = np.array(each.ids, int), np.array(each.offsets).reshape(-1, 2)
                inside = np.zeros(len(ids), bool)
                for start, end, _ in row["s"]:
                    inside |= (places[:, 0] < end) & (start < places[:, 1])
                np.add.at(seen, ids, 1)
                np.add.at(named, ids[inside], 1)
    odds = np.log((named + 0.3) / (seen - named + 0.7))
    return np.clip(np.rint(odds * STEPS), -127, 127).astype(np.int8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=BUILD / "model")
    parser.add_argument("--data", type=Path, default=BUILD / "data.jsonl.xz")
    parser.add_argument("--dialogues", type=Path, default=Path("../shared/data/multilingual"))
    parser.add_argument("--tests", type=Path, default=Path("../shared/data/names"))
    parser.add_argument("--chats", type=Path, default=Path(__file__).parent.parent / "bench/names")
    parser.add_argument("--each", type=int, default=150, help="lines of a language")
    options = parser.parse_args()
    rng = random.Random(1)
    lists = NameWords.load(options.model / "words.npz")
    labelled = [*load(options.data), *chats()]
    names = words_in_names(labelled)
    tests = Tests(options.tests, options.chats)
    plain = [r for r in lines(options.dialogues, tests, rng) if r["l"] in LANGUAGES]
    held = [row for row in plain if is_dev(row["t"])]
    held += [row for row in plain if not is_dev(row["t"])][:: len(plain) // (options.each * 22)]
    known = {row["t"] for row in held}
    tagger = NameTagger(options.model)
    prior = counted(
        [row for row in labelled if not held_out(row)],
        [row for row in plain if row["t"] not in known],
        tagger._tokenizer,
    )
    np.save(options.model / "prior.npy", prior)
    print(f"{len(labelled):,} rows, {len(plain):,} lines counted", flush=True)
    dev: list[Any] = [row for row in labelled if row["src"] == "chats" and held_out(row)]
    rows: list[tuple[Any, bool, str]] = []  # features, is a name, where it is from
    both = dev + held
    for row, (ids, offsets, chances) in zip(
        both, tagger.chances([r["t"] for r in both]), strict=True
    ):
        source = row.get("src", "line")
        if not len(offsets):
            continue
        firsts = words_in(row["t"], offsets)
        made, _, best = features(
            row["t"], offsets, firsts, chances, prior[ids] / STEPS, ALIKE, lists
        )
        ends = [*firsts[1:], len(offsets)]
        maybe = may_be_names(row, names) if source == "line" else row.get("u", [])
        for at, first in enumerate(firsts):
            start, end = offsets[first][0], offsets[ends[at] - 1][1]
            if best[at] not in ALIKE or not WORD.search(row["t"][start:end]):
                continue
            if any(s < end and start < e for s, e in maybe):
                continue
            truth = next((k for s, e, k in row["s"] if s < end and start < e), None)
            rows.append((made[at], truth in ALIKE, source))
    values = np.array([each for each, _, _ in rows])
    right = np.array([each for _, each, _ in rows])
    chat = np.array([each == "chats" for *_, each in rows])
    weight = np.where(chat, 1.0, LINES * chat.sum() / max(1, (~chat).sum()))
    fitted = LogisticRegression(C=10.0, max_iter=500).fit(values, right, weight)
    chance = fitted.predict_proba(values)[:, 1]
    table = []
    for cut in GRID:
        taken = (chance >= cut) & chat
        exact = (taken & right).sum() / max(taken.sum(), 1)
        recall = (taken & right).sum() / (chat & right).sum()
        table.append((5 * exact * recall / max(4 * exact + recall, 1e-9), cut, exact, recall))
    _, cut, exact, recall = max([e for e in table if e[2] >= RIGHT] or [table[-1]])
    sure = next((c for _, c, e, _ in table if e >= SURE and c > cut), 0.95)
    print(f"names: from {cut:.3f} (right {exact:.3f}, recall {recall:.3f}), sure from {sure:.3f}")
    print(f"{right.sum():,} words of names, {chat.sum():,} of chats, {(~chat).sum():,} of lines")
    settings = json.loads((options.model / "settings.json").read_text("utf-8"))
    settings["prior"], settings["prior_steps"] = "prior.npy", STEPS
    settings["words"] = "words.npz"
    settings["weights"] = [round(float(each), 4) for each in (*fitted.intercept_, *fitted.coef_[0])]
    for kind, name in enumerate(KINDS):
        if kind in ALIKE:
            settings["thresholds"][name] = [round(float(cut), 3), round(float(sure), 3)]
    print(settings["weights"])
    (options.model / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")


if __name__ == "__main__":
    main()
