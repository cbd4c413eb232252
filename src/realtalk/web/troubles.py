"""What goes wrong on this machine, not in the request, as one line and a status.

    save_error(sqlite3.OperationalError("database or disk is full"), "notes.sqlite")
    → SaveError("notes.sqlite: the disk is full, nothing can be saved; …"), status 507

A page asks again after such an answer (5xx): what was typed waits there. What is wrong with the
request itself stays a RealtalkError (400), or an Unknown (404).
"""

from __future__ import annotations

import errno
import sqlite3

from realtalk.errors import RealtalkError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_ROOM = "make room; an open page goes on trying"


class SaveError(RealtalkError):
    """The same request may go well later."""

    def __init__(self, what: str, status: int, *, where: str, fix: str | None = None) -> None:
        super().__init__(what, where=where, fix=fix)
        self.status = status


class Unknown(RealtalkError):
    """The request names something that is not here."""

    status = 404


def save_error(error: sqlite3.Error | OSError, where: str) -> SaveError | None:
    """The failure in words; None where it is a mistake of ours."""
    if isinstance(error, OSError):
        if error.errno not in _FULL:
            return None
        return SaveError("the disk is full, nothing can be written", 507, where=where, fix=_ROOM)
    code = getattr(error, "sqlite_errorcode", None)
    match None if code is None else code & 0xFF:
        case sqlite3.SQLITE_FULL:
            return SaveError("the disk is full, nothing can be saved", 507, where=where, fix=_ROOM)
        case sqlite3.SQLITE_IOERR:  # a quota or a limit on sizes of files reads like this too
            what = "the disk takes nothing more (full, a quota, or a fault), nothing can be saved"
            return SaveError(what, 507, where=where, fix=_ROOM)
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return SaveError("another program is writing to it", 503, where=where)
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_PERM:
            return SaveError("cannot be written, nothing can be saved", 503, where=where)
        case sqlite3.SQLITE_CORRUPT:
            return SaveError("is damaged", 503, where=where, fix="put back a copy of it")
        case _:
            return None
