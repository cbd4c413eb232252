"""research/results/rows/languages-rows.parquet → docs/results/languages.md.

    python -m research.results.languages_results

Every figure of the page is made from the committed ranks (bench/recall_languages.py makes those).
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import numpy as np
import polars as pl

from realtalk.metrics.grouped import Change, grouped_changes, grouped_estimates, ratio
from realtalk.metrics.statistics import Array, Estimate
from research.papers.markdown import table as markdown
from research.results import PAGES, ROWS
from research.results.page_pictures import draw_estimates
from research.results.page_words import digits, holm_p, told, wrapped_page

WAYS = {"encoder": "before", "words": "words", "now": "now"}
FIGURES = ("any@1", "any@5", "MRR")
ENGLISH = "en"
ALL = "all but English"
LATIN = ("de", "es", "fr", "it", "nl", "pl", "pt")  # of the second set, beside English


def values(ranks: pl.Series) -> dict[str, Array]:
    """The scores of each question."""
    places = ranks.to_numpy().astype(np.float64)
    return {"any@1": places == 1, "any@5": places <= 5, "MRR": 1 / places}


def parts(values_: Array) -> Array:
    return np.column_stack([values_, np.ones(len(values_))]).astype(np.float64)


def estimates(rows: pl.DataFrame) -> Mapping[str, Estimate]:
    """The three figures of some rows, with intervals that draw questions.

    Every language asks the same ones: a question is drawn with all its translations, which are no
    more independent of each other than twelve questions are.
    """
    questions = rows["question"].to_list()
    return {
        name: grouped_estimates(parts(each), questions, {name: ratio})[name]
        for name, each in values(rows["rank"]).items()
    }


def lines(rows: pl.DataFrame) -> Iterator[tuple[str, ...]]:
    """One line per language: n, then every way's figures."""
    for language in sorted(rows["language"].unique()):
        yield line(language, rows.filter(pl.col("language") == language))
    yield line(ALL, rows.filter(pl.col("language") != ENGLISH))


def line(name: str, rows: pl.DataFrame) -> tuple[str, ...]:
    cells = [name, f"{rows.filter(pl.col('way') == 'now').height}"]
    for way in WAYS:
        found = estimates(rows.filter(pl.col("way") == way))
        cells += [told(found[figure]) for figure in FIGURES]
    return tuple(cells)


def table(rows: pl.DataFrame) -> str:
    headings = ("language", "n", *(f"{name}, {way}" for way in WAYS.values() for name in FIGURES))
    return markdown(headings, list(lines(rows)))


def change(rows: pl.DataFrame, figure: str, languages: Collection[str]) -> Change:
    """A figure before and now over some languages; a question is swapped with its translations."""
    some = rows.filter(pl.col("language").is_in(languages)).sort("language", "question")
    sides = [some.filter(pl.col("way") == way) for way in ("encoder", "now")]
    first, second = (parts(values(side["rank"])[figure]) for side in sides)
    questions = sides[0]["question"].to_list()
    return grouped_changes(first, second, questions, {figure: ratio})[figure]


def page(rows: pl.DataFrame) -> str:
    own, alike = (rows.filter(pl.col("set") == name) for name in ("own", "paraphrases"))
    others = own.filter(pl.col("language") != ENGLISH)
    found = {way: estimates(others.filter(pl.col("way") == way)) for way in WAYS}
    changed = change(own, "MRR", set(others["language"]))
    latin = change(alike, "any@5", LATIN)
    of_latin = alike.filter(pl.col("language").is_in(LATIN)).sort("language", "question")
    before, now = (
        values(of_latin.filter(pl.col("way") == way)["rank"])["any@5"] > 0
        for way in ("encoder", "now")
    )
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
            latin=len(LATIN),
            latin_searches=f"{len(now):,}",
            latin_before=digits(float(before.mean())),
            latin_now=digits(float(now.mean())),
            latin_won=int((now & ~before).sum()),
            latin_lost=int((before & ~now).sum()),
            latin_gain=told(latin.difference),
            latin_p=holm_p(latin.p),
        )
    )


def draw(rows: pl.DataFrame) -> None:
    """any@5 of the twelve questions, by language, before and now."""
    own = rows.filter(pl.col("set") == "own")
    shown = {"encoder": "before", "now": "now"}
    points = [
        (language, name, estimates(some.filter(pl.col("way") == way))["any@5"])
        for (language,), some in own.sort("language").group_by("language", maintain_order=True)
        for way, name in shown.items()
    ]
    notes = ["share of twelve questions, with 95 % intervals that draw questions"]
    draw_estimates(PAGES / "languages.svg", "Found among the first five", points, notes)


def main() -> None:
    rows = pl.read_parquet(ROWS / "languages-rows.parquet")
    (PAGES / "languages.md").write_text(page(rows), "utf-8")
    draw(rows)
    sys.stdout.write(f"wrote {PAGES / 'languages.md'}\n")


if __name__ == "__main__":
    main()
