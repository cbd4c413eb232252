"""A run of its own process, killed once its table has so many rows."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

__all__ = ["kill_at", "started"]


def started(script: str, folder: Path) -> subprocess.Popen[bytes]:
    """The script as a program of its own, told its folder."""
    return subprocess.Popen([sys.executable, "-c", script, str(folder)])


def kill_at(rows: int, run: subprocess.Popen[bytes], path: Path) -> bytes:
    """Kills the run when the file has as many rows; the whole rows that it left."""
    while not path.exists() or path.read_bytes().count(b"\n") < rows:
        assert run.poll() is None, "the run ended too early"
        time.sleep(0.002)
    run.send_signal(signal.SIGKILL)
    run.wait()
    before = path.read_bytes()
    return before[: before.rfind(b"\n") + 1]
