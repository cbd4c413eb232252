"""The models inside this package: what they are, and on which terms they may be used.

    shipped()[0]    → Shipped("ei", "the embedded EI encoder", "2", terms="Apache-2.0 as the …", …)
    print(shipped()[0].text)    # its card: what it learned from, how well it does, its limits

A card lies beside its weights and is the only place that says these things.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import realtalk_models

_NAMES = ("ei", "ei_multilingual", "memory", "names")
_HEAD = re.compile(r"# Model card: (?P<title>.+), version (?P<version>\S+)\n")
_TERMS = re.compile(r"^- \*\*Terms\*\*: (?P<terms>.+?)(?=\n-|\n\n)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Shipped:
    """A model, its terms in a line, and where its card and weights lie."""

    name: str
    title: str
    version: str
    terms: str
    size: int
    card: Path
    text: str


def shipped() -> tuple[Shipped, ...]:
    """Every model in the package."""
    return tuple(_read(name) for name in _NAMES if has_weights(name))


def has_weights(name: str) -> bool:
    """Whether a model's weights are in this package."""
    return (realtalk_models.path(name) / "model.onnx").is_file()


def _read(name: str) -> Shipped:
    folder = realtalk_models.path(name)
    text = (folder / "card.md").read_text("utf-8")
    head, terms = _HEAD.match(text), _TERMS.search(text)
    version = str(json.loads((folder / "settings.json").read_text("utf-8"))["version"])
    assert head is not None and terms is not None and head["version"] == version
    first = " ".join(terms["terms"].split()).partition(". ")[0].rstrip(".")
    size = (folder / "model.onnx").stat().st_size
    return Shipped(name, head["title"], version, first, size, folder / "card.md", text)
