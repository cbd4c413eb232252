"""A path on disk as a list of readable members, safely.

Turns a file, a folder, a .zip or a .gz into members that a reader can look at
without caring which it was:

    Source.open("export.zip").members → (Member("_chat.txt", 3537), Member("photo.jpg", 146284))

Nothing is ever extracted to disk, so a hostile archive cannot write anywhere; sizes
are bounded by what is really read, not by what the archive claims.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zipfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from realtalk.errors import RealtalkError

__all__ = ["MAX_FILES", "MAX_MEMBER_BYTES", "Member", "Source"]

MAX_MEMBER_BYTES = 4 << 30  # one text: a million messages is about 0.1 GB
MAX_FILES = 200_000
_HEAD = 1 << 16
_TEXT_SUFFIXES = (".txt", ".json", ".jsonl", ".csv", ".tsv", ".xlsx", ".html")


class _Bounded(io.RawIOBase):
    """A stream that refuses to yield more than `limit` bytes and reports decoding trouble."""

    def __init__(self, raw: IO[bytes], limit: int, where: str, packed: bool) -> None:
        self._opened = raw  # unpacking a .gz does not close what it unpacks
        self._raw = cast(IO[bytes], gzip.GzipFile(fileobj=raw, mode="rb")) if packed else raw
        self._left = limit
        self._where = where

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]
        try:
            data = self._raw.read(len(view))
        except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError) as error:
            raise RealtalkError(
                f"cannot be unpacked ({type(error).__name__})",
                where=self._where,
                fix="the archive looks damaged or uses an unsupported method; export it again",
            ) from error
        self._left -= len(data)
        if self._left < 0:
            raise RealtalkError("is larger than the reading limit", where=self._where)
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if not self.closed:
            self._raw.close()
            self._opened.close()
        super().close()


@dataclass(frozen=True)
class Member:
    """One file of a source: its name inside it, its size, and how to open it."""

    name: str
    size: int
    opener: Callable[[], IO[bytes]] = field(repr=False, compare=False)
    where: str = ""
    path: Path | None = None  # where it lies plainly on disk, for readers that can map it

    @property
    def stem(self) -> str:
        """The file name without folders and known endings: the default chat id."""
        stem = self.name.rsplit("/", 1)[-1].removesuffix(".gz")
        return stem.rsplit(".", 1)[0] if "." in stem[1:] else stem

    @property
    def suffix(self) -> str:
        name = self.name.lower().removesuffix(".gz")
        dot = name.rfind(".")
        return name[dot:] if dot > name.rfind("/") + 1 else ""

    def open(self) -> IO[bytes]:
        """A fresh stream from the start; .gz is unpacked on the way."""
        packed = self.name.lower().endswith(".gz")
        stream = _Bounded(self.opener(), MAX_MEMBER_BYTES, self.where, packed)
        return io.BufferedReader(stream, 1 << 20)

    def read(self) -> bytes:
        with self.open() as stream:
            return stream.read()

    def head(self, size: int = _HEAD) -> bytes:
        """The first bytes, for telling formats apart."""
        with self.open() as stream:
            return stream.read(size)

    def sha256(self) -> str:
        """Of the bytes as they lie (packed, for a .gz)."""
        digest = hashlib.sha256()
        with self.opener() as stream:
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
        return digest.hexdigest()


@dataclass(frozen=True)
class Source:
    """Where a corpus comes from; `members` are sorted by name."""

    path: Path
    members: tuple[Member, ...]

    @staticmethod
    def open(path: Path | str) -> Source:
        path = Path(path)
        try:
            if path.is_dir():
                return Source(path, _folder(path))
            if not path.exists():
                raise RealtalkError("no such file or folder", where=str(path), fix="check the path")
            if path.stat().st_size == 0:
                raise RealtalkError("the file is empty", where=str(path))
            if zipfile.is_zipfile(path) and path.suffix.lower() != ".xlsx":
                return Source(path, _zip(path))
            return Source(path, (_file(path, path.name),))
        except PermissionError as error:
            raise RealtalkError("permission denied", where=str(path)) from error

    @property
    def name(self) -> str:
        """A short name for the corpus made from it."""
        return self.path.resolve().name if self.path.is_dir() else _plain_stem(self.path.name)

    def having(self, *suffixes: str) -> tuple[Member, ...]:
        """Members with one of these endings (".json"); .gz copies count as what they hold."""
        return tuple(member for member in self.members if member.suffix in suffixes)


def _plain_stem(name: str) -> str:
    for suffix in (".gz", ".zip", *_TEXT_SUFFIXES):
        if name.lower().endswith(suffix):
            name = name[: -len(suffix)]
    return name


def _file(path: Path, name: str) -> Member:
    return Member(name, path.stat().st_size, lambda: path.open("rb"), str(path), path)


def _hidden(name: str) -> bool:
    parts = name.split("/")
    return "__MACOSX" in parts or any(p.startswith(".") and p.strip(".") for p in parts)


def _bounded_count(names: Iterable[str], where: str) -> list[str]:
    kept: list[str] = []
    for name in names:
        kept.append(name)
        if len(kept) > MAX_FILES:
            raise RealtalkError(f"holds more than {MAX_FILES:,} files", where=where)
    return sorted(kept)


def _folder(path: Path) -> tuple[Member, ...]:
    names = (
        str(file.relative_to(path).as_posix())
        for file in path.rglob("*")
        if file.is_file() and not _hidden(file.relative_to(path).as_posix())
    )
    members = tuple(_file(path / name, name) for name in _bounded_count(names, str(path)))
    if not members:
        raise RealtalkError("the folder holds no files", where=str(path))
    return members


def _zip(path: Path) -> tuple[Member, ...]:
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise RealtalkError("not a readable zip archive", where=str(path)) from error
    with archive:
        infos = {
            info.filename: info
            for info in archive.infolist()
            if not info.is_dir() and not _hidden(info.filename)
        }
        if any(info.flag_bits & 0x1 for info in infos.values()):
            raise RealtalkError(
                "the archive is encrypted", where=str(path), fix="unpack it first, then read that"
            )
    if not infos:
        raise RealtalkError("the archive holds no files", where=str(path))

    def opener(name: str) -> Callable[[], IO[bytes]]:
        def open_member() -> IO[bytes]:
            # Each stream owns its archive handle: members may be read side by side.
            holder = zipfile.ZipFile(path)
            try:
                stream = holder.open(name)
            except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError) as error:
                holder.close()
                raise RealtalkError("cannot be unpacked", where=f"{path}/{name}") from error
            holder.close()  # zipfile keeps the file open while a member stream lives
            return stream

        return open_member

    return tuple(
        Member(name, infos[name].file_size, opener(name), f"{path}/{name}")
        for name in _bounded_count(infos, str(path))
    )
