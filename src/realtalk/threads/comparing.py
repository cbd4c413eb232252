"""The same replies predicted twice → differences with intervals, and whether beyond chance.

    compare_settings(rows, "sentiment", "p-nonconv", "p-conv")
    → Compared(("p-nonconv", "p-conv"), "sentiment", {"mcc": Change(…, relative=…)}, strict=…)
    compare_runs(rows, other_rows, "sentiment", ("mean", "regression"))
    → {"p-conv": Compared(("mean", "regression"), …), …}
    best_of([rows, rows_of_another_seed], "next_text")    → rows, the best of each by the truth

The paper's "198 %" is such a relative change: MCC with the conversation over MCC without it.
Here it has an interval, drawn by users, and a test that swaps whole users. Only replies that
both sides have scored count; the strict comparison has all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.metrics.grouped import Change, grouped_changes
from realtalk.metrics.statistics import holm
from realtalk.registry import suggest
from realtalk.threads.rows import TEXT_SCORES, Row
from realtalk.threads.summaries import measured, of_settings
from realtalk.threads.values import Task

__all__ = ["Compared", "best_of", "compare_runs", "compare_settings"]


@dataclass(frozen=True, slots=True)
class Compared:
    """The second side against the first. `strict` takes what is unscored as wrong.

    `alone` counts the replies that only the first or only the second side has: they are left out.
    """

    names: tuple[str, str]
    task: Task
    changes: Mapping[str, Change]
    strict: Mapping[str, Change]
    alone: tuple[int, int] = (0, 0)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare_settings(rows: Sequence[Row], task: Task, first: str, second: str) -> Compared:
    """Two settings of one run."""
    found = of_settings(rows)
    for name in (first, second):
        if name not in found:
            raise suggest("setting of the run", name, list(found))
    return _compared((first, second), task, found[first], found[second])


def compare_runs(
    first: Sequence[Row], second: Sequence[Row], task: Task, names: tuple[str, str]
) -> dict[str, Compared]:
    """Two runs, in each setting that both have."""
    a, b = of_settings(first), of_settings(second)
    both = [setting for setting in a if setting in b]
    if not both:
        raise RealtalkError(
            f"{names[0]} and {names[1]} have no setting in common",
            fix=f"the first has {', '.join(a)}, the second {', '.join(b)}",
        )
    return {setting: _compared(names, task, a[setting], b[setting]) for setting in both}


def _compared(
    names: tuple[str, str], task: Task, first: Sequence[Row], second: Sequence[Row]
) -> Compared:
    other = {row["key"]: row for row in second}
    pairs = [
        (row, other[row["key"]])
        for row in first
        if row["key"] in other and row["untold"] is None is other[row["key"]]["untold"]
    ]
    if not pairs:
        raise RealtalkError(
            f"{names[0]} and {names[1]} share no reply",
            fix="compare runs of one corpus, task, protocol, limit and seed",
        )
    good = [pair for pair in pairs if all(row["unscored"] is None for row in pair)]
    changes = _changes(task, good, strict=False)
    strict = changes if len(good) == len(pairs) else _changes(task, pairs, strict=True)
    shared = sum(row["key"] in other for row in first)
    return Compared(names, task, changes, strict, (len(first) - shared, len(second) - shared))


def _changes(task: Task, pairs: Sequence[tuple[Row, Row]], *, strict: bool) -> dict[str, Change]:
    if task != "next_text":
        a, b = (measured(task, side, strict=strict)[0] for side in _sides(pairs))
        return grouped_changes(a.parts, b.parts, a.users, a.figures)
    found: dict[str, Change] = {}
    for name in TEXT_SCORES:
        # A score that only one side has (an emoji for an answer) makes no pair.
        kept = [pair for pair in pairs if all(_has(row, name, strict) for row in pair)]
        sides = [measured(task, side, strict=strict) for side in _sides(kept)]
        a, b = (next(each for each in side if name in each.figures) for side in sides)
        found |= grouped_changes(a.parts, b.parts, a.users, a.figures)
    corrected = holm([each.p for each in found.values()])
    return {
        name: replace(each, p_holm=p)
        for (name, each), p in zip(found.items(), corrected, strict=True)
    }


def _has(row: Row, name: str, strict: bool) -> bool:
    return row[name] is not None or (strict and row["unscored"] is not None)


def _sides(pairs: Sequence[tuple[Row, Row]]) -> tuple[list[Row], list[Row]]:
    return [first for first, _ in pairs], [second for _, second in pairs]


def best_of(runs: Sequence[Sequence[Row]], task: Task) -> list[Row]:
    """Of several predictions of a reply the best, chosen by the truth: what nobody could choose.

    For texts each score takes its own best, as the released code does. A table must say so.
    """
    if len(runs) < 2:
        raise RealtalkError("the best of one run is that run", fix="name two runs or more")
    by_key = [{(row["setting"], row["key"]): row for row in rows} for rows in runs]
    shared = [key for key in by_key[0] if all(key in rows for rows in by_key)]
    if not shared:
        raise RealtalkError("the runs share no reply", fix="give runs of one corpus and task")
    return [_best([rows[key] for rows in by_key], task) for key in shared]


def _best(rows: Sequence[Row], task: Task) -> Row:
    good = [row for row in rows if row["unscored"] is None]
    if not good or rows[0]["untold"] is not None:
        return rows[0]
    if task == "next_text":
        best = dict(good[0])
        for name in TEXT_SCORES:
            known = [row[name] for row in good if row[name] is not None]
            best[name] = max(known) if known else None
        return best
    truth = good[0]["truth"]
    if task == "sentiment":
        return max(good, key=lambda row: (row["predicted"] > 0) == (truth > 0))
    return min(good, key=lambda row: float(np.abs(row["predicted"] - truth)))
