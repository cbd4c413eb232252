"""Where a job's parts lie → how they are made and recorded there: on this machine, or in a store.

    home = home_of(Path("corpora"))            → FolderHome
    home = home_of("s3://bucket/corpora")      → StoreHome
    with home.scratch() as folder: ...         # where a part is made
    home.put(folder / "a", "a")                # it takes its name, whole
    with home.record() as folder: ...          # a local folder for run.json and the rows of parts
    home.keep(folder)                          # what was written there is to be kept

In a store every part is made on the worker's machine and uploaded. The record grows in a folder
of the driver's and is uploaded every few seconds and at the end: a driver that is killed loses
those seconds, whose parts are then made again to the same bytes.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from realtalk.errors import RealtalkError
from realtalk.files.stores import Place, children, fetch, name_of, put, remove
from realtalk.files.temporary import for_this_process, temporary_folder
from realtalk.files.writing import private_folder

UNFINISHED = ".unfinished"
_RECORDS = ("run.json", "parts.jsonl", "parts.parquet")
_EVERY = 5.0  # seconds between two uploads of the record


def home_of(out: Place) -> FolderHome | StoreHome:
    """The home of a job's parts."""
    return StoreHome(out) if isinstance(out, str) else FolderHome(out)


def record_of(out: Place) -> Path:
    """The record of a job that is done, in a folder of this machine."""
    if isinstance(out, Path):
        return out
    return _fetch_records(out, for_this_process("realtalk-record-") / "record")


def _fetch_records(out: str, folder: Path) -> Path:
    private_folder(folder)
    for name in {name_of(child) for child in children(out)} & set(_RECORDS):
        fetch(f"{out}/{name}", folder / name)
    return folder


@dataclass(frozen=True)
class FolderHome:
    """A folder of this machine, or one that all machines see under the same path."""

    folder: Path

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        name = f"{os.getpid()}-{secrets.token_hex(4)}"
        folder = private_folder(self.folder / UNFINISHED / name)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def put(self, made: Path, part: str) -> None:
        place = self.folder / part
        if place.is_dir():  # a folder cannot be renamed onto another
            place.rename(made.parent / f"old-{secrets.token_hex(4)}")
        made.replace(place)

    def remove(self, name: str) -> None:
        path = self.folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def names(self) -> frozenset[str]:
        return frozenset(path.name for path in self.folder.iterdir())

    @contextmanager
    def record(self) -> Iterator[Path]:
        yield self.folder

    def keep(self, folder: Path, *, now: bool = False) -> None:
        """The record lies where the parts lie: every row is on the disk already."""


@dataclass
class StoreHome:
    """A folder in a store."""

    address: str
    _upload_times: dict[str, int] = field(default_factory=dict)  # by name, when it was written
    _last: float = 0.0

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        with temporary_folder("realtalk-part-") as folder:
            yield private_folder(folder / "work")  # a part may be called as the folder's lock is

    def put(self, made: Path, part: str) -> None:
        put(made, f"{self.address}/{part}")

    def remove(self, name: str) -> None:
        remove(f"{self.address}/{name}")

    def names(self) -> frozenset[str]:
        return frozenset(name_of(child) for child in children(self.address))

    @contextmanager
    def record(self) -> Iterator[Path]:
        there = sorted(name for name in self.names() if not name.startswith("."))
        if there and _RECORDS[0] not in there:
            raise RealtalkError(
                f"holds {there[0]} but no {_RECORDS[0]}: not a folder for a run",
                where=self.address,
                fix="name another folder",
            )
        with temporary_folder("realtalk-record-") as temporary:
            folder = _fetch_records(self.address, temporary / "record")
            try:
                yield folder
            finally:
                self.keep(folder, now=True)

    def keep(self, folder: Path, *, now: bool = False) -> None:
        """Uploads what was written since; `now` at once, else when some seconds have passed."""
        if not now and time.monotonic() - self._last < _EVERY:
            return
        for name in _RECORDS:
            file = folder / name
            time_ns = file.stat().st_mtime_ns if file.is_file() else None
            if time_ns is not None and self._upload_times.get(name) != time_ns:
                self.put(file, name)
                self._upload_times[name] = time_ns
        self._last = time.monotonic()
