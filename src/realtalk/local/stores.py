"""Paths in object stores and file systems of clusters: `s3://`, `gs://`, `hdfs://`.

    place_of("exports/a.txt")               → Path, as ever
    place = place_of("s3://bucket/exports")   → StorePath; nothing is sent before it is used
    [each.name for each in place.iterdir()]   → ["a.txt", "b.zip"]
    place.fetch(Path("/tmp/x/exports"))       # a copy here
    place.put(Path("/tmp/x/part"))            # whole or absent
    local_copy("s3://bucket/corpus")          → a copy that goes with this process

A StorePath is a Path as far as names go, so that it travels through code that only hands paths
on. Whoever would open it like a file of this machine gets a RealtalkError instead of a stray
folder. Credentials and endpoints come from the environment, as pyarrow reads them, and
AWS_ENDPOINT_URL names an S3 server of one's own.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.errors import RealtalkError
from realtalk.local.temporary import for_this_process
from realtalk.local.writing import STORES, private_folder, private_stream

# As it is written, or as `Path` made it of that.
_WRITTEN = re.compile(rf"({'|'.join(STORES)})/{{1,2}}([^/].*)")
# The files that make a folder what it is: with one of them missing it is none yet.
_MARKS = ("corpus.json", "run.json")
_CHUNK = 1 << 20
_PATIENCE = 20.0  # seconds for a store to answer
_ENDPOINT = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
_DENIED = ("ACCESS_DENIED", "INVALID_ACCESS_KEY_ID", "SIGNATURE_DOES_NOT_MATCH", "403", "401")

if TYPE_CHECKING:
    _Base = Path
else:
    _Base = type(Path())


def place_of(path: str | Path) -> Path:
    """The path, as one in a store where it names one."""
    if isinstance(path, StorePath):
        return path
    found = _WRITTEN.fullmatch(str(path))
    if found is None:
        if str(path).startswith("hdfs:///"):
            raise RealtalkError(
                "names no host",
                where=str(path),
                fix="write hdfs://HOST:PORT/…, or hdfs://default/…",
            )
        return Path(path)
    return StorePath(found[1], *(part for part in found[2].split("/") if part))


def local_copy(path: str | Path) -> Path:
    """The path itself, or a copy of what is in a store, which goes when this process ends."""
    place = place_of(path)
    if not isinstance(place, StorePath):
        return place
    return place.fetch(for_this_process("realtalk-store-") / "copy" / place.name)


class StorePath(_Base):
    """A file or folder in a store. `info` is what a listing said of it."""

    info: Any = None

    def __str__(self) -> str:
        return f"{self.parts[0]}//{'/'.join(self.parts[1:])}"

    def __fspath__(self) -> str:
        raise RealtalkError(
            "lies in a store, which this cannot work in", where=str(self), fix="name a local path"
        )

    def absolute(self) -> StorePath:
        return self

    def resolve(self, strict: bool = False) -> StorePath:  # noqa: ARG002
        return self

    def exists(self, **_: Any) -> bool:
        return self._kind() != "NotFound"

    def is_dir(self, **_: Any) -> bool:
        return self._kind() == "Directory"

    def is_file(self, **_: Any) -> bool:
        return self._kind() == "File"

    def iterdir(self) -> Generator[StorePath, None, None]:
        """What lies in a folder; raises FileNotFoundError where there is none."""
        yield from self._listed(recursive=False)

    @property
    def folder(self) -> StorePath:
        """What it lies in."""
        parent = self.parent
        assert isinstance(parent, StorePath)
        return parent

    def matching(self, pattern: str) -> list[Path]:
        """What lies in this folder under names of a pattern, in order."""
        with suppress(FileNotFoundError):
            return [each for each in self.iterdir() if fnmatchcase(each.name, pattern)]
        return []

    def read_bytes(self) -> bytes:
        with self._asked() as system, system.open_input_stream(self._key) as stream:
            data: bytes = stream.read()
            return data

    def open(self, mode: str = "r", *_: Any, **__: Any) -> Any:
        """What it holds, to be read; it is not written this way."""
        if mode != "rb":
            return super().open(mode)  # which says that it lies in a store
        return io.BytesIO(self.read_bytes())

    def stamp(self) -> tuple[int, str]:
        """Bytes, and a hash of names, sizes and times of change.

        Reading all of it to see whether it changed would cost as much as the work.
        """
        files = [self] if self.is_file() else sorted(self._files())
        digest = hashlib.sha256()
        for file in files:
            name = "/".join(file.parts[len(self.parts) :])
            digest.update(f"{name}\0{file.info.size}\0{file.info.mtime_ns}\n".encode())
        return sum(file.info.size for file in files), digest.hexdigest()

    def fetch(self, place: Path) -> Path:
        """A copy on this machine, for its owner only; `place` must be free."""
        if self.is_file():
            private_folder(place.parent)
            self._fetch_file(place)
            return place
        if not self.is_dir():
            raise RealtalkError("no such file or folder", where=str(self), fix="check the path")
        private_folder(place)
        for file in self._files():
            target = place.joinpath(*file.parts[len(self.parts) :])
            if ".." in target.parts:
                raise RealtalkError("has a name that leads elsewhere", where=str(self))
            private_folder(target.parent)
            file._fetch_file(target)
        return place

    def put(self, made: Path) -> None:
        """A file or folder of this machine in the place of what bears this name.

        A file appears when it is complete. Of a folder the file that makes it what it is goes
        first and comes last: a reader sees the old one, none, or the new one.
        """
        if made.is_file():
            self._put_file(made)
            return
        self.remove()
        files = [path for path in sorted(made.rglob("*")) if path.is_file()]
        for path in sorted(files, key=lambda path: path.name in _MARKS):
            self.joinpath(*path.relative_to(made).parts)._put_file(path)

    def remove(self) -> None:
        """Takes a file or folder away; nothing where there is none."""
        kind = self._kind()
        with self._asked() as system:
            if kind == "File":
                system.delete_file(self._key)
            elif kind == "Directory":
                for mark in _MARKS:
                    with suppress(FileNotFoundError, OSError):
                        system.delete_file(f"{self._key}/{mark}")
                system.delete_dir(self._key)

    @property
    def _key(self) -> str:
        """What the file system calls it: the host of hdfs is the system's, a bucket is not."""
        own = self.parts[2:] if self.parts[0] == "hdfs:" else self.parts[1:]
        return ("/" if self.parts[0] == "hdfs:" else "") + "/".join(own)

    def _kind(self) -> str:
        if self.info is None:
            with self._asked() as system:
                info = system.get_file_info(self._key)
            if info.type.name == "NotFound":
                return "NotFound"  # asked again next time: it may be put there
            self.info = info
        return str(self.info.type.name)

    def _listed(self, *, recursive: bool) -> list[StorePath]:
        from pyarrow.fs import FileSelector

        with self._asked() as system:
            found = system.get_file_info(FileSelector(self._key, recursive=recursive))
        listed = []
        for info in found:
            rest = info.path.strip("/")[len(self._key.strip("/")) :].strip("/")
            place = self.joinpath(*rest.split("/"))
            assert isinstance(place, StorePath)
            place.info = info
            listed.append(place)
        return sorted(listed)

    def _files(self) -> list[StorePath]:
        return [each for each in self._listed(recursive=True) if each.is_file()]

    def _fetch_file(self, place: Path) -> None:
        with (
            self._asked() as system,
            system.open_input_stream(self._key) as stream,
            private_stream(place, "xb") as target,
        ):
            shutil.copyfileobj(stream, target, _CHUNK)

    def _put_file(self, made: Path) -> None:
        """In stores an upload takes its name when it is closed; hdfs has renaming for that."""
        renamed = self.parts[0] == "hdfs:"
        key = f"{self._key}.unfinished" if renamed else self._key
        with self._asked() as system:
            if renamed:
                system.create_dir(key.rpartition("/")[0], recursive=True)
            try:
                with made.open("rb") as source, system.open_output_stream(key) as stream:
                    shutil.copyfileobj(source, stream, _CHUNK)
                if system.get_file_info(key).size != made.stat().st_size:
                    raise OSError("the upload is not complete")
            except BaseException:
                with suppress(Exception):  # what was sent so far may have been kept
                    system.delete_file(key)
                raise
            if renamed:
                system.move(key, self._key)
        self.info = None

    @contextmanager
    def _asked(self) -> Iterator[Any]:
        """The file system; what goes wrong in it is one line that names the path."""
        try:
            yield _system(self.parts[0].removesuffix(":"), self.parts[1], _endpoint())
        except FileNotFoundError:
            raise
        except (OSError, ValueError, ImportError, NotImplementedError) as error:
            raise RealtalkError(_reason(error), where=str(self)) from error


