"""Yes or no, true and predicted → accuracy, balanced accuracy, F1 both ways, MCC.

    parts = confusion([True, True, False], [True, False, False])    → one line per row: tp fp fn tn
    CLASSIFICATION["mcc"](parts.sum(axis=0))                         → 0.5

All are functions of four counts. What has no value (balanced accuracy or MCC where the truth never
changes, F1 of a class that nobody has or names) is not a number: the caller reports it as
unscored. "Always yes" has an MCC of 0, as in scikit-learn.

Numbers, true and predicted → errors, raw and on the signed log, rho, r and concordance.

    parts = residuals([12.0, -3.0], [10.0, 1.0])        → one line per row: what is summed
    REGRESSION["mae_log"](parts.sum(axis=0))            → 1.12
    parts = products([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    NEARNESS["r"](parts.sum(axis=0))                    → 1.0: the order and the steps are right
    NEARNESS["concordance"](parts.sum(axis=0))          → 0.36: the level and the width are not
    signed_log(-3.0)                                    → -1.39, which is -ln(1 + 3)

Scores of comments span -360 to 1,425 with half of them at 1 or 2: raw errors are about a few
viral comments, the signed log is about the rest. Spearman's rho is Pearson's r of the ranks
among all rows; the bootstrap keeps those ranks, so that a draw is a sum.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


_N, _SQUARE, _ABS, _LOG_SQUARE, _LOG_ABS, _X, _Y, _XX, _YY, _XY = range(10)
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
    parts = np.zeros((real.size, 10))
    if not real.size:
        return parts
    apart, log_apart = guess - real, signed_log(guess) - signed_log(real)
    # Between -1/2 and 1/2: sums of products of large ranks would lose their last digits.
    ranks = [(stats.rankdata(side) - (real.size + 1) / 2) / real.size for side in (real, guess)]
    parts[:, _SQUARE], parts[:, _ABS] = apart**2, np.abs(apart)
    parts[:, _LOG_SQUARE], parts[:, _LOG_ABS] = log_apart**2, np.abs(log_apart)
    _fill_products(parts, ranks[0], ranks[1])
    return parts


def _fill_products(parts: Array, x: Array, y: Array) -> None:
    """What a correlation of x and y is made of."""
    parts[:, _N] = 1
    parts[:, _X], parts[:, _Y] = x, y
    parts[:, _XX], parts[:, _YY], parts[:, _XY] = x**2, y**2, x * y


def _mean(place: int) -> Figure:
    def figure(sums: Array) -> Array:
        values: Array = sums[..., place] / sums[..., _N]
        return values

    return figure


def _root(place: int) -> Figure:
    mean = _mean(place)
    return lambda sums: np.sqrt(mean(sums))


def products(truth: Sequence[float], predicted: Sequence[float]) -> Array:
    """One line per row: its error and the products that r and concordance are made of.

    Both sides are moved and scaled alike, which changes neither, so that sums of products keep
    their last digits whatever the unit; the error stays in the unit given.
    """
    real, guess = np.asarray(truth, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    parts = np.zeros((real.size, 10))
    if not real.size:
        return parts
    both = np.concatenate([real, guess])
    width = float(np.ptp(both)) or 1.0
    parts[:, _ABS] = np.abs(guess - real)
    _fill_products(parts, (real - both.mean()) / width, (guess - both.mean()) / width)
    return parts


def _spreads(sums: Array) -> tuple[Array, Array, Array]:
    """Sums of squares around the means of x and of y, and of their products."""
    n = sums[..., _N]
    x, y = sums[..., _XX] - sums[..., _X] ** 2 / n, sums[..., _YY] - sums[..., _Y] ** 2 / n
    return x, y, sums[..., _XY] - sums[..., _X] * sums[..., _Y] / n


def _correlation(sums: Array) -> Array:
    """Pearson's r, of ranks where the parts are ranks; none where one side never changes."""
    x, y, together = _spreads(sums)
    known = np.minimum(x, y) > _TINY * sums[..., _N]
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation: Array = np.where(known, together / np.sqrt(x * y), np.nan)
    return correlation


def _concordance(sums: Array) -> Array:
    """Lin's: r, lowered by how far levels and widths are apart; 0 where one side never changes."""
    x, y, together = _spreads(sums)
    n = sums[..., _N]
    apart = (sums[..., _X] - sums[..., _Y]) ** 2 / n
    whole = x + y + apart
    with np.errstate(divide="ignore", invalid="ignore"):
        concordance: Array = np.where(whole > _TINY * n, 2 * together / whole, np.nan)
    return concordance


REGRESSION: Mapping[str, Figure] = MappingProxyType(
    {
        "rmse": _root(_SQUARE),
        "mae": _mean(_ABS),
        "rmse_log": _root(_LOG_SQUARE),
        "mae_log": _mean(_LOG_ABS),
        "spearman": _correlation,
    }
)
# Order, order with level and width, and how far off in the unit given.
NEARNESS: Mapping[str, Figure] = MappingProxyType(
    {"r": _correlation, "concordance": _concordance, "error": _mean(_ABS)}
)
