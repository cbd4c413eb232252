"""A file of JSON, one object per line → the objects, each with its place for whoever complains;
and back.

    for where, row in read_objects(Path("answers.jsonl")):
        …    # ("answers.jsonl, line 3", {"id": "Q1", "answer": "in May"})

Blank lines and the mark that Windows tools put first are passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from realtalk.errors import RealtalkError
from realtalk.files.writing import atomic_path, check_holder

_MARK = b"\xef\xbb\xbf"


def read_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a file."""
    yield from parse_objects(read_whole(path), str(path))


def read_whole(path: Path) -> bytes:
    """A file's bytes, or one line on why not."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise RealtalkError(f"cannot be read ({error.strerror})", where=str(path)) from error


def parse_objects(data: bytes, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of what was read from `where`."""
    for number, line in enumerate(data.removeprefix(_MARK).splitlines(), 1):
        if not line.strip():
            continue
        place = f"{where}, line {number}"
        try:
            content = orjson.loads(line)
        except ValueError:
            content = None
        if not isinstance(content, dict):
            raise RealtalkError("not JSON", where=place, fix="write one object per line")
        yield place, content


def write_objects(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """One line per object, in a file that somebody named."""
    with atomic_path(check_holder(path)) as temporary, temporary.open("wb") as stream:
        stream.writelines(orjson.dumps(row) + b"\n" for row in rows)
    return path
