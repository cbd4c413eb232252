"""Scored runs of many people → how every turn is shaped, without a word of it.

    python -m research.results.people_rows research/experiments/build/persona/scored/qwen2.5-1.5b/most \
        research/results/rows/people/qwen2.5-1.5b/most
    → …/most/shapes.parquet

    run            group        sample                  words  question  opening  objects  emoji
    real           p3fa9c1b2    p3fa9c1b2 later#14      17     true      i        false    false
    tuned-greedy   p3fa9c1b2    p3fa9c1b2 later#14      9      false     other    false    false

The folder is what persona_rows.py writes beside its rows: it holds texts and stays where it is.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from realtalk.evals.run import Run
from realtalk.files.writing import write_parquet
from realtalk.text.words import letter_words, words_and_emoji

REAL = "real"
# What a turn begins with; any other word is "other", which no text can be told from.
OPENINGS = (
    *("i", "you", "it", "he", "she", "they", "we", "this", "that", "there", "the", "a", "my"),
    *("your", "if", "but", "and", "so", "or", "not", "no", "yes", "yeah", "well", "oh", "just"),
    *("thanks", "thank", "what", "why", "how", "who", "when", "where", "is", "are", "do", "did"),
)
OBJECTS = re.compile(
    r"\b(?:disagree|actually|wrong|incorrect|not true|isn't true|not really|nope|that's not)\b"
    r"|^(?:no|but)\b",
    re.I,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("scored", type=Path)
    parser.add_argument("out", type=Path)
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for folder in sorted(path for path in given.scored.iterdir() if path.is_dir()):
        run = Run.load(folder)
        if not rows:
            rows += shapes(run, REAL, "truth")
        rows += shapes(run, folder.name, "answer")
        sys.stdout.write(f"{folder.name}: {len(rows):,} turns\n")
    write_parquet(given.out / "shapes.parquet", pl.DataFrame(rows), level=19)


def shapes(run: Run, name: str, side: str) -> Iterator[dict[str, Any]]:
    for row in run.rows:
        if row[side]:
            about = {"run": name, "group": row["group"], "sample": row["sample"]}
            yield about | shape(row[side])


def shape(text: str) -> dict[str, Any]:
    words = letter_words(text)
    first = words[0].lower() if words else ""
    return {
        "words": len(words),
        "question": "?" in text,
        "opening": first if first in OPENINGS else "other",
        "objects": OBJECTS.search(text.strip().replace("’", "'")) is not None,
        "emoji": any(not re.match(r"\w", word) for word in words_and_emoji(text)),
    }


if __name__ == "__main__":
    main()
