"""What there is to predict in a corpus → tables for people.

count_tables(counts)    → [("what there is to predict", ("what", "count"), rows), …]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from realtalk.threads.values import Counts


def count_tables(counts: Counts) -> list[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]]:
    """(title, headings, rows): what there is, class weights and domains, and what was left."""
    shares = [
        (f"{part}: share of scores above 0", round(share, 4))
        for part, share in counts.positive.items()
    ]
    sizes: list[tuple[Any, ...]] = [
        ("threads", counts.threads),
        ("comments", counts.comments),
        ("users", counts.users),
        ("train replies", counts.train),
        ("test replies", counts.test),
        ("test replies without earlier history", counts.without_history),
        *shares,
        *((f"class weight, {name}", round(value, 3)) for name, value in counts.weights.items()),
    ]
    found: list[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]] = [
        ("what there is to predict", ("what", "count"), sizes),
        ("domains of the test part", ("domain", "replies"), _pairs(counts.domains)),
    ]
    if counts.skipped:
        found.append(("comments not asked about", ("why", "comments"), _pairs(counts.skipped)))
    if counts.left_out:
        found.append(("threads left out", ("why", "threads"), _pairs(counts.left_out)))
    return found


def _pairs(counted: Mapping[str, int]) -> list[tuple[Any, ...]]:
    return [(name or "(none)", count) for name, count in counted.items()]
