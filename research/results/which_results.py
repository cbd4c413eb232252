"""research/results/rows/which-memory.json → docs/results/which-memory.md and its picture.

The rows are figures of `realtalk probe` without a model, by set, memory and budget; `--runs DIR`
makes them anew from stored runs called SET-MEMORY.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from realtalk.evals.run import Run
from realtalk.metrics.statistics import Estimate
from research.papers.markdown import table as markdown
from research.results import PAGES, ROWS
from research.results.page_pictures import draw_budgets
from research.results.page_words import told

STORED = ROWS / "which-memory.json"
SETS = {"realtalk": "REALTALK", "locomo": "LoCoMo"}
MEMORIES = {"retrieved": "retrieved", "bm25": "words alone (BM25)", "recent": "last sessions"}
Key = tuple[str, str, int]


def collect(folder: Path) -> list[dict[str, Any]]:
    """The figures of stored runs, one per set, memory and budget."""
    rows = []
    for name in SETS:
        for memory in MEMORIES:
            for variant, figures in Run.load(folder / f"{name}-{memory}").variants.items():
                if variant.endswith("w"):
                    one = figures.overall["all@budget"]
                    rows.append(
                        {"set": name, "memory": memory, "words": int(variant[:-1]), "n": one.n}
                        | {"value": one.value, "low": one.low, "high": one.high}
                    )
    return rows


def estimates() -> dict[Key, Estimate]:
    rows = json.loads(STORED.read_text("utf-8"))
    return {
        (row["set"], row["memory"], row["words"]): Estimate(
            row["value"], row["low"], row["high"], n=row["n"]
        )
        for row in rows
    }


def page(found: dict[Key, Estimate]) -> str:
    words = sorted({key[2] for key in found})
    rows = [
        (SETS[name], MEMORIES[memory], *(told(found[name, memory, count]) for count in words))
        for name in SETS
        for memory in MEMORIES
    ]
    text = (Path(__file__).parent / "which_page.md").read_text("utf-8")
    return text.format(
        table=markdown(("set", "memory", *(f"{count:,} words" for count in words)), rows),
        **{
            f"{memory}_{name}": told(found[name, memory, 2000])
            for name in SETS
            for memory in MEMORIES
        },
        **{f"questions_{name}": f"{found[name, 'retrieved', 2000].n:,}" for name in SETS},
        few=told(found["realtalk", "retrieved", 500]),
    )


def main() -> None:
    if sys.argv[1:2] == ["--runs"]:
        STORED.write_text(json.dumps(collect(Path(sys.argv[2])), indent=1) + "\n", "utf-8")
    found = estimates()
    (PAGES / "which-memory.md").write_text(page(found), "utf-8")
    points = [
        (SETS[name], MEMORIES[memory], float(count), one)
        for (name, memory, count), one in found.items()
    ]
    title = "Questions with all their evidence shown"
    draw_budgets(PAGES / "which-memory.svg", title, points)


if __name__ == "__main__":
    main()
