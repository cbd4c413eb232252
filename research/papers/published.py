"""What the REALTALK paper prints of its corpus and its speakers, as numbers.

    TABLE_1["REALTALK"]["tokens"]           → 17109.8
    TABLE_5["Chat_1_Emi_Elise"]["words"]    → 17341
    TABLE_7["Chat_4_Emi_Paola", "Emi"]      → {"reflective_frequency": 0.08, ...}
    CIRCLES["emi"]                          → 2: who shares a chat with whom, directly or not

The numbers are in `published.toml`, row by row as they are printed.
"""

from __future__ import annotations

import tomllib
from collections.abc import Hashable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

import numpy as np

from realtalk.ei.told_apart import circles
from realtalk.metrics.statistics import Array

Key = TypeVar("Key", bound=Hashable)
SpeakerKey: TypeAlias = tuple[str, str]  # chat and speaker

_PRINTED = tomllib.loads(Path(__file__).with_name("published.toml").read_text("utf-8"))


def _rows(table: str, rows: Mapping[Key, list[Any]]) -> Mapping[Key, Mapping[str, Any]]:
    """The rows of a table, each with its values by column."""
    columns = _PRINTED[table]["columns"]
    return MappingProxyType(
        {key: MappingProxyType(dict(zip(columns, row, strict=True))) for key, row in rows.items()}
    )


TABLE_1: Mapping[str, Mapping[str, float]] = _rows("table_1", _PRINTED["table_1"]["rows"])
SECTION_5_1: Mapping[str, tuple[float, int]] = MappingProxyType(_PRINTED["section_5_1"])
TEXT_QUESTIONS: Mapping[str, int] = MappingProxyType(_PRINTED["text"]["questions"])
TEXT_TOTAL: int = _PRINTED["text"]["total"]
TABLE_5: Mapping[str, Mapping[str, int]] = _rows("table_5", _PRINTED["table_5"]["rows"])
TABLE_6: Mapping[str, Mapping[str, int]] = _rows("table_6", _PRINTED["table_6"]["rows"])
TABLE_7: Mapping[SpeakerKey, Mapping[str, float]] = _rows(
    "table_7",
    {
        (chat, speaker): row
        for chat, speakers in _PRINTED["table_7"]["rows"].items()
        for speaker, row in speakers.items()
    },
)
CHATS = tuple(TABLE_5)  # in the order of the published files
ABBREVIATIONS: frozenset[str] = frozenset(_PRINTED["noise"]["words"])


def _circles() -> dict[str, int]:
    people: dict[str, set[str]] = {}
    for chat, speaker in TABLE_7:
        people.setdefault(chat, set()).add(speaker.casefold())
    numbers = circles([frozenset(names) for names in people.values()])
    order = {number: place for place, number in enumerate(dict.fromkeys(numbers), 1)}
    return {
        name: order[number]
        for names, number in zip(people.values(), numbers, strict=True)
        for name in names
    }


CIRCLES: Mapping[str, int] = MappingProxyType(_circles())  # by speaker


def printed_column(facet: str) -> Array:
    """A facet of Table 7's speakers, as printed."""
    return np.array([row[facet] for row in TABLE_7.values()])
