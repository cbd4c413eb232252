"""Vectors on disk: what one run has encoded, the next one reads.

    store = VectorStore(cache_folder() / "threads" / "vectors-1.sqlite")
    store.put(["phew"], vectors)        # by a hash of the text: the text itself is not stored
    store.get(["phew", "new"])          → {"phew": float32 [384]}

A cache and nothing more: where the file cannot be read or written, every text is simply unknown.
Two runs may use it at once. A file that is broken is removed, and grows again.
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

__all__ = ["VectorStore"]

Rows: TypeAlias = npt.NDArray[np.float32]

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
_ASK = "SELECT vector FROM vectors WHERE text = ?"
_WAIT = 10.0  # seconds for another run's writing


class VectorStore:
    """One file for one version of the encoder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._usable = True

    def get(self, texts: Sequence[str]) -> Mapping[str, Rows]:
        """The vectors of those texts that are there."""
        if not self._usable or not texts or not self.path.is_file():
            return {}
        found: dict[str, Rows] = {}
        try:
            with closing(self._opened()) as connection:
                for text in texts:
                    line = connection.execute(_ASK, (_key(text),)).fetchone()
                    if line is not None:
                        found[text] = np.frombuffer(line[0], np.float32)
        except (OSError, sqlite3.Error, ValueError, TypeError) as error:
            self._give_up(error)
            return {}
        return found

    def put(self, texts: Sequence[str], vectors: Rows) -> None:
        """Stores what is new, all of it or nothing."""
        if not self._usable or not texts:
            return
        lines = [
            (_key(text), np.ascontiguousarray(vector, np.float32).tobytes())
            for text, vector in zip(texts, vectors, strict=True)
        ]
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            # Only the owner reads it: vectors tell something of a private text.
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            with closing(self._opened()) as connection, connection:
                connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", lines)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    def _opened(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=_WAIT)
        try:
            connection.execute(_TABLE)  # also where a run was stopped right after making the file
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _give_up(self, error: Exception) -> None:
        self._usable = False
        busy = isinstance(error, OSError | sqlite3.OperationalError)
        if not busy:  # broken, and not only locked or not ours to write
            with suppress(OSError):
                self.path.unlink(missing_ok=True)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
