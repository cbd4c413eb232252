"""Texts → vectors by the shipped encoder, each text once: in this run, and in all runs.

    vectors = Vectors()
    vectors.add(["phew", "did you sleep"])
    vectors.of(["phew", "", "phew"])      → float32 [3, 384]; a text without words is all zeros

The same replies are shown in every setting, and in the run of every predictor: what is kept
saves most of the encoding. They stay in the cache.

Vectors on disk: what one run has encoded, the next one reads.

    store = VectorStore(cache_folder() / "threads" / "vectors-1.sqlite")
    store.put(["phew"], vectors)        # by a hash of the text: the text itself is not stored
    store.get(["phew", "new"])          → {"phew": float32 [384]}

A cache and nothing more: where the file cannot be read or written, every text is simply unknown.
Two runs may use it at once. A file that is broken is removed, and grows again. It stays within
the cache's limit: files of other encoders go first, then this one begins anew.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path

import numpy as np

from realtalk.files.caches import VECTORS, cache_limit, keep_within
from realtalk.files.download import cache_folder
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import private_folder, private_stream
from realtalk.metrics.similarity import Encoder, Rows, shipped_encoder

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
_FETCH = "SELECT vector FROM vectors WHERE text = ?"
_WAIT = 10.0  # seconds for another run's writing
_PAGE = 8192  # bytes: in smaller ones a vector of 384 numbers takes a page for itself


class VectorStore:
    """One file for one version of the encoder. `limit` is for all files in its folder."""

    def __init__(self, path: Path, limit: int | None = None) -> None:
        self.path = path
        self._limit = cache_limit() if limit is None else limit
        self._usable = True

    def get(self, texts: Sequence[str]) -> Mapping[str, Rows]:
        """The vectors of those texts that are there."""
        if not self._usable or not texts or not self.path.is_file():
            return {}
        vectors: dict[str, Rows] = {}
        try:
            with closing(self._connect()) as connection:
                for text in texts:
                    line = connection.execute(_FETCH, (_key(text),)).fetchone()
                    if line is not None:
                        vectors[text] = np.frombuffer(line[0], np.float32)
        except (OSError, sqlite3.Error, ValueError, TypeError) as error:
            self._give_up(error)
            return {}
        with suppress(OSError):
            os.utime(self.path)
        return vectors

    def put(self, texts: Sequence[str], vectors: Rows) -> None:
        """Stores what is new, all of it or nothing, and keeps to the limit."""
        if not self._usable or not texts:
            return
        lines = [
            (_key(text), np.ascontiguousarray(vector, np.float32).tobytes())
            for text, vector in zip(texts, vectors, strict=True)
        ]
        try:
            private_folder(self.path.parent)
            if self.path.is_file() and self.path.stat().st_size > self._limit:
                self.path.unlink(missing_ok=True)
            private_stream(self.path).close()  # vectors tell something of a private text
            with closing(self._connect()) as connection, connection:
                connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", lines)
            keep_within(VECTORS, self.path.parent, self._limit, self.path)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    def _connect(self) -> sqlite3.Connection:
        # Never makes a file: one that was removed a moment ago would come back readable by others.
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(address, uri=True, timeout=_WAIT)
        try:
            connection.execute(f"PRAGMA page_size = {_PAGE}")
            with connection:
                connection.execute(_TABLE)
        except BaseException:
            connection.close()
            raise
        return connection

    def _give_up(self, error: Exception) -> None:
        self._usable = False
        is_busy = isinstance(error, OSError | sqlite3.OperationalError)
        if not is_busy:  # broken, and not only locked or not ours to write
            with suppress(OSError):
                self.path.unlink(missing_ok=True)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


_AT_ONCE = 1024  # texts between two steps of progress, each on disk before the next


class Vectors:
    """A growing table of vectors; the encoder is loaded when it is first needed."""

    def __init__(self, encoder: Encoder | None = None, store: VectorStore | None = None) -> None:
        self._given = (encoder, store)
        self._known: dict[str, Rows] = {}

    @cached_property
    def _encoder(self) -> Encoder:
        return self._given[0] or shipped_encoder()

    @cached_property
    def _store(self) -> VectorStore:
        return self._given[1] or shipped_store(self.version)

    @property
    def version(self) -> str:
        return self._encoder.version

    def add(self, texts: Iterable[str], progress: Progress = silent) -> None:
        """Encodes what is not known yet."""
        distinct = dict.fromkeys(texts)
        new = [text for text in distinct if text.strip() and text not in self._known]
        for start in range(0, len(new), _AT_ONCE):
            progress(start, len(new), "encoding texts")
            part = new[start : start + _AT_ONCE]
            self._known |= self._store.get(part)
            missing = [text for text in part if text not in self._known]
            if missing:
                vectors = self._encoder.embed(missing)
                self._store.put(missing, vectors)
                self._known |= zip(missing, vectors, strict=True)
        if new:
            progress(len(new), len(new), "encoding texts")

    def of(self, texts: Sequence[str]) -> Rows:
        """One line per text."""
        self.add(texts)
        nothing = np.zeros_like(next(iter(self._known.values()), np.zeros(1, np.float32)))
        lines = [self._known.get(text, nothing) for text in texts]
        return np.array(lines, np.float32).reshape(len(texts), len(nothing))


def shipped_store(version: str) -> VectorStore:
    """Where the vectors of a version of the shipped encoder are kept."""
    return VectorStore(cache_folder() / "threads" / f"vectors-{version}.sqlite")
