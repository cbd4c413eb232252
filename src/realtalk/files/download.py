"""Published corpora from their own homes into the user's cache, checked by hash.

    get("locomo")                      → <cache>/locomo/locomo10.json
    get("realtalk")                    → <cache>/realtalk, with the ten chats
    get("locomo", base_url="http://mirror.example/data")
        → takes .../data/locomo/locomo10.json, else .../data/locomo10.json
    inventory()                        → what is in the cache, and whether it is whole

A file appears under its name only when all of it has arrived and its SHA-256 is right.
Files that are there and right are not fetched again. Nothing is sent but the request. A file whose
hash is not known here is pinned by the commit in its address: its hash is recorded beside it when
it first arrives (SHA256SUMS), and it is held against that from then on.
"""

from __future__ import annotations

import hashlib
import os
import time
import tomllib
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple
from urllib.parse import quote, urlsplit

from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import private_folder, write_text
from realtalk.registry import known_name

ATTEMPTS = 3
PAUSE = 0.5  # seconds before the second attempt; doubled for each one after
TIMEOUT = 30  # seconds without a byte
_CHUNK = 1 << 16
SUMS = "SHA256SUMS"
_MOST_BYTES = 1 << 30  # of a file whose size is not known

FileState = Literal["verified", "damaged", "missing"]


class RemoteFile(NamedTuple):
    """A file as published; without a hash where only its commit is known."""

    name: str
    size: int = 0
    sha256: str = ""


class Dataset(NamedTuple):
    """Where a corpus is published, under which terms, and what to cite."""

    name: str
    url: str  # the folder that holds the files
    files: tuple[RemoteFile, ...]
    licence: str
    citation: str

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


class CachedFile(NamedTuple):
    """A dataset's file in the cache; `size` is what lies on disk."""

    dataset: str
    path: Path
    size: int
    state: FileState


def _load_datasets() -> Mapping[str, Dataset]:
    """The datasets of `datasets.toml`, by name."""
    listed = tomllib.loads((files("realtalk.files") / "datasets.toml").read_text("utf-8"))
    datasets = {}
    for name, about in listed.items():
        first, files_listed = about.pop("first", 1), about.pop("files")
        parts = tuple(
            RemoteFile(**(file | {"name": file["name"].format(number)}))
            for number in range(first, first + about.pop("each", 1))
            for file in files_listed
        )
        datasets[name] = Dataset(name, files=parts, **about)
    return MappingProxyType(datasets)


DATASETS = _load_datasets()


def cache_folder(cache: Path | str | None = None) -> Path:
    """The folder given, else `REALTALK_CACHE`, else the user's own cache."""
    folder = cache or os.environ.get("REALTALK_CACHE")
    if folder:
        return Path(folder).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("realtalk"))


def get(
    name: str,
    cache: Path | str | None = None,
    base_url: str | None = None,
    progress: Progress = silent,
    *,
    datasets: Mapping[str, Dataset] = DATASETS,
) -> Path:
    """The dataset's folder in the cache (its file, where it has only one), fetched if need be.

    `base_url`, or `REALTALK_DATA_URL`, names a mirror that holds the files either in a
    folder of the dataset's name or directly.
    """
    dataset = datasets[known_name("dataset", name, datasets)]
    folder = cache_folder(cache) / dataset.name
    mirror = base_url or os.environ.get("REALTALK_DATA_URL") or None
    homes = [dataset.url]
    if mirror is not None:
        mirror = mirror.rstrip("/")
        homes = [f"{mirror}/{quote(dataset.name)}", mirror]
    done = 0
    for file in dataset.files:
        before = done

        def report(arrived: int, before: int = before, file: RemoteFile = file) -> None:
            progress(before + min(arrived, file.size), dataset.size, file.name)

        report(0)
        if _state(folder, file) != "verified":
            _fetch(file, folder, homes, report)
            if not file.sha256:
                _record(folder, file.name)
        done += file.size
        report(file.size)
    return folder / dataset.files[0].name if len(dataset.files) == 1 else folder


def inventory(
    cache: Path | str | None = None, *, datasets: Mapping[str, Dataset] = DATASETS
) -> list[CachedFile]:
    """Every file of every dataset: its size on disk, and whether it is what was published."""
    inventory_rows = []
    for dataset in datasets.values():
        for file in dataset.files:
            path = cache_folder(cache) / dataset.name / file.name
            state = _state(path.parents[file.name.count("/")], file)
            inventory_rows.append(
                CachedFile(
                    dataset.name, path, 0 if state == "missing" else path.stat().st_size, state
                )
            )
    return inventory_rows


