"""Files written whole or not at all, and for their owner only: most hold what people said.

    write_json(folder / "chat.json", data)      → the path; a crash leaves the old file or none
    with atomic_path(path) as temporary: ...    # takes its name only if the block ends well
    with whole_folder(path) as temporary: ...   # the same for a folder
    private_stream(path, "ab+")                 # a file that grows under its own name

Whatever the umask, a file is 0600 from its first byte on and a folder that had to be made is
0700. A folder that was there keeps its mode: it is its owner's to open to others. This is the
one module that makes files and folders; a test holds the others to it.

    with temporary_folder("realtalk-store-") as folder:
        …                        # of its owner alone; gone at the end
    for_this_process("realtalk-store-")     → a folder that goes when the process ends

Such a folder is locked while it is in use. One whose process was killed is known by that, and goes
when the next of its kind is made: what people said does not stay behind.
"""

from __future__ import annotations

import atexit
import errno
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

import orjson

from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames

if TYPE_CHECKING:
    import polars as pl

    from realtalk.chat import Corpus

_CORPUS = "a stored corpus"
_KINDS = (  # what folders hold, by the files that say so
    (_CORPUS, {"corpus.json", "messages.parquet"}),
    (_CORPUS, {"corpus.json", "messages"}),
    ("a run", {"run.json"}),
    ("labels", {"labels.parquet"}),
    ("an adapter", {"adapter_config.json"}),
)
STORES = ("s3:", "gs:", "hdfs:")  # how paths begin that are in no folder of this machine
_LONGEST_STEM = 200  # bytes; file systems allow 255 with the ending and what a copy adds


def check_local(path: Path) -> Path:
    """The path itself; raises where it is in a store, before work is done for it."""
    if path.parts[:1] and path.parts[0] in STORES:  # what `Path` makes of an address
        raise RealtalkError(
            "this writes on this machine alone",
            where="//".join(path.parts[:2]),
            fix="name a local folder, or take `batch`",
        )
    return path


def private_folder(path: Path) -> Path:
    """The folder, made with those above it where they are missing."""
    check_local(path)
    missing = []
    for place in (path, *path.parents):
        if place.is_dir():
            break
        missing.append(place)
    for place in reversed(missing):
        # `Path.mkdir` gives its mode to the last folder only.
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
    if not path.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
    return path


def check_holder(path: Path) -> Path:
    """The path of a file that somebody named; raises where folders above its own are missing.

    One folder is made for it, where it has none. A slip in a long path must not make a tree.
    """
    above = path.parent.parent
    if not above.exists() and path.parts[0] not in STORES:
        raise RealtalkError(
            "cannot be written (there is no such folder)",
            where=str(above),
            fix="check the path, or make the folder first",
        )
    return path


def _opener(path: str, flags: int) -> int:
    # Narrowing the mode afterwards would leave a moment in which others can open it.
    return os.open(path, flags, 0o600)


def private_stream(path: Path, mode: Literal["ab+", "xb"] = "ab+") -> IO[bytes]:
    """A stream into a file under its own name, made where it is missing."""
    stream = open(path, mode, opener=_opener)  # noqa: SIM115  (`Path.open` has no opener)
    with suppress(OSError, AttributeError):  # somebody else's file, or Windows
        if stat.S_IMODE(os.fstat(stream.fileno()).st_mode) & 0o077:
            os.fchmod(stream.fileno(), 0o600)  # as an older version made it
    return stream


def being_written(path: Path) -> bool:
    """Whether another process has the file locked, as runs lock the rows that they add to.

    Everything else is written under another name first: with its own name it is finished.
    """
    try:
        import fcntl
    except ImportError:  # on Windows an open file cannot be removed anyway
        return False
    try:
        with path.open("rb") as stream:
            # Shared: two that look at once must not take each other for a writer.
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # gone, or not ours to open
        return False
    return False


