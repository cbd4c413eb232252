"""What realtalk keeps in the user's cache: every kind of file declared, found, bounded, removed.

    KINDS["indexes"].holds                    → "vectors"
    survey(cache_folder())[0]                 → CacheItem(indexes, memory/0f…a1.npz, 3 MB, …)
    remove(survey(cache_folder()))            → Removal(files=1, size=3012480, left=())
    keep_within(INDEXES, folder, limit, new)  # the oldest by last use go, never the new one

A kind says which folder below the cache is its own and how its files are called. What bears
another name is not ours, and never removed. Links are not followed. A module that asks for the
cache folder must be a writer of some kind here; a test holds it to it.
"""

from __future__ import annotations

import os
import re
import stat
import time
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Literal, NamedTuple

from realtalk.errors import RealtalkError
from realtalk.files.download import DATASETS, SUMS
from realtalk.files.writing import being_written

LIMIT = "REALTALK_CACHE_LIMIT"
_DEFAULT_LIMIT = 2 * 10**9
_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNFINISHED = 3600.0  # seconds: a temporary file that nobody touched for longer was left behind
# As `atomic_path` and `whole_folder` name what is not finished, and as the downloader does.
_OURS = re.compile(r"(?<![^/])\.([^/]+)\.[0-9a-f]{8}(\.\w+)?(?![^/])")
_DOWNLOADS = re.compile(r"tmp[a-z0-9_]{8}")

# words: of a chat, or of a model that has read it. labels: ids and what was measured.
Holds = Literal["words", "vectors", "labels", "published chats", "nothing of a chat"]


class Kind(NamedTuple):
    """Files of one purpose.

    `files` is what a path below one of the folders looks like; its group `unit` is the part
    that is kept or removed as one.
    """

    name: str
    purpose: str
    holds: Holds
    folders: tuple[str, ...]
    files: str
    writers: tuple[str, ...]
    bounded: bool = False

    @property
    def from_chats(self) -> bool:
        """Whether what is kept was made from somebody's chats."""
        return self.holds in ("words", "vectors", "labels")

    def unit(self, name: str) -> tuple[str, bool]:
        """What a file is part of ("" where it is not ours), and whether it is not finished."""
        if self.name == "corpora" and _DOWNLOADS.fullmatch(name):
            return name, True
        finished, temporaries = _OURS.subn(r"\1\2", name)
        unit = re.fullmatch(self.files, finished)
        if unit is None:
            return "", False
        return (name if temporaries else unit["unit"]), temporaries > 0


def _kinds() -> Mapping[str, Kind]:
    """The kinds of `caches.toml`, by name."""
    declared = tomllib.loads((resources.files("realtalk.files") / "caches.toml").read_text("utf-8"))
    published = [file.name for dataset in DATASETS.values() for file in dataset.files]
    declared["corpora"] |= {
        "folders": tuple(DATASETS),
        "files": f"(?P<unit>{'|'.join(map(re.escape, [*published, SUMS]))})",
    }
    for about in declared.values():
        about.update({name: tuple(about[name]) for name in ("folders", "writers")})
    return MappingProxyType({name: Kind(name, **about) for name, about in declared.items()})


KINDS = _kinds()
INDEXES, VECTORS = KINDS["indexes"], KINDS["vectors"]


class CacheItem(NamedTuple):
    """What is kept or removed as one: mostly a file, sometimes a folder's files."""

    kind: Kind
    files: tuple[Path, ...]
    size: int
    used: float  # the last time it was written or read
    is_temporary: bool = False


class Removal(NamedTuple):
    """What is gone, and what is still there with the reason."""

    files: int
    size: int
    left: tuple[tuple[Path, str], ...] = ()


def cache_limit() -> int:
    """The most bytes that each bounded kind may take: `REALTALK_CACHE_LIMIT`, else 2 GB."""
    setting = os.environ.get(LIMIT, "").strip()
    if not setting:
        return _DEFAULT_LIMIT
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?b)", setting.lower())
    if match is None:
        raise RealtalkError(
            f"'{setting}' is not a size", where=LIMIT, fix="write it as 500MB or 2GB"
        )
    return int(float(match[1]) * _UNITS[match[2]])


def survey(root: Path) -> tuple[CacheItem, ...]:
    """Every item of every kind, the one used longest ago first."""
    if root.exists() and not root.is_dir():
        raise RealtalkError("cannot be read (not a folder)", where=str(root), fix="check it")
    items = [
        item
        for kind in KINDS.values()
        for folder in kind.folders
        for item in units(kind, root / folder)
    ]
    return tuple(sorted(items, key=lambda item: item.used))


def units(kind: Kind, folder: Path) -> list[CacheItem]:
    """What one kind keeps in one folder."""
    parts: dict[tuple[str, bool], list[tuple[Path, os.stat_result]]] = {}
    if folder.is_symlink():
        return []
    for place, _, names in os.walk(folder):  # which enters no links
        for name in names:
            path = Path(place) / name
            key = kind.unit(path.relative_to(folder).as_posix())
            with suppress(FileNotFoundError):  # another process was faster
                status = path.lstat()
                if key[0] and stat.S_ISREG(status.st_mode):
                    parts.setdefault(key, []).append((path, status))
    return [
        CacheItem(
            kind,
            tuple(sorted(path for path, _ in files)),
            sum(status.st_size for _, status in files),
            max(max(status.st_atime, status.st_mtime) for _, status in files),
            is_temporary,
        )
        for (_, is_temporary), files in parts.items()
    ]


def remove(items: Iterable[CacheItem]) -> Removal:
    """Removes items, each whole; one that is being written stays, one that is gone is no error."""
    files = size = 0
    leftovers: list[tuple[Path, str]] = []
    for item in items:
        is_young = item.is_temporary and time.time() - item.used < _UNFINISHED
        if is_young or any(map(being_written, item.files)):
            leftovers.append((item.files[0], "being written"))
            continue
        for path in item.files:
            try:
                status = path.lstat()
                path.unlink()
            except FileNotFoundError:
                continue
            except OSError as error:
                leftovers.append((path, f"cannot be removed ({error.strerror})"))
                break
            files, size = files + 1, size + status.st_size
            with suppress(OSError):  # not empty, or gone
                path.parent.rmdir()
    return Removal(files, size, tuple(leftovers))


def keep_within(kind: Kind, folder: Path, limit: int, written: Path) -> None:
    """Removes the items used longest ago until all fit; what was just written always stays."""
    items = sorted(units(kind, folder), key=lambda item: item.used)
    over = sum(item.size for item in items) - limit
    for item in items:
        if over > 0 and written not in item.files:
            over -= remove([item]).size
