"""Where a run that is split keeps its pieces: beside its rows, or in a temporary folder.

    with workplace(Path("out"), ".chats", engine) as place:    # out/.chats, of the owner alone
        …                                                      # gone at the end, unless it failed

Whatever ends a sitting leaves what is done there, and the next one goes on from it. Without a
folder for the run nothing can be gone on with, so nothing stays.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from realtalk.engine.jobs import Engine
from realtalk.errors import RealtalkError
from realtalk.local.writing import private_folder


@contextmanager
def workplace(folder: Path | None, name: str, engine: Engine) -> Iterator[Path]:
    """A folder for the pieces of a run in `folder`."""
    if folder is None:
        if getattr(engine, "address", None) is not None:
            raise RealtalkError(
                "the nodes of a cluster see no folder of this run",
                fix="name one that all of them see with --out",
            )
        with tempfile.TemporaryDirectory(prefix="realtalk-run-") as temporary:
            yield Path(temporary)
        return
    place = folder / name
    try:
        private_folder(place)
    except OSError as error:
        raise RealtalkError(
            f"cannot hold the pieces of a run ({error.strerror})", where=str(folder)
        ) from error
    yield place
    shutil.rmtree(place, ignore_errors=True)
