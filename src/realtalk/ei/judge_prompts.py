"""The judge's rubrics: text files with three placeholders, in versions.

    rubrics = load_rubrics()                     → version "1", ours
    rubrics = load_rubrics(Path("my-prompts"))   → version "sha256:3f2a9c1b04d2"
    rubric_text(rubrics, "grounding", given)     → the text that the model is shown

A file is named after its measure (`grounding.md`) and holds {turn}, and where it wants
them {speaker} and {history}.
"""

from __future__ import annotations

from pathlib import Path

from realtalk.ei.labels import MEASURES, TurnInput
from realtalk.evals.prompts import Prompts, load_prompts

_VERSION = "1"
_START = "(the session starts with the turn)"


def load_rubrics(folder: Path | None = None) -> Prompts:
    """Our rubrics, those in `folder` replaced by the user's own."""
    needed = dict.fromkeys(MEASURES, ("turn",))
    optional = ("speaker", "history")
    return load_prompts("realtalk.ei", _VERSION, needed, optional, folder, strip=False)


def rubric_text(rubrics: Prompts, measure: str, turn: TurnInput) -> str:
    """The rubric about one turn, with the session up to it and nothing later."""
    # Later lines are set in, so that no message can pass for another speaker's.
    lines = [f"{speaker}: " + text.replace("\n", "\n  ") for speaker, text in turn.history]
    history = "\n".join(lines) or _START
    return rubrics.fill(measure, history=history, speaker=turn.speaker, turn=turn.text)
