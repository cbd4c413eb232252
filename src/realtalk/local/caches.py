"""What realtalk keeps in the user's cache: every kind of file declared, found, bounded, removed.

    KINDS["indexes"].holds                    → "vectors"
    found = survey(cache_folder())
    found.items[0]                            → CacheItem(indexes, memory/0f…a1.npz, 3 MB, …)
    remove(found.items)                       → Removed(files=1, size=3012480, left=())
    keep_within(INDEXES, folder, limit, new)  # the oldest by last use go, never the new one

A kind says which folder below the cache is its own and how its files are called. What bears
another name is not ours: it is counted, never opened, never removed. Links are not followed.
A module that asks for the cache folder must be a writer of some kind here; a test holds it to it.
"""

from __future__ import annotations

import os
import re
import stat
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module, resources
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from realtalk.errors import RealtalkError
from realtalk.local.busy import being_written
from realtalk.local.download import DATASETS

LIMIT = "REALTALK_CACHE_LIMIT"
_DEFAULT_LIMIT = 2 * 10**9
_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}
_UNFINISHED = 3600.0  # seconds: a temporary file that nobody touched for longer was left behind
_SETTLING = 2.0  # seconds: how long a file written in place may still grow

# words: of a chat, or of a model that has read it. labels: ids and what was measured.
Holds = Literal["words", "vectors", "labels", "published chats", "nothing of a chat"]


@dataclass(frozen=True, slots=True)
class Kind:
    """Files of one purpose.

    `files` is what a path below one of the folders looks like; its group `unit` is the part
    that is kept or removed as one. `forget` is "module:function" for a file that holds many
    things, each with its own last use: (path, moment) → bytes freed.
    """

    name: str
    purpose: str
    holds: Holds
    folders: tuple[str, ...]
    files: str
    writers: tuple[str, ...]
    in_place: bool = False  # written under its own name, not renamed at the end
    bounded: bool = False
    forget: str = ""

    @property
    def from_chats(self) -> bool:
        """Whether what is kept was made from somebody's chats."""
        return self.holds in ("words", "vectors", "labels")


def _kinds() -> Mapping[str, Kind]:
    """The kinds of `caches.toml`, by name."""
    declared = tomllib.loads((resources.files("realtalk.local") / "caches.toml").read_text("utf-8"))
    published = [file.name for dataset in DATASETS.values() for file in dataset.files]
    declared["corpora"] |= {
        "folders": tuple(DATASETS),
        "files": f"(?P<unit>{'|'.join(map(re.escape, published))})",
    }
    for about in declared.values():
        about.update({name: tuple(about[name]) for name in ("folders", "writers")})
    return MappingProxyType({name: Kind(name, **about) for name, about in declared.items()})


KINDS = _kinds()
CORPORA, INDEXES, VECTORS = (KINDS[name] for name in ("corpora", "indexes", "vectors"))

# As `atomic_path` and `whole_folder` name what is not finished, and as the downloader does.
_OURS = re.compile(r"\.(?P<stem>.+)\.[0-9a-f]{8}(?P<suffix>\.\w+)?")
_DOWNLOADS = re.compile(r"tmp[a-z0-9_]{8}")


@dataclass(frozen=True, slots=True)
class CacheItem:
    """What is kept or removed as one: mostly a file, sometimes a folder's files."""

    kind: Kind
    folder: Path  # the kind's own
    files: tuple[Path, ...]
    size: int
    used: float  # the last time it was written or read
    written: float
    temporary: bool = False


@dataclass(frozen=True, slots=True)
class Survey:
    """What lies in a cache. `strangers` are names that realtalk did not put there, and links."""

    items: tuple[CacheItem, ...]
    strangers: int


@dataclass(frozen=True, slots=True)
class Removed:
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


def survey(root: Path) -> Survey:
    """Every item of every kind, oldest use first, and how much else lies there."""
    items: list[CacheItem] = []
    strangers = 0
    for kind in KINDS.values():
        for folder in kind.folders:
            part = units(kind, root / folder)
            items += part.items
            strangers += part.strangers
    known = {folder for kind in KINDS.values() for folder in kind.folders}
    try:
        strangers += sum(name not in known for name in os.listdir(root))  # noqa: PTH208
    except FileNotFoundError:
        pass
    except OSError as error:
        raise _unreadable(error, root) from error
    return Survey(tuple(sorted(items, key=lambda item: item.used)), strangers)


