"""A folder that a run writes into: settings, versions, rows. Killed at any moment, it goes on.

    with RunFolder.open(Path("out"), "memory probing", {"memory": "whole", "seed": 0}) as run:
        rows = run.table("rows", ("chat", "question"))
        rows.add({"chat": "Chat_1", "question": "Q3", "answer": "in March"})
        rows.finish(order=[("Chat_1", "Q3"), ...])

    out/run.json        {"kind": "memory probing", "settings": {...}, "versions": [{...}]}
    out/rows.jsonl      one line per row, as they came; the later of two with one key counts
    out/rows.parquet    the same at the end, in the order asked for

A row is whole on disk or not there: a line that was cut off is dropped when the folder is
opened again. A folder that was made with other settings, or at another server, is refused by what
differs; one that holds something else than a run is not written into. Starting anew removes a
run's own tables and nothing else.

What a run's result depends on: what its corpus holds, and which versions computed it.

    corpus_record(corpus)    → {"name": "sample", "format": "realtalk", "sha256": "9f86d081…"}
    versions()               → {"realtalk": "0.2.0", "python": "3.12.4", "numpy": "2.1.0", …}

Runs are told apart by what a corpus holds, not by where it lies.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import orjson

from realtalk import __version__
from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.files.writing import (
    private_folder,
    private_stream,
    refuse_strangers,
    write_bytes,
    write_json,
    write_parquet,
)
from realtalk.models.addresses import bare_address

if TYPE_CHECKING:
    import polars as pl


_PACKAGES = """
    numpy polars scipy onnxruntime tokenizers bm25s rouge-score sacrebleu
    scikit-learn nltk inspect-ai openai xllamacpp
""".split()  # noqa: SIM905 - words read better than quotes


def versions() -> dict[str, str]:
    """What may change a result: this package, Python, and the libraries that are installed."""
    installed = {name: _find_version(name) for name in _PACKAGES}
    base = {"realtalk": __version__, "python": platform.python_version()}
    return base | {name: number for name, number in installed.items() if number is not None}


@cache
def _find_version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


class ContentHash:
    """What the rows depend on of a corpus, chat by chat: a corpus need not be in memory."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()

    def add(self, corpus: Corpus) -> None:
        """The next chats."""
        for chat in corpus.chats:
            # Field by field: a chat also carries what was derived from it so far.
            self._digest.update(orjson.dumps([getattr(chat, field.name) for field in fields(chat)]))

    def __str__(self) -> str:
        return self._digest.hexdigest()[:16]


def content_hash(corpus: Corpus) -> str:
    """What the rows depend on of a corpus: its chats, events and questions."""
    digest = ContentHash()
    digest.add(corpus)
    return str(digest)


def corpus_record(corpus: Corpus) -> dict[str, str]:
    """A corpus among a run's settings."""
    return {"name": corpus.name, "format": corpus.format, "sha256": content_hash(corpus)}


Row: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[Any, ...]

_FILE = "run.json"
# What the runs of this package call their tables: all that --fresh may remove.
_TABLES = frozenset(
    """
    rows groups timings preparations memories judgements judges simulated
    speakers stages labels parts findings
    """.split()  # noqa: SIM905 - words read better than quotes
)
_DESCRIBING = ("versions", "settings.corpus.format")  # what decides no row
_LOCKED = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)
_SYNC_EVERY = 0.5  # seconds: what a power cut may cost; a killed process loses nothing


