"""What several raters say of the same units → how far they agree beyond chance.

    krippendorff_alpha([["a", "a"], ["a", "b", "a"], ["b", "b"]])
    → Estimate(value=0.43, low=…, high=…, n=3, left_out=0)

Krippendorff's alpha for names (nominal): 1 is full agreement, 0 what chance gives. Any number of
raters may rate any number of units; a unit that fewer than two rated is left out. The interval
draws units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from realtalk.metrics.grouped import drawn_sums
from realtalk.metrics.statistics import Array, Estimate, percentile_interval


def krippendorff_alpha(units: Sequence[Sequence[Hashable]]) -> Estimate:
    """The agreement over units, each of which is what its raters say."""
    rated = [Counter(unit) for unit in units if len(unit) > 1]
    left_out = len(units) - len(rated)
    if not rated:
        return Estimate(None, left_out=left_out, unscored="no unit has two raters")
    values = list(dict.fromkeys(value for unit in rated for value in unit))
    # What is summed over units: disagreement, then how often each value is given.
    lines = np.array(
        [[_apart(unit), *(unit[value] for value in values)] for unit in rated], np.float64
    )
    value = float(_alpha(lines.sum(axis=0)))
    if not np.isfinite(value):
        return Estimate(None, n=len(rated), left_out=left_out, unscored="only one value is given")
    low, high = percentile_interval(_alpha(drawn_sums([lines])[0])) or (None, None)
    return Estimate(value, low, high, len(rated), left_out)


def _apart(unit: Counter[Hashable]) -> float:
    """Pairs of raters who differ, each rating weighing the same whatever the unit's number."""
    raters = unit.total()
    return (raters**2 - sum(count**2 for count in unit.values())) / (raters - 1)


def _alpha(sums: Array) -> Array:
    counts = sums[..., 1:]
    total = counts.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = (total**2 - (counts**2).sum(axis=-1)) / (total - 1)
        alpha: Array = np.where(expected > 0, 1 - sums[..., 0] / expected, np.nan)
    return alpha
