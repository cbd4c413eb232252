"""Annotations in one SQLite file: every acknowledged change is on the disk, and can be undone.

    store = Store.open(Path("annotations.sqlite"))
    item = store.create("Chat_1", "event", "Ana", {"session": 1, "speaker": "Mara", "text": "…"})
    store.change(item.id, "Ana", 1, {"text": "Mara moves."})  → StudioItem(version=2), or a Conflict
    store.undo("Chat_1", "Ana")                               → [StudioItem(version=3)]

Changes name the version that they were made to. Where another tab was faster, changes of
different fields are joined; changes of the same field are a conflict, and the later one is
kept as an item of its own, and so is a change to a version that the file does not know (an
older copy of it was put back). A change carries a request's name: sent twice, it counts once.
The file is SQLite's in WAL mode, with every commit synced; another program's is refused.
"""

from __future__ import annotations

import secrets
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import orjson

from realtalk.errors import RealtalkError
from realtalk.files.writing import private_folder, private_stream
from realtalk.web.troubles import SaveError, Unknown, save_error
from realtalk.web.values import Body, Conflict, ItemKind, StudioItem, dump_body, merge_fields

_APPLICATION = 0x5254_4B53  # "RTKS": marks SQLite files as ours
_LAYOUT = 1


def _open_file(path: Path) -> sqlite3.Connection:
    where = str(path)
    try:
        private_folder(path.parent)
        private_stream(path).close()  # it tells what a private chat says
        connection = sqlite3.connect(
            path, timeout=20, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error, ValueError) as error:  # ValueError: a NUL in the name
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise RealtalkError(f"cannot be opened ({reason})", where=where) from error
    fix = "name another: `annotations=FILE`"
    foreign = RealtalkError("not a file of annotations", where=where, fix=fix)
    try:
        connection.execute("PRAGMA synchronous = FULL")  # a commit that was answered is on the disk
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            ours = connection.execute("PRAGMA application_id").fetchone()[0]
            layout = connection.execute("PRAGMA user_version").fetchone()[0]
            if ours == 0 and not connection.execute("SELECT 1 FROM sqlite_master").fetchone():
                _make_tables(connection)
            elif ours == _APPLICATION and layout > _LAYOUT:
                fix = f"update realtalk, or {fix}"
                raise RealtalkError("was written by a newer realtalk", where=where, fix=fix)
            elif (ours, layout) != (_APPLICATION, _LAYOUT):
                raise foreign
        # Last: it is written into the file, which may have been another program's.
        connection.execute("PRAGMA journal_mode = WAL")
        return connection
    except RealtalkError:
        connection.close()
        raise
    except sqlite3.Error as error:
        connection.close()
        raise save_error(error, where) or foreign from error


def _make_tables(connection: sqlite3.Connection) -> None:
    tables = (files("realtalk.web") / "store.sql").read_text("utf-8")
    pragmas = f"PRAGMA application_id = {_APPLICATION};PRAGMA user_version = {_LAYOUT}"
    for statement in f"{tables}{pragmas}".split(";"):
        connection.execute(statement)


_TYPED = frozenset({"text", "answer", "date"})
_BURST = 6.0  # seconds
_COLUMNS = "id, chat, kind, author, version, body, conflict_of, taken_from, deleted"


