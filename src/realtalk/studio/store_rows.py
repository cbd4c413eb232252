"""The rows of a file of annotations: items as they are, and every change that made them so.

    rows = StoreRows(connection, path)
    with rows.changing():                            one transaction; nothing is half done
        rows.insert(StudioItem(…), request, step)    → a row of `item`, and one of `edit`
        rows.update(item, {…}, request=…)            → StudioItem(version + 1)

`store` says what a change means; here is how it is written. A body that could not be read back is
refused, whoever sends it.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import orjson

from realtalk.errors import RealtalkError
from realtalk.studio.bodies import dumped
from realtalk.studio.troubles import Unknown, Unsaved
from realtalk.studio.values import Body, StudioItem

_TYPED = frozenset({"text", "answer", "date"})
_BURST = 6.0  # seconds
_COLUMNS = "id, chat, kind, author, version, body, conflict_of, taken_from, deleted"


class StoreRows:
    """Reads and writes rows. Safe for several threads."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        connection.row_factory = sqlite3.Row
        self.lock = threading.RLock()
        self.path = path
        self._file = _identity(path)

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """All of a change, or nothing of it."""
        with self.lock:
            # SQLite would go on writing into a file that nobody will find again.
            if _identity(self.path) != self._file:
                raise Unsaved(
                    "was moved, removed or replaced; nothing can be saved",
                    503,
                    where=self.path.name,
                    fix="put the file back, or start the studio again",
                )
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                # A commit that a full disk stopped is still open; some failures end it themselves.
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    def close(self) -> None:
        self.connection.close()

    # Reading

    def items(
        self, chat: str, author: str | None = None, kind: str | None = None
    ) -> list[StudioItem]:
        """What is there, oldest first."""
        with self.lock:
            rows = self.connection.execute(
                f"SELECT {_COLUMNS} FROM item WHERE chat = :chat AND NOT deleted"  # noqa: S608
                " AND (:author IS NULL OR author = :author)"
                " AND (:kind IS NULL OR kind = :kind) ORDER BY place",
                {"chat": chat, "author": author, "kind": kind},
            ).fetchall()
        return [_item(row) for row in rows]

    def item(self, id_: str) -> StudioItem:
        with self.lock:
            row = self.connection.execute(
                f"SELECT {_COLUMNS} FROM item WHERE id = ?",  # noqa: S608
                (id_,),
            ).fetchone()
        if row is None:
            raise Unknown("no such item")
        return _item(row)

    def authors(self, chat: str | None = None) -> dict[str, int]:
        """Annotators and how many items each has, of one chat or all."""
        with self.lock:
            rows = self.connection.execute(
                "SELECT author, count(*) FROM item WHERE NOT deleted"
                " AND (:chat IS NULL OR chat = :chat) GROUP BY author ORDER BY min(place)",
                {"chat": chat},
            ).fetchall()
        return dict(rows)

    def requested(self, request: str) -> StudioItem | None:
        """What a request of this name has done already."""
        row = self.connection.execute(
            "SELECT item FROM edit WHERE request = ?", (request,)
        ).fetchone()
        return self.item(row[0]) if row else None

    def seen(self, current: StudioItem, version: int) -> Body | None:
        """The body as it was at a version; None where that version is not known.

        A page may know more versions than the file: an older copy of it was put back.
        """
        if version == current.version:
            return current.body
        row = self.connection.execute(
            "SELECT after FROM edit WHERE item = ? AND version = ? ORDER BY number DESC LIMIT 1",
            (current.id, version),
        ).fetchone()
        return dict(orjson.loads(row[0])) if row and row[0] else None

    # Writing

    def insert(
        self, item: StudioItem, request: str | None, step: str | None, state: str = "done"
    ) -> None:
        self.connection.execute(
            "INSERT INTO item (id, chat, kind, author, version, body, conflict_of, taken_from)"
            " VALUES (:id, :chat, :kind, :author, :version, :body, :conflict_of, :taken_from)",
            {**asdict(item), "body": dumped(item.kind, item.body)},
        )
        self._log(item, None, item.body, request, step, state)

    def update(
        self,
        item: StudioItem,
        body: Body | None,
        *,
        request: str | None = None,
        step: str | None = None,
        logged: bool = True,
    ) -> StudioItem:
        """A new version; a body of None removes the item, which keeps its last words."""
        self.connection.execute(
            "UPDATE item SET version = version + 1, body = ?, deleted = ? WHERE id = ?",
            (dumped(item.kind, item.body if body is None else body), body is None, item.id),
        )
        new = self.item(item.id)
        before = None if item.deleted else item.body
        self._log(new, before, body, request, step, "done" if logged else "kept")
        return new

    def _log(
        self,
        item: StudioItem,
        before: Body | None,
        after: Body | None,
        request: str | None,
        step: str | None,
        state: str,
    ) -> None:
        if state == "done":  # a new change ends what could be redone
            self.connection.execute(
                "UPDATE edit SET state = 'kept' WHERE chat = ? AND author = ? AND state = 'undone'",
                (item.chat, item.author),
            )
        self.connection.execute(
            "INSERT INTO edit (item, chat, author, version, before, after, step, state, request)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                item.id,
                item.chat,
                item.author,
                item.version,
                *(each and dumped(item.kind, each) for each in (before, after)),
                step or secrets.token_hex(8),
                state,
                request,
            ),
        )

    # Steps of undo

    def burst(self, item: StudioItem, names: set[str]) -> str | None:
        """The step that a change goes on with: a few seconds of typing are undone at once."""
        row = self.connection.execute(
            "SELECT item, step, before, after, request, julianday('now') - julianday(at) FROM edit"
            " WHERE chat = ? AND author = ? AND state = 'done' ORDER BY number DESC LIMIT 1",
            (item.chat, item.author),
        ).fetchone()
        if row is None or row[0] != item.id or not names <= _TYPED or 86_400 * row[5] >= _BURST:
            return None
        before, after = (None if each is None else orjson.loads(each) for each in row[2:4])
        if after is None:
            return None
        if before is None:  # begun by typing into a new card; copies and second versions stand
            if not row[4] or item.conflict_of or item.taken_from:
                return None
            before = {name: "" for name in _TYPED if not after.get(name)}
            after = {name: after[name] for name in _TYPED if name in after}
        same = {name for name in after if after[name] != before.get(name)} == names
        return row[1] if same else None

    def steps(self, chat: str, author: str) -> tuple[bool, bool]:
        """Whether something can be undone, and redone."""
        with self.lock:
            return (
                self._last_step(chat, author, "done") is not None,
                self._last_step(chat, author, "undone") is not None,
            )

    def undo(self, chat: str, author: str) -> list[StudioItem]:
        """Takes the last step back; nothing to undo is an empty list."""
        return self._turn_back(chat, author, "done", "undone")

    def redo(self, chat: str, author: str) -> list[StudioItem]:
        """Does again what was undone last."""
        return self._turn_back(chat, author, "undone", "done")

    def _last_step(self, chat: str, author: str, state: str) -> str | None:
        # What was undone first is redone last: the oldest of the undone comes next.
        row = self.connection.execute(
            "SELECT step FROM edit WHERE chat = ? AND author = ? AND state = ?"
            " ORDER BY number * ? LIMIT 1",
            (chat, author, state, -1 if state == "done" else 1),
        ).fetchone()
        return row[0] if row else None

    def _turn_back(self, chat: str, author: str, state: str, new_state: str) -> list[StudioItem]:
        """The last step that was done is undone, or the other way around."""
        with self.changing() as connection:
            step = self._last_step(chat, author, state)
            if step is None:
                return []
            back = state == "done"
            rows = connection.execute(
                "SELECT item, before, after FROM edit WHERE step = ? AND state = ?"
                " ORDER BY number * ?",
                (step, state, -1 if back else 1),
            ).fetchall()
            changed = []
            for id_, before, after in rows:
                was, becomes = (after, before) if back else (before, after)
                current = self.item(id_)
                present = None if current.deleted else current.body
                if present != (orjson.loads(was) if was else None):
                    raise RealtalkError("was changed since", where=f"item {id_}")
                body = orjson.loads(becomes) if becomes else None
                changed.append(self.update(current, body, logged=False))
            connection.execute(
                "UPDATE edit SET state = ? WHERE step = ? AND state = ?", (new_state, step, state)
            )
            return changed


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file it is, whatever it holds; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _item(row: sqlite3.Row) -> StudioItem:
    kept = {"body": orjson.loads(row["body"]), "deleted": bool(row["deleted"])}
    return StudioItem(**{**dict(row), **kept})
