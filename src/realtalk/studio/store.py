"""Annotations in one SQLite file: every acknowledged change is on the disk, and can be undone.

    store = Store.open(Path("annotations.sqlite"))
    item = store.create("Chat_1", "event", "Ana", {"session": 1, "speaker": "Mara", "text": "…"})
    store.change(item.id, "Ana", 1, {"text": "Mara moves."})  → StudioItem(version=2), or a Conflict
    store.undo("Chat_1", "Ana")                               → [StudioItem(version=3)]

Changes name the version that they were made to. Where another tab was faster, changes of
different fields are joined; changes of the same field are a conflict, and the later one is
kept as an item of its own, and so is a change to a version that the file does not know (an
older copy of it was put back). A change carries a request's name: sent twice, it counts once.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.studio.bodies import dumped
from realtalk.studio.store_file import open_file
from realtalk.studio.store_rows import StoreRows
from realtalk.studio.values import Body, Conflict, ItemKind, StudioItem, merged


class Store(StoreRows):
    """One file, many annotators. Safe for several threads and several processes."""

    @classmethod
    def open(cls, path: Path) -> Store:
        """The file, made where it is missing; another program's file is refused."""
        return cls(open_file(path), path)

    def seed(self, chat: str, bodies: Iterable[tuple[ItemKind, Body]], author: str) -> None:
        """What came with the chat, once; it cannot be undone."""
        with self.changing() as connection:
            if connection.execute("SELECT 1 FROM seeded WHERE chat = ?", (chat,)).fetchone():
                return
            connection.execute("INSERT INTO seeded VALUES (?)", (chat,))
            for kind, body in bodies:
                self.insert(
                    StudioItem(_new_id(kind), chat, kind, author, 1, body), None, None, "kept"
                )

    def create(
        self,
        chat: str,
        kind: ItemKind,
        author: str,
        body: Body,
        *,
        request: str | None = None,
    ) -> StudioItem:
        """A new item."""
        with self.changing():
            if request and (done := self.requested(request)):
                return done
            item = StudioItem(_new_id(kind), chat, kind, author, 1, body)
            self.insert(item, request, None)
            return item

    def create_all(
        self, chat: str, author: str, bodies: Sequence[tuple[ItemKind, Body, str | None]]
    ) -> list[StudioItem]:
        """Several new items (kind, body, taken from) as one step; those that exist already
        are skipped."""
        with self.changing():
            there = Counter(_key(item.kind, item.body) for item in self.items(chat, author))
            step, created = secrets.token_hex(8), []
            for kind, body, source in bodies:
                if there[_key(kind, body)]:
                    there[_key(kind, body)] -= 1  # a file may hold the same twice
                else:
                    item = StudioItem(_new_id(kind), chat, kind, author, 1, body, taken_from=source)
                    self.insert(item, None, step)
                    created.append(item)
            return created

    def change(
        self,
        id_: str,
        author: str,
        version: int,
        fields: Mapping[str, Any],
        *,
        request: str | None = None,
    ) -> StudioItem | Conflict:
        """Changed fields of an item, as it was at a version."""
        with self.changing():
            if request and (done := self.requested(request)):
                if done.conflict_of and done.id != id_:
                    return Conflict(self.item(done.conflict_of), done)
                return done
            current = self._own(id_, author)
            seen = self.seen(current, version)
            if seen is None:  # nobody can tell who changed what: every field that differs clashes
                wanted, mine, theirs = merged(current.body, fields), set(fields), set(fields)
            else:
                wanted = merged(seen, fields)
                theirs = {name for name in current.body if current.body[name] != seen.get(name)}
                mine = {name for name in fields if fields[name] != seen.get(name)}
            clash = {name for name in theirs & mine if current.body.get(name) != fields[name]}
            if clash or current.deleted:
                kept = StudioItem(
                    _new_id(current.kind), current.chat, current.kind, author, 1, wanted
                )
                if not current.deleted:  # a removed item has no other version to stand beside
                    kept = replace(kept, conflict_of=current.id)
                self.insert(kept, request, None)
                return Conflict(current, kept)
            step = self.burst(current, mine)
            body = merged(current.body, fields)
            return self.update(current, body, request=request, step=step)

    def remove(
        self, id_: str, author: str, version: int, *, request: str | None = None
    ) -> StudioItem | Conflict:
        """Takes an item away; not one that was changed since."""
        with self.changing():
            if request and (done := self.requested(request)):
                return done
            current = self._own(id_, author)
            if current.deleted:
                return current
            if current.version != version:
                return Conflict(current, None)
            return self.update(current, None, request=request)

    def settle(self, id_: str, author: str, take: str) -> list[StudioItem]:
        """Ends a conflict: `this` version, the `other`, or `both` stay."""
        with self.changing() as connection:
            kept = self._own(id_, author)
            if kept.conflict_of is None or kept.deleted:
                raise RealtalkError("no conflict here any more", where=f"item {id_}")
            other = self.item(kept.conflict_of)
            step = secrets.token_hex(8)
            if take == "both" or (take == "this" and other.deleted):
                connection.execute("UPDATE item SET conflict_of = NULL WHERE id = ?", (id_,))
                return [other, self.item(id_)]
            gone = self.update(kept, None, step=step)
            if take == "this":
                return [self.update(other, kept.body, step=step), gone]
            return [other, gone]

    def _own(self, id_: str, author: str) -> StudioItem:
        item = self.item(id_)
        if item.author != author:
            raise RealtalkError(
                "belongs to another annotator", where=f"item {id_}", fix="copy it, then change that"
            )
        return item


def _key(kind: str, body: Body) -> str:
    return f"{kind} {dumped(kind, body)}"


def _new_id(kind: str) -> str:
    return f"{kind[0]}{secrets.token_hex(6)}"
