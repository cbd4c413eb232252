"""In which unit and on which scale Table 7's intimacy progressions come out, tried one by one.

    python -m research.papers.intimacy_courses reproduced/labels/realtalk-messages/labels.parquet \
        --tweets DATA/ei/mint_intimacy/en.jsonl.gz

Reads the labels that `research.papers.reproduce` keeps and prints a line for each unit, scale and
centring: the signed mean and how many speakers rise, Pearson's r and Lin's concordance with
Table 7, for the linear and the exponential column. The printed columns stand last. With the tweets
that the paper's classifier learned from, their mean intimacy is printed as 0 to 1 and through a
sigmoid. What may follow from all this, and what speaks against it, is told in
`research.papers.intimacy` alone.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
from pathlib import Path
from statistics import fmean

import polars as pl

from research.papers.intimacy import CENTRINGS, course_rows
from research.papers.markdown import table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("labels", type=Path)
    parser.add_argument("--tweets", type=Path)
    given = parser.parse_args()
    grid = course_rows(pl.read_parquet(given.labels), tuple(CENTRINGS))
    print(table(grid.headings, grid.rows))
    if given.tweets is not None:
        with gzip.open(given.tweets, "rt", encoding="utf-8") as lines:
            scores = [(float(json.loads(line)["score"]) - 1) / 4 for line in lines]
        mean = fmean(scores)
        through = 1 / (1 + math.exp(-mean))
        print(f"\n{len(scores):,} tweets: mean {mean:.3f} on 0 to 1, {through:.3f} after a sigmoid")


if __name__ == "__main__":
    main()
