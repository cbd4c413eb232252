"""Two lists of labels → how far apart their shares lie.

    jensen_shannon(["joy", "joy", "fear"], ["joy", "fear", "fear"])
    → Estimate(value=0.08, low=0.0, high=1.0, n=6)

The Jensen-Shannon divergence in bits: 0 for the same shares, 1 where no label is shared.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from realtalk.metrics.statistics import RESAMPLES, SEED, Array, Estimate, percentile_interval


def jensen_shannon(first: Sequence[str | None], second: Sequence[str | None]) -> Estimate:
    """The divergence with a bootstrap interval; labels that are None are left out and counted."""
    sides = [[label for label in side if label is not None] for side in (first, second)]
    left_out = len(first) + len(second) - len(sides[0]) - len(sides[1])
    n = len(sides[0]) + len(sides[1])
    if not sides[0] or not sides[1]:
        return Estimate(None, n=n, left_out=left_out, unscored="one side has no label")
    order = sorted(set(sides[0]) | set(sides[1]))
    counts = [
        np.array([side.count(label) for label in order], np.float64)[None, :] for side in sides
    ]
    value = float(_divergence(counts[0], counts[1])[0])
    rng = np.random.default_rng(SEED)
    drawn = [
        rng.multinomial(len(side), count[0] / len(side), RESAMPLES).astype(np.float64)
        for side, count in zip(sides, counts, strict=True)
    ]
    spread = _divergence(drawn[0], drawn[1])
    # Noise never brings two samples nearer on average: the draws are set back by their excess.
    spread = np.clip(spread - spread.mean() + value, 0.0, 1.0)
    low, high = percentile_interval(spread) or (None, None)
    return Estimate(value, low, high, n, left_out)


def _divergence(first: Array, second: Array) -> Array:
    from scipy.special import rel_entr

    p, q = (side / side.sum(axis=1, keepdims=True) for side in (first, second))
    middle = (p + q) / 2
    nats = (rel_entr(p, middle) + rel_entr(q, middle)).sum(axis=1) / 2
    divergence: Array = (nats / np.log(2)).clip(0.0, 1.0)
    return divergence
