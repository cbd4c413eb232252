"""The prompts of memory probing: text files with placeholders, in versions.

    wording = load_wording()                      → version "2", ours
    wording = load_wording(Path("1"))             → version "1", as we asked before
    wording = load_wording(Path("my-prompts"))    → version "sha256:3f2a9c1b04d2"
    wording.fill("answer", speakers="Mara and Theo", context="…", question="…")

`answer` is what a reader is asked, `answer_or_abstain` where a corpus also has questions that
the chat does not tell; `judge_lenient` and `judge_strict` are what a judge is asked. A user's
folder may hold any of them; ours stand in for the rest. The hash is over all as used.

Version 2 differs from 1 in `answer_or_abstain` alone: it also speaks of questions that take for
granted what was never said, as LongMemEval's do. A run that began with version 1 goes on with it
(`--prompts 1`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from realtalk.errors import RealtalkError
from realtalk.evals.prompts import load_texts

__all__ = ["WORDING_VERSION", "Wording", "load_wording"]

WORDING_VERSION = "2"
_EARLIER = ("1",)
_ANSWERING = ("context", "question")
_JUDGING = ("question", "gold", "answer")
_NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "answer": _ANSWERING,
        "answer_or_abstain": _ANSWERING,
        "judge_lenient": _JUDGING,
        "judge_strict": _JUDGING,
    }
)
_PLACEHOLDER = re.compile(r"\{(speakers|context|question|gold|answer)\}")


@dataclass(frozen=True, slots=True)
class Wording:
    """One text a use, and the version that names them all."""

    version: str
    texts: Mapping[str, str]

    def fill(self, name: str, **values: str) -> str:
        """The text with its placeholders filled in one pass: a chat about {gold} stays as it is."""
        return _PLACEHOLDER.sub(lambda found: values[found[1]], self.texts[name])


def load_wording(folder: Path | None = None) -> Wording:
    """Our prompts, those in `folder` replaced by the user's own; or an earlier version of ours."""
    ours = WORDING_VERSION
    if folder is not None and str(folder) in (*_EARLIER, ours) and not folder.is_dir():
        ours, folder = str(folder), None
    version, texts = load_texts("realtalk.memory", ours, _NEEDED, folder)
    for name, text in texts.items():
        unknown = set(_PLACEHOLDER.findall(text)) - {*_NEEDED[name], "speakers"}
        if unknown or (name.startswith("judge") and "{speakers}" in text):
            raise RealtalkError(
                "the prompt has a placeholder of another one", where=str(folder and folder / name)
            )
    return Wording(version, {name: text.strip() for name, text in texts.items()})
