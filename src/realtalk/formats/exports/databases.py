"""An app's own SQLite file, read only and without a trace: its tables as rows or as columns.

    with open_database(member, {"jid": "_id:int raw_string", "chat": "_id:int"}) as database:
        database.columns          → {"jid": ["_id", "raw_string"]}   what is there of what we want
        database.frame("jid")     → polars, a column per name: text, or int, float, bytes

The file is opened as one that nobody changes, so nothing is ever written beside it; what the app
has not yet moved into it from its log is not seen, and a note says so. No more is read than a file
of this size can hold: a damaged one can point to one page from a thousand places.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import polars as pl
import polars.selectors as cs

from realtalk.errors import RealtalkError
from realtalk.formats.json_input import Fields
from realtalk.formats.limits import GROWTH, LEAST_BYTES, scale
from realtalk.formats.source import Member

DATABASES = (".db", ".sqlite", ".sqlite3")
_MAGIC = b"SQLite format 3\0"
_LOGGED = slice(18, 20)  # bytes that say whether changes go to a log
_ROW = 6  # bytes that the smallest row takes
_LEAST_ROWS = 10_000
_BATCH = 50_000  # rows that are Python values at a time
# How a value is asked for, so that every column has one kind whatever the file holds.
_KINDS = {
    "": ("CAST({} AS TEXT)", pl.String),
    "int": ("CAST({} AS INTEGER)", pl.Int64),
    "float": ("CAST({} AS REAL)", pl.Float64),
    "bytes": ("CASE WHEN typeof({0}) = 'blob' THEN {0} END", pl.Binary),
}


def is_database(member: Member) -> bool:
    """Whether a file begins as SQLite's do."""
    return member.head(len(_MAGIC)).startswith(_MAGIC)


def has_tables(member: Member, wanted: Mapping[str, str], *choices: Mapping[str, str]) -> bool:
    """Whether a file has one of these sets of tables; a look at them is no reading."""
    with open_database(replace(member, on_read=len), wanted) as database:
        return any(map(database.has, choices))


def log_notes(member: Member) -> list[str]:
    """A line about the log beside a database, where it may hold newer messages."""
    log = member.path.with_name(f"{member.path.name}-wal") if member.path else None
    if log is None or not log.exists() or not log.stat().st_size:
        return []
    return [
        f"{member.name}: newer messages may still be in {log.name}, which is not read; "
        "close the app and copy the file again"
    ]


class Database:
    """The tables of one file, as far as they are wanted and there."""

    def __init__(
        self, connection: sqlite3.Connection, member: Member, wanted: Mapping[str, str]
    ) -> None:
        self._connection = connection
        self._where = member.where
        self._row_limit = scale(max(_LEAST_ROWS, member.size // _ROW))
        self._byte_limit = scale(max(LEAST_BYTES, GROWTH * member.size))
        self._kinds = {
            table: {
                name: _KINDS[kind]
                for name, _, kind in (column.partition(":") for column in columns.split())
            }
            for table, columns in wanted.items()
        }
        # The columns that we want and that are there, by table; views and the like are none.
        listed = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'"
        ).fetchmany(5000)
        self.columns: dict[str, list[str]] = {}
        for table in self._kinds.keys() & {str(row[0]) for row in listed}:
            listed = connection.execute(f"PRAGMA table_xinfo({table})").fetchmany(2000)
            # A computed column could compute for ever.
            there = {str(row[1]) for row in listed if not row[6]} | {"ROWID"}
            self.columns[table] = [name for name in self._kinds[table] if name in there]

    def has(self, needed: Mapping[str, str]) -> bool:
        """Whether these tables are there with these columns."""
        return all(
            set(names.split()) <= set(self.columns.get(table, ()))
            for table, names in needed.items()
        )

    def frame(self, table: str) -> pl.DataFrame:
        """A table as columns; those that are not there are null."""
        return pl.concat(self._batches(table))

    def rows(self, table: str) -> Iterator[Fields]:
        """The same as objects, of which only some are in memory."""
        for batch in self._batches(table):
            yield from batch.iter_rows(named=True)

    def _batches(self, table: str) -> Iterator[pl.DataFrame]:
        kinds, there = self._kinds[table], self.columns.get(table)
        empty = pl.DataFrame(schema={name: kind for name, (_, kind) in kinds.items()})
        yield empty
        if there:
            cells = ", ".join(kinds[name][0].format(name) for name in there)
            schema = {name: kinds[name][1] for name in there}
            cursor = self._connection.execute(f"SELECT {cells} FROM {table}")  # noqa: S608
            while rows := cursor.fetchmany(_BATCH):
                batch = pl.DataFrame(rows, schema=schema, orient="row")
                texts = batch.select(cs.string() | cs.binary()).cast(pl.Binary)
                self._row_limit -= len(rows)
                self._byte_limit -= sum(int(text.bin.size().sum()) for text in texts)
                if self._row_limit < 0 or self._byte_limit < 0:
                    raise RealtalkError(
                        "holds more than a file of its size can; it is damaged", where=self._where
                    )
                yield pl.concat([empty, batch], how="diagonal")


@contextmanager
def open_database(member: Member, wanted: Mapping[str, str]) -> Iterator[Database]:
    """The database; whatever is wrong with it is one error."""
    try:
        with closing(_connect(member)) as connection:
            yield Database(connection, member, wanted)
    except (sqlite3.Error, sqlite3.Warning, OverflowError, ValueError) as error:
        raise member.error(
            f"cannot be read as a database ({type(error).__name__})",
            f"copy {member.name.rpartition('/')[2]} again while the app is closed",
        ) from error


def _connect(member: Member) -> sqlite3.Connection:
    """The database, for reading only; what is not plainly on disk is read into memory."""
    if not is_database(member):
        raise member.error("is no database")
    data = None
    address = ":memory:"
    if member.path is not None and not member.name.lower().endswith(".gz"):
        member.on_read(member.name)
        address = f"{member.path.resolve().as_uri()}?mode=ro&immutable=1"
    else:
        data = bytearray(member.read())
        if data[_LOGGED] == b"\2\2":
            data[_LOGGED] = b"\1\1"  # in memory there is no log to look for
    connection: Any = sqlite3.connect(address, uri=True)
    try:
        if data is not None:
            connection.deserialize(data)
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")
        for setting in ("trusted_schema=OFF", "cell_size_check=ON", "query_only=ON", "mmap_size=0"):
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection  # type: ignore[no-any-return]
