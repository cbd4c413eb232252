"""The tagger's chances on held-out sentences → thresholds of each kind, in its settings.json.

    python training/names_thresholds.py --model src/realtalk/encoders/names

Of the packed data only the dev part (3 %, by hash) is read, which chose the weights but taught
nothing; no chat of bench/names and no test file. From the first threshold on a word of a text is
replaced: the chance at which F2, recall counting twice, is best while at least so many of what is
replaced are right. From the second on that is sure: 19 of 20 are. Words are counted, not spans,
and persons, places and organisations as one thing to find, since redaction takes all of them.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from names_data import BUILD, KINDS, is_dev, load
from realtalk.encoders.name_tagger import NameTagger
from realtalk.encoders.tag_spans import words_in

ALIKE = (0, 1, 2)
RIGHT, SURE = 0.8, 0.95
GRID = np.arange(0.1, 0.96, 0.025)
FEWEST = 40  # words of a kind; of fewer nothing is chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=BUILD / "model")
    parser.add_argument("--data", type=Path, default=BUILD / "data.jsonl.xz")
    parser.add_argument("--limit", type=int, default=0, help="so many rows only")
    options = parser.parse_args()
    rows = [row for row in load(options.data) if is_dev(row["t"])]
    rows = rows[: options.limit] if options.limit else rows
    tagger = NameTagger(options.model)
    said: dict[int, list[tuple[float, bool]]] = defaultdict(list)  # kind → chance, right
    for row, (offsets, chances) in zip(rows, tagger.chances([r["t"] for r in rows]), strict=True):
        if not len(offsets):
            continue
        firsts = words_in(row["t"], offsets)
        ends = [*firsts[1:], len(offsets)]
        sizes = np.diff([*firsts, len(offsets)])[:, None]
        kinds = np.add.reduceat(chances[:, 1::2] + chances[:, 2::2], firsts, axis=0) / sizes
        for at, first in enumerate(firsts):
            start, end = offsets[first][0], offsets[ends[at] - 1][1]
            if not any(map(str.isalnum, row["t"][start:end])):
                continue
            truth = next((k for s, e, k in row["s"] if s < end and start < e), None)
            best = int(kinds[at].argmax())
            if best in row["o"] or (best in ALIKE and set(row["o"]) & set(ALIKE)):
                continue
            if best in ALIKE:
                chance, right = float(kinds[at, ALIKE].sum()), truth in ALIKE
            else:
                chance, right = float(kinds[at, best]), truth == best
            said[best].append((chance, right))
    settings = json.loads((options.model / "settings.json").read_text("utf-8"))
    for kind, name in enumerate(KINDS):
        found = np.array([each for each, _ in said[kind]])
        right = np.array([good for _, good in said[kind]], bool)
        if right.sum() < FEWEST:
            print(f"{name}: {right.sum()} words, too few")
            continue
        table = []
        for cut in GRID:
            taken = found >= cut
            exact = right[taken].mean() if taken.any() else 0.0
            recall = (taken & right).sum() / right.sum()
            table.append((5 * exact * recall / max(4 * exact + recall, 1e-9), cut, exact, recall))
        fit = [each for each in table if each[2] >= RIGHT] or [max(table, key=lambda e: e[2])]
        f2, cut, exact, recall = max(fit)
        sure = next((c for _, c, e, _ in table if e >= SURE and c > cut), 0.95)
        settings["thresholds"][name] = [round(float(cut), 3), round(float(sure), 3)]
        print(
            f"{name}: from {cut:.3f} (right {exact:.3f}, recall {recall:.3f}, F2 {f2:.3f}), "
            f"sure from {sure:.3f}; {right.sum()} words"
        )
    (options.model / "settings.json").write_text(json.dumps(settings, indent=1) + "\n")


if __name__ == "__main__":
    main()
