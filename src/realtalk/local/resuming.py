"""One large file from its address, gone on with where an earlier call stopped.

    file = RemoteFile("qwen.gguf", size=491_400_064, sha256="1d96…")
    fetch(file, "https://…/qwen.gguf", folder / "qwen.gguf")    → folder / "qwen.gguf"

What has arrived lies beside it under a hidden name that is made from the hash: an interrupted
download goes on there, of the same file only. The file takes its own name when all of it is here
and its SHA-256 is right. Nothing is sent but the request.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from realtalk.errors import RealtalkError
from realtalk.local.download import (
    ATTEMPTS,
    PAUSE,
    TIMEOUT,
    RemoteFile,
    file_state,
    request_failure,
)
from realtalk.local.progress import Progress, silent
from realtalk.local.writing import private_folder, private_stream

_CHUNK = 1 << 16  # a cut connection loses no more than this
_WORTH = 1 << 20  # bytes: an attempt that brought so many was no failure
_WHOLE, _PART, _BEYOND = 200, 206, 416  # all of it, the rest of it, there is no rest
_SHORT = "it ended early"


def unfinished(file: RemoteFile, path: Path) -> Path:
    """Where the part of a file is kept that has arrived."""
    return path.with_name(f".{path.stem}.{file.sha256[:8]}{path.suffix}")


def fetch(
    file: RemoteFile, url: str, path: Path, progress: Progress = silent, *, otherwise: str = ""
) -> Path:
    """The file under its own name. `otherwise` is what else one can do where it cannot be had."""
    part = unfinished(file, path)
    try:
        private_folder(path.parent)
        with private_stream(part) as stream, _alone(stream, part):
            _complete(file, url, stream, progress, otherwise)
            progress(file.size, file.size, f"checking {file.name}")
            if file_state(part, file.size, file.sha256) != "verified":
                stream.truncate(0)
                raise RealtalkError(
                    f"{file.name} is not the published file (wrong SHA-256)",
                    where=url,
                    fix="run it again later; if it stays, the publisher changed the file",
                )
        part.replace(path)
    except OSError as error:
        raise RealtalkError(
            f"cannot be written ({error.strerror or type(error).__name__})",
            where=str(path),
            fix="make room, or name another cache with REALTALK_CACHE",
        ) from error
    return path


def _complete(
    file: RemoteFile, url: str, stream: IO[bytes], progress: Progress, otherwise: str
) -> None:
    """Appends what is missing; gives up after some attempts in a row that brought nothing."""
    import requests

    failures = 0
    while True:
        before = stream.seek(0, os.SEEK_END)
        lasting = False
        try:
            if _append(file, url, stream, progress):
                return
            reason = _SHORT
        except requests.RequestException as error:
            reason, lasting = request_failure(error)
        failures = 1 if stream.seek(0, os.SEEK_END) - before >= _WORTH else failures + 1
        if lasting or failures >= ATTEMPTS:
            go_on = "check the connection and run it again: it goes on where it stopped"
            raise RealtalkError(
                f"{file.name} could not be fetched: {reason}",
                where=url,
                fix=f"{go_on}{otherwise and f'; or {otherwise}'}",
            )
        time.sleep(PAUSE * 2 ** (failures - 1))


def _append(file: RemoteFile, url: str, stream: IO[bytes], progress: Progress) -> bool:
    """One request for the rest; whether the file is whole now."""
    import requests

    arrived = stream.seek(0, os.SEEK_END)
    if arrived > file.size:
        arrived = stream.truncate(0)
    if arrived == file.size:
        return True
    # What is packed on the way would be counted and cut at other places.
    headers = {"Accept-Encoding": "identity"}
    if arrived:
        headers["Range"] = f"bytes={arrived}-"
    with requests.get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
        if response.status_code == _BEYOND:
            stream.truncate(0)
            return False
        response.raise_for_status()
        told = response.headers.get("Content-Range", "")
        rest = response.status_code == _PART and told.startswith(f"bytes {arrived}-")
        if arrived and not rest:  # a server that knows no parts gives all of it
            arrived = stream.truncate(0)
            if response.status_code != _WHOLE:
                return False
        for chunk in response.iter_content(_CHUNK):
            arrived += len(chunk)
            if arrived > file.size:
                stream.truncate(0)
                raise RealtalkError(
                    f"{file.name} is larger than published",
                    where=url,
                    fix="this address holds another file",
                )
            stream.write(chunk)
            progress(arrived, file.size, file.name)
    stream.flush()
    return arrived == file.size


@contextmanager
def _alone(stream: IO[bytes], part: Path) -> Iterator[None]:
    """Refuses where another process fetches the same file: two would write into one."""
    try:
        import fcntl
    except ImportError:  # Windows: the hash tells afterwards
        yield
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RealtalkError(
            "another process is fetching it", where=str(part), fix="wait for it"
        ) from None
    yield
