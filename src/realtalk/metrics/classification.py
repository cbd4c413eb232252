"""Yes or no, true and predicted → accuracy, balanced accuracy, F1 both ways, MCC.

    parts = confusion([True, True, False], [True, False, False])    → one line per row: tp fp fn tn
    CLASSIFICATION["mcc"](parts.sum(axis=0))                         → 0.5

All are functions of four counts. What has no value (balanced accuracy or MCC where the truth never
changes, F1 of a class that nobody has or names) is not a number: the caller reports it as
unscored. "Always yes" has an MCC of 0, as in scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from realtalk.metrics.grouped import Figure
from realtalk.metrics.statistics import Array


def confusion(truth: ArrayLike, predicted: ArrayLike) -> Array:
    """One line per row with a 1 in its cell: true yes, false yes, false no, true no."""
    real, predicted_yes = np.asarray(truth, dtype=bool), np.asarray(predicted, dtype=bool)
    cells = (
        real & predicted_yes,
        ~real & predicted_yes,
        real & ~predicted_yes,
        ~real & ~predicted_yes,
    )
    return np.stack(cells, axis=-1).astype(np.float64).reshape(-1, 4)


def _cells(sums: Array) -> tuple[Array, Array, Array, Array]:
    return sums[..., 0], sums[..., 1], sums[..., 2], sums[..., 3]


def _over(above: Array, below: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio: Array = np.where(below > 0, above / below, np.nan)
    return ratio


def _accuracy(sums: Array) -> Array:
    return _over(sums[..., 0] + sums[..., 3], sums.sum(axis=-1))


def _balanced_accuracy(sums: Array) -> Array:
    tp, fp, fn, tn = _cells(sums)
    return (_over(tp, tp + fn) + _over(tn, tn + fp)) / 2


def _positive_f1(sums: Array) -> Array:
    tp, fp, fn, _ = _cells(sums)
    return _over(2 * tp, 2 * tp + fp + fn)


def _macro_f1(sums: Array) -> Array:
    tp, fp, fn, tn = _cells(sums)
    # A class that nobody has and nobody names is no class of this task.
    both = np.stack([_over(2 * tp, 2 * tp + fp + fn), _over(2 * tn, 2 * tn + fp + fn)])
    known = np.isfinite(both)
    return _over(np.where(known, both, 0.0).sum(axis=0), known.sum(axis=0).astype(np.float64))


def _mcc(sums: Array) -> Array:
    tp, fp, fn, tn = _cells(sums)
    spread = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    # "Always yes" tells nothing about the truth: 0, as scikit-learn has it, where the truth varies.
    one_sided = ((tp + fp) * (tn + fn) == 0) & ((tp + fn) * (tn + fp) > 0)
    return np.where(one_sided, 0.0, _over(tp * tn - fp * fn, np.sqrt(spread)))


CLASSIFICATION: Mapping[str, Figure] = MappingProxyType(
    {
        "accuracy": _accuracy,
        "balanced_accuracy": _balanced_accuracy,
        "positive_f1": _positive_f1,
        "macro_f1": _macro_f1,
        "mcc": _mcc,
    }
)