class Store:
    """One file, many annotators. Safe for several threads and several processes."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        connection.row_factory = sqlite3.Row
        self.lock = threading.RLock()
        self.path = path
        self._file = _identity(path)

    @classmethod
    def open(cls, path: Path) -> Store:
        """The file, made where it is missing; another program's file is refused."""
        return cls(_open_file(path), path)

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """All of a change, or nothing of it."""
        # SQLite would go on writing into a file that nobody will find again.
        if _identity(self.path) != self._file:
            raise SaveError(
                "was moved, removed or replaced; nothing can be saved",
                503,
                where=self.path.name,
                fix="put the file back, or start the studio again",
            )
        with self.lock, self.connection:
            self.connection.execute("BEGIN IMMEDIATE")
            yield self.connection

    def close(self) -> None:
        self.connection.close()

    # Reading

    def _rows(self, query: str, *values: Any) -> list[sqlite3.Row]:
        with self.lock:
            return self.connection.execute(query, values).fetchall()

    def items(self, chat: str, author: str | None = None) -> list[StudioItem]:
        """What is there, oldest first."""
        rows = self._rows(
            f"SELECT {_COLUMNS} FROM item WHERE chat = ? AND NOT deleted"  # noqa: S608
            " AND author = coalesce(?, author) ORDER BY place",
            chat,
            author,
        )
        return [_item(row) for row in rows]

    def item(self, id_: str) -> StudioItem:
        rows = self._rows(f"SELECT {_COLUMNS} FROM item WHERE id = ?", id_)  # noqa: S608
        if not rows:
            raise Unknown("no such item")
        return _item(rows[0])

    def authors(self, chat: str | None = None) -> dict[str, int]:
        """Annotators and how many items each has, of one chat or all."""
        rows = self._rows(
            "SELECT author, count(*) FROM item WHERE NOT deleted"
            " AND chat = coalesce(?, chat) GROUP BY author ORDER BY min(place)",
            chat,
        )
        return dict(rows)  # type: ignore[arg-type]

    def _result_of_request(self, request: str | None) -> StudioItem | None:
        """What a request of this name has done already."""
        rows = self._rows("SELECT item FROM edit WHERE request = ?", request)
        return self.item(rows[0][0]) if rows else None

    def _body_at(self, current: StudioItem, version: int) -> Body | None:
        """The body as it was at a version; None where that version is not known.

        A page may know more versions than the file: an older copy of it was put back.
        """
        if version == current.version:
            return current.body
        rows = self._rows(
            "SELECT after FROM edit WHERE item = ? AND version = ? ORDER BY number DESC LIMIT 1",
            current.id,
            version,
        )
        return _load_body(rows[0][0]) if rows else None

    # Writing rows

    def _insert(
        self,
        chat: str,
        kind: ItemKind,
        author: str,
        body: Body,
        *,
        conflict_of: str | None = None,
        taken_from: str | None = None,
        **logged: str | None,
    ) -> StudioItem:
        """A new row, inside a change."""
        id_ = f"{kind[0]}{secrets.token_hex(6)}"
        item = StudioItem(id_, chat, kind, author, 1, body, conflict_of, taken_from)
        return self._write(item, None, **logged)

    def _update(self, item: StudioItem, body: Body | None, **logged: str | None) -> StudioItem:
        """A new version; a body of None removes the item, which keeps its last words."""
        kept = item.body if body is None else body
        new = replace(item, version=item.version + 1, body=kept, deleted=body is None)
        return self._write(new, None if item.deleted else item.body, **logged)

    def _write(
        self,
        item: StudioItem,
        before: Body | None,
        *,
        request: str | None = None,
        step: str | None = None,
        state: str | None = "done",
    ) -> StudioItem:
        """A version of an item, and what changed in the log."""
        if state == "done":  # a new change ends what could be redone
            self.connection.execute(
                "UPDATE edit SET state = 'kept' WHERE chat = ? AND author = ? AND state = 'undone'",
                (item.chat, item.author),
            )
        body = dump_body(item.kind, item.body)
        row = asdict(item) | {
            "body": body,
            "before": None if before is None else dump_body(item.kind, before),
            "after": None if item.deleted else body,
            "step": step or secrets.token_hex(8),
            "state": state,
            "request": request,
        }
        self.connection.execute(
            "INSERT INTO item (id, chat, kind, author, version, body, conflict_of, taken_from)"
            " VALUES (:id, :chat, :kind, :author, :version, :body, :conflict_of, :taken_from)"
            " ON CONFLICT (id) DO UPDATE SET version = :version, body = :body, deleted = :deleted",
            row,
        )
        self.connection.execute(
            "INSERT INTO edit (item, chat, author, version, before, after, step, state, request)"
            " VALUES (:id, :chat, :author, :version, :before, :after, :step, :state, :request)",
            row,
        )
        return item

    # Steps of undo

    def _burst(self, item: StudioItem, names: set[str]) -> str | None:
        """The step that a change goes on with: a few seconds of typing are undone at once."""
        last = self._rows(
            "SELECT item, step, before, after, request, julianday('now') - julianday(at) AS days"
            " FROM edit WHERE chat = ? AND author = ? AND state = 'done'"
            " ORDER BY number DESC LIMIT 1",
            item.chat,
            item.author,
        )
        if not last or last[0]["item"] != item.id or not names <= _TYPED:
            return None
        row = last[0]
        before, after = _load_body(row["before"]), _load_body(row["after"])
        if after is None or 86_400 * row["days"] >= _BURST:
            return None
        if before is None:  # begun by typing into a new card; copies and second versions stand
            if not row["request"] or item.conflict_of or item.taken_from:
                return None
            before = {name: "" for name in _TYPED if not after.get(name)}
            after = {name: after[name] for name in _TYPED if name in after}
        same = {name for name in after if after[name] != before.get(name)} == names
        return row["step"] if same else None

    def steps(self, chat: str, author: str) -> tuple[bool, bool]:
        """Whether something can be undone, and redone."""
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
        rows = self._rows(
            "SELECT step FROM edit WHERE chat = ? AND author = ? AND state = ?"
            " ORDER BY CASE state WHEN 'done' THEN -number ELSE number END LIMIT 1",
            chat,
            author,
            state,
        )
        return rows[0][0] if rows else None

    def _turn_back(self, chat: str, author: str, state: str, new_state: str) -> list[StudioItem]:
        """The last step that was done is undone, or the other way around."""
        with self.changing() as connection:
            step = self._last_step(chat, author, state)
            if step is None:
                return []
            back = state == "done"
            rows = self._rows(
                "SELECT item, before, after FROM edit WHERE step = ? AND state = ?"
                " ORDER BY CASE state WHEN 'done' THEN -number ELSE number END",
                step,
                state,
            )
            changed = []
            for id_, *bodies in rows:
                becomes, was = map(_load_body, bodies if back else bodies[::-1])
                current = self.item(id_)
                if was != (None if current.deleted else current.body):
                    raise RealtalkError("was changed since", where=f"item {id_}")
                changed.append(self._update(current, becomes, state="kept"))
            connection.execute(
                "UPDATE edit SET state = ? WHERE step = ? AND state = ?", (new_state, step, state)
            )
            return changed

    # Changes

    def seed(self, chat: str, bodies: Iterable[tuple[ItemKind, Body]], author: str) -> None:
        """What came with the chat, once; it cannot be undone."""
        with self.changing() as connection:
            if self._rows("SELECT 1 FROM seeded WHERE chat = ?", chat):
                return
            connection.execute("INSERT INTO seeded VALUES (?)", (chat,))
            for kind, body in bodies:
                self._insert(chat, kind, author, body, state="kept")

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
            return self._result_of_request(request) or self._insert(
                chat, kind, author, body, request=request
            )

    def create_all(
        self, chat: str, author: str, bodies: Sequence[tuple[ItemKind, Body, str | None]]
    ) -> list[StudioItem]:
        """Several new items (kind, body, taken from) as one step; those that exist already
        are skipped."""
        with self.changing():
            there = Counter(_key(item.kind, item.body) for item in self.items(chat, author))
            step, created = secrets.token_hex(8), []
            for kind, body, source in bodies:
                key = _key(kind, body)
                if there[key]:
                    there[key] -= 1  # a file may hold the same twice
                else:
                    item = self._insert(chat, kind, author, body, step=step, taken_from=source)
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
            if done := self._result_of_request(request):
                if done.conflict_of and done.id != id_:
                    return Conflict(self.item(done.conflict_of), done)
                return done
            current = self._own(id_, author)
            base = self._body_at(current, version)
            merged = merge_fields(current.body if base is None else base, fields)
            mine = theirs = set(fields)  # where nobody can tell who changed what
            if base is not None:
                theirs = {name for name in current.body if current.body[name] != base.get(name)}
                mine = {name for name in fields if fields[name] != base.get(name)}
            clash = {name for name in theirs & mine if current.body.get(name) != fields[name]}
            if clash or current.deleted:
                # A removed item has no other version to stand beside.
                beside = None if current.deleted else current.id
                chat, kind = current.chat, current.kind
                copy = self._insert(chat, kind, author, merged, request=request, conflict_of=beside)
                return Conflict(current, copy)
            step = self._burst(current, mine)
            body = merge_fields(current.body, fields)
            return self._update(current, body, request=request, step=step)

    def remove(
        self, id_: str, author: str, version: int, *, request: str | None = None
    ) -> StudioItem | Conflict:
        """Takes an item away; not one that was changed since."""
        with self.changing():
            if done := self._result_of_request(request):
                return done
            current = self._own(id_, author)
            if current.deleted:
                return current
            if current.version != version:
                return Conflict(current, None)
            return self._update(current, None, request=request)

    def settle(self, id_: str, author: str, take: str) -> list[StudioItem]:
        """Ends a conflict: `this` version, the `other`, or `both` stay."""
        with self.changing() as connection:
            copy = self._own(id_, author)
            if copy.conflict_of is None or copy.deleted:
                raise RealtalkError("no conflict here any more", where=f"item {id_}")
            original = self.item(copy.conflict_of)
            step = secrets.token_hex(8)
            if take == "both" or (take == "this" and original.deleted):
                connection.execute("UPDATE item SET conflict_of = NULL WHERE id = ?", (id_,))
                return [original, self.item(id_)]
            gone = self._update(copy, None, step=step)
            if take == "this":
                return [self._update(original, copy.body, step=step), gone]
            return [original, gone]

    def _own(self, id_: str, author: str) -> StudioItem:
        item = self.item(id_)
        if item.author != author:
            raise RealtalkError(
                "belongs to another annotator", where=f"item {id_}", fix="copy it, then change that"
            )
        return item


def _key(kind: str, body: Body) -> str:
    return f"{kind} {dump_body(kind, body)}"


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file it is, whatever it holds; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _load_body(body: str | None) -> Body | None:
    return None if body is None else dict(orjson.loads(body))


def _item(row: sqlite3.Row) -> StudioItem:
    return StudioItem(
        **dict(row) | {"body": orjson.loads(row["body"]), "deleted": bool(row["deleted"])}
    )
