"""The judge's rubrics: text files with three placeholders, in versions.

    prompts = load_prompts()                     → version "1", ours
    prompts = load_prompts(Path("my-prompts"))   → version "sha256:3f2a9c1b04d2"
    prompts.fill("grounding", given)             → the text that the model is shown

A file is named after its measure (`grounding.md`) and holds {turn}, and where it wants
them {speaker} and {history}. A user's folder may hold any of the six; ours stand in for
the rest. The hash is over all six as used, so that it says what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from realtalk.ei.labels import MEASURES, TurnInput
from realtalk.evals.prompts import load_texts

__all__ = ["PROMPTS_VERSION", "Rubrics", "load_prompts"]

PROMPTS_VERSION = "1"
_PLACEHOLDER = re.compile(r"\{(history|speaker|turn)\}")
_START = "(the session starts with the turn)"


@dataclass(frozen=True, slots=True)
class Rubrics:
    """One rubric per measure, and the version that names them all."""

    version: str
    texts: Mapping[str, str]

    def fill(self, measure: str, turn: TurnInput) -> str:
        """The rubric about one turn, with the session up to it and nothing later."""
        history = "\n".join(f"{speaker}: {_lines(text)}" for speaker, text in turn.history)
        values = {"history": history or _START, "speaker": turn.speaker, "turn": turn.text}
        # One pass: a chat that talks about {turn} stays as it is.
        return _PLACEHOLDER.sub(lambda found: values[found[1]], self.texts[measure])


def load_prompts(folder: Path | None = None) -> Rubrics:
    """Our rubrics, those in `folder` replaced by the user's own."""
    needed = dict.fromkeys(MEASURES, ("turn",))
    return Rubrics(*load_texts("realtalk.ei", PROMPTS_VERSION, needed, folder))


def _lines(text: str) -> str:
    """Later lines are set in, so that no message can pass for another speaker's."""
    return text.replace("\n", "\n  ")
