"""Yes or no, and how likely yes was said to be → AUC: how often a yes is put above a no.

    parts = placements([True, True, False], [0.9, 0.4, 0.6])    → one line per row: what is summed
    auc(parts.sum(axis=0))                                      → 0.5: of two pairs one is in order

Of equals half a pair counts. A row's placement is the share of the other class that it is on the
right side of; draws keep the placements among all rows, so that a draw is a sum. How far sums
spread is then DeLong's variance. Where only one class is there, there is no value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from realtalk.metrics.statistics import Array


def placements(truth: ArrayLike, likely: ArrayLike) -> Array:
    """One line per row: its placement less half the AUC and a 1, in the columns of its class."""
    real = np.asarray(truth, dtype=bool).reshape(-1)
    said = np.asarray(likely, dtype=np.float64).reshape(-1)
    lines = np.zeros((real.size, 4))
    lines[real, 1], lines[~real, 3] = 1, 1
    if real.any() and not real.all():
        above, below = _above(said[real], said[~real]), 1 - _above(said[~real], said[real])
        # Both classes have the AUC as their mean: half of it each leaves the AUC in the sum.
        half = above.mean() / 2
        lines[real, 0], lines[~real, 2] = above - half, below - half
    return lines


def _above(values: Array, others: Array) -> Array:
    """The share of the others that each value is above; equals count half."""
    ordered = np.sort(others)
    both = [np.searchsorted(ordered, values, side) for side in ("left", "right")]
    shares: Array = (both[0] + both[1]) / (2 * ordered.size)
    return shares


def auc(sums: Array) -> Array:
    """A figure of sums of placements; not a number where a class is missing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value: Array = sums[..., 0] / sums[..., 1] + sums[..., 2] / sums[..., 3]
    return value