def units(kind: Kind, folder: Path) -> Survey:
    """What one kind keeps in one folder."""
    parts: dict[tuple[str, bool], list[tuple[Path, os.stat_result]]] = {}
    strangers = 0
    for path in _below(folder):
        name = path.relative_to(folder).as_posix() if path != folder else ""
        try:
            known = path.lstat()
        except FileNotFoundError:  # another process was faster
            continue
        unit, temporary = _unit(kind, name) if stat.S_ISREG(known.st_mode) else ("", False)
        if not unit:
            strangers += 1
            continue
        parts.setdefault((unit, temporary), []).append((path, known))
    items = [
        CacheItem(
            kind,
            folder,
            tuple(sorted(path for path, _ in found)),
            sum(known.st_size for _, known in found),
            max(max(known.st_atime, known.st_mtime) for _, known in found),
            max(known.st_mtime for _, known in found),
            temporary,
        )
        for (_, temporary), found in parts.items()
    ]
    return Survey(tuple(items), strangers)


def _unit(kind: Kind, name: str) -> tuple[str, bool]:
    """What a file is part of ("" where it is not ours), and whether it is not finished."""
    if kind is CORPORA and _DOWNLOADS.fullmatch(name):
        return name, True
    parts, temporary = [], False
    for part in name.split("/"):
        found = _OURS.fullmatch(part)
        temporary |= found is not None
        parts.append(part if found is None else found["stem"] + (found["suffix"] or ""))
    match = re.fullmatch(kind.files, "/".join(parts))
    if match is None:
        return "", False
    return (name if temporary else match["unit"]), temporary


def _below(folder: Path) -> Iterator[Path]:
    """Every file and link below; a folder that is a link is given, not entered."""
    if folder.is_symlink():
        yield folder
        return

    def refuse(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            raise _unreadable(error, folder) from error

    for place, folders, files in os.walk(folder, onerror=refuse):
        here = Path(place)
        yield from (here / name for name in files)
        yield from (here / name for name in folders if (here / name).is_symlink())


def _unreadable(error: OSError, path: Path) -> RealtalkError:
    return RealtalkError(
        f"cannot be read ({error.strerror})", where=str(error.filename or path), fix="check it"
    )


def remove(items: Iterable[CacheItem]) -> Removed:
    """Removes items, each whole; one that is being written stays, one that is gone is no error."""
    files = size = 0
    left: list[tuple[Path, str]] = []
    for item in items:
        reason = _in_use(item)
        if reason:
            left.append((item.files[0], reason))
            continue
        for path in item.files:
            try:
                known = path.lstat()
                path.unlink()
            except FileNotFoundError:
                continue
            except OSError as error:
                left.append((path, f"cannot be removed ({error.strerror})"))
                break
            files, size = files + 1, size + known.st_size
            if item.kind.folders or path.parent != item.folder:  # the temporary folder stays
                _tidy(item.folder, path.parent)
    return Removed(files, size, tuple(left))


def _in_use(item: CacheItem) -> str:
    if any(each.is_symlink() for path in item.files for each in _upwards(path, item.folder)):
        return "now behind a link"
    age = time.time() - item.written
    young = (item.temporary and age < _UNFINISHED) or (item.kind.in_place and age < _SETTLING)
    return "being written" if young or any(being_written(path) for path in item.files) else ""


def _upwards(path: Path, folder: Path) -> Iterator[Path]:
    """The path and the folders that it lies in, up to the kind's own."""
    yield path
    while path != folder:
        path = path.parent
        yield path


def _tidy(top: Path, folder: Path) -> None:
    """Removes folders that have become empty, up to the kind's own."""
    for each in _upwards(folder, top):
        try:
            each.rmdir()
        except OSError:  # not empty, or gone
            return


def forget(items: Iterable[CacheItem], before: float) -> Removed:
    """Removes what was last used before a moment from inside files that hold many things."""
    size = 0
    left: list[tuple[Path, str]] = []
    for item in items:
        reason = _in_use(item)
        if not reason:
            module, _, function = item.kind.forget.partition(":")
            try:
                size += getattr(import_module(module), function)(item.files[0], before)
            except RealtalkError as error:
                reason = error.what
        if reason:
            left.append((item.files[0], reason))
    return Removed(0, size, tuple(left))


def keep_within(kind: Kind, folder: Path, limit: int, written: Path) -> int:
    """Removes the items used longest ago until all fit; what was just written always stays.

    Gives back how many bytes the others still take. Nothing here may stop the run that wrote.
    """
    try:
        items = sorted(units(kind, folder).items, key=lambda item: item.used)
    except RealtalkError:
        return 0
    others = [item for item in items if written not in item.files]
    rest = sum(item.size for item in others)
    over = sum(item.size for item in items) - limit
    for item in others:
        if over <= 0:
            break
        gone = remove([item]).size
        over, rest = over - gone, rest - gone
    return rest
