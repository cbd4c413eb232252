"""Runs of `persona who-wrote-it` → the same without a word of a reply, for research/results/persona_results.py.

realtalk persona who-wrote-it DATA/realtalk --simulated tuned=SCORED/tuned --guesser nearness --out guesses/near
python -m research.results.persona_guess_rows guesses/near --name qwen2.5-1.5b
→ research/results/rows/persona/qwen2.5-1.5b/guessed/tuned/nearness-both
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import polars as pl

from realtalk.evals.run import Run
from realtalk.files.writing import file_stem, private_folder, write_parquet
from research.results import ROWS

TEXTS = "replies"
OF_PEOPLE = ("judge", "knows", "at")  # empty where a program guessed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--name", required=True, help="of the model that simulated: qwen2.5-1.5b")
    parser.add_argument("--out", type=Path, default=ROWS / "persona")
    given = parser.parse_args()
    for folder in given.runs:
        out = share(folder, given.out / given.name / "guessed")
        sys.stdout.write(f"{out}: {len(Run.load(out).rows):,} guesses\n")


def share(folder: Path, out: Path) -> Path:
    """A copy of a run's guesses that holds no text, called by simulator and guesser."""
    run = Run.load(folder)
    place = out / file_stem("+".join(run.settings["replies"]["simulated"]) or "people")
    place /= file_stem(run.name.replace(" ", "-"))
    shutil.rmtree(place, ignore_errors=True)
    private_folder(place)
    rows = pl.read_parquet(folder / "rows.parquet").drop(TEXTS, *OF_PEOPLE)
    write_parquet(place / "rows.parquet", rows, level=19)
    shutil.copyfile(folder / "run.json", place / "run.json")
    return place


if __name__ == "__main__":
    main()
