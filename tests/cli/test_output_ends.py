"""What happens when nobody takes the output: a closed pipe, a full disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "realtalk", "check", "sample", "--all"]


def test_a_closed_pipe_is_no_finding() -> None:
    """`check` says 1 for findings, so a reader that went away must be told apart."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(COMMAND, stdout=writing, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(writing)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_said_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(COMMAND, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("error: the output cannot be written")
    assert "Traceback" not in done.stderr
