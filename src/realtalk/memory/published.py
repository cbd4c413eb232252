"""What the REALTALK paper reports of memory probing, to stand beside what is measured here.

    TABLE_3[0]    → Published("gpt-4o-mini", "whole", f1={"multi_hop": 0.301, ...}, ...)

Table 3 of arXiv:2502.13270: partial-match F1 and accuracy by gpt-4o-mini as judge, over the
728 questions of ten chats. It gives no intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from realtalk.files.download import DATASETS

_CATEGORIES = ("multi_hop", "temporal", "commonsense")


class Published(NamedTuple):
    """One line of the table. `memory` is our name for its input: C is whole, E is events."""

    model: str
    memory: str
    f1: Mapping[str, float]
    accuracy: Mapping[str, float]


def _line(model: str, memory: str, f1: tuple[float, ...], accuracy: tuple[float, ...]) -> Published:
    return Published(
        model,
        memory,
        MappingProxyType(dict(zip(_CATEGORIES, f1, strict=True))),
        MappingProxyType(dict(zip(_CATEGORIES, accuracy, strict=True))),
    )


TABLE_3 = (
    _line("gpt-4o-mini", "whole", (0.301, 0.355, 0.190), (0.528, 0.549, 0.599)),
    _line("gpt-4o-mini", "events", (0.177, 0.266, 0.142), (0.253, 0.424, 0.400)),
    _line("gpt-4o", "whole", (0.348, 0.437, 0.221), (0.519, 0.737, 0.621)),
    _line("gpt-4o", "events", (0.186, 0.271, 0.138), (0.266, 0.501, 0.348)),
)


def are_published(chats: Iterable[str]) -> bool:
    """Whether these are the chats (or some of them) that the table is about."""
    names = {file.name.removesuffix(".json") for file in DATASETS["realtalk"].files}
    return names.issuperset(chats)
