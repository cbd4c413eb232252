"""Texts → vectors by the shipped encoder, each text once.

    vectors = Vectors()
    vectors.add(["phew", "did you sleep"])
    vectors.of(["phew", "", "phew"])      → float32 [3, 384]; a text without words is all zeros

The same replies are shown in every setting: what is kept saves most of the encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from realtalk.corpora.reading import Progress, silent
from realtalk.metrics.similarity import Encoder, shipped_encoder

__all__ = ["Vectors"]

Rows = npt.NDArray[np.float32]
_AT_ONCE = 4096  # texts between two steps of progress


class Vectors:
    """A growing table of vectors; the encoder is loaded when it is first needed."""

    def __init__(self, encoder: Encoder | None = None) -> None:
        self._given = encoder
        self._places: dict[str, int] = {}
        self._kept: list[Rows] = []
        self._table: Rows | None = None

    @cached_property
    def _encoder(self) -> Encoder:
        return self._given or shipped_encoder()

    @property
    def version(self) -> str:
        return self._encoder.version

    def add(self, texts: Iterable[str], progress: Progress = silent) -> None:
        """Encodes what is not known yet."""
        new = list(
            dict.fromkeys(text for text in texts if text.strip() and text not in self._places)
        )
        for start in range(0, len(new), _AT_ONCE):
            part = new[start : start + _AT_ONCE]
            progress(start, len(new), "encoding texts")
            self._kept.append(self._encoder.embed(part))
            self._places |= {text: len(self._places) + at for at, text in enumerate(part)}
            self._table = None
        if new:
            progress(len(new), len(new), "encoding texts")

    def of(self, texts: Sequence[str]) -> Rows:
        """A line a text."""
        self.add(texts)
        if self._table is None:
            width = self._kept[0].shape[1] if self._kept else 1
            # The last line stands for texts without words.
            self._table = np.concatenate([*self._kept, np.zeros((1, width), np.float32)])
            self._kept = [self._table[:-1]] if self._kept else []
        return self._table[[self._places.get(text, -1) for text in texts]]
