"""A comparison of two corpora → rows to be printed, on the terminal and on the page.

    comparison_rows(compare(human, llm))    → Grid: one row per facet, both means, effect, p values
    finding_rows(compare(human, llm))       → Grid: the paper's findings and whether they hold

Chats are what is counted, each as the mean of its speakers. A facet whose labels are below usable
in the language of either side says so in its heading.
"""

from __future__ import annotations

from realtalk.ei.comparison import CorpusComparison, Spread, shown_p
from realtalk.ei.values import FACETS, Facet, interval_text
from realtalk.metrics.statistics import Estimate
from realtalk.stats.grids import Grid


def comparison_rows(comparison: CorpusComparison) -> Grid:
    """One row per facet: both means with intervals, effect, spread and their corrected p values."""
    one, other = comparison.names
    headings = [
        "facet",
        f"{one}: mean",
        f"{other}: mean",
        "chats",
        "Cliff's delta",
        "Mann-Whitney p (Holm)",
        "variance ratio",
        "Brown-Forsythe p (Holm)",
    ]

    def mean(facet: Facet, spread: Spread) -> str:
        return interval_text(facet, Estimate(spread.mean, spread.low, spread.high))

    def estimate(value: Estimate) -> str | None:
        if value.value is None or value.low is None or value.high is None:
            return None if value.value is None else f"{value.value:.2f}"
        return f"{value.value:.2f} [{value.low:.2f}, {value.high:.2f}]"

    return Grid(
        headings,
        [
            [
                _heading(facet, comparison),
                mean(facet, each.first),
                mean(facet, each.second),
                f"{each.first.chats} / {each.second.chats}",
                estimate(each.delta),
                shown_p(each.p_shift_holm).removeprefix("p "),
                estimate(each.ratio),
                shown_p(each.p_spread_holm).removeprefix("p "),
            ]
            for facet, each in zip(FACETS.values(), comparison.facets, strict=True)
        ],
    )


def _heading(facet: Facet, comparison: CorpusComparison) -> str:
    below = facet.name in comparison.unusable
    return f"{facet.heading} (below usable)" if below else facet.heading


def finding_rows(comparison: CorpusComparison) -> Grid:
    """The paper's three findings: the claim in these corpora's names, the verdict, the numbers."""
    return Grid(
        ["finding", "verdict", "because"],
        [[each.claim, each.verdict, each.because] for each in comparison.findings],
    )
