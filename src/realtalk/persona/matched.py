"""What two models wrote at the same turns → the first's, with as many words as both have.

    MatchedSimulator(rows=Path("untuned.jsonl"), to=Path("tuned.jsonl")).solve(prompts)
    untuned "Oh no, that sounds terrible! I am so sorry", tuned "oh no"   → "Oh no,"

A model that learns when to stop writes turns of the right length, and much that is counted rewards
that alone. With both sides cut to the words of the shorter, turn by turn, only the content differs:
compare `rows=A to=B` with `rows=B to=A`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent
from realtalk.persona.values import Learning, Settings, TurnPrompt
from realtalk.persona.written import WrittenSimulator

_WORD = re.compile(r"\S+")


class MatchedSimulator:
    """Rows of one file, cut to the words of another's."""

    def __init__(self, *, rows: Path, to: Path) -> None:
        self._own = WrittenSimulator(rows=rows)
        self._other = WrittenSimulator(rows=to)
        self.name = f"{self._own.name} matched"
        self.version = self._own.version

    @property
    def settings(self) -> Settings:
        return {**self._own.settings, "to_rows_sha256": self._other.settings["rows_sha256"]}

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        self._own.prepare(learning, progress)
        self._other.prepare(learning, progress)

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        own, other = (side.solve(shown, progress) for side in (self._own, self._other))
        return [_cut(*both) for both in zip(own, other, strict=True)]


def _cut(own: Answer[str], other: Answer[str]) -> Answer[str]:
    if own.value is None:
        return own
    if other.value is None:
        return Answer(None, "nothing to match", own.cost)
    words = list(_WORD.finditer(own.value))[: len(other.value.split())]
    return replace(own, value=own.value[: words[-1].end()])