@dataclass
class RunFolder:
    """A folder with its settings. Use it in a `with` block: the files are closed at its end.

    Without a folder everything stays in memory. `versions` are of every sitting that added to it.
    """

    folder: Path | None
    kind: str
    settings: Mapping[str, Any]
    versions: Sequence[Mapping[str, str]] = ()
    _tables: list[Table] = field(default_factory=list)

    @classmethod
    def open(
        cls,
        folder: Path | None,
        kind: str,
        settings: Mapping[str, Any],
        *,
        fresh: bool = False,
    ) -> RunFolder:
        """A new run, or one that goes on; `fresh` removes what an earlier run left here."""
        own_settings = orjson.loads(orjson.dumps(dict(settings)))  # as it reads when it comes back
        if folder is None:
            return cls(None, kind, own_settings, [versions()])
        refuse_other_folder(folder)
        try:
            private_folder(folder)
        except OSError as error:
            raise RealtalkError(
                f"cannot be a run's folder ({error.strerror})", where=str(folder)
            ) from error
        place = folder / _FILE
        if fresh and place.exists():
            clear(folder)
        used = [versions()]
        if place.exists():
            record = read_record(folder)
            _refuse_difference(folder, record, {"kind": kind, "settings": own_settings})
            stored = record["versions"]
            used = [*stored, *(own for own in used if own not in stored)]
        write_json(place, {"kind": kind, "settings": own_settings, "versions": used})
        return cls(folder, kind, own_settings, used)

    @classmethod
    def load(cls, folder: Path, kind: str | None) -> RunFolder:
        """A run that is there, to be read or added to; of any kind where none is named."""
        place = folder / _FILE
        if not place.is_file():
            raise RealtalkError("no run here", where=str(folder), fix=f"it has no {_FILE}")
        record = read_record(folder)
        if kind is not None and record["kind"] != kind:
            raise RealtalkError(f"a run of {record['kind']}, not of {kind}", where=str(folder))
        return cls(folder, record["kind"], record["settings"], record["versions"])

    def table(self, name: str, key: Sequence[str], *, late: bool = False) -> Table:
        """The rows of one name, opened for writing, with those that are there.

        The file of a `late` table is made when its first row comes.
        """
        if name not in _TABLES:
            raise ValueError(f"'{name}' is not among the tables that `fresh=True` removes")
        path = None if self.folder is None else self.folder / f"{name}.jsonl"
        self._tables.append(Table(path, tuple(key), late=late))
        return self._tables[-1]

    def rows(self, name: str, key: Sequence[str]) -> list[Row]:
        """The rows of one name, only to be read: the latest of each key, in the table's order.

        A run that went on and was stopped has rows that its table lacks: they come last. A run
        that was shared has nothing but tables.
        """
        if self.folder is None:
            return []
        path = self.folder / f"{name}.jsonl"
        table = path.with_suffix(".parquet")
        if not path.is_file():
            return _table_rows(table) if table.is_file() else []
        latest = _latest(_lines(path)[0], tuple(key))
        if not table.is_file():
            return list(latest.values())
        order = _latest(_table_rows(table, key), tuple(key))
        first = {place: latest[place] for place in order if place in latest}
        return list({**first, **latest}.values())

    def rewrite(self, name: str, rows: Sequence[Row], schema: pl.Schema | None = None) -> None:
        """Puts rows in the place of a table's, in their order; refused while a run writes it."""
        import polars as pl

        assert self.folder is not None  # it was loaded from one
        path = self.folder / f"{name}.jsonl"
        if not rows and not path.exists():
            return
        with _open_stream(path):
            write_bytes(path, b"".join(orjson.dumps(row) + b"\n" for row in rows))
            frame = pl.DataFrame(rows, schema=schema, infer_schema_length=None)
            write_parquet(path.with_suffix(".parquet"), frame)

    def close(self) -> None:
        for table in self._tables:
            table.close()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Table:
    """Rows of one kind: added one by one, each on disk before the next; or kept in memory."""

    def __init__(self, path: Path | None, key: tuple[str, ...], *, late: bool = False) -> None:
        self.path = path
        self.key = key
        self._rows: dict[Key, Row] = {}
        self._stream: IO[bytes] | None = None
        self._synced = time.monotonic()
        if path is not None and (path.exists() or not late):
            self._stream = self._open(path)

    def _open(self, path: Path) -> IO[bytes]:
        stream = _open_stream(path)
        try:
            rows, end = _lines(path)
        except RealtalkError:
            stream.close()
            raise
        stream.truncate(end)
        stream.seek(0, os.SEEK_END)
        self._rows = _latest(rows, self.key)
        return stream

    @property
    def rows(self) -> Collection[Row]:
        """Every row, the latest of each key."""
        return self._rows.values()

    def get(self, key: Key) -> Row | None:
        return self._rows.get(key)

    def add(self, row: Mapping[str, Any]) -> None:
        """One row, given to the system at once and to the disk soon."""
        line = orjson.dumps(dict(row))
        if self._stream is None and self.path is not None:
            self._stream = self._open(self.path)
        if self._stream is not None:
            self._stream.write(line + b"\n")
            self._stream.flush()
        stored = orjson.loads(line)
        self._rows[tuple(stored[name] for name in self.key)] = stored
        if time.monotonic() - self._synced > _SYNC_EVERY:
            self.sync()

    def sync(self) -> None:
        """Makes sure that every row so far survives a power cut."""
        if self._stream is not None:
            os.fsync(self._stream.fileno())
        self._synced = time.monotonic()

    def in_order(self, order: Sequence[Key]) -> list[Row]:
        """The rows in the order given; those not named come last."""
        first = [key for key in order if key in self._rows]
        rest = sorted(set(self._rows) - set(first), key=str)
        return [self._rows[key] for key in (*first, *rest)]

    def finish(self, order: Sequence[Key], schema: pl.Schema | None = None) -> list[Row]:
        """The rows in the order given, also written as Parquet."""
        import polars as pl

        rows = self.in_order(order)
        if self.path is not None and self._stream is not None:
            self.sync()
            frame = pl.DataFrame(rows, schema=schema, infer_schema_length=None)
            write_parquet(self.path.with_suffix(".parquet"), frame)
        return rows

    def close(self) -> None:
        if self._stream is not None and not self._stream.closed:
            self.sync()
            self._stream.close()


