"""Addresses in object stores and file systems of clusters → what lies there, through fsspec.

    place_of("exports/a.txt")                   → Path, as ever
    place_of(Path("s3://bucket/exports"))       → "s3://bucket/exports": a string is an address
    children("s3://bucket/exports")             → ["s3://bucket/exports/a.txt", …]
    fetch("s3://bucket/corpus", Path("here"))   → a copy on this machine
    put(Path("part"), "s3://bucket/part")       # whole or absent
    local_copy("s3://bucket/corpus")            → a copy that goes with this process

Schemes are `s3:`, `gs:` and `hdfs:`. Credentials and endpoints come from the environment, as
each library reads them; AWS_ENDPOINT_URL names an S3 server of one's own.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from realtalk.errors import MissingExtraError, RealtalkError
from realtalk.files.writing import STORES, for_this_process, private_folder, private_stream

Place = Path | str  # a path of this machine, or an address in a store

# As it is written, or as `Path` made it of that.
_WRITTEN = re.compile(rf"({'|'.join(STORES)})/{{1,2}}([^/].*)")
# The files that make a folder what it is: with one of them missing it is none yet.
_MARKS = ("corpus.json", "run.json")
_CHUNK = 1 << 20
_PATIENCE = 20  # seconds for a store to answer


def place_of(path: str | Path) -> Place:
    """The address, where a path is one in a store; else the path."""
    match = _WRITTEN.fullmatch(str(path))
    if match is not None:
        return f"{match[1]}//{match[2].rstrip('/')}"
    if str(path).startswith("hdfs:///"):
        raise RealtalkError(
            "names no host", where=str(path), fix="write hdfs://HOST:PORT/…, or hdfs://default/…"
        )
    return Path(path)


def child(place: Place, name: str) -> Place:
    """What bears that name in a folder."""
    return f"{place}/{name}" if isinstance(place, str) else place / name


def name_of(place: Place) -> str:
    """The last part of a path or an address."""
    return Path(place).name


def local_copy(path: str | Path) -> Path:
    """The path itself, or a copy of what is in a store, which goes when this process ends."""
    place = place_of(path)
    if isinstance(place, Path):
        return place
    return fetch(place, for_this_process("realtalk-store-") / "copy" / name_of(place))


def kind_of(place: Place) -> str | None:
    """ "file" or "directory"; None where there is nothing."""
    if isinstance(place, Path):
        return "directory" if place.is_dir() else "file" if place.exists() else None
    with suppress(FileNotFoundError), _connect(place) as (system, path):
        return str(system.info(path)["type"])
    return None


def children(folder: Place) -> list[Place]:
    """What lies in a folder, in order; nothing where a store has none."""
    if isinstance(folder, Path):
        return sorted(folder.iterdir())
    with suppress(FileNotFoundError), _connect(folder) as (system, path):
        names = {Path(entry).name for entry in system.ls(path, detail=False)}
        return [f"{folder}/{name}" for name in sorted(names - {Path(path).name, ""})]
    return []


def read_bytes(file: Place) -> bytes:
    """What a file holds."""
    if isinstance(file, Path):
        return file.read_bytes()
    with _connect(file) as (system, path):
        data: bytes = system.cat_file(path)
        return data


def stamp(address: str) -> tuple[int, str]:
    """Bytes, and a hash of names, sizes and what the store says of each version.

    Reading all of it to see whether it changed would cost as much as the work.
    """
    files = _files(address)
    digest = hashlib.sha256()
    for name, info in files.items():
        version = info.get("ETag") or info.get("etag") or info.get("mtime")
        digest.update(f"{name}\0{info['size']}\0{version}\n".encode())
    return sum(info["size"] for info in files.values()), digest.hexdigest()


def fetch(address: str, place: Path) -> Path:
    """A copy on this machine, for its owner only; `place` must be free."""
    for name in _files(address):
        target = place / name if name else place
        if ".." in target.parts:
            raise RealtalkError("has a name that leads elsewhere", where=address)
        private_folder(target.parent)
        with (
            _connect(f"{address}/{name}" if name else address) as (system, path),
            system.open(path, "rb") as stream,
            private_stream(target, "xb") as copy,
        ):
            shutil.copyfileobj(stream, copy, _CHUNK)
    return place


def put(made: Path, address: str) -> None:
    """A file or folder of this machine in the place of what bears this name.

    A file appears when it is complete. Of a folder the file that makes it what it is goes first
    and comes last: a reader sees the old one, none, or the new one.
    """
    if made.is_file():
        _put_file(made, address)
        return
    remove(address)
    files = [path for path in sorted(made.rglob("*")) if path.is_file()]
    for path in sorted(files, key=lambda path: path.name in _MARKS):
        _put_file(path, f"{address}/{path.relative_to(made).as_posix()}")


def _put_file(made: Path, address: str) -> None:
    """In stores an upload takes its name when it is whole; hdfs has renaming for that."""
    with _connect(address) as (system, path):
        if not address.startswith("hdfs:"):
            system.put_file(str(made), path)
            return
        system.makedirs(path.rpartition("/")[0], exist_ok=True)
        system.put_file(str(made), f"{path}.unfinished")
        system.mv(f"{path}.unfinished", path)


def remove(address: str) -> None:
    """Takes a file or folder away; nothing where there is none."""
    for mark in (f"{address}/{name}" for name in _MARKS):
        with suppress(FileNotFoundError), _connect(mark) as (system, path):
            system.rm_file(path)
    with suppress(FileNotFoundError), _connect(address) as (system, path):
        system.rm(path, recursive=True)


def _files(address: str) -> dict[str, dict[str, Any]]:
    """Every file below, by its name from there; a file itself is called ""."""
    try:
        with _connect(address) as (system, path):
            files = system.find(path, detail=True)
    except FileNotFoundError:
        files = {}
    if not files:
        what, fix = "no such file or folder", "check the path"
        raise RealtalkError(what, where=address, fix=fix, code="missing-file")
    start = path.strip("/")
    by_name = {
        path.strip("/").removeprefix(start).strip("/"): files[path] for path in sorted(files)
    }
    return {name: info for name, info in by_name.items() if info["type"] == "file"}


@contextmanager
def _connect(address: str) -> Iterator[tuple[Any, str]]:
    """The file system and its path; what goes wrong there is one line that names the address."""
    try:
        from fsspec.core import url_to_fs

        yield url_to_fs(address, **_options(address))
    except (FileNotFoundError, RealtalkError):
        raise
    except ImportError as error:
        raise MissingExtraError(f"{address.partition('//')[0]}// paths", "stores") from error
    except PermissionError as error:
        raise RealtalkError("the store denies access", where=address) from error
    except Exception as error:  # each library has errors of its own
        raise RealtalkError(
            f"the store cannot be used ({type(error).__name__})", where=address
        ) from error


def _options(address: str) -> dict[str, Any]:
    """Workers write where the driver reads, so what was listed once is not remembered."""
    if not address.startswith("s3:"):
        return {"use_listings_cache": False}
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
    return {
        "use_listings_cache": False,
        "client_kwargs": {"region_name": region},
        "config_kwargs": {"connect_timeout": _PATIENCE, "read_timeout": _PATIENCE},
        "endpoint_url": os.environ.get("AWS_ENDPOINT_URL_S3")
        or os.environ.get("AWS_ENDPOINT_URL")
        or None,
    }
