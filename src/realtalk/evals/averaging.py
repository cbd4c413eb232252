"""Figures of groups → their average, in which every group counts the same.

    average([0.2, 0.4, None, 0.9])    → Average(mean=0.5, sd=0.36, low=0.2, high=0.9, n=3)

As papers average over people: the mean of their own figures, its standard deviation over them,
and an interval that draws them. `estimating.estimate` is the other way, in which rows count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from realtalk.metrics.statistics import bootstrap_interval


@dataclass(frozen=True, slots=True)
class Average:
    """Over `n` groups. Without deviation and interval where there is one."""

    mean: float | None
    sd: float | None
    low: float | None
    high: float | None
    n: int


def average(values: Iterable[float | None]) -> Average:
    """The mean over groups; those without a figure do not count."""
    known = [value for value in values if value is not None]
    if not known:
        return Average(None, None, None, None, 0)
    mean = float(np.mean(known))
    if len(known) < 2:
        return Average(mean, None, None, None, len(known))
    low, high = bootstrap_interval((known,), np.mean) or (None, None)
    return Average(mean, float(np.std(known, ddof=1)), low, high, len(known))
