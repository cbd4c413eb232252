"""A run of its own process, killed when its table has exactly so many rows.

The run itself stops there and waits for the end: no machine is too fast or too busy for that.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

_HALT = """
import sys, time
from pathlib import Path
from realtalk.evals.folder import Table

_add = Table.add

def _halting(self, row):
    _add(self, row)
    rows = Path(sys.argv[1]) / sys.argv[3]
    while rows.exists() and rows.read_bytes().count(b"\\n") >= int(sys.argv[2]):
        time.sleep(60)

Table.add = _halting
"""


def started(script: str, folder: Path) -> subprocess.Popen[bytes]:
    """The script as a program of its own, told its folder."""
    return subprocess.Popen([sys.executable, "-c", script, str(folder)])


def kill_at(rows: int, script: str, folder: Path, table: str = "rows.jsonl") -> bytes:
    """Kills the script's run when it has as many rows; what it left of them."""
    command = [sys.executable, "-c", _HALT + script, str(folder), str(rows), table]
    run = subprocess.Popen(command)
    path = folder / table
    while not path.exists() or path.read_bytes().count(b"\n") < rows:
        assert run.poll() is None, "the run ended too early"
        time.sleep(0.002)
    run.send_signal(signal.SIGKILL)
    run.wait()
    return path.read_bytes()
