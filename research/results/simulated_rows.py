"""Corpora of people and of models → research/results/rows/simulated.json: figures of chats, speakers, pairs.

    python -m research.results.simulated_rows REALTALK=../shared/data/realtalk LoCoMo=../shared/data/locomo \\
        sample sample-simulated "qwen2.5-0.5b untuned=chats/untuned.jsonl" --labels labels

The first is people's, and every other one is told apart from it; "NAME tuned=…" beside it is enough
to make the row of a run anew, and what is there of other names is kept. Rows hold ids, names of
speakers and numbers, and nothing that was said: counts of chats (`stats`), facets of speakers
(`ei`), and of every pair of held-out chats how well their turns are told apart. `--labels` is where
labels are kept.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from realtalk.api.labels import label
from realtalk.chat import Corpus
from realtalk.describe.counting import count_chats
from realtalk.ei.results import Labels
from realtalk.ei.told_apart import circles, person_keys, told_apart
from realtalk.files.writing import file_stem
from realtalk.formats.opening import open_reading
from research.results import ROWS

OUT = ROWS / "simulated.json"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("corpora", nargs="+", metavar="NAME=PATH")
    parser.add_argument("--labels", type=Path, default=Path("research/experiments/build/simulated"))
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    named = dict(each.split("=", 1) if "=" in each else (each, each) for each in given.corpora)
    kept = json.loads(given.out.read_text("utf-8")) if given.out.is_file() else {}
    people, *_ = named
    found: dict[str, Any] = {"people": people, "corpora": {}, "apart": {}, **kept}
    sides: dict[str, tuple[Corpus, Labels]] = {}
    for name, path in named.items():
        reading = open_reading(path).reading
        labels = label(reading.corpus, out=given.labels / file_stem(name))
        sides[name] = (reading.corpus, labels)
        found["corpora"][name] = {
            "stats": count_chats(reading.tables).to_json(),
            "speakers": labels.facets().frame.to_dicts(),
        }
        sys.stdout.write(f"{name}: {len(labels):,} turns\n")
    first, first_labels = sides[people]
    for name, (corpus, labels) in sides.items():
        if name == people:
            found["apart"][name] = apart(*halves(first), first_labels, first_labels)
        else:
            found["apart"][name] = apart(first, corpus, first_labels, labels)
        sys.stdout.write(f"{name}: told apart\n")
    given.out.write_text(json.dumps(found, indent=None, ensure_ascii=False) + "\n", "utf-8")


def halves(corpus: Corpus) -> tuple[Corpus, Corpus]:
    """People who know each other, and the others: how far apart people are from people."""
    circle = circles([person_keys(chat) for chat in corpus.chats])
    chats = list(zip(corpus.chats, circle, strict=True))
    one = tuple(chat for chat, number in chats if number == circle[0])
    other = tuple(chat for chat, number in chats if number != circle[0])
    return replace(corpus, chats=one), replace(corpus, chats=other)


def apart(first: Corpus, second: Corpus, one: Labels, other: Labels) -> dict[str, Any]:
    told = told_apart(first, second, (one.frame, other.frame))
    return {
        way: {
            "n": each.auc.n,
            "unscored": each.auc.unscored,
            "chats": list(each.chats),
            "folds": each.folds,
            "speaker_disjoint": bool(each.folds),
            "pairs": [[one, other, round(auc, 5)] for one, other, auc in each.pairs],
        }
        for way, each in told.items()
    }


if __name__ == "__main__":
    main()
