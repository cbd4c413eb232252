"""docs/results/languages-rows.parquet → docs/results/languages.md.

    python docs/languages_results.py

Every figure of the page is made from the committed ranks (bench/recall_languages.py makes those).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl
from page_words import holm_p, told, wrapped_page

from realtalk.metrics.grouped import Change, grouped_changes, grouped_estimates, ratio
from realtalk.metrics.statistics import Array, Estimate
from realtalk.paper.markdown import table as markdown

HERE = Path(__file__).parent / "results"
WAYS = {"encoder": "before", "words": "words", "now": "now"}
FIGURES = ("any@1", "any@5", "MRR")
ENGLISH = "en"
ALL = "all but English"


def values(ranks: pl.Series) -> dict[str, Array]:
    """The scores of each question."""
    places = ranks.to_numpy().astype(np.float64)
    return {"any@1": places == 1, "any@5": places <= 5, "MRR": 1 / places}


def parts(values_: Array) -> Array:
    return np.column_stack([values_, np.ones(len(values_))]).astype(np.float64)


def estimates(rows: pl.DataFrame, groups: Sequence[str]) -> Mapping[str, Estimate]:
    """The three figures of some rows, with intervals that draw the groups."""
    return {
        name: grouped_estimates(parts(each), groups, {name: ratio})[name]
        for name, each in values(rows["rank"]).items()
    }


def lines(rows: pl.DataFrame) -> Iterator[tuple[str, ...]]:
    """One line per language: n, then every way's figures."""
    for language in sorted(rows["language"].unique()):
        own = rows.filter(pl.col("language") == language)
        yield line(language, own, "question")
    yield line(ALL, rows.filter(pl.col("language") != ENGLISH), "language")


def line(name: str, rows: pl.DataFrame, drawn: str) -> tuple[str, ...]:
    cells = [name, f"{rows.filter(pl.col('way') == 'now').height}"]
    for way in WAYS:
        some = rows.filter(pl.col("way") == way)
        found = estimates(some, some[drawn].to_list())
        cells += [told(found[figure]) for figure in FIGURES]
    return tuple(cells)


def table(rows: pl.DataFrame) -> str:
    headings = ("language", "n", *(f"{name}, {way}" for way in WAYS.values() for name in FIGURES))
    return markdown(headings, list(lines(rows)))


def change(rows: pl.DataFrame) -> Change:
    """MRR before and now, over languages that are not English."""
    others = rows.filter(pl.col("language") != ENGLISH).sort("language", "question")
    sides = [others.filter(pl.col("way") == way) for way in ("encoder", "now")]
    first, second = (parts(values(side["rank"])["MRR"]) for side in sides)
    return grouped_changes(first, second, sides[0]["language"].to_list(), {"MRR": ratio})["MRR"]


def page(rows: pl.DataFrame) -> str:
    own, alike = (rows.filter(pl.col("set") == name) for name in ("own", "paraphrases"))
    others = own.filter(pl.col("language") != ENGLISH)
    found = {
        way: estimates(some, some["language"].to_list())
        for way in WAYS
        for some in [others.filter(pl.col("way") == way)]
    }
    changed = change(own)
    counts = alike.filter(pl.col("way") == "now").group_by("language").len()["len"]
    text = (Path(__file__).parent / "languages_page.md").read_text("utf-8")
    return wrapped_page(
        text.format(
            rows=f"{rows.height:,}",
            languages=own["language"].n_unique(),
            others=others["language"].n_unique(),
            own=table(own),
            paraphrases=table(alike),
            least=counts.min(),
            most=counts.max(),
            first=told(found["now"]["any@1"]),
            first_before=told(found["encoder"]["any@1"]),
            five=told(found["now"]["any@5"]),
            five_before=told(found["encoder"]["any@5"]),
            gain=told(changed.difference),
            p=f"p {holm_p(changed.p)}",
        )
    )


def main() -> None:
    rows = pl.read_parquet(HERE / "languages-rows.parquet")
    (HERE / "languages.md").write_text(page(rows), "utf-8")
    sys.stdout.write(f"wrote {HERE / 'languages.md'}\n")


if __name__ == "__main__":
    main()
