"""The same replies predicted twice: two settings of a run, or two runs in each setting.

    compare_settings(rows, "sentiment", "p-nonconv", "p-conv")
    → Compared(("p-nonconv", "p-conv"), {"mcc": Change(…, relative=…)}, strict=…)
    compare_runs(rows, other_rows, "sentiment", ("mean", "regression"))
    → {"p-conv": Compared(("mean", "regression"), …), …}
    best_of([rows, rows_of_another_seed], "next_text")    → rows, the best of each by the truth

The paper's "198 %" is such a relative change: MCC with the conversation over MCC without it.
Here it has an interval, drawn by users, and a test that swaps whole users.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.evals.comparing import Compared, compare
from realtalk.evals.estimating import by_variant
from realtalk.evals.values import Row
from realtalk.registry import suggest
from realtalk.threads.rows import TEXT_SCORES, scores_of
from realtalk.threads.values import SETTINGS, Task


def compare_settings(rows: Sequence[Row], task: Task, first: str, second: str) -> Compared:
    """Two settings of one run."""
    found = by_variant(rows, SETTINGS)
    for name in (first, second):
        if name not in found:
            raise suggest("setting of the run", name, list(found))
    return compare(
        found[first], found[second], scores_of(task), names=(first, second), what="reply"
    )


def compare_runs(
    first: Sequence[Row], second: Sequence[Row], task: Task, names: tuple[str, str]
) -> dict[str, Compared]:
    """Two runs, in each setting that both have."""
    a, b = by_variant(first, SETTINGS), by_variant(second, SETTINGS)
    both = [setting for setting in a if setting in b]
    if not both:
        raise RealtalkError(
            f"{names[0]} and {names[1]} have no setting in common",
            fix=f"the first has {', '.join(a)}, the second {', '.join(b)}",
        )
    return {
        setting: compare(a[setting], b[setting], scores_of(task), names=names, what="reply")
        for setting in both
    }


def best_of(runs: Sequence[Sequence[Row]], task: Task) -> list[Row]:
    """Of several predictions of a reply the best, chosen by the truth: what nobody could choose.

    For texts each score takes its own best, as the released code does. A table must say so.
    """
    if len(runs) < 2:
        raise RealtalkError("the best of one run is that run", fix="name two runs or more")
    by_key = [{(row["variant"], row["sample"]): row for row in rows} for rows in runs]
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
