"""Annotations in one SQLite file: every acknowledged change is on the disk, and can be undone.

    store = Store.open(Path("annotations.sqlite"))
    item = store.create("Chat_1", "event", "Ana", {"session": 1, "speaker": "Mara", "text": "…"})
    store.change(item.id, "Ana", 1, {"text": "Mara moves."})  → Item(version=2), or a Conflict
    store.undo("Chat_1", "Ana")                               → [Item(version=3)]

Changes name the version that they were made to. Where another tab was faster, changes of
different fields are joined; changes of the same field are a conflict, and the later one is
kept as an item of its own. A change carries a request's name: sent twice, it counts once.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from realtalk.errors import RealtalkError
from realtalk.studio.store_file import open_file
from realtalk.studio.values import Body, Conflict, Item, Kind, merged

__all__ = ["Store"]

_TYPED = frozenset({"text", "answer", "date"})
_BURST = 6.0  # seconds
_COLUMNS = "id, chat, kind, author, version, body, conflict_of, taken_from, deleted"


class Store:
    """One file, many annotators. Safe for several threads and several processes."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._lock = threading.RLock()
        self.path = path
        self._file = _identity(path)

    @classmethod
    def open(cls, path: Path) -> Store:
        """The file, made where it is missing; another program's file is refused."""
        return cls(open_file(path), path)

    def close(self) -> None:
        self._connection.close()

    # Reading

    def items(self, chat: str, author: str | None = None, kind: Kind | None = None) -> list[Item]:
        """What is there, oldest first."""
        with self._lock:
            rows = self._connection.execute(
                f"SELECT {_COLUMNS} FROM item WHERE chat = ? AND NOT deleted"  # noqa: S608
                " AND (?2 IS NULL OR author = ?2) AND (?3 IS NULL OR kind = ?3) ORDER BY place",
                (chat, author, kind),
            ).fetchall()
        return [_item(row) for row in rows]

    def item(self, id_: str) -> Item:
        with self._lock:
            return self._item(id_)

    def authors(self, chat: str | None = None) -> dict[str, int]:
        """Annotators and how many items each has, of one chat or all."""
        with self._lock:
            rows = self._connection.execute(
                "SELECT author, count(*) FROM item WHERE NOT deleted"
                " AND (?1 IS NULL OR chat = ?1) GROUP BY author ORDER BY min(place)",
                (chat,),
            ).fetchall()
        return dict(rows)

    def steps(self, chat: str, author: str) -> tuple[bool, bool]:
        """Whether something can be undone, and redone."""
        with self._lock:
            return (
                self._last_step(chat, author, "done") is not None,
                self._last_step(chat, author, "undone") is not None,
            )

    # Changing

    def seed(self, chat: str, bodies: Iterable[tuple[Kind, Body]], author: str) -> None:
        """What came with the chat, once; it cannot be undone."""
        with self._changing() as connection:
            if connection.execute("SELECT 1 FROM seeded WHERE chat = ?", (chat,)).fetchone():
                return
            connection.execute("INSERT INTO seeded VALUES (?)", (chat,))
            for kind, body in bodies:
                self._insert(Item(_new_id(kind), chat, kind, author, 1, body), None, None, "kept")

    def create(
        self,
        chat: str,
        kind: Kind,
        author: str,
        body: Body,
        *,
        request: str | None = None,
        taken_from: str | None = None,
    ) -> Item:
        """A new item."""
        with self._changing():
            if request and (done := self._requested(request)):
                return done
            item = Item(_new_id(kind), chat, kind, author, 1, body, taken_from=taken_from)
            self._insert(item, request, None)
            return item

    def create_all(
        self, chat: str, author: str, bodies: Sequence[tuple[Kind, Body, str | None]]
    ) -> list[Item]:
        """Several new items (kind, body, taken from) as one step; those that are there are not
        made twice."""
        with self._changing():
            there = Counter(_key(item.kind, item.body) for item in self.items(chat, author))
            step, made = secrets.token_hex(8), []
            for kind, body, source in bodies:
                if there[_key(kind, body)]:
                    there[_key(kind, body)] -= 1  # a file may hold the same twice
                else:
                    item = Item(_new_id(kind), chat, kind, author, 1, body, taken_from=source)
                    self._insert(item, None, step)
                    made.append(item)
            return made

    def change(
        self,
        id_: str,
        author: str,
        version: int,
        fields: Mapping[str, Any],
        *,
        request: str | None = None,
    ) -> Item | Conflict:
        """Changed fields of an item, as it was at a version."""
        with self._changing():
            if request and (done := self._requested(request)):
                if done.conflict_of and done.id != id_:
                    return Conflict(self._item(done.conflict_of), done)
                return done
            current = self._own(id_, author)
            seen = self._seen(current, version)
            wanted = merged(seen, fields)
            theirs = {name for name in current.body if current.body[name] != seen.get(name)}
            mine = {name for name in fields if fields[name] != seen.get(name)}
            clash = {name for name in theirs & mine if current.body[name] != fields[name]}
            if clash or current.deleted:
                kept = Item(_new_id(current.kind), current.chat, current.kind, author, 1, wanted)
                if not current.deleted:  # a removed item has no other version to stand beside
                    kept = replace(kept, conflict_of=current.id)
                self._insert(kept, request, None)
                return Conflict(current, kept)
            step = self._burst(current, mine)
            body = merged(current.body, fields)
            return self._update(current, body, request=request, step=step)

    def remove(
        self, id_: str, author: str, version: int, *, request: str | None = None
    ) -> Item | Conflict:
        """Takes an item away; not one that was changed since."""
        with self._changing():
            if request and (done := self._requested(request)):
                return done
            current = self._own(id_, author)
            if current.deleted:
                return current
            if current.version != version:
                return Conflict(current, None)
            return self._update(current, None, request=request)

    def settle(self, id_: str, author: str, take: str) -> list[Item]:
        """Ends a conflict: `this` version, the `other`, or `both` stay."""
        with self._changing():
            kept = self._own(id_, author)
            if kept.conflict_of is None or kept.deleted:
                raise RealtalkError("no conflict here any more", where=f"item {id_}")
            other = self._item(kept.conflict_of)
            step = secrets.token_hex(8)
            if take == "both" or (take == "this" and other.deleted):
                self._connection.execute("UPDATE item SET conflict_of = NULL WHERE id = ?", (id_,))
                return [other, self._item(id_)]
            gone = self._update(kept, None, step=step)
            if take == "this":
                return [self._update(other, kept.body, step=step), gone]
            return [other, gone]

    def undo(self, chat: str, author: str) -> list[Item]:
        """Takes the last step back; nothing to undo is an empty list."""
        return self._turn_back(chat, author, "done", "undone")

    def redo(self, chat: str, author: str) -> list[Item]:
        """Does again what was undone last."""
        return self._turn_back(chat, author, "undone", "done")

    # Inside

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            # SQLite would go on writing into a file that nobody will find again.
            if _identity(self.path) != self._file:
                raise RealtalkError(
                    "was moved, removed or replaced; nothing can be saved",
                    where=self.path.name,
                    fix="put the file back, or start the studio again",
                )
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def _item(self, id_: str) -> Item:
        row = self._connection.execute(
            f"SELECT {_COLUMNS} FROM item WHERE id = ?",  # noqa: S608
            (id_,),
        ).fetchone()
        if row is None:
            raise RealtalkError("no such item", where=f"item {id_[:40]}")
        return _item(row)

    def _own(self, id_: str, author: str) -> Item:
        item = self._item(id_)
        if item.author != author:
            raise RealtalkError(
                "belongs to another annotator", where=f"item {id_}", fix="copy it, then change that"
            )
        return item

    def _requested(self, request: str) -> Item | None:
        row = self._connection.execute(
            "SELECT item FROM edit WHERE request = ?", (request,)
        ).fetchone()
        return self._item(row[0]) if row else None

    def _seen(self, current: Item, version: int) -> Body:
        """The body as it was at a version; empty where that version is not known."""
        if version == current.version:
            return current.body
        row = self._connection.execute(
            "SELECT after FROM edit WHERE item = ? AND version = ? ORDER BY number DESC LIMIT 1",
            (current.id, version),
        ).fetchone()
        return dict(orjson.loads(row[0])) if row and row[0] else {}

    def _insert(
        self, item: Item, request: str | None, step: str | None, state: str = "done"
    ) -> None:
        self._connection.execute(
            "INSERT INTO item (id, chat, kind, author, version, body, conflict_of, taken_from)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(item.id, item.chat, item.kind, item.author, item.version, _dump(item.body)),
                *(item.conflict_of, item.taken_from),
            ),
        )
        self._log(item, None, item.body, request, step, state)

    def _update(
        self,
        item: Item,
        body: Body | None,
        *,
        request: str | None = None,
        step: str | None = None,
        logged: bool = True,
    ) -> Item:
        """A new version; a body of None removes the item, which keeps its last words."""
        self._connection.execute(
            "UPDATE item SET version = version + 1, body = ?, deleted = ? WHERE id = ?",
            (_dump(item.body if body is None else body), body is None, item.id),
        )
        new = self._item(item.id)
        before = None if item.deleted else item.body
        self._log(new, before, body, request, step, "done" if logged else "kept")
        return new

    def _log(
        self,
        item: Item,
        before: Body | None,
        after: Body | None,
        request: str | None,
        step: str | None,
        state: str,
    ) -> None:
        if state == "done":  # a new change ends what could be redone
            self._connection.execute(
                "UPDATE edit SET state = 'kept' WHERE chat = ? AND author = ? AND state = 'undone'",
                (item.chat, item.author),
            )
        self._connection.execute(
            "INSERT INTO edit (item, chat, author, version, before, after, step, state, request)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(item.id, item.chat, item.author, item.version),
                *(before and _dump(before), after and _dump(after)),
                *(step or secrets.token_hex(8), state, request),
            ),
        )

    def _burst(self, item: Item, names: set[str]) -> str | None:
        """The step that a change goes on with: a few seconds of typing are undone at once."""
        row = self._connection.execute(
            "SELECT item, step, before, after, julianday('now') - julianday(at) FROM edit"
            " WHERE chat = ? AND author = ? AND state = 'done' ORDER BY number DESC LIMIT 1",
            (item.chat, item.author),
        ).fetchone()
        if row is None or row[0] != item.id or not (row[2] and row[3]) or not names <= _TYPED:
            return None
        before, after = orjson.loads(row[2]), orjson.loads(row[3])
        same = {name for name in after if after[name] != before.get(name)} == names
        return row[1] if same and 86_400 * row[4] < _BURST else None

    def _last_step(self, chat: str, author: str, state: str) -> str | None:
        # What was undone first is redone last: the oldest of the undone comes next.
        row = self._connection.execute(
            "SELECT step FROM edit WHERE chat = ? AND author = ? AND state = ?"
            " ORDER BY number * ? LIMIT 1",
            (chat, author, state, -1 if state == "done" else 1),
        ).fetchone()
        return row[0] if row else None

    def _turn_back(self, chat: str, author: str, state: str, new_state: str) -> list[Item]:
        with self._changing() as connection:
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
                current = self._item(id_)
                present = None if current.deleted else current.body
                if present != (orjson.loads(was) if was else None):
                    raise RealtalkError("was changed since", where=f"item {id_}")
                body = orjson.loads(becomes) if becomes else None
                changed.append(self._update(current, body, logged=False))
            connection.execute(
                "UPDATE edit SET state = ? WHERE step = ? AND state = ?", (new_state, step, state)
            )
            return changed


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file it is, whatever it holds; None where there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _item(row: Sequence[Any]) -> Item:
    id_, chat, kind, author, version, body, conflict_of, taken_from, deleted = row
    return Item(
        *(id_, chat, kind, author, version, orjson.loads(body)),
        *(conflict_of, taken_from, bool(deleted)),
    )


def _dump(body: Body) -> str:
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS).decode()


def _key(kind: str, body: Body) -> str:
    return f"{kind} {_dump(body)}"


def _new_id(kind: str) -> str:
    return f"{kind[0]}{secrets.token_hex(6)}"
