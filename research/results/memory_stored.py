"""research/results/rows/memory-rows.parquet → rows as the engine has them, by memory, budget and golds.

stored = Stored()
stored.rows(("retrieved", "250w"), "audited")[0]["f1"]          → 0.67
stored.figures(("whole", "all")).overall["f1"]                  → Estimate(0.24, 0.19, 0.28, …)
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import polars as pl

from realtalk.evals.comparing import VariantScores, summarise
from realtalk.evals.values import Row
from realtalk.memory.rows import ANSWER_SCORES, BUDGET_SCORES, SCORES
from research.results import ROWS

KNOWN = {score.name: score for score in SCORES}
CATEGORIES = ("multi_hop", "temporal", "commonsense")
GOLDS = ("published", "audited")
BUDGETS = ("125w", "250w", "500w", "1000w", "2000w", "4000w")
ASKED = ("500w", "1000w", "2000w")
ORDER = (
    ("none", ("all",)),
    ("recent", ASKED),
    ("events", (*ASKED, "all")),
    ("restored", ASKED),
    ("retrieved", BUDGETS),
    ("langchain", ASKED),
    ("whole", ("all",)),
    ("oracle", ("all",)),
)
# Shown by version 1 of the encoder: they stand in the tables, marked, and in no test.
EARLIER = frozenset({("retrieved", "4000w"), ("langchain", "2000w")})
TESTED = tuple(budget for budget in BUDGETS if ("retrieved", budget) not in EARLIER)
MEM0 = tuple(("mem0", budget) for budget in ASKED)  # of the chats that it was told alone
QUESTIONS = 728
SETS = tuple((memory, budget) for memory, budgets in ORDER for budget in budgets)
Set = tuple[str, str]


def title(which: Set) -> str:
    """A memory and its budget as tables have them."""
    return " ".join(which) + (" †" if which in EARLIER else "")


class Stored:
    """The committed rows by memory and budget, as the engine has rows."""

    def __init__(self) -> None:
        self.frame = pl.read_parquet(ROWS / "memory-rows.parquet")
        self._parts = self.frame.partition_by("memory", "budget", as_dict=True)
        self._figures: dict[tuple[Set, str], VariantScores] = {}
        self.run = json.loads((ROWS / "memory-run.json").read_text("utf-8"))
        self.mem0 = json.loads((ROWS / "memory-mem0.json").read_text("utf-8"))
        self.building = json.loads((ROWS / "memory-building.json").read_text("utf-8"))

    def rows(self, which: Set, golds: str = "published", category: str | None = None) -> list[Row]:
        end = "" if golds == "published" else f"_{golds}"
        return [
            {
                "sample": row["question"],
                "group": row["chat"],
                "variant": which[1],
                "category": row["category"],
                "unscored": row["unscored"],
                "untold": None,
                "left_out": [],
                **dict.fromkeys(("calls", "tokens_in", "tokens_out"), 0),
                **{name: row[f"{name}{end}"] for name in (*ANSWER_SCORES, *BUDGET_SCORES)},
            }
            for row in self._parts[which].iter_rows(named=True)
            if category in (None, row["category"])
        ]

    def figures(self, which: Set, golds: str = "published") -> VariantScores:
        if (which, golds) not in self._figures:
            names = (*ANSWER_SCORES, *BUDGET_SCORES)
            scores = [KNOWN[name] for name in names]
            self._figures[which, golds] = summarise(
                self.rows(which, golds), scores, slices="category"
            )
        return self._figures[which, golds]

    def part(self, which: Set, chats: Sequence[str]) -> pl.DataFrame:
        """The rows of a set that are about these chats."""
        return self._parts[which].filter(pl.col("chat").cast(pl.String).is_in(chats))

    def mean(self, which: Set, column: str) -> float:
        value = self._parts[which][column].mean()
        assert isinstance(value, float)
        return value
