"""Paths, folders and patterns → the inputs of a job; and an input → its fingerprint.

    gathered(["exports/", "more/*.zip"], Path("corpora"))   → (exports/a.txt, exports/b, more/c.zip)
    fingerprint(Path("exports/a.txt"))                      → (3537, "9f86d081884c7d65…")

A folder stands for what lies in it: each file and each folder in it is one input. A stored corpus
is one input itself, and the folder of a job stands for the job's parts. Two paths to one place are
one input. The fingerprint of a folder covers the names and bytes of its files.
"""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

from realtalk.engine.places import record_of
from realtalk.errors import RealtalkError
from realtalk.local.stores import StorePath, place_of

PARTS, PARTS_KEY = "parts", ("part",)  # the table of a job, and what its rows are known by


def gathered(paths: Sequence[str], out: Path) -> tuple[Path, ...]:
    """Every input that the paths name, once, in their order; the job's own folder holds none."""
    inputs: dict[Path, Path] = {}
    own = out.resolve()
    for path in paths:
        for found in _named(path):
            if found.resolve() == own:
                continue
            for each in _parts(found) or [found]:
                inputs.setdefault(each.resolve(), each)
    if not inputs:
        raise RealtalkError("nothing to read", where=", ".join(paths[:3]), fix="check the path")
    return tuple(inputs.values())


def _named(path: str) -> list[Path]:
    place = place_of(path)
    try:
        if place.is_dir():
            return _inside(place)
        if place.exists():
            return [place]
    except OSError as error:
        raise RealtalkError(f"cannot be opened ({error.strerror})", where=path) from error
    # A file of that very name wins: exports have brackets in theirs.
    found = []
    if isinstance(place, StorePath):
        found = place.folder.matching(place.name)
    elif glob.has_magic(path):
        found = sorted(map(Path, glob.glob(path, recursive=True)))  # noqa: PTH207  (absolute patterns)
    if not found:
        raise RealtalkError("no such file or folder", where=path, fix="check the path")
    return found


def _inside(folder: Path) -> list[Path]:
    from realtalk.corpora.store import is_stored

    if is_stored(folder) or _parts(folder) is not None:
        return [folder]
    return sorted(each for each in folder.iterdir() if not each.name.startswith("."))


def _parts(folder: Path) -> list[Path] | None:
    """The parts of a job that wrote into the folder, in their order; None where no job did."""
    from realtalk.evals.folder import RunFolder

    if not (folder / "run.json").is_file() or not (folder / f"{PARTS}.jsonl").is_file():
        return None
    rows = RunFolder.load(record_of(folder), None).rows(PARTS, PARTS_KEY)
    # Names only, never a way out of the folder.
    names = [row["part"] for row in rows if not row["problem"]]
    return [folder / name for name in names if Path(name).name == name]


def fingerprint(path: Path) -> tuple[int, str]:
    """How many bytes an input has, and their SHA-256; of one in a store its stamp."""
    if isinstance(path, StorePath):
        return path.stamp()
    if not path.is_dir():
        return _file(path)
    size, digest = 0, hashlib.sha256()
    for place, folders, names in os.walk(path):
        folders.sort()
        for name in sorted(names):
            file = Path(place) / name
            if not file.is_file():
                continue  # a socket, or a link that leads nowhere
            more, known = _file(file)
            size += more
            named = os.fsencode(file.relative_to(path).as_posix())
            digest.update(named + b"\0" + known.encode() + b"\n")
    return size, digest.hexdigest()


def _file(path: Path) -> tuple[int, str]:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return stream.tell(), digest
