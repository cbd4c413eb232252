"""Reads files one after another in a process of its own and says what each of them cost.

    outcomes = costs([Case("deep", path, "signal")], seconds=20)
    → Cost(case, "refused", "x.json: not valid JSON", seconds=0.4, megabytes=190)

The processor time of each is limited by the kernel (RLIMIT_CPU), so a reading that would go on
for hours ends the process, and a busy machine changes nothing.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_ADDRESSES = 24 << 30  # of the process: threads reserve much that they never touch
AFTER = ("check", "stats", "store", "redact")


@dataclass(frozen=True)
class Case:
    """A path to read, with the named format or the one that is found; then what follows."""

    name: str
    path: str
    format: str | None = None
    after: tuple[str, ...] = AFTER


@dataclass(frozen=True)
class Cost:
    """How a reading ended: read, refused, crashed or killed; and what it took."""

    case: Case
    outcome: str
    said: str = ""
    seconds: float = 0.0
    megabytes: float = 0.0
    steps: str = ""


def costs(cases: Sequence[Case], *, seconds: float = 20.0) -> Iterator[Cost]:
    """What each case cost; after one that is killed, a new process goes on with the next."""
    left = list(cases)
    while left:
        with tempfile.TemporaryDirectory() as folder:
            listed = Path(folder) / "cases.json"
            listed.write_text(json.dumps([asdict(case) for case in left]), "utf-8")
            words = [sys.executable, __file__, str(listed), str(seconds)]
            with (
                (Path(folder) / "told").open("w+") as told,
                subprocess.Popen(words, stdout=subprocess.PIPE, stderr=told, cwd=folder) as worker,
            ):
                assert worker.stdout is not None
                for line in worker.stdout:
                    yield Cost(left.pop(0), **json.loads(line))
                worker.wait()
                told.seek(0)
                last = "".join(told.readlines()[-1:]).strip()
        if left:
            yield Cost(left.pop(0), "killed", f"status {worker.returncode}, {last}", seconds)


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _forget_peak() -> None:
    with contextlib.suppress(OSError):  # else the peak is that of all cases so far
        Path("/proc/self/clear_refs").write_text("5")


def _peak() -> float:
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _steps(case: Case, out: Path) -> list[tuple[str, Callable[[Any], Any]]]:
    from realtalk.describe import chat_rows, corpus_rows, describe
    from realtalk.formats.check import check
    from realtalk.formats.opening import open_reading
    from realtalk.formats.store import load, store
    from realtalk.redaction.redact import redact

    def stats(found: Any) -> None:
        described = describe(found.reading.tables)
        chat_rows(described)
        corpus_rows(described)

    def stored(found: Any) -> None:
        folder = store(found.reading, out, found.source)
        assert load(folder).corpus == found.reading.corpus, "stored is not what was read"

    every: dict[str, Callable[[Any], Any]] = {
        "check": lambda found: check(found.reading.corpus, found.reading.ledger),
        "stats": stats,
        "store": stored,
        "redact": lambda found: redact(found.reading.corpus),
    }
    first: list[tuple[str, Callable[[Any], Any]]] = [
        ("read", lambda _: open_reading(case.path, case.format))
    ]
    return first + [(name, every[name]) for name in case.after]


def _run(case: Case, seconds: float) -> dict[str, Any]:
    from realtalk.errors import RealtalkError

    before = _used()
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(before + seconds) + 1, hard))
    _forget_peak()
    outcome, said, steps = "read", "", []
    found = None
    with tempfile.TemporaryDirectory() as folder:
        for name, step in _steps(case, Path(folder) / "stored"):
            start = _used()
            sys.stderr.write(f"{case.name}: {name}\n")
            sys.stderr.flush()
            try:
                made = step(found)
                found = found or made
            except RealtalkError as error:
                outcome, said = "refused", f"{name}: {error}"
            except Exception as error:
                outcome, said = "crashed", f"{name}: {type(error).__name__}: {str(error)[:300]}"
            steps.append(f"{name} {_used() - start:.1f}")
            if outcome != "read":
                break
    return {
        "outcome": outcome,
        "said": said,
        "seconds": round(_used() - before, 2),
        "megabytes": round(_peak(), 1),
        "steps": ", ".join(steps),
    }


def _main(listed: str, seconds: float) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    # What everybody loads is not what a file costs.

    for entry in json.loads(Path(listed).read_text("utf-8")):
        case = Case(**{**entry, "after": tuple(entry["after"])})
        sys.stdout.write(json.dumps(_run(case, seconds)) + "\n")
        sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    _main(sys.argv[1], float(sys.argv[2]))