def stored_settings(folder: Path, kind: str | None) -> Mapping[str, Any] | None:
    """The settings of a run of that kind, or of any; None where there is none to be read."""
    if not (folder / _FILE).is_file():
        return None
    try:
        return RunFolder.load(folder, kind).settings
    except RealtalkError:
        return None  # opening it says what it is


def refuse_other_folder(folder: Path) -> None:
    """Raises where a folder holds something else than a run; before long work, too."""
    refuse_strangers(folder, "a run", _FILE)


def refuse_other_runs(folder: Path) -> None:
    """Raises where a folder for several runs (a sweep) holds anything but runs and figures."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        is_run = path.name.startswith(".") or path.name == "figures" or (path / _FILE).is_file()
        if not is_run and (path.is_file() or any(path.iterdir())):
            raise RealtalkError(
                f"holds {path.name}, which is no run", where=str(folder), fix="name another folder"
            )


def clear(folder: Path) -> None:
    """Removes what runs write, and nothing else. The settings go last: they say whose it is."""
    own = [f"{name}{end}" for name in sorted(_TABLES) for end in (".jsonl", ".parquet")]
    for name in (*own, _FILE):
        (folder / name).unlink(missing_ok=True)


def read_record(folder: Path) -> dict[str, Any]:
    """What run.json says: kind, settings and versions."""
    path = folder / _FILE
    try:
        record = orjson.loads(path.read_bytes())
        if not {"kind", "settings", "versions"} <= set(record):
            raise ValueError
    except (OSError, ValueError, TypeError) as error:
        raise RealtalkError(
            "not a run's settings", where=str(path), fix="start anew with `fresh=True`"
        ) from error
    return dict(record)


def _open_stream(path: Path) -> IO[bytes]:
    try:
        stream = private_stream(path)
    except OSError as error:
        raise RealtalkError(f"cannot be written ({error.strerror})", where=str(path)) from error
    try:
        import fcntl

        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # not on Windows
        pass
    except OSError as error:
        if error.errno not in _LOCKED:
            return stream  # a file system without locks, as clusters have them
        stream.close()
        raise RealtalkError(
            "another run is writing here",
            where=str(path),
            fix="wait for it or stop it",
            code="busy",
        ) from error
    return stream


def _lines(path: Path) -> tuple[list[Row], int]:
    """The whole rows of a file, and where they end; a row that was cut off is left out."""
    rows: list[Row] = []
    whole = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                break
            try:
                rows.append(orjson.loads(line))
            except ValueError as error:
                raise RealtalkError(
                    "not a row", where=f"{path}, line {number}", fix="start anew with `fresh=True`"
                ) from error
            whole += len(line)
    return rows, whole


def _table_rows(path: Path, wanted: Sequence[str] = ()) -> list[Row]:
    """The rows of a table; of the columns that are wanted, where it has them all."""
    import polars as pl

    try:
        present = set(pl.read_parquet_schema(path)) if wanted else set()
        columns = list(wanted) if present.issuperset(wanted) else None
        return pl.read_parquet(path, columns=columns or None).to_dicts()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise RealtalkError(
            "not a readable Parquet file", where=str(path), fix="start the run again to mend it"
        ) from error


def _latest(rows: Iterable[Row], key: tuple[str, ...]) -> dict[Key, Row]:
    return {tuple(row[name] for name in key): row for row in rows}


def _refuse_difference(folder: Path, known: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Raises where a run was made with other settings, naming each that differs."""
    before, now = _flat(known), _flat(wanted)
    names = [
        name
        for name in dict.fromkeys((*before, *now))
        if not name.startswith(_DESCRIBING) and before.get(name) != now.get(name)
    ]
    differences = [
        f"{name.removeprefix('settings.')} is {_short(before.get(name))} there, "
        f"{_short(now.get(name))} now"
        for name in names[:4]
    ]
    more = [f"and {len(names) - 4} more"] if len(names) > 4 else []
    if differences:
        raise RealtalkError(
            f"made with other settings ({', '.join([*differences, *more])})",
            where=str(folder),
            fix="name another folder, or start anew with `fresh=True`",
            code="other-settings",
        )


def _flat(value: Mapping[str, Any], head: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, entry in value.items():
        if isinstance(entry, Mapping):
            flat |= _flat(entry, f"{head}{name}.")
        elif name == "base_url" and isinstance(entry, str):
            flat[f"{head}{name}"] = bare_address(entry)  # a file of others may hold a key there
        else:
            flat[f"{head}{name}"] = entry
    return flat


def _short(value: Any) -> str:
    text = "not set" if value is None else str(value)
    return text if len(text) <= 40 else f"{text[:37]}…"
