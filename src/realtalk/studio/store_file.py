"""The SQLite file of annotations: made, recognised, and set to keep what it acknowledged.

open_file(Path("annotations.sqlite")) → a connection (WAL, every commit synced to the disk)
"""

from __future__ import annotations

import sqlite3
from importlib.resources import files
from pathlib import Path

from realtalk.errors import RealtalkError
from realtalk.local.writing import private_folder, private_stream
from realtalk.studio.troubles import unsaved

_APPLICATION = 0x5254_4B53  # "RTKS": marks SQLite files as ours
_LAYOUT = 1


def open_file(path: Path) -> sqlite3.Connection:
    """The file, made where it is missing; another program's file is refused."""
    try:
        private_folder(path.parent)
        private_stream(path).close()  # it tells what a private chat says
        connection = sqlite3.connect(
            path, timeout=20, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise RealtalkError(f"cannot be opened ({reason})", where=str(path)) from error
    try:
        _prepare(connection, str(path))
        return connection
    except RealtalkError:
        connection.close()
        raise
    except sqlite3.Error as error:
        connection.close()
        raise unsaved(error, str(path)) or _foreign(str(path)) from error


def _foreign(where: str) -> RealtalkError:
    return RealtalkError(
        "not a file of annotations", where=where, fix="name another: --annotations FILE"
    )


def _prepare(connection: sqlite3.Connection, where: str) -> None:
    connection.execute("PRAGMA busy_timeout = 20000")
    connection.execute("PRAGMA synchronous = FULL")  # a commit that was answered is on the disk
    connection.execute("BEGIN IMMEDIATE")
    try:
        _recognise(connection, where)
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
    # Last: it is written into the file, which may have been another program's.
    connection.execute("PRAGMA journal_mode = WAL")


def _recognise(connection: sqlite3.Connection, where: str) -> None:
    ours = connection.execute("PRAGMA application_id").fetchone()[0]
    layout = connection.execute("PRAGMA user_version").fetchone()[0]
    if ours == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
        tables = (files("realtalk.studio") / "store.sql").read_text("utf-8")
        for statement in tables.split(";"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {_LAYOUT}")
    elif ours == _APPLICATION and layout > _LAYOUT:
        raise RealtalkError(
            "was written by a newer realtalk",
            where=where,
            fix="update realtalk, or name another file: --annotations FILE",
        )
    elif ours != _APPLICATION or layout != _LAYOUT:
        raise _foreign(where)
