"""The models that ship: what they are, on which terms they may be used, what they learned from.

    shipped_models()[0]    → ShippedModel("ei", ModelTerms("the embedded EI encoder", "2", …), …)
    shipped_models()[0].terms.licence  → "Apache-2.0 AND LicenseRef-realtalk-research"
    print(shipped_models()[0].text)    # its card: what it learned from, how well it does, limits
    learned = LearnedTexts.of("memory")
    learned.text("What did Ada Lovelace write first?")       → None, or "LoCoMo": a published set
    learned.chat(message.text for message in chat.messages)  → None, or "LoCoMo"

What they learned from stands in `realtalk_models/terms.toml`, once; a card beside a model's weights
says the rest. A score on what a model learned from says little about other chats, so whoever scores
asks `LearnedTexts` first. A text is known by its letters and digits alone: not by a file's name or
format, case, punctuation or spaces. A chat is known by a share of its messages, so that a part of
it, or a copy with other names, is known too. `learned.npz` beside a model holds hashes, no text.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

import realtalk_models

ShippedName = Literal["memory", "memory_multilingual", "ei", "ei_multilingual"]

_FEWEST_WORDS = 5  # "ok thanks" is in every chat
_FEWEST_KNOWN = 5
_SHARE = 0.2  # of a chat's longer messages; unseen chats: below .01
_COMMENT = re.compile(r"<!--.*?-->\n?")
OURS = "Apache-2.0"
RESEARCH = "LicenseRef-realtalk-research"  # LICENSES/ has its text


class TextSet(NamedTuple):
    """Texts that a model learned from, and `files`, the beginnings of their paths in training."""

    name: str
    address: str
    licence: str
    is_open: bool
    files: tuple[str, ...]
    note: str = ""


class ModelTerms(NamedTuple):
    """What a model began as and learned from; `sets` are its own, `inherited` those of its base.

    `file` has its weights: beside its card, or below `src` for what is no model and has none.
    """

    title: str
    version: str
    file: str
    base: str
    sets: Mapping[str, TextSet]
    inherited: Mapping[str, TextSet]

    @property
    def all_sets(self) -> dict[str, TextSet]:
        """The sets that it learned from, by itself or by what it began as."""
        return {**self.inherited, **self.sets}

    @property
    def licence(self) -> str:
        """An SPDX expression: ours alone where every set is open."""
        is_open = all(each.is_open for each in self.all_sets.values())
        return OURS if is_open else f"{OURS} AND {RESEARCH}"

    def __str__(self) -> str:
        told = f"{sum(it.is_open for it in self.all_sets.values())} of {len(self.all_sets)}"
        return f"{self.licence}: {told} sets that it learned from are open"


@cache
def terms() -> dict[str, ModelTerms]:
    """The terms of every model in the package, and of what else was made of others' texts."""
    told = tomllib.loads(realtalk_models.path("terms.toml").read_text("utf-8"))
    sets = {}
    for id_, each in told["sets"].items():
        is_open = all(part in told["open"] for part in each["licence"].split(" AND "))
        sets[id_] = TextSet(**each | {"files": tuple(each["files"])}, is_open=is_open)
    found: dict[str, ModelTerms] = {}
    for name, model in (told["models"] | told["words"]).items():
        bases, began = told["bases"] | {"": ""}, model.get("base", "")
        inherited = {} if began in bases else found[began].all_sets
        parts = [bases.get(began, f"{began}, with all that it learned from")]
        parts += [f"following {bases[each]}" for each in model.get("teachers", ())]
        found[name] = ModelTerms(
            title=model["title"],
            version=model["version"],
            file=model["file"],
            base="; ".join(filter(None, parts)) or "none",
            sets={id_: sets[id_] for id_ in model["sets"]},
            inherited=inherited,
        )
    return found


class ShippedModel(NamedTuple):
    """A model, its terms, and where its card and weights lie."""

    name: str
    terms: ModelTerms
    size: int
    card: Path
    text: str


def shipped_models() -> tuple[ShippedModel, ...]:
    """Every model in the package."""
    files = {name: realtalk_models.path(name) / it.file for name, it in terms().items()}
    return tuple(_read(name, file) for name, file in files.items() if file.is_file())


def has_weights(name: str) -> bool:
    """Whether a model's weights are in this package."""
    return (realtalk_models.path(name) / "model.onnx").is_file()


def _read(name: str, file: Path) -> ShippedModel:
    card = file.with_name("card.md")
    text = _COMMENT.sub("", card.read_text("utf-8"))
    return ShippedModel(name, terms()[name], file.stat().st_size, card, text)


def fingerprint(text: str) -> int | None:
    """A hash of the text's letters and digits; None of one that is too short to be known by."""
    if len(text.split()) < _FEWEST_WORDS:
        return None
    folded = unicodedata.normalize("NFKC", text).casefold()
    letters = "".join(filter(str.isalnum, folded))
    return int.from_bytes(hashlib.blake2b(letters.encode(), digest_size=4).digest(), "little")


@dataclass(frozen=True)
class LearnedTexts:
    """The sets that shipped models learned from, as sorted hashes of their texts."""

    sets: Mapping[str, npt.NDArray[np.uint32]]

    @staticmethod
    @cache
    def of(*models: ShippedName) -> LearnedTexts:
        """What the shipped models of these names learned from."""
        sets: dict[str, npt.NDArray[np.uint32]] = {}
        for model in models:
            packed = realtalk_models.path(model) / "learned.npz"
            with np.load(packed, allow_pickle=False) as archive:
                for name, hashes in archive.items():
                    sets[name] = np.union1d(sets.get(name, hashes), hashes)
        return LearnedTexts(sets)

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
