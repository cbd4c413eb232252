"""How many files of the package a command executes, and how fast the package starts.

    python bench/files.py [probe ei …]
    → | command | files | rooms | at first | at most |
      | probe | 126 | 12 | 126 | 84 | …
      import realtalk: 0.06 s (at most 0.1)

Each command runs on the samples in a process of its own with an empty cache, after every module was
imported, under a trace that notes the files whose functions are called. `at first` is what a review
counted before the code was redrawn, `at most` two thirds of it; counted in this way it was 94, 64,
81, 89 and 70 then. Times are of the processor. The exit status is 1 where a limit is passed.
"""

from __future__ import annotations

import argparse
import importlib
import io
import multiprocessing
import os
import pkgutil
import resource
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ProcessPoolExecutor
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import realtalk

ROOT = Path(realtalk.__file__).parent
COMMANDS = {
    "probe": ("probe", "sample", "--out", "run"),
    "ei": ("ei", "sample", "--out", "labels"),
    "report": ("report", "chat.txt"),
    "persona run": (
        "persona",
        "run",
        "sample",
        "--speaker",
        "Mara",
        "--limit",
        "9",
        "--out",
        "run",
    ),
    "redact": ("redact", "sample", "--out", "redacted"),
}
FIRST = {"probe": 126, "ei": 83, "report": 98, "persona run": 115, "redact": 72}
STARTS = {
    "import realtalk": (["-c", "import realtalk"], 0.1),
    "realtalk --help": (["-m", "realtalk", "--help"], 0.3),
}


def call(words: tuple[str, ...]) -> None:
    """The command in this process, in an empty folder with an empty cache."""
    from realtalk.cli.main import main

    argv, output = sys.argv, io.StringIO()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        os.environ["REALTALK_CACHE"] = str(Path(folder) / "cache")
        Path("chat.txt").write_text(exported(), "utf-8")
        sys.argv = ["realtalk", *words]
        try:
            with redirect_stdout(output), redirect_stderr(output):
                main()
        except SystemExit as stop:
            if stop.code:
                raise RuntimeError(f"{words}: {output.getvalue()}") from None
        finally:
            sys.argv = argv


def exported() -> str:
    """The sample's first chat as WhatsApp exports one."""
    messages = realtalk.read("sample").chats[0].messages
    return "".join(
        f"[{each.time:%d/%m/%Y, %H:%M:%S}] {each.speaker}: {each.text}\n"
        for each in messages
        if each.time
    )


def executed(words: tuple[str, ...]) -> set[Path]:
    """The package's files whose functions the command calls."""
    for module in pkgutil.walk_packages(realtalk.__path__, "realtalk."):
        with suppress(ImportError):  # what an extra needs that is not installed
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            files.add(frame.f_code.co_filename)

    threading.settrace(note)  # calls alone: half the cost of a profiler
    sys.settrace(note)
    try:
        call(words)
    finally:
        sys.settrace(None)
    return {Path(each) for each in files if Path(each).is_relative_to(ROOT)}


def seconds(arguments: list[str], times: int = 7) -> float:
    """The least processor time of a new process: on a quiet machine the time that passes."""
    found = []
    for _ in range(times):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("commands", nargs="*", help=f"of {', '.join(COMMANDS)}")
    parser.add_argument("--list", action="store_true", help="name the files")
    options = parser.parse_args()
    kept = True
    print("| command | files | rooms | at first | at most |\n|---|---|---|---|---|")
    for name in options.commands or COMMANDS:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            files = pool.submit(executed, COMMANDS[name]).result()
        rooms = {each.relative_to(ROOT).parts[0] for each in files if each.parent != ROOT}
        most = FIRST[name] * 2 // 3
        kept &= len(files) <= most
        print(f"| {name} | {len(files)} | {len(rooms)} | {FIRST[name]} | {most} |", flush=True)
        for path in sorted(files) if options.list else ():
            print(f"    {path.relative_to(ROOT)}")
    bare = seconds(["-c", "pass"])
    for title, (arguments, limit) in STARTS.items():
        took = seconds(arguments)
        kept &= took <= limit
        print(f"{title}: {took:.2f} s (at most {limit}; Python alone {bare:.2f} s)")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
