"""Files written whole or not at all.

write_json(folder / "chat.json", data) → the path; a crash leaves the old file or none
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from realtalk.corpora.naming import UniqueNames
from realtalk.errors import RealtalkError

if TYPE_CHECKING:
    import polars as pl

    from realtalk.chat import Corpus

__all__ = [
    "atomic_path",
    "file_stem",
    "file_stems",
    "write_bytes",
    "write_json",
    "write_parquet",
    "write_text",
]

_LONGEST_STEM = 200  # bytes; file systems allow 255 with the ending and what a copy adds


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary neighbour that takes the real name only if the block ends well."""
    temporary = path.with_name(f".{path.stem[:40]}.{secrets.token_hex(4)}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise RealtalkError(f"cannot be written ({reason})", where=str(path)) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> Path:
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)
    return path


def write_text(path: Path, text: str) -> Path:
    return write_bytes(path, text.encode())


def write_json(path: Path, value: Any) -> Path:
    return write_bytes(path, orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")


def write_parquet(
    path: Path, frame: pl.DataFrame, *, level: int = 1, about: Mapping[str, str] | None = None
) -> Path:
    """A table, packed fast by default; `about` goes into the file's own metadata."""
    with atomic_path(path) as temporary:
        frame.write_parquet(
            temporary,
            compression="zstd",
            compression_level=level,
            metadata=None if about is None else dict(about),
        )
    return path


def file_stem(name: str) -> str:
    """A chat id as a file name: no folders, no reserved characters, never empty or too long."""
    stem = re.sub(r'[\x00-\x1f<>:"/\\|?*]+', "_", name).strip(". ")
    # File systems count bytes: an emoji is four of them.
    stem = stem[:150].encode("utf-8", "replace")[:_LONGEST_STEM].decode("utf-8", "ignore")
    return stem.rstrip(". ") or "chat"


def file_stems(corpus: Corpus) -> tuple[str, ...]:
    """A file name for every chat, no two of which are one file, as "a/b" and "a:b" would be."""
    names = UniqueNames("{}-{}", is_file=True)
    return tuple(names.free(file_stem(chat.id)) for chat in corpus.chats)
