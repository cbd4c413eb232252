"""The models that ship: what they are, on which terms they may be used, what they learned from.

    shipped_models()[0]    → ShippedModel("ei", "the embedded EI encoder", "2", terms="Apache-…", …)
    print(shipped_models()[0].text)    # its card: what it learned from, how well it does, limits
    learned = LearnedTexts.of("memory")
    learned.text("What did Ada Lovelace write first?")       → None, or "LoCoMo": a published set
    learned.chat(message.text for message in chat.messages)  → None, or "LoCoMo"

A card lies beside its weights and is the only place that says these things. A score on what a model
learned from says little about other chats, so whoever scores asks `LearnedTexts` first. A text is
known by its letters and digits alone: not by a file's name or format, case, punctuation or spaces.
A chat is known by a share of its messages, so that a part of it, or a copy with other names, is
known too. `learned.npz` beside a model holds hashes, no text.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

import realtalk_models

ShippedName = Literal["memory", "ei", "ei_multilingual"]

_FEWEST_WORDS = 5  # "ok thanks" is in every chat
_FEWEST_KNOWN = 5
_SHARE = 0.2  # of a chat's longer messages; unseen chats: below .01
_NAMES = ("ei", "ei_multilingual", "memory", "names")
_HEAD = re.compile(r"# Model card: (?P<title>.+), version (?P<version>\S+)\n")
_TERMS = re.compile(r"^- \*\*Terms\*\*: (?P<terms>.+?)(?=\n-|\n\n)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class ShippedModel:
    """A model, its terms in a line, and where its card and weights lie."""

    name: str
    title: str
    version: str
    terms: str
    size: int
    card: Path
    text: str


def shipped_models() -> tuple[ShippedModel, ...]:
    """Every model in the package."""
    return tuple(_read(name) for name in _NAMES if has_weights(name))


def has_weights(name: str) -> bool:
    """Whether a model's weights are in this package."""
    return (realtalk_models.path(name) / "model.onnx").is_file()


def _read(name: str) -> ShippedModel:
    folder = realtalk_models.path(name)
    text = (folder / "card.md").read_text("utf-8")
    head, terms = _HEAD.match(text), _TERMS.search(text)
    version = str(json.loads((folder / "settings.json").read_text("utf-8"))["version"])
    assert head is not None and terms is not None and head["version"] == version
    first = " ".join(terms["terms"].split()).partition(". ")[0].rstrip(".")
    size = (folder / "model.onnx").stat().st_size
    return ShippedModel(name, head["title"], version, first, size, folder / "card.md", text)


def fingerprint(text: str) -> int | None:
    """A hash of the text's letters and digits; None of one that is too short to be known by."""
    if len(text.split()) < _FEWEST_WORDS:
        return None
    folded = unicodedata.normalize("NFKC", text).casefold()
    letters = "".join(filter(str.isalnum, folded))
    return int.from_bytes(hashlib.blake2b(letters.encode(), digest_size=4).digest(), "little")


@dataclass(frozen=True)
class LearnedTexts:
    """The sets that one shipped model learned from, as sorted hashes of their texts."""

    sets: Mapping[str, npt.NDArray[np.uint32]]

    @staticmethod
    @cache
    def of(model: ShippedName) -> LearnedTexts:
        """What the shipped model of that name learned from."""
        packed = realtalk_models.path(model) / "learned.npz"
        with np.load(packed, allow_pickle=False) as archive:
            return LearnedTexts({name: archive[name] for name in archive.files})

    def text(self, text: str) -> str | None:
        """The set that the text is part of."""
        key = fingerprint(text)
        return None if key is None else self._set_of(key)

    def chat(self, texts: Iterable[str]) -> str | None:
        """The set that most of a chat's known messages are part of, where there are enough."""
        prints = {key for text in texts if (key := fingerprint(text)) is not None}
        counts = Counter(name for key in prints if (name := self._set_of(key)) is not None)
        if not counts:
            return None
        name, count = counts.most_common(1)[0]
        return name if count >= _FEWEST_KNOWN and count >= _SHARE * len(prints) else None

    def _set_of(self, key: int) -> str | None:
        for name, hashes in self.sets.items():
            at = np.searchsorted(hashes, np.uint32(key))
            if key in hashes[at : at + 1]:
                return name
        return None
