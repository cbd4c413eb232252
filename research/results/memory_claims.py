"""Two memories on the same questions → what differs, and whether beyond chance.

    Test(("whole", "all"), ("events", "all"), "f1", category="multi_hop").change(stored)
    → Change(n=301, groups=10, first=0.24, second=0.19, …)
    condensed(stored)[0]    → a Markdown table: events against the whole conversation

Holm's correction is over all tests of a table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from realtalk.evals.comparing import compare
from realtalk.evals.tables import p_value
from realtalk.metrics.statistics import Change, holm
from research.papers.markdown import table as markdown
from research.results.memory_stored import (
    ASKED,
    CATEGORIES,
    EARLIER,
    GOLDS,
    KNOWN,
    TESTED,
    Set,
    Stored,
)
from research.results.page_words import digits, share, told

ENOUGH = 0.05


@dataclass(frozen=True)
class Test:
    """The second set against the first by one score; `category` None is all questions."""

    first: Set
    second: Set
    score: str
    golds: str = "published"
    category: str | None = None

    def change(self, stored: Stored) -> Change:
        sides = [
            stored.rows(which, self.golds, self.category) for which in (self.first, self.second)
        ]
        names = (" ".join(self.first), " ".join(self.second))
        found = compare(sides[0], sides[1], (KNOWN[self.score],), names, what="question")
        return found.changes[self.score]


def family(stored: Stored, tests: Sequence[Test]) -> list[tuple[Test, Change, float | None]]:
    """Every test with its p as Holm corrects it for all of these."""
    changes = [test.change(stored) for test in tests]
    corrected = holm([change.p for change in changes])
    return list(zip(tests, changes, corrected, strict=True))


def condensed(stored: Stored) -> tuple[str, dict[tuple[str, str], Change]]:
    """Events against the whole conversation, by category and golds: F1, as in the paper."""
    tests = [
        Test(("whole", "all"), ("events", "all"), "f1", golds, category)
        for golds in GOLDS
        for category in CATEGORIES
    ]
    found = family(stored, tests)
    rows = [
        (
            str(test.category).replace("_", "-"),
            test.golds,
            f"{digits(change.first or 0)} → {digits(change.second or 0)}",
            share(change.relative),
            p_value(p),
        )
        for test, change, p in found
    ]
    headings = ("questions", "golds", "whole → events", "relative", "p (Holm)")
    by_key = {(str(test.category), test.golds): change for test, change, _ in found}
    return markdown(headings, rows), by_key


def few_words(stored: Stored) -> tuple[str, dict[tuple[str, str], tuple[Change, float | None]]]:
    """Retrieval at each budget against the whole conversation."""
    scores = (("f1", "published"), ("accepted", "audited"))
    tests = [
        Test(("whole", "all"), ("retrieved", budget), score, golds)
        for budget in TESTED
        for score, golds in scores
    ]
    found = {(test.second[1], test.score): (change, p) for test, change, p in family(stored, tests)}
    rows = [
        (budget, *(part for score, _ in scores for part in _cells(*found[budget, score])))
        for budget in TESTED
    ]
    headings = ("words", "F1", "p (Holm)", "accepted, audited", "p (Holm)")
    return markdown(headings, rows), found


def few_words_by_category(stored: Stored) -> str:
    tests = [
        Test(("whole", "all"), ("retrieved", budget), "f1", category=category)
        for budget in TESTED
        for category in CATEGORIES
    ]
    found = {
        (test.second[1], test.category): (change, p) for test, change, p in family(stored, tests)
    }
    rows = [
        (
            budget,
            *(
                f"{told(change.difference)}{'*' if (p or 1) < ENOUGH else ''}"
                for change, p in (found[budget, category] for category in CATEGORIES)
            ),
        )
        for budget in TESTED
    ]
    return markdown(("words", *(name.replace("_", "-") for name in CATEGORIES)), rows)


def others(stored: Stored, compared: Iterable[str]) -> str:
    """Further pairs, one family; the evidence alone against `retrieved` at the budgets given."""
    both = (budget for budget in ASKED if ("langchain", budget) not in EARLIER)
    pairs = [
        *((("retrieved", budget), ("langchain", budget)) for budget in both),
        *((("events", budget), ("restored", budget)) for budget in ASKED),
        (("retrieved", TESTED[0]), ("retrieved", TESTED[-1])),
        *((("retrieved", budget), ("oracle", "all")) for budget in compared),
    ]
    tests = [
        Test(first, second, score, golds)
        for first, second in pairs
        for score, golds in (("f1", "published"), ("accepted", "audited"))
    ]
    rows = [
        (
            f"{' '.join(test.second)} − {' '.join(test.first)}",
            "F1" if test.score == "f1" else test.score,
            told(change.difference),
            p_value(p),
        )
        for test, change, p in family(stored, tests)
    ]
    return markdown(("which", "score", "difference", "p (Holm)"), rows)


def _cells(change: Change, p: float | None) -> tuple[str, str | None]:
    return told(change.difference), p_value(p)


def as_claimed(change: Change, least: float) -> str:
    """Whether a loss may be as large as the one that is claimed, in words."""
    low = change.relative.low
    assert low is not None
    return "within" if low <= -least else "outside of"


def fewest(changes: Mapping[str, Change]) -> str:
    """The smallest budget from which on retrieval is nowhere below the whole conversation."""
    for budget in TESTED:
        low = changes[budget].difference.low
        if low is not None and low >= 0:
            return f"{int(budget.removesuffix('w')):,}"
    return "none of these"
