"""Yes or no, true and predicted → accuracy, balanced accuracy, F1 both ways, MCC.

    parts = confusion([True, True, False], [True, False, False])    → one line per row: tp fp fn tn
    CLASSIFICATION["mcc"](parts.sum(axis=0))                         → 0.5

All are functions of four counts. What has no value (balanced accuracy or MCC where the truth never
changes, F1 of a class that nobody has or names) is not a number: the caller reports it as
unscored. "Always yes" has an MCC of 0, as in scikit-learn.

Numbers, true and predicted → errors, raw and on the signed log, and rho.

    parts = residuals([12.0, -3.0], [10.0, 1.0])        → one line per row: what is summed
    REGRESSION["mae_log"](parts.sum(axis=0))            → 1.12
    signed_log(-3.0)                                    → -1.39, which is -ln(1 + 3)

Scores of comments span -360 to 1,425 with half of them at 1 or 2: raw errors are about a few
viral comments, the signed log is about the rest. Spearman's rho is Pearson's r of the ranks
among all rows; the bootstrap keeps those ranks, so that a draw is a sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from realtalk.metrics.statistics import Array, Figure, quotient


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


def _accuracy(sums: Array) -> Array:
    return quotient(sums[..., 0] + sums[..., 3], sums.sum(axis=-1))


def _balanced_accuracy(sums: Array) -> Array:
    tp, fp, fn, tn = np.moveaxis(sums, -1, 0)
    return (quotient(tp, tp + fn) + quotient(tn, tn + fp)) / 2


def _positive_f1(sums: Array) -> Array:
    tp, fp, fn, _ = np.moveaxis(sums, -1, 0)
    return quotient(2 * tp, 2 * tp + fp + fn)


def _macro_f1(sums: Array) -> Array:
    tp, fp, fn, tn = np.moveaxis(sums, -1, 0)
    # A class that nobody has and nobody names is no class of this task.
    both = np.stack([quotient(2 * tp, 2 * tp + fp + fn), quotient(2 * tn, 2 * tn + fp + fn)])
    defined = np.isfinite(both)
    return quotient(
        np.where(defined, both, 0.0).sum(axis=0), defined.sum(axis=0).astype(np.float64)
    )


def _mcc(sums: Array) -> Array:
    tp, fp, fn, tn = np.moveaxis(sums, -1, 0)
    spread = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    # "Always yes" tells nothing about the truth: 0, as scikit-learn has it, where the truth varies.
    one_sided = ((tp + fp) * (tn + fn) == 0) & ((tp + fn) * (tn + fp) > 0)
    return np.where(one_sided, 0.0, quotient(tp * tn - fp * fn, np.sqrt(spread)))


CLASSIFICATION: Mapping[str, Figure] = {
    "accuracy": _accuracy,
    "balanced_accuracy": _balanced_accuracy,
    "positive_f1": _positive_f1,
    "macro_f1": _macro_f1,
    "mcc": _mcc,
}


_N, _SQUARE, _ABS, _LOG_SQUARE, _LOG_ABS = range(5)  # of what is summed; then the ranks
_TINY = 1e-12


def signed_log(values: ArrayLike) -> Array:
    """ln(1 + |value|) with the value's sign."""
    array = np.asarray(values, dtype=np.float64)
    logs: Array = np.sign(array) * np.log1p(np.abs(array))
    return logs


def signed_exp(values: ArrayLike) -> Array:
    """The way back from `signed_log`."""
    array = np.asarray(values, dtype=np.float64)
    numbers: Array = np.sign(array) * np.expm1(np.abs(array))
    return numbers


def residuals(truth: Sequence[float], predicted: Sequence[float]) -> Array:
    """One line per row: its errors and the products of its ranks."""
    from scipy import stats

    real, guess = np.asarray(truth, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    apart, log_apart = guess - real, signed_log(guess) - signed_log(real)
    # Between -1/2 and 1/2: sums of products of large ranks would lose their last digits.
    x, y = ((stats.rankdata(side) - (real.size + 1) / 2) / real.size for side in (real, guess))
    errors = (apart**2, np.abs(apart), log_apart**2, np.abs(log_apart))
    return np.column_stack([np.ones(real.size), *errors, x, y, x**2, y**2, x * y])


def _mean(place: int) -> Figure:
    def figure(sums: Array) -> Array:
        values: Array = sums[..., place] / sums[..., _N]
        return values

    return figure


def _root(place: int) -> Figure:
    mean = _mean(place)
    return lambda sums: np.sqrt(mean(sums))


def _correlation(sums: Array) -> Array:
    """Pearson's r of the ranks; none where one side never changes."""
    n = sums[..., _N]
    x, y, xx, yy, xy = np.moveaxis(sums[..., 5:], -1, 0)
    x_spread, y_spread = xx - x**2 / n, yy - y**2 / n
    together = xy - x * y / n
    varies = np.minimum(x_spread, y_spread) > _TINY * n
    return quotient(together, np.sqrt(np.where(varies, x_spread * y_spread, 0.0)))


REGRESSION: Mapping[str, Figure] = {
    "rmse": _root(_SQUARE),
    "mae": _mean(_ABS),
    "rmse_log": _root(_LOG_SQUARE),
    "mae_log": _mean(_LOG_ABS),
    "spearman": _correlation,
}
