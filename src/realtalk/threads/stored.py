"""Vectors on disk: what one run has encoded, the next one reads.

    store = VectorStore(cache_folder() / "threads" / "vectors-1.sqlite")
    store.put(["phew"], vectors)        # by a hash of the text: the text itself is not stored
    store.get(["phew", "new"])          → {"phew": float32 [384]}
    forget(store.path, before=moment)   → bytes freed: what nobody used since then is gone

A cache and nothing more: where the file cannot be read or written, every text is simply unknown.
Two runs may use it at once. A file that is broken is removed, and grows again. It stays within
the cache's limit: files of other encoders go first, then the vectors used longest ago.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from realtalk.errors import RealtalkError
from realtalk.local.caches import VECTORS, cache_limit, keep_within
from realtalk.local.writing import private_folder, private_stream

Rows: TypeAlias = npt.NDArray[np.float32]

_TABLE = "CREATE TABLE IF NOT EXISTS vectors (text BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
# Apart from the vectors: noting a use must not write a vector again.
_USES = "CREATE TABLE IF NOT EXISTS uses (text BLOB PRIMARY KEY, at INTEGER) WITHOUT ROWID"
_BY_USE = "CREATE INDEX IF NOT EXISTS by_use ON uses (at)"
_LAYOUT = 1  # from this one on, every vector has a use
_ASK = "SELECT vector FROM vectors WHERE text = ?"
_ASK_USE = "SELECT at FROM uses WHERE text = ?"
_NOTE = "INSERT OR REPLACE INTO uses VALUES (?, ?)"
_OLDEST = "SELECT text FROM uses WHERE at < ? ORDER BY at LIMIT ?"
_WAIT = 10.0  # seconds for another run's writing
_PAGE = 8192  # bytes: in smaller ones a vector of 384 numbers takes a page for itself
_DAY = 86_400_000_000  # microseconds: a use is noted once a day, for reading must stay cheap
_AT_ONCE = 256  # vectors removed before the room is measured again
_ROOM = 0.9  # of the limit is left after clearing, so that not every write has to clear


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
        found: dict[str, Rows] = {}
        now = _now()
        stale: list[tuple[bytes, int]] = []
        try:
            with closing(_opened(self.path)) as connection:
                for text in texts:
                    key = _key(text)
                    line = connection.execute(_ASK, (key,)).fetchone()
                    if line is not None:
                        found[text] = np.frombuffer(line[0], np.float32)
                        used = connection.execute(_ASK_USE, (key,)).fetchone()
                        if used is None or used[0] < now - _DAY:
                            stale.append((key, now))
                with suppress(sqlite3.OperationalError), connection:  # full, or not ours to write
                    connection.executemany(_NOTE, stale)
        except (OSError, sqlite3.Error, ValueError, TypeError) as error:
            self._give_up(error)
            return {}
        with suppress(OSError):
            os.utime(self.path)
        return found

    def put(self, texts: Sequence[str], vectors: Rows) -> None:
        """Stores what is new, all of it or nothing, and keeps to the limit."""
        if not self._usable or not texts:
            return
        now = _now()
        lines = [
            (_key(text), np.ascontiguousarray(vector, np.float32).tobytes())
            for text, vector in zip(texts, vectors, strict=True)
        ]
        try:
            private_folder(self.path.parent)
            private_stream(self.path).close()  # vectors tell something of a private text
            with closing(_opened(self.path)) as connection:
                with connection:
                    connection.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", lines)
                    connection.executemany(_NOTE, [(key, now) for key, _ in lines])
                others = keep_within(VECTORS, self.path.parent, self._limit, self.path)
                if others + _taken(connection) > self._limit:
                    _drop(connection, now, int(self._limit * _ROOM) - others)
        except (OSError, sqlite3.Error) as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        self._usable = False
        busy = isinstance(error, OSError | sqlite3.OperationalError)
        if not busy:  # broken, and not only locked or not ours to write
            with suppress(OSError):
                self.path.unlink(missing_ok=True)


def forget(path: Path, before: float) -> int:
    """Removes vectors last used before a moment (seconds since 1970); how many bytes it freed."""
    try:
        size = path.stat().st_size
        with closing(_opened(path)) as connection:
            _drop(connection, int(before * 1_000_000), 0)
        return size - path.stat().st_size
    except FileNotFoundError:  # another process was faster
        return 0
    except (OSError, sqlite3.Error) as error:
        raise RealtalkError(
            f"cannot be thinned out ({type(error).__name__})", where=str(path)
        ) from error


def _opened(path: Path) -> sqlite3.Connection:
    # Never makes a file: one that was removed a moment ago would come back readable by others.
    address = f"{path.absolute().as_uri()}?mode=rw"
    connection = sqlite3.connect(address, uri=True, timeout=_WAIT)
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] < _LAYOUT:
            _lay_out(connection, int(path.stat().st_mtime * 1_000_000))
    except BaseException:
        connection.close()
        raise
    return connection


def _lay_out(connection: sqlite3.Connection, written: int) -> None:
    """The tables, also where a run was stopped right after making the file.

    A file from before uses were noted tells only when it was written last.
    """
    _shape(connection)
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        for statement in (_TABLE, _USES, _BY_USE):
            connection.execute(statement)
        connection.execute("INSERT OR IGNORE INTO uses SELECT text, ? FROM vectors", (written,))
        connection.execute(f"PRAGMA user_version = {_LAYOUT}")


def _shape(connection: sqlite3.Connection) -> None:
    """How a file is laid out, from its first table or next VACUUM on."""
    connection.execute(f"PRAGMA page_size = {_PAGE}")  # first: the other one settles the size
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")


def _taken(connection: sqlite3.Connection) -> int:
    """Bytes in use, without those that are free inside the file."""
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size


def _drop(connection: sqlite3.Connection, before: int, room: int) -> None:
    """Removes the vectors used longest ago until the rest fits; none that was used since."""
    if connection.execute("PRAGMA auto_vacuum").fetchone()[0] == 0:
        # Made by an older version: only writing it anew lets it give room back.
        _shape(connection)
        connection.execute("VACUUM")
    with connection:
        while _taken(connection) > room:
            old = connection.execute(_OLDEST, (before, _AT_ONCE)).fetchall()
            if not old:
                break
            connection.executemany("DELETE FROM vectors WHERE text = ?", old)
            connection.executemany("DELETE FROM uses WHERE text = ?", old)
    connection.executescript("PRAGMA incremental_vacuum")  # `execute` frees one page only


def _now() -> int:
    return time.time_ns() // 1000


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
