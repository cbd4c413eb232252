"""How fast samples of threads are made: one task, all four settings, every target.

    python bench/threads.py threads.json.gz                  # about a minute
    python bench/threads.py threads.json.gz --task impact --protocol released
    → seconds and memory of each step; exit status 1 where the promise is broken

The promise, on PersonaConvBench-sized data (12,218 posts, 205,000 comments) and two cores: from
the packed file to every sample of one task in all four settings in under 90 seconds and 2 GB.
A sample counts as made when its value is there, with conversation, history and text.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

from realtalk.formats.opening import open_reading
from realtalk.threads.sampling import Draw
from realtalk.threads.values import PROTOCOLS, SETTINGS, TASKS, protocol

SECONDS = 90.0
GIGABYTES = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("path", help="threads in any format that is read")
    parser.add_argument("--task", choices=TASKS, default="sentiment")
    parser.add_argument("--protocol", choices=PROTOCOLS, default="clean")
    parser.add_argument("--shots", type=int, default=0)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    found = measure(given)
    for name, value in found.items():
        print(f"{name:24} {value:,.2f}" if isinstance(value, float) else f"{name:24} {value}")
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=2) + "\n", "utf-8")
    return 1 if found["seconds"] >= SECONDS or found["gigabytes"] >= GIGABYTES else 0


def measure(given: argparse.Namespace) -> dict[str, Any]:
    begun = last = time.perf_counter()
    found: dict[str, Any] = {"task": given.task, "protocol": given.protocol}

    def lap(name: str) -> None:
        nonlocal last
        now = time.perf_counter()
        found[f"{name} s"] = now - last
        last = now

    corpus = open_reading(given.path).reading.corpus
    lap("read")
    rules = protocol(given.protocol, shots=given.shots)
    samples = Draw(given.task, rules).samples(corpus)
    lap("targets")
    found["targets"] = f"{len(samples.targets):,}"
    for setting in SETTINGS:
        shown = sum(len(each.conversation) + len(each.history) for each in samples.of(setting))
        lap(setting)
        found[f"{setting} entries"] = f"{shown:,}"
    found["seconds"] = time.perf_counter() - begun
    found["cpu seconds"] = time.process_time()
    found["gigabytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    return found


if __name__ == "__main__":
    raise SystemExit(main())
