"""Commands of many inputs as programs of their own, and what may happen to them: kills."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine_work import tree

__all__ = [
    "COMMANDS",
    "SEVERAL",
    "Command",
    "kill_driver",
    "kill_workers",
    "workers_of",
    "write_exports",
]

SEVERAL = ("--engine", "processes", "--workers", "2")
_CHAT = """13/02/2024, 10:01 - Mara: the tulips are behind the shed {0}
13/02/2024, 10:11 - Theo: show me, mara
13/02/2024, 10:21 - Mara: call me, +49 170 12345{0:02}
13/02/2024, 10:31 - Theo: good
"""
_ROWS = ("run.json", "rows.jsonl", "rows.parquet")


def write_exports(folder: Path, number: int) -> Path:
    """So many small chats, each other than the rest."""
    folder.mkdir()
    for at in range(number):
        path = folder / f"WhatsApp Chat with Mara {at:04}.txt"
        path.write_text(_CHAT.format(at), "utf-8")
    return folder


@dataclass(frozen=True)
class Command:
    """The words of a command without its folders, and where its job keeps its table."""

    words: tuple[str, ...]
    inputs: int  # exports that it is given; 0 for a sample that its words name
    table: str = "parts.jsonl"

    def line(self, inputs: Path, out: Path, *more: str) -> list[str]:
        given = (self.words[0], str(inputs), *self.words[1:]) if self.inputs else self.words
        return [sys.executable, "-m", "realtalk", *given, "--out", str(out), *more]

    def run(self, inputs: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
        """The whole command, undisturbed."""
        return subprocess.run(
            self.line(inputs, out, *more), capture_output=True, text=True, check=False
        )

    def written(self, out: Path) -> dict[str, bytes]:
        """What has to be the same by every way; a run's times are not."""
        found = tree(out)
        return found if self.inputs else {name: found[name] for name in _ROWS}


COMMANDS = {
    "check": Command(("check", "--each", "--fail-on", "never"), 120),
    "redact": Command(("redact", "--each"), 60),
    "report": Command(("report", "--each", "--no-labels"), 30),
    "probe": Command(
        ("probe", "sample", "--set", "way=bm25", "--budget", "300"), 0, ".chats/runs/parts.jsonl"
    ),
    "threads": Command(
        ("threads", "sample-threads", "--predictor", "nearest", "--setting", "p-conv"),
        0,
        ".texts/vectors/parts.jsonl",
    ),
}


def workers_of(process: int) -> Iterator[int]:
    """The workers of a driver, and nobody else."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
            line = (path.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == process and b"spawn_main" in line:
            yield int(path.parent.name)


def kill_workers(line: list[str], most: int, seed: int) -> tuple[int, int]:
    """Runs a command whose workers are killed at random moments; its status, and how many were."""
    chance = random.Random(seed)
    driver = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    killed = 0
    while driver.poll() is None:
        time.sleep(chance.uniform(0.05, 1.5))
        workers = list(workers_of(driver.pid))
        if workers and killed < most:
            os.kill(chance.choice(workers), signal.SIGKILL)
            killed += 1
    return driver.returncode, killed


def kill_driver(line: list[str], table: Path, rows: int) -> int:
    """Kills a command when its job has so many rows; how many it had. It may be done before."""
    driver = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while driver.poll() is None:
        if table.is_file() and table.read_bytes().count(b"\n") >= rows:
            driver.send_signal(signal.SIGKILL)
            break
        time.sleep(0.005)
    driver.wait()
    return table.read_bytes().count(b"\n") if table.is_file() else 0
