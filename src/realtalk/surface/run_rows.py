"""Figures and differences → rows of one shape, whichever benchmark they are of.

of_estimate("1000t", "", "f1", Estimate(0.31, 0.2, 0.4, 51))   → {"variant": "1000t", …}
of_change("1000t", "f1", Change(…))                            → {"score": "f1", "first": …, …}
worst_first(rows, worst, ["sample", "answer"], 20)             → the rows with something wrong
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from realtalk.metrics.grouped import Change
    from realtalk.metrics.statistics import Estimate

Row: TypeAlias = dict[str, Any]
FIGURE = ("variant", "group", "score", "estimate", "low", "high", "n", "unscored")
CHANGE = (
    "variant",
    "score",
    "first",
    "second",
    "difference",
    "low",
    "high",
    "p",
    "p_holm",
    "n",
    "groups",
)
ALL = ""  # the group of a figure over everything


def figure_row(
    variant: str, group: str, score: str, found: Sequence[float | None], n: int, unscored: int
) -> Row:
    value, low, high = found
    return {
        **{"variant": variant, "group": group, "score": score, "estimate": value},
        **{"low": low, "high": high, "n": n, "unscored": unscored},
    }


def of_estimate(variant: str, group: str, score: str, found: Estimate) -> Row:
    values = (found.value, found.low, found.high)
    return figure_row(variant, group, score, values, found.n, found.left_out)


def of_change(variant: str, score: str, change: Change) -> Row:
    return {
        "variant": variant,
        "score": score,
        "first": change.first,
        "second": change.second,
        "difference": change.difference.value,
        "low": change.difference.low,
        "high": change.difference.high,
        "p": change.p,
        "p_holm": change.p_holm,
        "n": change.n,
        "groups": change.groups,
    }


def worst_first(
    rows: Sequence[Row],
    worst: Callable[[Row], float | None],
    columns: Sequence[str],
    most: int,
) -> list[Row]:
    """The rows with something wrong, worst first, in their order where they are alike."""
    kept = [(score, row) for row in rows if (score := worst(row)) is not None]
    kept.sort(key=lambda pair: pair[0])
    return [{name: row[name] for name in columns} for _, row in kept[:most]]