def _state(folder: Path, file: RemoteFile) -> FileState:
    """The same by the hash that was recorded, where none is known here."""
    if file.sha256:
        return file_state(folder / file.name, file.size, file.sha256)
    path, recorded = folder / file.name, _recorded(folder).get(file.name, "")
    return file_state(path, path.stat().st_size if path.is_file() else 0, recorded)


def _recorded(folder: Path) -> dict[str, str]:
    """File name → SHA-256, as they were when they arrived."""
    try:
        lines = (folder / SUMS).read_text("utf-8").splitlines()
    except OSError:
        return {}
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _record(folder: Path, name: str) -> None:
    with (folder / name).open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    sums = _recorded(folder) | {name: digest}
    lines = (f"{digest}  {name}\n" for name, digest in sums.items())
    write_text(folder / SUMS, "".join(lines))


def file_state(path: Path, size: int, sha256: str) -> FileState:
    """Whether a file is there and is what was published."""
    try:
        if not path.is_file():
            return "missing"
        if path.stat().st_size != size:
            return "damaged"
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise RealtalkError(
            f"cannot be read ({error.strerror})",
            where=str(path),
            fix="check its permissions, or name another cache with REALTALK_CACHE",
        ) from error
    return "verified" if digest == sha256 else "damaged"


def _downloader(
    file: RemoteFile, report: Callable[[int], None]
) -> Callable[[str, str, object], None]:
    """The part of pooch that moves bytes; ours reports, closes what it opened, keeps a limit."""
    import requests

    def download(url: str, output_file: str, _pooch: object) -> None:
        arrived = 0
        with (
            requests.get(url, stream=True, timeout=TIMEOUT) as response,
            Path(output_file).open("wb") as stream,
        ):
            response.raise_for_status()
            for chunk in response.iter_content(_CHUNK):
                arrived += len(chunk)
                if arrived > (file.size or _MOST_BYTES):
                    raise RealtalkError(
                        f"{file.name} is larger than published",
                        where=url,
                        fix="this address holds another file; try another mirror",
                    )
                stream.write(chunk)
                report(arrived)

    return download


def _fetch(file: RemoteFile, folder: Path, homes: list[str], report: Callable[[int], None]) -> None:
    """One file from the first home that has it; `homes` loses those that do not."""
    import logging

    import pooch
    import requests

    pooch.get_logger().setLevel(logging.WARNING)
    attempt = 0
    while True:
        url = f"{homes[0]}/{quote(file.name)}"
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
            raise RealtalkError(
                "not a web address", where=homes[0], fix="it must begin with http:// or https://"
            )
        try:
            private_folder((folder / file.name).parent)
            if not file.sha256:  # what no record knows may be a part
                (folder / file.name).unlink(missing_ok=True)
            pooch.retrieve(
                url,
                f"sha256:{file.sha256}" if file.sha256 else None,
                fname=file.name,
                path=folder,
                downloader=_downloader(file, report),
            )
            return
        except requests.RequestException as error:
            reason, fix, is_lasting = _request_failure(error)
        except OSError as error:  # after requests' own errors, which are OSErrors too
            reason = f"the cache {folder} cannot be written ({error.strerror})"
            fix, is_lasting = "name another cache with REALTALK_CACHE", True
        except ValueError:  # how pooch says that the hash is wrong
            reason = "what arrived is not the published file (wrong SHA-256)"
            fix = "run it again later; if it stays, the publisher changed the file"
            is_lasting = False
        if reason == _ABSENT and len(homes) > 1:
            del homes[0]
            attempt = 0
            continue
        attempt += 1
        if is_lasting or attempt == ATTEMPTS:
            raise RealtalkError(f"{file.name} could not be fetched: {reason}", where=url, fix=fix)
        time.sleep(PAUSE * 2 ** (attempt - 1))


_ABSENT = "there is no such file (404)"


def _request_failure(error: Exception) -> tuple[str, str, bool]:
    """Why a request failed, what to do about it, and whether it would fail again."""
    import requests

    again = "check the connection and run it again, or name a mirror with REALTALK_DATA_URL"
    if isinstance(error, requests.HTTPError):
        status = error.response.status_code if error.response is not None else 0
        if status == 404:
            return _ABSENT, "it may have moved; name a mirror with REALTALK_DATA_URL", True
        return f"the server answered {status}", again, status < 500 and status != 429
    if isinstance(error, requests.ConnectionError):
        return "the connection failed or broke off", again, False
    if isinstance(error, requests.Timeout):
        return f"no answer for {TIMEOUT} seconds", again, False
    return f"the download broke off ({type(error).__name__})", again, False
