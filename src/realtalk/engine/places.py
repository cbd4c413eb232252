"""Where a job's parts lie → how they are made and recorded there: on this machine, or in a store.

    home = home_of(Path("corpora"))            → FolderHome
    home = home_of(place_of("s3://b/corpora")) → StoreHome
    with home.scratch() as folder: ...         # where a part is made
    home.put(folder / "a", "a", folder)        # it takes its name, whole
    with home.record() as record:              # a local folder for run.json and the rows of parts
        record.changed()                       # what was written there is to be kept

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
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from realtalk.local.stores import StorePath
from realtalk.local.temporary import for_this_process, temporary_folder
from realtalk.local.writing import private_folder, refuse_strangers

UNFINISHED = ".unfinished"
_RECORDS = ("run.json", "parts.jsonl", "parts.parquet")
_EVERY = 5.0  # seconds between two uploads of the record


class JobRecord(Protocol):
    """The record of a job, in a folder of this machine."""

    @property
    def folder(self) -> Path: ...

    def changed(self, *, now: bool = False) -> None:
        """Something was written there; `now` keeps it at once."""


def home_of(out: Path) -> FolderHome | StoreHome:
    """The home of a job's parts."""
    return StoreHome(out) if isinstance(out, StorePath) else FolderHome(out)


def record_of(folder: Path) -> Path:
    """The record of a job that is done, in a folder of this machine."""
    if not isinstance(folder, StorePath):
        return folder
    copies = private_folder(for_this_process("realtalk-record-") / "record")
    for name in _RECORDS:
        stored = folder / name
        if isinstance(stored, StorePath) and stored.is_file():
            stored.fetch(copies / name)
    return copies


def at_hand(source: Path, scratch: Path) -> Path:
    """An input as a path of this machine, under its own name."""
    if not isinstance(source, StorePath):
        return source
    return source.fetch(private_folder(scratch / "input") / source.name)


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

    def put(self, made: Path, part: str, scratch: Path) -> None:
        place = self.folder / part
        if place.is_dir():  # a folder cannot be renamed onto another
            place.rename(scratch / f"old-{secrets.token_hex(4)}")
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
    def record(self) -> Iterator[FolderRecord]:
        yield FolderRecord(self.folder)


@dataclass(frozen=True)
class FolderRecord:
    """The record lies where the parts lie: nothing else is to be kept."""

    folder: Path

    def changed(self, *, now: bool = False) -> None:
        """Every row is on the disk already."""


@dataclass(frozen=True)
class StoreHome:
    """A folder in a store."""

    place: StorePath

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        with temporary_folder("realtalk-part-") as folder:
            yield private_folder(folder / "work")  # a part may be called as the folder's lock is

    def put(self, made: Path, part: str, scratch: Path) -> None:  # noqa: ARG002
        self._child(part).put(made)

    def remove(self, name: str) -> None:
        self._child(name).remove()

    def names(self) -> frozenset[str]:
        with suppress(FileNotFoundError):
            return frozenset(path.name for path in self.place.iterdir())
        return frozenset()

    @contextmanager
    def record(self) -> Iterator[StoreRecord]:
        refuse_strangers(self.place, "a run", _RECORDS[0])
        with temporary_folder("realtalk-record-") as temporary:
            folder = private_folder(temporary / "record")
            for name in _RECORDS:
                stored = self._child(name)
                if stored.is_file():
                    stored.fetch(folder / name)
            record = StoreRecord(folder, self.place)
            try:
                yield record
            finally:
                record.changed(now=True)

    def _child(self, name: str) -> StorePath:
        child = self.place / name
        assert isinstance(child, StorePath)
        return child


@dataclass
class StoreRecord:
    """A record that is made here and kept there."""

    folder: Path
    place: StorePath
    _kept: dict[str, int] = field(default_factory=dict)  # by name, when it was written
    _last: float = 0.0

    def changed(self, *, now: bool = False) -> None:
        if not now and time.monotonic() - self._last < _EVERY:
            return
        for name in _RECORDS:
            file = self.folder / name
            written = file.stat().st_mtime_ns if file.is_file() else None
            if written is not None and self._kept.get(name) != written:
                child = self.place / name
                assert isinstance(child, StorePath)
                child.put(file)
                self._kept[name] = written
        self._last = time.monotonic()
