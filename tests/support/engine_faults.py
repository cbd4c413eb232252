"""Commands of many inputs as programs of their own, and what may happen to them: kills."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from engine_work import SECRET, tree

SEVERAL = ("--engine", "processes", "--workers", "2")
ON_RAY = ("--engine", "ray", "--workers", "2")
_CHAT = """13/02/2024, 10:01 - Mara: the tulips are behind the shed {0}
13/02/2024, 10:11 - Theo: show me, mara
13/02/2024, 10:21 - Mara: call me, +49 170 12345{0:02}
13/02/2024, 10:31 - Theo: good
"""
_ROWS = ("run.json", "rows.jsonl", "rows.parquet")
# The command itself, with eight turns to a block: few turns are enough for many kills.
_SMALL_BLOCKS = """
from realtalk.cli.main import main
from realtalk.ei.embedded import EmbeddedLabeller
EmbeddedLabeller.at_once = 32
main()
"""


def write_exports(folder: Path, number: int) -> Path:
    """So many small chats, each other than the rest."""
    folder.mkdir()
    for at in range(number):
        path = folder / f"WhatsApp Chat with Mara {at:04}.txt"
        path.write_text(_CHAT.format(at), "utf-8")
    return folder


def _write_chat(folder: Path, turns: int) -> Path:
    """One chat of so many turns."""
    folder.mkdir()
    path = folder / "WhatsApp Chat with Mara.txt"
    began = datetime(2024, 2, 13, 10)
    with path.open("w", encoding="utf-8") as chat:
        for at in range(turns):
            moment = began + timedelta(minutes=20 * at)
            speaker = ("Mara", "Theo")[at % 2]
            chat.write(f"{moment:%d/%m/%Y, %H:%M} - {speaker}: {SECRET}, {at}\n")
    return path


@dataclass(frozen=True)
class Command:
    """The words of a command without its folders, and where its job keeps its table."""

    words: tuple[str, ...]
    inputs: int  # exports or turns that it is given; 0 for a sample that its words name
    table: str = "parts.jsonl"
    write: Callable[[Path, int], Path] = write_exports
    program: tuple[str, ...] = ("-m", "realtalk")

    def given(self, folder: Path) -> Path:
        """What it works on, written into a new folder."""
        return self.write(folder, self.inputs)

    def line(self, inputs: Path, out: Path, *more: str) -> list[str]:
        command, *options = self.words
        given = (*command.split(), str(inputs), *options) if self.inputs else self.words
        return [sys.executable, *self.program, *given, "--out", str(out), *more]

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
    "check": Command(("batch check", "--fail-on", "never"), 120),
    "redact": Command(("batch redact",), 60),
    "report": Command(("batch report", "--no-labels"), 30),
    "probe": Command(
        ("probe", "sample", "--set", "way=bm25", "--budget", "300"), 0, ".chats/runs/parts.jsonl"
    ),
    "threads": Command(
        ("threads", "sample-threads", "--predictor", "nearest", "--setting", "p-conv"),
        0,
        ".texts/vectors/parts.jsonl",
    ),
    "ei": Command(
        ("ei",), 400, ".labelling/labels/parts.jsonl", _write_chat, ("-c", _SMALL_BLOCKS)
    ),
}


def workers_of(process: int) -> Iterator[int]:
    """The workers of a driver, and nobody else: its own processes, or the actors of its Ray."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(path.parent.name))
    family = [process]
    for each in family:  # it grows on the way
        family += children.get(each, [])
    for each in family:
        with suppress(OSError):
            line = Path(f"/proc/{each}/cmdline").read_bytes()
            if b"LokyProcess" in line or line.startswith(b"ray::RayWorker"):
                yield each


def kill_workers(line: list[str], most: int, seed: int) -> tuple[int, int]:
    """Runs a command whose workers are killed at random moments; its status, and how many were."""
    chance = random.Random(seed)
    driver = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    killed = 0
    while driver.poll() is None:
        time.sleep(chance.uniform(0.05, 1.5))
        workers = list(workers_of(driver.pid))
        if workers and killed < most:
            with suppress(ProcessLookupError):  # it ended by itself
                os.kill(chance.choice(workers), signal.SIGKILL)
                killed += 1
    return driver.returncode, killed


def kill_driver(line: list[str], table: Path, rows: int) -> int:
    """Kills a command when its job has so many rows; how many it had. It may be done before."""
    driver = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while driver.poll() is None:
        if _rows(table) >= rows:
            driver.send_signal(signal.SIGKILL)
            break
        time.sleep(0.005)
    driver.wait()
    return _rows(table)


def _rows(table: Path) -> int:
    return table.read_bytes().count(b"\n") if table.is_file() else 0
