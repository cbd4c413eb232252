"""Words of a text → the language that they are of, by the letters they are made of.

    identifier = LanguageIdentifier.shipped()
    identifier.guess("oye, ayer fuimos a la playa")       → LanguageGuess("es", 0.99)
    identifier.guess("kya kar rahe ho yaar")              → LanguageGuess("hi-Latn", 0.98)
    identifier.guess("🙂 12:30")                           → None: no words

Every word gives its parts of one to four letters, beginning and end marked, and itself; each part
has a weight for every language, and the largest sum wins. No part is kept as text, only its place
in a table of small whole numbers, so a word that was never seen counts too. Only languages that
are written in the text's script are in question. Languages are ISO 639 codes; "hi-Latn" is
Hindi in Latin letters. How the table was made and how well it does: docs/model-cards/languages.md.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

import realtalk_models
from realtalk.encoders.language_words import script_of, words_of

Scores: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]

_PARTS = 4  # letters of the longest part
_LONGEST = 24  # letters of a word that are looked at


@dataclass(frozen=True, slots=True)
class LanguageGuess:
    """A language and how likely it is."""

    language: str
    probability: float


class LanguageIdentifier:
    """Weights of parts of words, one column per language."""

    def __init__(self, weights: Path) -> None:
        with np.load(weights, allow_pickle=False) as file:
            self._weights = file["weights"]
            self._scale = float(file["scale"])
            self._bias = file["bias"].astype(np.float64)
            self.languages = tuple(str(name) for name in file["languages"])
            scripts = [str(name) for name in file["scripts"]]
            self._written = dict(zip(scripts, file["written"].astype(bool), strict=True))
        self._sums = lru_cache(16_384)(self._sum)

    @staticmethod
    @cache
    def shipped() -> LanguageIdentifier:
        """The one in this package."""
        return LanguageIdentifier(realtalk_models.path("languages") / "identifier.npz")

    def guess(self, text: str) -> LanguageGuess | None:
        """The likeliest language; None where there are no words, or none of a script it knows."""
        scores = self.log_probabilities(words_of(text))
        if scores is None:
            return None
        best = int(scores.argmax())
        return LanguageGuess(self.languages[best], float(np.exp(scores[best])))

    def log_probabilities(self, words: Sequence[str]) -> Scores | None:
        """One entry per language; None where no language is written in the words' script."""
        written = self._written.get(script_of(words))
        if written is None:
            return None
        summed = np.zeros(len(self.languages), np.int64)
        count = 0
        for word in words:
            own, parts = self._sums(word)
            summed += own
            count += parts
        logits = summed * (self._scale / np.sqrt(count)) + self._bias
        logits[~written] = -np.inf
        logits -= logits.max()
        scores: Scores = logits - np.log(np.exp(logits).sum())
        return scores

    def _sum(self, word: str) -> tuple[npt.NDArray[np.int64], int]:
        places = parts_of(word, len(self._weights))
        return self._weights[places].sum(axis=0, dtype=np.int64), len(places)


def parts_of(word: str, buckets: int) -> Places:
    """The places in the table of all parts of a word."""
    marked = f"<{word[:_LONGEST]}>"
    parts = {f"{marked}|"}  # the whole word
    for size in range(1, _PARTS + 1):
        parts |= {marked[at : at + size] for at in range(len(marked) - size + 1)}
    parts -= {"<", ">"}
    return np.array(sorted(zlib.crc32(part.encode()) % buckets for part in parts), np.int64)