def _reason(error: Exception) -> str:
    """What a store's long message comes to."""
    text = str(error)
    found = re.search(r"(?:AWS|Google Cloud) Error ([A-Z_0-9]+)", text)
    code = found[1] if found else type(error).__name__
    if code in _DENIED or any(f"HTTP status {each}" in text for each in _DENIED[-2:]):
        return f"the store denies access ({code})"
    return f"the store cannot be used ({code})"


def _endpoint() -> str:
    return next((os.environ[name] for name in _ENDPOINT if os.environ.get(name)), "")


@cache
def _system(scheme: str, host: str, endpoint: str) -> Any:
    """pyarrow's file system, made when the first path of its kind is used."""
    from pyarrow import fs

    if scheme == "gs":
        return fs.GcsFileSystem()
    if scheme == "hdfs":
        name, _, port = host.partition(":")
        return fs.HadoopFileSystem(name, int(port or 0))
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    if region is None and not endpoint:
        region = fs.resolve_s3_region(host)
    scheme_, _, address = (endpoint or "https://").rpartition("://")
    return fs.S3FileSystem(
        region=region or "us-east-1",
        scheme=scheme_ or "https",
        endpoint_override=address or None,
        connect_timeout=_PATIENCE,
        request_timeout=_PATIENCE,
    )
