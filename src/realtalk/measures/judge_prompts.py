"""The judge's rubrics: text files with three placeholders, in versions.

    prompts = load_prompts()                     → version "1", ours
    prompts = load_prompts(Path("my-prompts"))   → version "sha256:3f2a9c1b04d2"
    prompts.fill("grounding", given)             → the text that the model is shown

A file is named after its measure (`grounding.md`) and holds {turn}, and where it wants
them {speaker} and {history}. A user's folder may hold any of the six; ours stand in for
the rest. The hash is over all six as used, so that it says what was asked.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType

from realtalk.errors import RealtalkError
from realtalk.measures.labels import MEASURES, TurnInput
from realtalk.registry import suggest

__all__ = ["PROMPTS_VERSION", "Prompts", "load_prompts"]

PROMPTS_VERSION = "1"
_PLACEHOLDER = re.compile(r"\{(history|speaker|turn)\}")
_START = "(the session starts with the turn)"


@dataclass(frozen=True, slots=True)
class Prompts:
    """One rubric a measure, and the version that names them all."""

    version: str
    texts: Mapping[str, str]

    def fill(self, measure: str, given: TurnInput) -> str:
        """The rubric about one turn, with the session up to it and nothing later."""
        history = "\n".join(f"{speaker}: {_lines(text)}" for speaker, text in given.history)
        values = {"history": history or _START, "speaker": given.speaker, "turn": given.text}
        # One pass: a chat that talks about {turn} stays as it is.
        return _PLACEHOLDER.sub(lambda found: values[found[1]], self.texts[measure])


def load_prompts(folder: Path | None = None) -> Prompts:
    """Our rubrics, those in `folder` replaced by the user's own."""
    ours = files("realtalk.measures").joinpath("prompts", PROMPTS_VERSION)
    texts = {measure: ours.joinpath(f"{measure}.md").read_text("utf-8") for measure in MEASURES}
    if folder is None:
        return Prompts(PROMPTS_VERSION, MappingProxyType(texts))
    texts |= _replacements(folder)
    digest = hashlib.sha256()
    for measure in MEASURES:
        digest.update(f"{measure}\0{texts[measure]}\0".encode())
    return Prompts(f"sha256:{digest.hexdigest()[:12]}", MappingProxyType(texts))


def _replacements(folder: Path) -> dict[str, str]:
    names = ", ".join(f"{measure}.md" for measure in MEASURES)
    if not folder.is_dir():
        raise RealtalkError(
            "no such folder of prompts", where=str(folder), fix=f"it holds any of {names}"
        )
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.md")):
        if path.stem.lower() == "readme":
            continue
        if path.stem not in MEASURES:
            raise suggest("prompt", path.stem, list(MEASURES))
        try:
            text = path.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise RealtalkError(
                "the prompt cannot be read", where=str(path), fix="save it as UTF-8 text"
            ) from error
        if "{turn}" not in text:
            raise RealtalkError(
                "the prompt does not show the turn", where=str(path), fix="put {turn} into it"
            )
        found[path.stem] = text
    if not found:
        raise RealtalkError("no prompt in the folder", where=str(folder), fix=f"name it: {names}")
    return found


def _lines(text: str) -> str:
    """Later lines are set in, so that no message can pass for another speaker's."""
    return text.replace("\n", "\n  ")
