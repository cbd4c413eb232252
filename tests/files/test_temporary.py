"""Temporary folders go, also those of a process that was killed; those in use stay."""

from __future__ import annotations

import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from realtalk.files.environment import environment
from realtalk.files.writing import temporary_folder

_HOLDING = """
import sys, time
from realtalk.files.writing import for_this_process, temporary_folder

if sys.argv[1] == "end":
    (for_this_process("rt-test-") / "said.txt").write_text("a secret")
    sys.exit()
with temporary_folder("rt-test-", sys.argv[1]) as folder:
    (folder / "said.txt").write_text("a secret")
    print(folder, flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_what_a_killed_process_left_goes(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _HOLDING, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    left = Path(process.stdout.readline().strip())
    with temporary_folder("rt-test-", str(tmp_path)) as own:
        assert left.is_dir(), "it is in use"
        assert stat.S_IMODE(own.stat().st_mode) == 0o700
    assert not own.exists()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert (left / "said.txt").is_file()
    with temporary_folder("rt-test-", str(tmp_path)):
        assert not left.exists()


def test_a_folder_goes_with_its_process(tmp_path: Path) -> None:
    with environment({"TMPDIR": str(tmp_path)}):
        subprocess.run([sys.executable, "-c", _HOLDING, "end"], check=True)
    assert not list(tmp_path.iterdir())
