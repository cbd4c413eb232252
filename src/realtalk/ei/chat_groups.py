"""Speakers' values by chat → tests and intervals in which chats are what is counted.

    chats = by_chat(speakers, [who["empathy"].value for who in speakers])
    → [[0.4, 0.7], [1.1, 0.9], ...]        of each chat the values of its speakers
    t_test(chats, others)                  → 0.03, over the chats' means
    drawn_interval([chats], mean_of)       → (0.5, 0.9), drawing whole chats

The speakers of a chat talk to each other and are alike: counted one by one they would make chance
look smaller than it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from realtalk.ei.values import SpeakerFacets
from realtalk.metrics.statistics import Array, bootstrap_interval

Chats: TypeAlias = Sequence[Sequence[float]]  # of each chat the values of its speakers


def by_chat(speakers: Sequence[SpeakerFacets], values: Sequence[float | None]) -> Chats:
    """What the speakers of each chat have, without those who have nothing."""
    chats: dict[str, list[float]] = {}
    for who, value in zip(speakers, values, strict=True):
        if value is not None:
            chats.setdefault(who.chat, []).append(value)
    return list(chats.values())


def chat_means(chats: Chats) -> Array:
    """What every chat stands for in a test."""
    return np.array([np.mean(values) for values in chats])


def t_test(a: Chats, b: Chats) -> float | None:
    """Of distances from the corpus median this is Brown and Forsythe's test: F is t squared."""
    from scipy import stats

    one, other = chat_means(a), chat_means(b)
    freedom = one.size + other.size - 2
    around = float(((one - one.mean()) ** 2).sum() + ((other - other.mean()) ** 2).sum())
    # Equal values leave only what rounding makes of them, and no test.
    if around <= 1e-12 * float((one**2).sum() + (other**2).sum()):
        return None
    error = math.sqrt(around / freedom * (1 / one.size + 1 / other.size))
    return float(2 * stats.t.sf(abs(one.mean() - other.mean()) / error, freedom))


def drawn_interval(
    sides: Sequence[Chats], figure: Callable[..., Array]
) -> tuple[float, float] | tuple[None, None]:
    """The interval of a figure of the sums (n, x, x²) of each side, drawing whole chats."""
    sums = [np.array([(len(v), np.sum(v), np.dot(v, v)) for v in side]) for side in sides]

    def drawn(*places: Array, axis: int = -1) -> Array:
        # Counted from the end, the sums of a chat come behind the axis of the drawn chats.
        pairs = zip(sums, places, strict=True)
        picked = (own[at.astype(int)].sum(axis=axis - 1) for own, at in pairs)
        return figure(*picked)

    places = [np.arange(len(side), dtype=np.float64) for side in sides]
    return bootstrap_interval(places, drawn) or (None, None)


def mean_of(sums: Array) -> Array:
    """A figure of sums: the mean over speakers."""
    mean: Array = sums[..., 1] / sums[..., 0]
    return mean


def variance_of(sums: Array) -> Array:
    """A figure of sums: the variance over speakers."""
    n, total, squares = np.moveaxis(sums, -1, 0)
    around = squares - total**2 / n
    # Equal values leave only what rounding makes of them.
    variance: Array = np.where(around > 1e-12 * squares, around, 0.0) / (n - 1)
    return variance
