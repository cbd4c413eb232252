"""Zip archives that many files are read from: each is opened, listed and unpacked once.

    archives = Archives()
    outer = Zip("export.zip", path=Path("export.zip"))
    archives.listed(outer)        → {"chats/inner.zip": ZipInfo, ...}
    archives.open(outer, info)    → a stream of one file; several may be read side by side

To list an archive takes as long as it has files, and an archive inside an archive must be
unpacked to be listed: done anew for every file, a thousand files cost a million steps. So the
last few stay open. What is unpacked stays in memory, up to a bound; an archive beyond it is read
through its own archive, slowly, and nothing is ever written to disk.
"""

from __future__ import annotations

import io
import weakref
import zipfile
import zlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import RLock
from typing import IO

from realtalk.corpora.limits import Allowance, Measure
from realtalk.errors import RealtalkError

MAX_OPEN = 16  # archives; each may be an open file, of which a process has few
MAX_KEPT_BYTES = 256 << 20  # of unpacked archives, all of them together

UNPACKING_ERRORS = (
    OSError,
    EOFError,
    zlib.error,
    zipfile.BadZipFile,
    NotImplementedError,
    RuntimeError,
    KeyError,
    ValueError,
)
_NAMES_ARE_UTF8 = 0x800
_ENCRYPTED = 0x1
_numbers = count()


@dataclass(frozen=True, eq=False, slots=True)
class Zip:
    """Where an archive lies: on disk, or inside of something that `opener` opens."""

    where: str
    path: Path | None = None
    opener: Callable[[], IO[bytes]] | None = None
    allowance: Allowance | None = None  # what all that is in it may unpack to
    number: int = field(default_factory=lambda: next(_numbers), init=False)


class Archives:
    """The archives of one source that were read last."""

    def __init__(self) -> None:
        self._lock = RLock()  # an archive in an archive asks for its own
        # By number: a `Zip` knows its opener, which knows this, which would never be let go.
        self._open: OrderedDict[int, tuple[zipfile.ZipFile, int]] = OrderedDict()
        weakref.finalize(self, _close, self._open)

    def listed(self, place: Zip) -> dict[str, zipfile.ZipInfo]:
        """The files of an archive by name, folders left out."""
        with self._lock:
            try:
                infos = self._archive(place).infolist()
            except UNPACKING_ERRORS as error:
                raise RealtalkError("not a readable zip archive", where=place.where) from error
        members = {_name(info): info for info in infos if not info.is_dir()}
        if any(info.flag_bits & _ENCRYPTED for info in members.values()):
            raise RealtalkError(
                "the archive is encrypted", where=place.where, fix="unpack it first, then read that"
            )
        return members

    def open(self, place: Zip, info: zipfile.ZipInfo) -> IO[bytes]:
        """A stream of its own: it lives on when its archive is put away."""
        with self._lock:
            try:
                return self._archive(place).open(info)
            except UNPACKING_ERRORS as error:
                where = f"{place.where}/{_name(info)}"
                raise RealtalkError("cannot be unpacked", where=where) from error

    def _archive(self, place: Zip) -> zipfile.ZipFile:
        if place.number in self._open:
            self._open.move_to_end(place.number)
            return self._open[place.number][0]
        stream, kept = _unpacked(place)
        archive = zipfile.ZipFile(stream)
        self._open[place.number] = archive, kept
        while len(self._open) > 1 and (
            len(self._open) > MAX_OPEN
            or sum(size for _, size in self._open.values()) > MAX_KEPT_BYTES
        ):
            _, (oldest, _) = self._open.popitem(last=False)
            oldest.close()  # zipfile keeps the file open while a stream of it lives
        return archive


def _close(opened: OrderedDict[int, tuple[zipfile.ZipFile, int]]) -> None:
    while opened:
        opened.popitem()[1][0].close()


def _unpacked(place: Zip) -> tuple[Path | IO[bytes], int]:
    """What to read an archive from, and how many bytes of it are kept in memory."""
    if place.path is not None:
        return place.path, 0
    assert place.opener is not None
    measure, kept = Measure(), io.BytesIO()
    with place.opener() as stream:
        while kept.tell() <= MAX_KEPT_BYTES and (chunk := stream.read(1 << 20)):
            kept.write(chunk)
            if place.allowance is not None:
                measure.add(chunk)
                place.allowance.note(place.opener, measure)
    if (size := kept.tell()) <= MAX_KEPT_BYTES:
        return kept, size
    return place.opener(), 0


def _name(info: zipfile.ZipInfo) -> str:
    """A file's name; many programs write UTF-8 and do not say so."""
    if info.flag_bits & _NAMES_ARE_UTF8 or info.filename.isascii():
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename
