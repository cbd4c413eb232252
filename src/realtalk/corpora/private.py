"""Files that only their owner can read, from their first byte on.

write_private_json(Path("key.json"), {"Mara": "Person1"})  → the path, with the mode 0600
with private_file(folder / "0f…a1.npz") as stream: ...      # takes its name if the block ends well
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import orjson

from realtalk.corpora.writing import atomic_path

__all__ = ["private_file", "write_private_json"]


@contextmanager
def private_file(path: Path) -> Iterator[IO[bytes]]:
    """A stream into a file that is whole or not there, and closed to others all the time."""
    with atomic_path(path) as temporary:
        # Narrowing the mode afterwards would leave a moment in which others can open it.
        mode = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        made = os.open(temporary, mode, 0o600)
        with os.fdopen(made, "wb") as stream:
            yield stream


def write_private_json(path: Path, value: Any) -> Path:
    with private_file(path) as stream:
        stream.write(orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")
    return path
