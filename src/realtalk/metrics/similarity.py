"""Two texts → how near they are in meaning, by the encoder that ships with the package.

    Similarity().scores([("see you there", "meet you at the bar")])
    → [Similar(precision=0.71, recall=0.66, f1=0.68, cosine=0.62)]

`f1` is BERTScore's formula: every token goes with the token of the other text whose vector is
nearest, and the cosines are averaged, over the prediction (precision) and over the truth
(recall). The vectors are the shipped sentence encoder's, not RoBERTa-large's: compare rows made
here with each other, not with a published BERTScore. No weights by rarity, no rescaling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

import realtalk_models
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent

Rows = npt.NDArray[np.float32]
_AT_ONCE = 512  # texts whose token vectors are held


class Encoder(Protocol):
    """Texts → vectors of length 1: one per text, and one per token."""

    version: str

    def embed(self, texts: Sequence[str], progress: Progress = silent) -> Rows: ...

    def token_vectors(self, texts: Sequence[str]) -> list[Rows]: ...


class Similar(NamedTuple):
    """Greedy token matching, and the cosine of the two texts' vectors."""

    precision: float
    recall: float
    f1: float
    cosine: float


def encoder_shipped() -> bool:
    """Whether the sentence encoder's files are in this package."""
    return (realtalk_models.path("memory") / "settings.json").is_file()


def shipped_encoder() -> Encoder:
    """The sentence encoder of this package."""
    if not encoder_shipped():
        raise RealtalkError(
            "the sentence encoder is not in this package", fix="install the package again"
        )
    from realtalk.encoders.sentences import SentenceEncoder

    return SentenceEncoder()


class Similarity:
    """Keeps nothing but the encoder."""

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._encoder = encoder or shipped_encoder()
        self.version = self._encoder.version

    def scores(
        self, pairs: Sequence[tuple[str, str]], progress: Progress = silent
    ) -> list[Similar | None]:
        """(prediction, truth) → one score each; None where a side has no token."""
        results: list[Similar | None] = []
        for start in range(0, len(pairs), _AT_ONCE):
            part = pairs[start : start + _AT_ONCE]
            texts = list(dict.fromkeys(text for pair in part for text in pair if text.strip()))
            place = {text: at for at, text in enumerate(texts)}
            vectors = self._encoder.embed(texts)
            tokens = self._encoder.token_vectors(texts)
            for sides in part:
                if not all(side in place and len(tokens[place[side]]) for side in sides):
                    results.append(None)
                    continue
                first_place, second_place = (place[side] for side in sides)
                precision, recall, f1 = greedy(tokens[first_place], tokens[second_place])
                cosine = float(vectors[first_place] @ vectors[second_place])
                results.append(Similar(precision, recall, f1, cosine))
            progress(len(results), len(pairs), "comparing meanings")
        return results


def cosines(rows: Rows, vector: Rows) -> Rows:
    """How near each row is to a vector; equal rows are equally near.

    A matrix product is faster and adds up in another order at its edges: of two equal texts one
    would be the nearer, another one on another machine.
    """
    similarities: Rows = (rows * vector).sum(axis=1)
    return similarities


def greedy(prediction: Rows, truth: Rows) -> tuple[float, float, float]:
    """(precision, recall, F1) of token vectors of length 1."""
    near = prediction @ truth.T
    precision = float(near.max(axis=1).mean(dtype=np.float64))
    recall = float(near.max(axis=0).mean(dtype=np.float64))
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total > 0 else 0.0
