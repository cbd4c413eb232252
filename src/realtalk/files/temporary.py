"""Temporary folders that a killed process does not leave for good.

    with temporary_folder("realtalk-store-") as folder:
        …                        # of its owner alone; gone at the end
    for_this_process("realtalk-store-")     → a folder that goes when the process ends

A folder is locked while it is in use. One whose process was killed is known by that, and goes when
the next of its kind is made: what people said does not stay behind.
"""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from realtalk.files.writing import being_written, private_stream

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
        _remove(folder)


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


def _remove(folder: Path) -> None:
    """Other processes, as Ray's, may still write their last lines while they end."""
    for _ in range(50):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.1)
