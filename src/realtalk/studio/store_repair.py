"""Stored bodies that no page could show, made whole when the file is opened.

    repair(connection) → ["1 annotation lacked fields; it was made whole (q3f91c…)"]

Version 0.1.0 could store an item without its fields: a change to a version that it did not know.
What is missing comes from the item's own history, else from the item that it stands beside or
was copied from; an event whose session nobody knows is shown without a place. The history is
mended by the same rule, so undo still finds what it expects. What was there before stays in the
table `aside`, and so does an item of which nothing can be read.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from realtalk.studio.bodies import dumped, flaw, loaded, whole

_SHOWN = 5  # ids in a note
_ASIDE = (
    "CREATE TABLE IF NOT EXISTS aside (number INTEGER PRIMARY KEY AUTOINCREMENT,"
    " what TEXT NOT NULL, key TEXT NOT NULL, held TEXT, why TEXT NOT NULL,"
    " at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')))"
)


def repair(connection: sqlite3.Connection) -> list[str]:
    """Mends what needs it, in one step; says what was done."""
    bodies = _Found(connection)
    if not bodies.flawed:
        return []
    connection.execute("BEGIN IMMEDIATE")
    try:
        notes = _Found(connection).mend()  # anew: another program may have been faster
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    return notes


class _Found:
    """Every body of a file, and which of them are flawed."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.items: dict[str, tuple[str, Any, str | None, str | None]] = {}
        self.flawed: set[str] = set()
        for id_, kind, body, beside, source in connection.execute(
            "SELECT id, kind, body, conflict_of, taken_from FROM item"
        ):
            self.items[id_] = (kind, loaded(body), beside, source)
            if flaw(kind, self.items[id_][1]):
                self.flawed.add(id_)
        self.history: dict[str, list[Any]] = defaultdict(list)  # oldest first
        for id_, before, after in connection.execute(
            "SELECT item, before, after FROM edit ORDER BY number"
        ):
            for stored in (before, after):
                body = None if stored is None else loaded(stored)
                self.history[id_].append(body)
                if stored is not None and id_ in self.items and flaw(self.items[id_][0], body):
                    self.flawed.add(id_)

    def mend(self) -> list[str]:
        self._connection.execute(_ASIDE)
        mended, lost = [], []
        for id_ in sorted(self.flawed):
            kind, body, *_ = self.items[id_]
            sources = self._sources(id_, ())
            readable = isinstance(body, dict) or any(isinstance(each, dict) for each in sources)
            if flaw(kind, {}) == "not an annotation" or not readable:
                self._set_aside(id_)
                lost.append(id_)
                continue
            self._mend_item(id_, kind, sources)
            self._mend_history(id_, kind, sources)
            mended.append(id_)
        return [
            *_note(mended, "lacked fields", "made whole"),
            *_note(lost, "cannot be read", "set aside in the table 'aside'"),
        ]

    def _sources(self, id_: str, asked: Sequence[str]) -> list[Any]:
        """Whole bodies to fill from: the item's own, newest first, then those it comes from."""
        kind, body, *others = self.items[id_]
        known = [body, *reversed(self.history[id_])]
        whole_bodies = [each for each in known if flaw(kind, each) is None]
        for other in others:
            near = self.items.get(other or "")
            if other and near and near[0] == kind and other not in (id_, *asked):
                whole_bodies += self._sources(other, (id_, *asked))
        return whole_bodies

    def _mend_item(self, id_: str, kind: str, sources: Sequence[Any]) -> None:
        stored = self._connection.execute("SELECT body FROM item WHERE id = ?", (id_,)).fetchone()
        body = loaded(stored[0])
        if (why := flaw(kind, body)) is not None:
            self._keep("item", id_, stored[0], why)
            new = dumped(kind, whole(kind, body, sources))
            self._connection.execute("UPDATE item SET body = ? WHERE id = ?", (new, id_))

    def _mend_history(self, id_: str, kind: str, sources: Sequence[Any]) -> None:
        rows = self._connection.execute(
            "SELECT number, before, after FROM edit WHERE item = ?", (id_,)
        ).fetchall()
        unreadable = False
        for number, *sides in rows:
            for column, stored in zip(("before", "after"), sides, strict=True):
                body = None if stored is None else loaded(stored)
                if stored is None or (why := flaw(kind, body)) is None:
                    continue
                unreadable |= not isinstance(body, dict)
                self._keep(f"edit.{column}", str(number), stored, why)
                self._connection.execute(
                    f"UPDATE edit SET {column} = ? WHERE number = ?",  # noqa: S608
                    (dumped(kind, whole(kind, body, sources)), number),
                )
        if unreadable:  # nobody knows what a step back would lead to
            self._connection.execute("UPDATE edit SET state = 'kept' WHERE item = ?", (id_,))

    def _set_aside(self, id_: str) -> None:
        row = self._connection.execute("SELECT * FROM item WHERE id = ?", (id_,)).fetchone()
        self._keep("item", id_, repr(row), "not an annotation")
        self._connection.execute("DELETE FROM item WHERE id = ?", (id_,))
        self._connection.execute("UPDATE item SET conflict_of = NULL WHERE conflict_of = ?", (id_,))
        self._connection.execute(
            "UPDATE edit SET state = 'kept', request = NULL WHERE item = ?", (id_,)
        )

    def _keep(self, what: str, key: str, held: Any, why: str) -> None:
        self._connection.execute(
            "INSERT INTO aside (what, key, held, why) VALUES (?, ?, ?, ?)", (what, key, held, why)
        )


def _note(ids: Sequence[str], wrong: str, done: str) -> list[str]:
    if not ids:
        return []
    named = ", ".join(ids[:_SHOWN]) + (", …" if len(ids) > _SHOWN else "")
    one = len(ids) == 1
    return [
        f"{len(ids)} annotation{'' if one else 's'} {wrong}; {'it was' if one else 'they were'}"
        f" {done} ({named})"
    ]
