"""Rows → figures with intervals: a setting over all, and domain by domain.

    found = summarise("regression", "sentiment", rows)
    found.settings["p-conv"].overall["mcc"]     → Estimate(value=0.24, low=0.21, high=0.27, n=…)
    found.settings["p-conv"].strict["mcc"]      → the same with what is unscored taken as wrong
    found.settings["p-conv"].domains["College"]["mcc"]

Intervals draw whole users; where all replies are right (or wrong), no draw differs, and accuracy
has Wilson's interval over the users instead. Wrong means, in the strict scores: the other class;
for a number the 1st or the 99th percentile of the true scores, whichever is farther off; for a
text 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.metrics.classification import CLASSIFICATION, confusion
from realtalk.metrics.grouped import Figure, grouped_estimates, ratio
from realtalk.metrics.numbers import REGRESSION, residuals
from realtalk.metrics.paired import wilson
from realtalk.metrics.statistics import Array, Estimate
from realtalk.threads.rows import Row, scores_of
from realtalk.threads.values import SETTINGS, Task

__all__ = ["Measured", "SettingScores", "Summary", "measured", "of_settings", "summarise"]

_ENDS = (0.01, 0.99)


@dataclass(frozen=True, slots=True)
class Measured:
    """Rows as sums: `parts` has a line a row that counts, of the user at the same place."""

    parts: Array
    users: Sequence[str]
    figures: Mapping[str, Figure]
    left_out: int


@dataclass(frozen=True, slots=True)
class SettingScores:
    """One setting of a run. `base_rate` is the share of scores above 0."""

    rows: int
    scored: int
    users: int
    base_rate: float | None
    overall: Mapping[str, Estimate]
    strict: Mapping[str, Estimate]
    domains: Mapping[str, Mapping[str, Estimate]]
    unscored: Mapping[str, int]
    untold: Mapping[str, int]
    left_out: Mapping[str, int]
    tokens_in: int
    tokens_out: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A run's figures."""

    name: str
    task: Task
    settings: Mapping[str, SettingScores]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def summarise(name: str, task: Task, rows: Sequence[Row], notes: Sequence[str] = ()) -> Summary:
    """Every setting that the rows have."""
    if not rows:
        raise RealtalkError("no rows to score", where=name)
    found = {setting: _scores(task, kept) for setting, kept in of_settings(rows).items()}
    return Summary(name, task, found, tuple(notes))


def of_settings(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Rows by setting, in the order of SETTINGS."""
    found: dict[str, list[Row]] = {setting: [] for setting in SETTINGS}
    for row in rows:
        found[row["setting"]].append(row)
    return {setting: kept for setting, kept in found.items() if kept}


def _scores(task: Task, rows: Sequence[Row]) -> SettingScores:
    told = [row for row in rows if row["untold"] is None]
    good = [row for row in told if row["unscored"] is None]
    overall = _estimates(task, told, strict=False)
    # Where nothing is unscored, strict is the same: no need to draw again.
    strict = overall if len(good) == len(told) else _estimates(task, told, strict=True)
    names = sorted({row["domain"] for row in told})
    domains = {
        name: _estimates(task, [row for row in told if row["domain"] == name], strict=False)
        for name in names
    }
    truths = [row["truth"] for row in told if row["truth"] is not None]
    return SettingScores(
        rows=len(rows),
        scored=len(good),
        users=len({row["user"] for row in told}),
        base_rate=sum(truth > 0 for truth in truths) / len(truths) if truths else None,
        overall=overall,
        strict=strict,
        domains=domains,
        unscored=dict(Counter(row["unscored"] for row in told if row["unscored"]).most_common()),
        untold=dict(Counter(row["untold"] for row in rows if row["untold"]).most_common()),
        left_out=dict(Counter(why for row in good for why in row["left_out"]).most_common()),
        tokens_in=sum(row["tokens_in"] for row in rows),
        tokens_out=sum(row["tokens_out"] for row in rows),
    )


def _estimates(task: Task, rows: Sequence[Row], *, strict: bool) -> dict[str, Estimate]:
    found: dict[str, Estimate] = {}
    for each in measured(task, rows, strict=strict):
        found |= grouped_estimates(each.parts, each.users, each.figures, left_out=each.left_out)
        accuracy = found.get("accuracy")
        if accuracy is not None and accuracy.value in (0, 1):
            low, high = wilson([accuracy.value] * len(set(each.users))) or (None, None)
            found["accuracy"] = replace(accuracy, low=low, high=high)
    return found


def measured(task: Task, rows: Sequence[Row], *, strict: bool) -> list[Measured]:
    """Rows with a truth as sums: one table for the figures that are made from the same rows."""
    if task == "next_text":
        return [_of_text(name, rows, strict) for name in scores_of(task)]
    kept = rows if strict else [row for row in rows if row["unscored"] is None]
    users = [row["user"] for row in kept]
    left_out = len(rows) - len(kept)
    truth = [float(row["truth"]) for row in kept]
    if task == "sentiment":
        real = [value > 0 for value in truth]
        said = [
            not positive if row["predicted"] is None else row["predicted"] > 0
            for row, positive in zip(kept, real, strict=True)
        ]
        return [Measured(confusion(real, said), users, CLASSIFICATION, left_out)]
    numbers = [row["predicted"] for row in kept]
    if None in numbers:
        low, high = np.quantile([float(row["truth"]) for row in rows], _ENDS)
        numbers = [
            (low if value - low > high - value else high) if said is None else said
            for said, value in zip(numbers, truth, strict=True)
        ]
    return [Measured(residuals(truth, numbers), users, REGRESSION, left_out)]


def _of_text(name: str, rows: Sequence[Row], strict: bool) -> Measured:
    """A mean over the rows that have the score; a row without a prediction is 0 if strict."""
    values = [0.0 if strict and row["unscored"] is not None else row[name] for row in rows]
    kept = [(value, row["user"]) for value, row in zip(values, rows, strict=True)]
    kept = [(value, user) for value, user in kept if value is not None]
    said = [row for row in rows if row["unscored"] is None]
    if said and all(row[name] is None for row in said):
        kept = []  # a score that no text has (METEOR without WordNet) is unscored, not 0
    parts = np.array([[value, 1.0] for value, _ in kept]).reshape(-1, 2)
    return Measured(parts, [user for _, user in kept], {name: ratio}, len(rows) - len(kept))
