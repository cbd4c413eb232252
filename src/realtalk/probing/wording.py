"""The prompts of memory probing: text files with placeholders, in versions.

    wording = load_wording()                      → version "1", ours
    wording = load_wording(Path("my-prompts"))    → version "sha256:3f2a9c1b04d2"
    wording.fill("answer", speakers="Mara and Theo", context="…", question="…")

`answer` is what a reader is asked, `answer_or_abstain` where a corpus also has questions that
the chat does not tell; `judge_lenient` and `judge_strict` are what a judge is asked. A user's
folder may hold any of them; ours stand in for the rest. The hash is over all as used.
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
from realtalk.registry import suggest

__all__ = ["WORDING_VERSION", "Wording", "load_wording"]

WORDING_VERSION = "1"
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
    """Our prompts, those in `folder` replaced by the user's own."""
    ours = files("realtalk.probing").joinpath("prompts", WORDING_VERSION)
    texts = {name: ours.joinpath(f"{name}.md").read_text("utf-8").strip() for name in _NEEDED}
    if folder is None:
        return Wording(WORDING_VERSION, MappingProxyType(texts))
    texts |= _replacements(folder)
    digest = hashlib.sha256()
    for name in _NEEDED:
        digest.update(f"{name}\0{texts[name]}\0".encode())
    return Wording(f"sha256:{digest.hexdigest()[:12]}", MappingProxyType(texts))


def _replacements(folder: Path) -> dict[str, str]:
    names = ", ".join(f"{name}.md" for name in _NEEDED)
    if not folder.is_dir():
        raise RealtalkError(
            "no such folder of prompts", where=str(folder), fix=f"it holds any of {names}"
        )
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.md")):
        if path.stem.lower() == "readme":
            continue
        if path.stem not in _NEEDED:
            raise suggest("prompt", path.stem, list(_NEEDED))
        try:
            text = path.read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise RealtalkError(
                "the prompt cannot be read", where=str(path), fix="save it as UTF-8 text"
            ) from error
        if lacking := [each for each in _NEEDED[path.stem] if f"{{{each}}}" not in text]:
            raise RealtalkError(
                f"the prompt does not show the {lacking[0]}",
                where=str(path),
                fix=f"put {{{lacking[0]}}} into it",
            )
        unknown = set(_PLACEHOLDER.findall(text)) - {*_NEEDED[path.stem], "speakers"}
        if unknown or (path.stem.startswith("judge") and "{speakers}" in text):
            raise RealtalkError("the prompt has a placeholder of another one", where=str(path))
        found[path.stem] = text
    if not found:
        raise RealtalkError("no prompt in the folder", where=str(folder), fix=f"name it: {names}")
    return found
