"""Texts → vectors by the shipped encoder, each text once: in this run, and in all runs.

    vectors = Vectors()
    vectors.add(["phew", "did you sleep"])
    vectors.of(["phew", "", "phew"])      → float32 [3, 384]; a text without words is all zeros

The same replies are shown in every setting, and in the run of every predictor: what is kept
saves most of the encoding. The shipped encoder's vectors stay in the cache (stored.py), those of
an encoder that is given only with a `store`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from realtalk.files.download import cache_folder
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import Encoder, shipped_encoder
from realtalk.threads.stored import VectorStore

Rows = npt.NDArray[np.float32]
_AT_ONCE = 1024  # texts between two steps of progress, each on disk before the next


class Vectors:
    """A growing table of vectors; the encoder is loaded when it is first needed."""

    def __init__(self, encoder: Encoder | None = None, store: VectorStore | None = None) -> None:
        self._given = encoder
        self._given_store = store
        self._places: dict[str, int] = {}
        self._table: Rows = np.zeros((0, 1), np.float32)  # some lines more than there are places

    @cached_property
    def _encoder(self) -> Encoder:
        return self._given or shipped_encoder()

    @cached_property
    def _store(self) -> VectorStore | None:
        if self._given is not None or self._given_store is not None:
            return self._given_store
        return shipped_store(self.version)

    @property
    def version(self) -> str:
        return self._encoder.version

    def add(self, texts: Iterable[str], progress: Progress = silent) -> None:
        """Encodes what is not known yet."""
        new = list(
            dict.fromkeys(text for text in texts if text.strip() and text not in self._places)
        )
        for start in range(0, len(new), _AT_ONCE):
            progress(start, len(new), "encoding texts")
            self._keep(new[start : start + _AT_ONCE])
        if new:
            progress(len(new), len(new), "encoding texts")

    def of(self, texts: Sequence[str]) -> Rows:
        """One line per text."""
        self.add(texts)
        found = np.zeros((len(texts), self._table.shape[1]), np.float32)
        known = [at for at, text in enumerate(texts) if text in self._places]
        found[known] = self._table[[self._places[texts[at]] for at in known]]
        return found

    def _keep(self, texts: Sequence[str]) -> None:
        known = {} if self._store is None else dict(self._store.get(texts))
        missing = [text for text in texts if text not in known]
        if missing:
            made = self._encoder.embed(missing)
            if self._store is not None:
                self._store.put(missing, made)
            known.update(zip(missing, made, strict=True))
        lines = np.stack([known[text] for text in texts])
        start, stop = len(self._places), len(self._places) + len(lines)
        if stop > len(self._table):
            # Twice as long each time: a table of 200,000 is not copied 200 times.
            longer = np.zeros((max(2 * len(self._table), stop), lines.shape[1]), np.float32)
            longer[:start] = self._table[:start]
            self._table = longer
        self._table[start:stop] = lines
        self._places |= {text: start + at for at, text in enumerate(texts)}


def shipped_store(version: str) -> VectorStore:
    """Where the vectors of a version of the shipped encoder are kept."""
    return VectorStore(cache_folder() / "threads" / f"vectors-{version}.sqlite")