@contextmanager
def owner_only() -> Iterator[None]:
    """For what a library writes by itself. The umask is the process', so keep the block short."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary neighbour, empty at first, that takes the real name if the block ends well."""
    temporary = path.with_name(f".{path.stem[:40]}.{secrets.token_hex(4)}{path.suffix}")
    try:
        private_folder(path.parent)
        private_stream(temporary, "xb").close()
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise _unwritable(error, path) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def whole_folder(path: Path, *, replace: bool = False) -> Iterator[Path]:
    """A temporary neighbour that takes the folder's name at the end.

    The name must be free, unless the folder that bears it is to be replaced.
    """
    temporary, old = (path.with_name(f".{path.name}.{secrets.token_hex(4)}") for _ in range(2))
    try:
        yield private_folder(temporary)
        for place, folders, files in os.walk(temporary):  # what libraries wrote with the umask
            for name in folders:
                (Path(place) / name).chmod(0o700)
            for name in files:
                (Path(place) / name).chmod(0o600)
        if replace and path.exists():
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
            path.rename(old)
        temporary.rename(path)
        shutil.rmtree(old, ignore_errors=True)
    except OSError as error:
        raise _unwritable(error, path) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _unwritable(error: OSError, path: Path) -> RealtalkError:
    reason = error.strerror or type(error).__name__
    return RealtalkError(f"cannot be written ({reason})", where=str(path))


def refuse_strangers(folder: Path, what: str, *marks: str) -> None:
    """Raises where a folder holds something else than `what`, which has a file of these names.

    Hidden files count for nothing: systems and editors leave them everywhere.
    """
    try:
        names = sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    except FileNotFoundError:
        return
    except OSError as error:
        raise RealtalkError(f"cannot hold {what} ({error.strerror})", where=str(folder)) from error
    kind = next((kind for kind, files in _KINDS if files <= set(names)), "")
    ours = any(fnmatch(name, mark) for name in names for mark in marks)
    if not names or (ours and kind != _CORPUS):
        return
    raise RealtalkError(
        f"holds {kind or f'{names[0]} but no {marks[0]}'}: not a folder for {what}",
        where=str(folder),
        fix="name another folder",
    )


def write_bytes(path: Path, data: bytes) -> Path:
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)
    return path


def write_text(path: Path, text: str) -> Path:
    return write_bytes(path, text.encode())


def write_json(path: Path, value: Any) -> Path:
    return write_bytes(path, orjson.dumps(value, option=orjson.OPT_INDENT_2) + b"\n")


def write_parquet(
    path: Path,
    frame: pl.DataFrame | pl.LazyFrame,
    *,
    level: int = 1,
    about: Mapping[str, str] | None = None,
    at_once: int | None = None,
) -> Path:
    """A table, packed fast by default; `about` goes into the file's own metadata.

    Of a lazy table a piece at a time is held. `at_once` is how many rows make a group: where it
    is given, the bytes do not depend on the pieces that the table came in.
    """
    import polars as pl

    with atomic_path(path) as temporary:
        options: dict[str, Any] = {
            "compression": "zstd",
            "compression_level": level,
            "metadata": None if about is None else dict(about),
            "row_group_size": at_once,
        }
        if isinstance(frame, pl.LazyFrame):
            frame.sink_parquet(temporary, **options)
        else:
            frame.write_parquet(temporary, **options)
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


_LOCK = "in-use"


@contextmanager
def temporary_folder(prefix: str, base: str | None = None) -> Iterator[Path]:
    """A new folder below `base`, or where the system has such folders."""
    where = base or tempfile.gettempdir()
    _remove_left(Path(where), prefix)
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=where))
    try:
        with private_stream(folder / f"{_LOCK}.new") as stream:
            with suppress(ImportError):  # not on Windows
                import fcntl

                fcntl.flock(stream, fcntl.LOCK_EX)
                # Under its name it is locked from the first moment on.
                (folder / f"{_LOCK}.new").rename(folder / _LOCK)
            yield folder
    finally:
        for _ in range(50):  # other processes, as Ray's, may still write their last lines
            shutil.rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            time.sleep(0.1)


def for_this_process(prefix: str) -> Path:
    """A new folder that goes when the process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(temporary_folder(prefix))


def _remove_left(base: Path, prefix: str) -> None:
    """Folders of this user whose process was killed before it could remove them."""
    if sys.platform == "win32":
        return  # nothing tells whether somebody uses them
    for folder in base.glob(f"{prefix}*"):
        with suppress(OSError):
            status = folder.lstat()
            ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
            # Without its lock it is being made this moment.
            if ours and (folder / _LOCK).is_file() and not being_written(folder / _LOCK):
                shutil.rmtree(folder, ignore_errors=True)
