"""What the shipped models learned from: texts → the published set that they are part of.

    learned = Learned.of("memory")
    learned.text("What did Ada Lovelace write first?")       → None, or "LoCoMo"
    learned.chat(message.text for message in chat.messages)  → None, or "LoCoMo"

A score on what a model learned from says little about other chats, so whoever scores asks here
first. A text is known by its letters and digits alone: not by a file's name or format, nor by
case, punctuation or spaces. A chat is known by a share of its messages, so that a part of it, or
a copy with other names, is known too. `learned.npz` beside a model holds hashes, no text;
research/training/learned.py makes it.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

import realtalk_models

ShippedName = Literal["memory", "ei", "ei_multilingual"]

_FEWEST_WORDS = 5  # "ok thanks" is in every chat
_FEWEST_KNOWN = 5
_SHARE = 0.2  # of a chat's longer messages; unseen chats: below .01


def fingerprint(text: str) -> int | None:
    """A hash of the text's letters and digits; None of one that is too short to be known by."""
    if len(text.split()) < _FEWEST_WORDS:
        return None
    folded = unicodedata.normalize("NFKC", text).casefold()
    letters = "".join(filter(str.isalnum, folded))
    return int.from_bytes(hashlib.blake2b(letters.encode(), digest_size=4).digest(), "little")


@dataclass(frozen=True)
class Learned:
    """The sets that one shipped model learned from, as sorted hashes of their texts."""

    sets: Mapping[str, npt.NDArray[np.uint32]]

    @staticmethod
    @cache
    def of(model: ShippedName) -> Learned:
        """What the shipped model of that name learned from."""
        packed = realtalk_models.path(model) / "learned.npz"
        with np.load(packed, allow_pickle=False) as found:
            return Learned({name: found[name] for name in found.files})

    def text(self, text: str) -> str | None:
        """The set that the text is part of."""
        known = fingerprint(text)
        return None if known is None else self._set_of(known)

    def chat(self, texts: Iterable[str]) -> str | None:
        """The set that most of a chat's known messages are part of, where there are enough."""
        prints = {key for text in texts if (key := fingerprint(text)) is not None}
        counts = Counter(name for each in prints if (name := self._set_of(each)) is not None)
        if not counts:
            return None
        name, known = counts.most_common(1)[0]
        return name if known >= _FEWEST_KNOWN and known >= _SHARE * len(prints) else None

    def _set_of(self, known: int) -> str | None:
        wanted = np.uint32(known)
        for name, hashes in self.sets.items():
            at = int(np.searchsorted(hashes, wanted))
            if at < len(hashes) and hashes[at] == wanted:
                return name
        return None
