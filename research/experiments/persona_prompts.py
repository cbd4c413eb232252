"""The file of prompts that persona_prepare.py makes → what a set, a part and a speaker hold.

    prompts = Prompts(path, limit=None)
    prompts.speakers("k3")                  → ["Emi", "elise", …]
    prompts.rows("n25", "learn", "Emi")     → the last 25 turns of the set "curve"
    prompts.has("k3", "retrieved")          → True

A way of writing is a field of the prompts, with an adapter or without.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Way:
    """How a model is asked; `simulator` is what its runs are called."""

    field: str
    tuned: bool
    simulator: str


# In the order of how much each is wanted.
WAYS = {
    "tuned+retrieved": Way("retrieved", True, "tuned retrieved"),
    "local": Way("text", False, "local"),
    "tuned": Way("text", True, "tuned"),
    "retrieved": Way("retrieved", False, "local retrieved"),
    "styled": Way("styled", False, "local styled"),
    "swapped": Way("text", True, "tuned on another"),
}
SWAPPED = "swapped"  # written with the next speaker's adapter: does it matter whose it is?
_MAIN, _CURVE = "k", "n"  # how the names of sets begin; a sweep comes last


class Prompts:
    """Rows of prompts and what the head says of their sets."""

    def __init__(self, path: Path, limit: int | None = None) -> None:
        with lzma.open(path, "rt", encoding="utf-8") as stream:
            self.head: dict[str, Any] = json.loads(next(stream))
            self._rows: list[Row] = [json.loads(line) for line in stream]
        self._limit = limit

    def sets(self) -> list[str]:
        """Those of all speakers first, then the curve from its ends inwards, then a sweep."""
        known = list(self.head["sets"])
        curve = sorted((name for name in known if name[0] == _CURVE), key=lambda n: int(n[1:]))
        ends = [curve.pop(0 if at % 2 == 0 else -1) for at in range(len(curve))]
        main = sorted(name for name in known if name[0] == _MAIN)
        base = [name for name in known if any(self._source(n) == name != n for n in curve + ends)]
        rest = [name for name in known if name not in (*main, *base, *ends)]
        return [*main, *base, *ends, *rest]

    def speakers(self, name: str) -> list[str]:
        return list(self.head["sets"][name]["chats"])

    def rows(self, name: str, part: str, speaker: str) -> list[Row]:
        source = self._source(name)
        found = [
            row
            for row in self._rows
            if row["set"] == source and row["part"] == part and row["speaker"] == speaker
        ]
        if part == "learn" and (turns := self.head["sets"][name].get("turns")):
            found = found[-turns:]
        return found[: self._limit]

    def other(self, name: str, speaker: str) -> str:
        """The speaker after this one, whose adapter is tried in their place."""
        speakers = self.speakers(name)
        return speakers[(speakers.index(speaker) + 1) % len(speakers)]

    def has(self, name: str, field: str) -> bool:
        source = self._source(name)
        return any(field in row for row in self._rows if row["set"] == source)

    def about(self, name: str, speakers: Sequence[str]) -> dict[str, Any]:
        """Context and chats, of these speakers."""
        told = self.head["sets"][name]
        chats = {who: both for who, both in told["chats"].items() if who in speakers}
        return {"context": told["context"], "chats": chats}

    def _source(self, name: str) -> str:
        return str(self.head["sets"][name].get("of", name))
