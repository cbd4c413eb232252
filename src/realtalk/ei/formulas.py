"""The arithmetic of §4.3: labels as numbers in, one figure and its resamples out.

    entropy(np.array([[2, 1, 1]]))            → [1.5] bits
    slopes(np.array([1, 2, 3]), session_means) → one slope per row
    fit_exponential(x, y)                     → (a, b) of y = a·e^(b·x), or None

Everything works on many rows at once: the first is the figure itself, the others are
bootstrap resamples. A figure that cannot be made is not a number here and becomes
"unscored" with its reason in `speakers`.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import polars as pl

from realtalk.metrics.statistics import Array, Whole

_AT_ONCE = 1 << 22  # numbers drawn at a time, which bounds the memory
# e^10 per session is no course of intimacy: the fit is running off to a single session.
_STEEPEST = 10.0
_ROUNDS = 60
_SETTLED = 1e-9


def entropy(counts: Whole) -> Array:
    """Shannon's entropy in bits of each row of counts."""
    share = counts / counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(share > 0, -share * np.log2(share), 0.0)
    total: Array = parts.sum(axis=1)
    return total


def draw_counts(counts: Whole, resamples: int, rng: np.random.Generator) -> Whole:
    """Counts of labels, and of as many labels drawn again from them."""
    n = int(counts.sum())
    return np.vstack([counts[None, :], rng.multinomial(n, counts / n, resamples)])


def draw_means(values: Array, resamples: int, rng: np.random.Generator) -> Array:
    """The mean of the values, and of as many values drawn again from them."""
    n = values.size
    means = [np.array([values.mean()])]
    at_once = max(1, _AT_ONCE // n)
    for start in range(0, resamples, at_once):
        rows = min(at_once, resamples - start)
        means.append(values[rng.integers(0, n, (rows, n))].mean(axis=1))
    return np.concatenate(means)


def slopes(x: Array, y: Array) -> Array:
    """Least-squares slope of each row of y on x."""
    away = x - x.mean()
    slope: Array = (y - y.mean(axis=1, keepdims=True)) @ away / (away @ away)
    return slope


def fit_exponential(x: Array, y: Array) -> tuple[float, float] | None:
    """(a, b) of y = a·e^(b·x) by least squares on y; None where no such curve settles."""
    from scipy.optimize import OptimizeWarning, curve_fit

    start = _start(x, y)
    if start is None:
        return None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            # Two sessions leave no degree of freedom for a covariance, which nobody needs.
            warnings.simplefilter("ignore", OptimizeWarning)
            (a, b), *_ = curve_fit(_curve, x, y, p0=start, ftol=1e-12, xtol=1e-12, gtol=1e-12)
    except (RuntimeError, ValueError):
        return None
    if not (math.isfinite(a) and math.isfinite(b)) or abs(b) > _STEEPEST:
        return None
    return float(a), float(b)


def _curve(x: Array, a: float, b: float) -> Array:
    curve: Array = a * np.exp(b * x)
    return curve


def _start(x: Array, y: Array) -> tuple[float, float] | None:
    """A line through the logarithms where they exist, else a flat curve."""
    if not np.any(y):
        return None  # with a = 0 every b fits
    if np.all(y > 0):
        logs = np.log(y)
        b = float(slopes(x, logs[None, :])[0])
        return math.exp(float(logs.mean()) - b * float(x.mean())), b
    return float(y.mean()), 0.0


def exponents(x: Array, y: Array, near: tuple[float, float]) -> Array:
    """b of y = a·e^(b·x) for each row of y, starting near a known fit.

    Gauss-Newton steps with Levenberg's damping over all rows together: a thousand calls of
    a general fitting routine would take seconds per speaker. Rows that do not settle are not
    a number.
    """
    # Around the middle session a and b hardly depend on each other.
    middle = x.mean()
    u = x - middle
    a = np.full(len(y), near[0] * math.exp(near[1] * middle))
    b = np.full(len(y), near[1])
    damping = np.full(len(y), 1e-3)
    settled = np.zeros(len(y), dtype=bool)
    with np.errstate(all="ignore"):
        cost = ((y - a[:, None] * np.exp(b[:, None] * u)) ** 2).sum(axis=1)
        for _ in range(_ROUNDS):
            power = np.exp(b[:, None] * u)
            by_b = a[:, None] * u * power
            rest = y - a[:, None] * power
            aa, ab, bb = (power**2).sum(1), (power * by_b).sum(1), (by_b**2).sum(1)
            ga, gb = (power * rest).sum(1), (by_b * rest).sum(1)
            aa, bb = aa * (1 + damping), bb * (1 + damping)
            base = aa * bb - ab**2
            step_a, step_b = (bb * ga - ab * gb) / base, (aa * gb - ab * ga) / base
            new_a, new_b = a + step_a, b + step_b
            new_cost = ((y - new_a[:, None] * np.exp(new_b[:, None] * u)) ** 2).sum(axis=1)
            better = new_cost <= cost
            settled |= np.abs(step_b) <= _SETTLED
            a, b = np.where(better, new_a, a), np.where(better, new_b, b)
            cost = np.where(better, new_cost, cost)
            damping = np.where(better, damping / 10, damping * 10)
            if settled.all():
                break
    exponents_found: Array = np.where(settled & (np.abs(b) <= _STEEPEST), b, np.nan)
    return exponents_found


def latest_of_others(session: Whole, speaker: Whole) -> Whole:
    """For each row, the last earlier row of the session by somebody else; -1 where none is."""
    n = len(session)
    places = np.arange(n)
    if not n:
        return places
    new_session = np.r_[True, session[1:] != session[:-1]]
    new_run = new_session | np.r_[True, speaker[1:] != speaker[:-1]]
    # Inside a run of one speaker, everybody else's last word stands just before the run.
    run_start = np.maximum.accumulate(np.where(new_run, places, 0))
    session_start = np.maximum.accumulate(np.where(new_session, places, 0))
    before: Whole = np.where(run_start > session_start, run_start - 1, -1)
    return before


def kth_of_others(session: Whole, speaker: Whole, who: int) -> Whole:
    """For each row, the k-th row of others where it is `who`'s k-th in the session; else -1."""
    turns = pl.DataFrame({"session": session, "own": speaker == who}).with_row_index("row")
    turns = turns.with_columns(pl.int_range(pl.len()).over("session", "own").alias("k"))
    pairs = turns.filter("own").join(turns.filter(~pl.col("own")), on=("session", "k"))
    places = np.full(len(session), -1, dtype=np.int64)
    places[pairs["row"]] = pairs["row_right"]
    return places
