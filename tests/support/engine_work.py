"""Work for the engine that is easy to see: a file in capital letters, and every way to fail."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from realtalk.engine.jobs import Job
from realtalk.errors import RealtalkError
from realtalk.files.stores import Place
from realtalk.files.writing import write_bytes

SECRET = "the tulips are behind the shed"


@dataclass(frozen=True)
class Shout:
    """Made once per worker: it leaves a file named after its process in `marks`."""

    marks: Path

    def __call__(self) -> _Shouting:
        self.marks.mkdir(exist_ok=True)
        with (self.marks / f"made-{os.getpid()}").open("a") as stream:
            stream.write("x")
        return _Shouting(self.marks)


@dataclass(frozen=True)
class _Shouting:
    marks: Path

    def __call__(self, source: Path, place: Path) -> Mapping[str, Any]:
        data = source.read_bytes()
        order = data.split(b":")[0].decode()
        if order == "corrupt":
            raise RealtalkError("is no text", where=str(source))
        if order == "gpu":
            data = os.environ.get("CUDA_VISIBLE_DEVICES", "none").encode()
        if order == "slow":
            time.sleep(1)
        if order == "bug":
            raise ValueError(SECRET)
        if order == "always":
            os.kill(os.getpid(), signal.SIGKILL)
        if order in ("worker", "driver", "full") and self._is_first(order):
            place.write_bytes(data[:3])  # half of a part
            if order == "full":
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.kill(os.getpid() if order == "worker" else os.getppid(), signal.SIGKILL)
        write_bytes(place, data.upper())
        return {"letters": len(data)}

    def _is_first(self, order: str) -> bool:
        mark = self.marks / order
        if mark.exists():
            return False
        mark.touch()
        return True


def heavy(marks: Path, weight: bytes) -> _Shouting:
    """A function that takes a while to send."""
    assert weight
    return Shout(marks)()


def no_work() -> _Shouting:
    raise RealtalkError("the model is missing", fix="get it")


def write_exports(folder: Path, chats: Mapping[str, str]) -> Path:
    """Exports by their names, and one among them that nobody can read."""
    folder.mkdir()
    for name, text in chats.items():
        (folder / name).write_text(text, "utf-8")
    (folder / "broken.zip").write_bytes(b"PK\x03\x04 " + SECRET.encode())
    return folder


def write_inputs(folder: Path, *orders: str) -> tuple[Path, ...]:
    """One file per order, named by number."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"{number}.txt" for number in range(len(orders))]
    for path, order in zip(paths, orders, strict=True):
        path.write_text(f"{order}: {SECRET} {path.stem}")
    return tuple(paths)


def shouting(inputs: Sequence[Place], out: Place, marks: Path, **settings: Any) -> Job:
    return Job("shouting", inputs, Shout(marks), out, settings, ".txt")


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
