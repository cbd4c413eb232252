"""Folders → which runs they hold. Nothing is loaded but the small `run.json`.

    find([Path("demo")])
    → Finds(runs=(Run("corpus", demo/corpora/sample, "sample"),
                  Run("emotional intelligence", demo/labels/sample, "sample"),
                  Run("memory probing", demo/probe, "probe"), …), unknown=())

A folder is a run, or holds runs (as the folder of a sweep or of the demo does), some levels
down. A run's name is its folder's; where two have one name, the folders above are named too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import orjson

from realtalk.errors import RealtalkError
from realtalk.formats.store import is_stored

CORPUS, LABELS = "corpus", "emotional intelligence"
_RUN, _LABELS = "run.json", "labels.parquet"
_DEEPEST = 4
_FIX = "give a folder that `realtalk read`, `ei`, `probe`, `persona` or `threads` wrote with `out=`"


@dataclass(frozen=True, slots=True)
class RunPlace:
    """One run: its kind as in run.json, or corpus; its versions where it keeps them."""

    kind: str
    path: Path
    name: str
    versions: tuple[Mapping[str, str], ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Finds:
    """Every run, in the order given. `unknown` are run folders of kinds not in `known`."""

    runs: tuple[RunPlace, ...]
    unknown: tuple[RunPlace, ...]


def find(folders: Sequence[Path], known: Sequence[str]) -> Finds:
    """Every run in and below the folders, each once."""
    runs_by_folder: dict[Path, RunPlace] = {}
    for folder in folders:
        if not folder.is_dir():
            raise RealtalkError(
                "is not a folder" if folder.exists() else "does not exist",
                where=str(folder),
                fix=_FIX,
            )
        here = list(_below(folder, 0))
        if not here:
            raise RealtalkError("no stored run here", where=str(folder), fix=_FIX)
        for each in here:
            runs_by_folder.setdefault(each.path.resolve(), each)
    everything = _named_apart(list(runs_by_folder.values()))
    runs = tuple(each for each in everything if each.kind in (CORPUS, LABELS, *known))
    return Finds(runs, tuple(each for each in everything if each not in runs))


def _below(folder: Path, depth: int) -> Iterator[RunPlace]:
    here = _run(folder)
    if here is not None:
        yield here
        return
    if depth == _DEEPEST:
        return
    try:
        inside = sorted(folder.iterdir())
    except OSError as error:
        raise RealtalkError(f"cannot be read ({error.strerror})", where=str(folder)) from error
    for inner in inside:
        if inner.is_dir() and not inner.is_symlink() and not inner.name.startswith("."):
            yield from _below(inner, depth + 1)


def _run(folder: Path) -> RunPlace | None:
    # A folder given as "." or ".." has its name only once it is resolved.
    name = folder.resolve().name or "run"
    if (folder / _RUN).is_file():
        about = _about(folder / _RUN)
        return RunPlace(about["kind"], folder, name, tuple(about["versions"]))
    if is_stored(folder):
        return RunPlace(CORPUS, folder, name)
    if (folder / _LABELS).is_file():  # of an earlier version
        return RunPlace(LABELS, folder, name)
    return None


def _about(path: Path) -> dict[str, Any]:
    try:
        about = orjson.loads(path.read_bytes())
        kind, versions = about["kind"], about["versions"]
        if isinstance(kind, str) and all(isinstance(each, dict) for each in versions):
            return {"kind": kind, "versions": versions}
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise RealtalkError("is not the record of a run", where=str(path), fix="make the run again")


def told_apart(names: Sequence[str], folders: Sequence[str]) -> list[str]:
    """Names of runs for a table; where two have one name, every one of them names its folder."""
    counts = Counter(names)
    return [
        name if counts[name] == 1 else f"{name} ({folder})"
        for name, folder in zip(names, folders, strict=True)
    ]


def _named_apart(runs: list[RunPlace]) -> list[RunPlace]:
    """Corpora and labels may share a name: they are the same chats. Runs of one kind may not."""
    places = [each.path.resolve().parts[1:] for each in runs]
    renamed = list(runs)
    for depth in range(2, max(map(len, places), default=0) + 1):
        counts = Counter((each.kind, each.name) for each in renamed)
        renamed = [
            each
            if counts[each.kind, each.name] == 1
            else replace(each, name="/".join(place[-depth:]))
            for each, place in zip(renamed, places, strict=True)
        ]
    return renamed
