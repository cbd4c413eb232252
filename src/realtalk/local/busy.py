"""Whether somebody is writing a file right now, as far as locks can tell.

    being_written(cache / "studio" / "…" / "labels.jsonl")    → True while a studio labels
    being_written(cache / "threads" / "vectors-1.sqlite")     → True inside a run's transaction

Runs lock the rows that they add to, databases lock themselves. Everything else is written under
another name first, so that a file with its own name is finished.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_GLANCE = 0.2  # seconds: another that only looks is through by then
_DATABASES = frozenset({".sqlite", ".db"})


def being_written(path: Path) -> bool:
    """Whether another process holds the file; one that is gone or not ours to open is not held."""
    return _database_held(path) if path.suffix in _DATABASES else _file_held(path)


def _database_held(path: Path) -> bool:
    try:
        # Never makes a file: it may have gone since it was found.
        address = f"{path.absolute().as_uri()}?mode=rw"
        with closing(sqlite3.connect(address, uri=True, timeout=_GLANCE)) as opened:
            opened.execute("BEGIN EXCLUSIVE")
            opened.execute("ROLLBACK")
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in (
            sqlite3.SQLITE_BUSY,
            sqlite3.SQLITE_LOCKED,
        )
    return False


def _file_held(path: Path) -> bool:
    try:
        import fcntl
    except ImportError:  # on Windows an open file cannot be removed anyway
        return False
    try:
        with path.open("rb") as stream:
            # Shared: two that look at once must not take each other for a writer.
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
