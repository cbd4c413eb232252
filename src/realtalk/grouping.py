"""Pairs of a key and a value → the values of every key.

grouped([("mara", 1), ("theo", 2), ("mara", 3)])    → {"mara": [1, 3], "theo": [2]}
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Keys and values stand in the order in which they come."""
    groups: dict[K, list[V]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
