"""Jobs of one folder → shared between processes on one machine, each done by one of them.

    claims = Claims(out)
    claims.take("k3-tuned-Mara")     → True for the one process that is to do it
    spread(module, words, processes=2)   → that many processes of the module, to their end
    base_folder(Path("qwen.gguf"), out)  → out/base: the model's folder, converted once for all

A claim of a process that is gone counts for nothing, so that a run that was killed goes on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from realtalk.persona.generation import convert_gguf

ROOT = Path(__file__).parents[2]  # whence `research` is imported


class Claims:
    """Who does what: one small file per job."""

    def __init__(self, out: Path) -> None:
        self._folder = out / "claims"
        self._folder.mkdir(parents=True, exist_ok=True)

    def take(self, job: str) -> bool:
        """Whether the job is this process's now."""
        path = self._folder / job
        while True:
            try:
                with path.open("x", encoding="utf-8") as stream:
                    stream.write(str(os.getpid()))
                return True
            except FileExistsError:
                text = path.read_text("utf-8") if path.is_file() else ""
                if text == str(os.getpid()):
                    return True
                if not text or _alive(int(text)):
                    return False
                path.unlink(missing_ok=True)  # of a process that was killed

    def give_back(self, job: str) -> None:
        (self._folder / job).unlink(missing_ok=True)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def spread(module: str, words: Sequence[str], *, processes: int) -> int:
    """Runs the module so many times at once; returns how many of them failed."""
    begun = [
        subprocess.Popen([sys.executable, "-m", module, *words, "--worker", str(number)], cwd=ROOT)
        for number in range(processes)
    ]
    return sum(process.wait() != 0 for process in begun)


def base_folder(base: Path, out: Path) -> Path:
    """The folder of a model; a .gguf is converted into `out` where that was not done yet."""
    if base.suffix != ".gguf":
        return base
    folder = out / "base"
    if not folder.is_dir():
        convert_gguf(base, folder)
    return folder
