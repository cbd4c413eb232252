"""Texts → which of them are nearest to another, by meaning or by words.

    near = nearness("encoder")                       # or "words"
    near.index(["hi there", "the oven broke"]).nearest("my oven is dead")  → [1, 0]
    near.central(["ok", "ok then", "fine, ok"])      → 0, the one most like all others

`encoder` is the sentence encoder that ships with the package; `words` needs no model: BM25 for
the nearest, shared words for the central one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from realtalk.encoders.lexical import Bm25, Ranking, best_first
from realtalk.metrics.similarity import Encoder, cosines, shipped_encoder
from realtalk.registry import suggest
from realtalk.text.words import words_and_emoji

WAYS = ("encoder", "words")


class Index(Protocol):
    """Texts that can be asked which of them are nearest."""

    def nearest(self, texts: Sequence[str]) -> list[list[int]]:
        """For each text the places of the indexed ones, nearest first."""


class Nearness(Protocol):
    """A way of telling what is near."""

    @property
    def version(self) -> str: ...

    def index(self, texts: Sequence[str]) -> Index: ...

    def central(self, texts: Sequence[str]) -> int:
        """The place of the text that is most like all of them; of equals the first."""


def nearness(way: str = "encoder") -> Nearness:
    """The way of that name."""
    if way not in WAYS:
        raise suggest("way of finding the nearest", way, list(WAYS))
    return ByMeaning() if way == "encoder" else ByWords()


class ByMeaning:
    """By the cosine of sentence vectors."""

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or shipped_encoder()
        self.version = f"encoder {self._encoder.version}"

    def index(self, texts: Sequence[str]) -> Index:
        return _Vectors(self._encoder, texts)

    def central(self, texts: Sequence[str]) -> int:
        vectors = self._encoder.embed(texts)
        # The mean cosine with all others is that with their sum, and with itself always 1.
        return int(np.argmax(cosines(vectors, vectors.sum(axis=0))))


class _Vectors:
    def __init__(self, encoder: Encoder, texts: Sequence[str]) -> None:
        self._encoder = encoder
        self._vectors = encoder.embed(texts)
        # What was embedded once is not again: training asks for the very texts that are indexed.
        self._known = dict(zip(texts, self._vectors, strict=True))

    def nearest(self, texts: Sequence[str]) -> list[list[int]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known |= dict(zip(new, self._encoder.embed(new), strict=True)) if new else {}
        near = (cosines(self._vectors, self._known[text]) for text in texts)
        return [best_first(row.astype(np.float64)) for row in near]


class ByWords:
    """By words in common."""

    version = "words 1"

    def index(self, texts: Sequence[str]) -> Index:
        return _Words(Bm25(texts))

    def central(self, texts: Sequence[str]) -> int:
        said = [set(words_and_emoji(text)) for text in texts]

        def likeness(at: int) -> float:
            own = said[at]
            return sum(2 * len(own & each) / max(1, len(own) + len(each)) for each in said)

        return max(range(len(texts)), key=likeness)


class _Words:
    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking

    def nearest(self, texts: Sequence[str]) -> list[list[int]]:
        return [best_first(self._ranking.scores(text)) for text in texts]
