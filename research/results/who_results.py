"""What a reader answers to own and to swapped questions → docs/results/who-said-it.md and its picture.

    python -m research.results.who_results [--rows rows.jsonl … [--set locomo]]

With `--rows`, what experiments/who_said_it.py wrote becomes the committed rows of a set, which hold
no text. REALTALK's questions of the wrong person are made by a rule; LoCoMo has its adversarial ones.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import combinations, product
from pathlib import Path
from statistics import fmean

import polars as pl
from scipy.stats import binomtest

from realtalk.files.writing import write_parquet
from realtalk.metrics.statistics import Estimate, holm, wilson
from research.papers.markdown import table as markdown
from research.results import PAGES, ROWS
from research.results.page_pictures import draw_estimates
from research.results.page_words import told
from research.results.persona_claims import ENOUGH

# Committed rows, and the category of questions that are asked of the wrong person.
SETS = {
    "realtalk": (ROWS / "who-said-it.parquet", "swapped"),
    "locomo": (ROWS / "who-said-it-locomo.parquet", "adversarial"),
}
MEMORIES = {
    "none": "nothing",
    "recent": "last sessions",
    "whole": "the whole chat",
    "retrieved": "`retrieved`",
    "langchain": "LangChain, in-memory vectors",
    "mem0": "mem0, messages as they are",
    "notes": "notes of the same model",
    "oracle": "the evidence alone",
    "random": "any answer of the chat, drawn",
}
OWN = {
    "declines": "declines",
    "accepted": "right",
    "any@budget": "shown a message of the evidence",
    "person@budget": "by or about the person",
}
SWAPPED = {"declined": "declines (right)", "misattributed": "puts it into their mouth"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--rows", type=Path, nargs="+")
    parser.add_argument("--set", choices=SETS, default="realtalk")
    given, _ = parser.parse_known_args()
    if given.rows is not None:
        rows = [json.loads(line) for path in given.rows for line in path.open(encoding="utf-8")]
        found = pl.DataFrame(rows, infer_schema_length=None)
        one = found.unique(("memory", "questions", "chat", "id"), keep="first", maintain_order=True)
        write_parquet(SETS[given.set][0], one, level=19)
    (own, swapped), (locomo, adversarial) = map(asked, SETS)
    text = (Path(__file__).parent / "who_page.md").read_text("utf-8")
    page = text.format(
        **figures(own, swapped),
        **{f"locomo_{name}": each for name, each in figures(locomo, adversarial).items()},
        **tempted(swapped),
    )
    (PAGES / "who-said-it.md").write_text(page, "utf-8")
    points = [
        (title.strip("`"), name, share(swapped, memory, score))
        for memory, title in MEMORIES.items()
        for score, name in SWAPPED.items()
    ]
    notes = ["questions asked of the wrong person; 95 % intervals draw questions"]
    draw_estimates(PAGES / "who-said-it.svg", "What a 1.5B reader does", points, notes)
    sys.stdout.write(f"wrote {PAGES / 'who-said-it.md'}\n")


def asked(name: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """A set's own questions that have an answer, and those asked of the wrong person."""
    path, wrong = SETS[name]
    rows = pl.read_parquet(path)
    own = rows.filter(pl.col("questions") == "own", pl.col("category") != wrong)
    return own, rows.filter(pl.col("questions") == "swapped", pl.col("category") == wrong)


def figures(own: pl.DataFrame, swapped: pl.DataFrame) -> dict[str, object]:
    """What the page says of a set."""
    return {
        "table": table(own, swapped),
        "tests": tests(swapped),
        "chats": own["chat"].n_unique(),
        "own": own.filter(pl.col("memory") == "whole").height,
        "swapped": swapped.filter(pl.col("memory") == "whole").height,
        **{
            f"{memory}_{score.partition('@')[0]}": told(share(side, memory, score))
            for side, scores in ((own, OWN), (swapped, SWAPPED))
            for score in scores
            for memory in MEMORIES
        },
        **{f"{m}_tempting": told(share(swapped, m, "any@budget")) for m in MEMORIES},
    }


def share(rows: pl.DataFrame, memory: str, score: str) -> Estimate:
    values = rows.filter(pl.col("memory") == memory)[score].drop_nulls().to_list()
    if not values:
        return Estimate(None, unscored="nothing to count")
    return Estimate(sum(values) / len(values), *wilson(values), n=len(values))


def tempted(swapped: pl.DataFrame) -> dict[str, str]:
    """What the reader of notes does where the message with the other person's fact is shown."""
    notes = swapped.filter(pl.col("memory") == "notes")
    shown = notes.filter(pl.col("any@budget") > 0)
    retrieved = swapped.filter(pl.col("memory") == "retrieved", pl.col("any@budget") > 0)
    return {
        "tempted": str(shown.height),
        "tempted_misattributed": str(round(shown["misattributed"].sum())),
        "tempted_declined": str(round(shown["declined"].sum())),
        "tempted_retrieved": str(retrieved.height),
    }


def tests(swapped: pl.DataFrame) -> str:
    """Every two memories that search or show all, question by question: what is beyond chance."""
    compared = ("whole", "retrieved", "langchain", "mem0", "notes", "oracle")
    pairs = list(product(SWAPPED, combinations(compared, 2)))
    outcomes: list[tuple[int, int, float]] = []
    for score, memories in pairs:
        first, second = (
            swapped.filter(pl.col("memory") == memory).sort("chat", "id")[score].to_list()
            for memory in memories
        )
        both = list(zip(first, second, strict=True))
        more, less = sum(a > b for a, b in both), sum(a < b for a, b in both)
        outcomes.append((more, less, binomtest(more, more + less).pvalue if more + less else 1.0))
    p = [value for value in holm([pvalue for _, _, pvalue in outcomes]) if value is not None]
    order = sorted(range(len(pairs)), key=lambda at: outcomes[at][2])
    beyond = [at for at in order if p[at] < ENOUGH]
    others = [at for at in order if "notes" not in pairs[at][1]]
    nearest = [at for at in others if at in beyond] or others[:1]
    sentences = []
    for at in nearest:
        (score, sides), (more, less, _) = pairs[at], outcomes[at]
        one, other = (MEMORIES[side] for side in (sides if more >= less else sides[::-1]))
        low, high = sorted((more, less))
        corrected = f"{p[at]:.3f}" if p[at] >= 0.001 else "< 0.001"
        sentences.append(f"*{SWAPPED[score]}*: {one} {high}, {other} {low} ({corrected})")
    which = "The" if nearest[0] in beyond else "The nearest of the"
    noted = len(beyond) - sum(at in beyond for at in others)
    return (
        f"Of {len(pairs)} paired tests between two memories {len(beyond)} are beyond chance after Holm's correction, "
        f"{noted} of them of notes: who is shown little declines. {which} others, with the questions of "
        f"which one is so and the other not, and the corrected p: {'; '.join(sentences)}."
    )


def table(own: pl.DataFrame, swapped: pl.DataFrame) -> str:
    rows = []
    for memory, title in MEMORIES.items():
        words = own.filter(pl.col("memory") == memory)["words"].to_list()
        cells = [told(share(own, memory, score)) for score in OWN]
        cells += [told(share(swapped, memory, score)) for score in SWAPPED]
        rows.append((title, f"{fmean(words):,.0f}" if words else "–", *cells))
    headings = [f"own: {name}" for name in OWN.values()]
    headings += [f"swapped: {name}" for name in SWAPPED.values()]
    return markdown(("shown", "words", *headings), rows)


if __name__ == "__main__":
    main()
