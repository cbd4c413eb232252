"""Vectors on disk: what one run has encoded, the next one reads.

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
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from realtalk.files.caches import VECTORS, cache_limit, keep_within
from realtalk.files.writing import private_folder, private_stream

Rows: TypeAlias = npt.NDArray[np.float32]

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
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
            with closing(self._opened()) as connection:
                for text in texts:
                    asked = "SELECT vector FROM vectors WHERE text = ?"
                    line = connection.execute(asked, (_key(text),)).fetchone()
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
            with closing(self._opened()) as connection, connection:
                connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", lines)
            keep_within(VECTORS, self.path.parent, self._limit, self.path)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    def _opened(self) -> sqlite3.Connection:
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
