"""research/results/rows/languages-rows.parquet → docs/results/languages.md.

    python -m research.results.languages_results

Every figure of the page is made from the committed ranks (bench/recall_languages.py makes those).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from realtalk.metrics.statistics import (
    Array,
    Change,
    Estimate,
    grouped_changes,
    grouped_estimates,
    ratio,
)
from research.papers.markdown import table as markdown
from research.results import PAGES, ROWS
from research.results.page_pictures import draw_estimates
from research.results.page_words import digits, holm_p, told, wrapped_page

WAYS = {"words": "words", "priors": "priors", "english": "as English", "now": "now"}
FIGURES = ("any@5", "MRR")
ALL = "all"
FEWEST = 4  # stories that a language must have to stand in the first table


def values(ranks: pl.Series) -> dict[str, Array]:
    """The scores of each question."""
    places = ranks.to_numpy().astype(np.float64)
    return {"any@5": (places <= 5).astype(np.float64), "MRR": 1 / places}


def parts(values_: Array) -> Array:
    return np.column_stack([values_, np.ones(len(values_))]).astype(np.float64)


def groups(rows: pl.DataFrame) -> list[str]:
    """What is drawn together: the questions of a story ("M01/3"), a pair in all languages."""
    return [question.partition("/")[0] for question in rows["question"]]


def estimates(rows: pl.DataFrame) -> Mapping[str, Estimate]:
    """The figures of some rows, with intervals that draw stories or pairs."""
    return {
        name: grouped_estimates(parts(each), groups(rows), {name: ratio})[name]
        for name, each in values(rows["rank"]).items()
    }


def lines(rows: pl.DataFrame) -> Iterator[tuple[str, ...]]:
    """One line per language: n, then every way's figures."""
    for language in sorted(rows["language"].unique()):
        yield line(language, rows.filter(pl.col("language") == language))
    yield line(ALL, rows)


def line(name: str, rows: pl.DataFrame) -> tuple[str, ...]:
    cells = [name, f"{rows.filter(pl.col('way') == 'now').height}"]
    for way in WAYS:
        found = estimates(rows.filter(pl.col("way") == way))
        cells += [told(found[figure]) for figure in FIGURES]
    return tuple(cells)


def table(rows: pl.DataFrame) -> str:
    headings = ("language", "n", *(f"{name}, {way}" for way in WAYS.values() for name in FIGURES))
    return markdown(headings, list(lines(rows)))


def change(rows: pl.DataFrame, figure: str, before: str) -> Change:
    """A figure of another way and now; whole stories or pairs are swapped."""
    some = rows.sort("language", "question")
    sides = [some.filter(pl.col("way") == way) for way in (before, "now")]
    first, second = (parts(values(side["rank"])[figure]) for side in sides)
    return grouped_changes(first, second, groups(sides[0]), {figure: ratio})[figure]


def well_asked(rows: pl.DataFrame) -> pl.DataFrame:
    """The languages with four stories or more."""
    stories = pl.col("question").str.split("/").list.first().n_unique().over("language")
    return rows.filter(stories >= FEWEST)


def page(rows: pl.DataFrame) -> str:
    own, across, alike = (
        rows.filter(pl.col("set") == name) for name in ("own", "across", "paraphrases")
    )
    many = well_asked(own)
    few = own.filter(~pl.col("language").is_in(many["language"].unique().to_list()))
    found = {way: estimates(many.filter(pl.col("way") == way))["any@5"] for way in WAYS}
    by_language = {
        language: float((some["rank"] <= 5).mean() or 0)  # type: ignore[arg-type]
        for (language,), some in many.filter(pl.col("way") == "now").group_by("language")
    }
    counts = alike.filter(pl.col("way") == "now").group_by("language").len()["len"]
    changes = {way: change(many, "any@5", way) for way in WAYS if way != "now"}
    pairs = change(alike, "any@5", "english")
    text = (Path(__file__).parent / "languages_page.md").read_text("utf-8")
    return wrapped_page(
        text.format(
            rows=f"{rows.height:,}",
            languages=many["language"].n_unique(),
            questions=f"{many.filter(pl.col('way') == 'now').height:,}",
            others=few["language"].n_unique(),
            own=table(many),
            few=table(few),
            across=table(across),
            paraphrases=table(alike),
            least=counts.min(),
            most=counts.max(),
            best=max(by_language, key=lambda name: by_language[name]),
            best_share=digits(max(by_language.values())),
            worst=min(by_language, key=lambda name: by_language[name]),
            worst_share=digits(min(by_language.values())),
            across_now=told(estimates(across.filter(pl.col("way") == "now"))["any@5"]),
            pairs=told(pairs.difference),
            pairs_p=holm_p(pairs.p),
            **{f"five_{way}": told(estimate) for way, estimate in found.items()},
            **{f"gain_{way}": told(each.difference) for way, each in changes.items()},
            **{f"p_{way}": holm_p(each.p) for way, each in changes.items()},
        )
    )


def draw(rows: pl.DataFrame) -> None:
    """any@5 by language, of what does not read the question and of the memory."""
    own = well_asked(rows.filter(pl.col("set") == "own"))
    points = [
        (language, WAYS[way], estimates(some.filter(pl.col("way") == way))["any@5"])
        for (language,), some in own.sort("language").group_by("language", maintain_order=True)
        for way in ("priors", "now")
    ]
    notes = ["share of questions, with 95 % intervals that draw stories"]
    draw_estimates(PAGES / "languages.svg", "Found among the first five", points, notes)


def main() -> None:
    rows = pl.read_parquet(ROWS / "languages-rows.parquet")
    (PAGES / "languages.md").write_text(page(rows), "utf-8")
    draw(rows)
    sys.stdout.write(f"wrote {PAGES / 'languages.md'}\n")


if __name__ == "__main__":
    main()
