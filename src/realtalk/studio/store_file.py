"""The SQLite file of annotations: made, recognised, and set to keep what it acknowledged.

open_file(Path("annotations.sqlite")) → a connection; WAL, every commit synced to the disk
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from realtalk.errors import RealtalkError

__all__ = ["open_file"]

_APPLICATION = 0x5254_4B53  # "RTKS": how SQLite files of ours are told from others
_LAYOUT = 1
_TABLES = """
CREATE TABLE item (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    chat TEXT NOT NULL,
    kind TEXT NOT NULL,
    author TEXT NOT NULL,
    version INTEGER NOT NULL,
    body TEXT NOT NULL,
    conflict_of TEXT,
    taken_from TEXT,
    deleted INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX item_chat ON item (chat, author);
CREATE TABLE edit (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    item TEXT NOT NULL,
    chat TEXT NOT NULL,
    author TEXT NOT NULL,
    version INTEGER NOT NULL,
    before TEXT,
    after TEXT,
    step TEXT NOT NULL,
    state TEXT NOT NULL,
    request TEXT UNIQUE,
    at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
);
CREATE INDEX edit_item ON edit (item, version);
CREATE INDEX edit_step ON edit (chat, author, state, number);
CREATE TABLE seeded (chat TEXT PRIMARY KEY);
"""


def open_file(path: Path) -> sqlite3.Connection:
    """The file, made where it is missing; another program's file is refused."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Only the owner reads it: it tells what a private chat says.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(
            path, timeout=20, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise RealtalkError(f"cannot be opened ({reason})", where=str(path)) from error
    try:
        _prepare(connection)
    except (sqlite3.Error, ValueError) as error:
        connection.close()
        raise RealtalkError(
            "not a file of annotations", where=str(path), fix="name another: --annotations FILE"
        ) from error
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA busy_timeout = 20000")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")  # a commit that was answered is on the disk
    connection.execute("BEGIN IMMEDIATE")
    ours = connection.execute("PRAGMA application_id").fetchone()[0]
    if ours == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_LAYOUT}")
    elif ours != _APPLICATION or connection.execute("PRAGMA user_version").fetchone()[0] != _LAYOUT:
        connection.execute("ROLLBACK")
        raise ValueError("another program's file")
    connection.execute("COMMIT")
