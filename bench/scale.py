"""What grows with the number of messages, and what engines cost, side by side in one run.

    python bench/scale.py                                  # 100,000 and a million messages
    python bench/scale.py --sizes 100000,1000000,10000000
    python bench/scale.py --turns 20000 --python path/to/python-with-ray
    python bench/scale.py --sizes '' --turns 0 --threads threads.json.gz
    → tables of seconds, time per message and peak memory; exit status 1 where a promise is broken

Messages are generated WhatsApp exports of ten thousand messages each, read and stored by
`batch read` and counted by `stats` of the folder. The promises: time per message within 20 % of
the smallest size, memory within 30 %; time is that of processors, so that others on the machine
matter less. Turns are labelled by bare processes of one thread each
(every one has its share of the chats, and writes a run of its own), by the engine `processes`, and
by Ray. The promises: an engine costs at most 10 % more than bare processes, and two Ray workers are
1.8 times as fast as one; beside them stands what all but the model takes. Threads are one and ten
copies of a file of Reddit trees, in which everybody has another name: `threads samples` of ten
within 20 % of one in time per entry, and under 3 GB. Every step is a process of its own; memory is
that of its largest process.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from whatsapp import generate

PER_FILE = 10_000
GROWTH, MEMORY, OVERHEAD, SPEEDUP = 1.2, 1.3, 1.1, 1.8
SAMPLES, REST = "threads samples", "ei, all but the model"
COPIES, THREADS_MEMORY = (1, 10), 3000.0  # megabytes
_DIFFERENT = 10  # files that are written; the others are copies of them under other names

_BARE = """
import sys
from pathlib import Path
from realtalk.chat import Corpus
from realtalk.formats.opening import open_reading
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.labelling import labels_for
path, out, share, shares = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
corpus = open_reading(path).reading.corpus
mine = Corpus(corpus.name, corpus.format, corpus.chats[share::shares])
labels_for(mine, EmbeddedLabeller(threads=1), out=Path(out), fresh=True)
"""
_ENGINE = """
import sys
import realtalk as rt
if __name__ == "__main__":
    path, out, engine, workers = sys.argv[1:]
    rt.label(path, out=out, engine=rt.Engine(engine, workers=int(workers)))
"""


# Everything but the model: blocks of turns are cut, read, written and joined, speakers described.
_REST = """
import sys
from pathlib import Path
from realtalk.formats.store import open_stream
from realtalk.ei.labels import MEASURES, Label
from realtalk.engine.engines import Inline
from realtalk.ei.labelling import label_blocks
class Alike:
    name, version, at_once = "alike", "1", 1024
    def label(self, inputs, progress=None):
        named = dict(sentiment="neutral", emotion="neutral", reflective=False, grounding=False)
        return [Label(**named, intimacy=1.0, empathy=1.0)] * len(inputs)
path, out = sys.argv[1], Path(sys.argv[2])
label_blocks(open_stream(path), Alike, Inline(), out=out)
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing done to so many messages or turns."""

    name: str
    size: int
    seconds: float
    megabytes: float  # of the largest process
    stored: float | None = None  # bytes on the disk per message or turn
    worked: float = 0.0  # seconds of processors, of all its processes but those of Ray

    @property
    def each(self) -> float:
        """Microseconds per message or turn."""
        return self.seconds / self.size * 1e6

    @property
    def work(self) -> float:
        """Microseconds of processors per message or turn: others on the machine matter less."""
        return self.worked / self.size * 1e6


def run(name: str, size: int, *commands: list[str], out: Path | None = None) -> Step:
    """The commands at the same time, from the first start to the last end; they write to `out`."""
    began = time.perf_counter()
    running = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for words in commands]
    peak, worked = 0, 0.0
    for process in running:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{name}: ended with {process.returncode}")
        peak = max(peak, used.ru_maxrss)  # its own, or of a child that it waited for
        worked += used.ru_utime + used.ru_stime
    unit = 1 if sys.platform == "darwin" else 1024
    seconds = time.perf_counter() - began
    stored = None if out is None else weight(out) / size
    made = Step(name, size, seconds, peak * unit / 1e6, stored, worked)
    print(line(made), flush=True)
    return made


def weight(folder: Path) -> int:
    """Bytes of all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def line(step: Step) -> str:
    stored = "" if step.stored is None else f"{step.stored:>9.1f} bytes each on the disk"
    return (
        f"{step.name:<24}{step.size:>12,}{step.seconds:>10.2f} s{step.each:>12.2f} µs"
        f"{step.work:>12.2f} µs worked{step.megabytes:>9.0f} MB{stored}"
    )


def write_exports(folder: Path, messages: int) -> Path:
    """So many messages in files of ten thousand."""
    place = folder / f"exports-{messages}"
    place.mkdir()
    for number in range(-(-messages // PER_FILE)):
        path = place / f"chat {number:05}.txt"
        if number < _DIFFERENT:
            generate(path, min(PER_FILE, messages), seed=number)
        else:
            text = (place / f"chat {number % _DIFFERENT:05}.txt").read_bytes()
            path.write_bytes(text)
    return place


def growth(folder: Path, sizes: list[int]) -> list[Step]:
    """Reading, storing and statistics of every size."""
    command = [sys.executable, "-m", "realtalk"]
    steps = []
    for size in sizes:
        exports = write_exports(folder, size)
        out = folder / f"corpora-{size}"
        read = [*command, "read", str(exports), "--each", "--out", str(out), "--json"]
        steps.append(run("read and store", size, read, out=out))
        steps.append(run("stats", size, [*command, "stats", str(out), "--json"]))
    return steps


def labelling(folder: Path, turns: int, workers: int, python: str, ray: bool) -> list[Step]:
    """The same turns by bare processes, by processes of the engine, and on Ray."""
    corpus = folder / "turns"
    make = [sys.executable, "-c", _MAKE, str(corpus), str(turns)]
    subprocess.run(make, check=True)
    steps = []

    def bare(several: int) -> Step:
        start = [sys.executable, "-c", _BARE, str(corpus)]
        shares = [
            [*start, str(folder / f"bare-{several}-{share}"), str(share), str(several)]
            for share in range(several)
        ]
        return run(f"ei, bare, {several}", turns, *shares)

    def engine(name: str, several: int, interpreter: str) -> Step:
        out = str(folder / f"{name}-{several}")
        words = [interpreter, "-c", _ENGINE, str(corpus), out, name, str(several)]
        return run(f"ei, {name}, {several}", turns, words, out=Path(out))

    rest = [sys.executable, "-c", _REST, str(corpus), str(folder / "rest")]
    steps.append(run(REST, turns, rest))
    steps.append(bare(workers))
    steps.append(engine("processes", workers, sys.executable))
    if ray:
        steps.append(engine("ray", 1, python))
        steps.append(engine("ray", workers, python))
    return steps


# Forty chats of equal size, so that bare processes have equal shares.
_MAKE = """
import sys
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.formats.reading import Ledger, Reading
from realtalk.formats.store import store
words = "the of and to in you that was for are with they this have from one had but what".split()
place, turns = Path(sys.argv[1]), int(sys.argv[2])
draw, chats = Random(1), []
for number in range(40):
    now, messages = datetime(2024, 1, 1), []
    for at in range(turns // 40):
        now += timedelta(minutes=3)
        text = " ".join(draw.choices(words, k=max(1, int(draw.lognormvariate(2.3, 0.8)))))
        messages.append(Message(f"D1:{at}", ("Mara", "Theo")[at % 2], now, text))
    chats.append(Chat(f"chat {number}", ("Mara", "Theo"), (Session(1, None, tuple(messages)),)))
corpus = Corpus("turns", "realtalk", tuple(chats))
store(Reading(corpus=corpus, ledger=Ledger("messages", turns, turns)), place)
"""


# An author or an id in a file of trees, whatever it is called; nobody stays nobody.
_NAMED = re.compile(rb'("(?:author|id)":\s*")(?!\[)')


def write_threads(source: Path, place: Path, copies: int) -> int:
    """So many copies of a file under other names; how many posts and comments they have."""
    packed = source.suffix == ".gz"
    text = gzip.decompress(source.read_bytes()) if packed else source.read_bytes()
    place.mkdir()
    for number in range(copies):
        (place / f"threads-{number}.json").write_bytes(_NAMED.sub(rb"\g<1>%d-" % number, text))
    return copies * text.count(b'"author":')


def sampling(folder: Path, source: Path) -> list[Step]:
    """What there is to predict in one copy of a file, and in ten."""
    steps = []
    for copies in COPIES:
        place = folder / f"threads-{copies}"
        entries = write_threads(source, place, copies)
        words = [sys.executable, "-m", "realtalk", "threads", "samples", str(place), "--json"]
        steps.append(run(SAMPLES, entries, words))
    return steps


def verdicts(steps: list[Step]) -> dict[str, tuple[bool, str]]:
    """Each promise: whether it was kept, and the figures."""
    found: dict[str, tuple[bool, str]] = {}
    for name in ("read and store", "stats", SAMPLES):
        same = [step for step in steps if step.name == name]
        if len(same) < 2:
            continue
        first, last = same[0], same[-1]
        slower, larger = last.work / first.work, last.megabytes / first.megabytes
        kept = slower <= GROWTH
        told = f"{slower:.2f} of the work per message at {first.size:,} (limit {GROWTH:g})"
        found[f"{name}: time"] = (kept, told)
        if name == SAMPLES:
            told = f"{last.megabytes:,.0f} MB at the most (limit {THREADS_MEMORY:,.0f})"
            found[f"{name}: memory"] = (last.megabytes <= THREADS_MEMORY, told)
            continue
        told = f"{larger:.2f} times the memory of {first.size:,} (limit {MEMORY:g})"
        found[f"{name}: memory"] = (larger <= MEMORY, told)
    labelled = {step.name: step for step in steps if step.name.startswith("ei")}
    labelled.pop(REST, None)
    bare = next((step for name, step in labelled.items() if "bare" in name), None)
    for name, step in labelled.items():
        workers = name.rsplit(" ", 1)[1]
        if bare is None or step is bare or not bare.name.endswith(f" {workers}"):
            continue
        ratio = step.seconds / bare.seconds
        told = f"{ratio:.2f} of bare processes (limit {OVERHEAD:g})"
        found[name] = (ratio <= OVERHEAD, told)
    on_ray = [step for name, step in labelled.items() if "ray" in name]
    if len(on_ray) == 2:
        gain = on_ray[0].seconds / on_ray[1].seconds
        told = f"{gain:.2f} times as fast as one (at least {SPEEDUP:g})"
        found[on_ray[1].name.replace("ei", "Ray's workers")] = (gain >= SPEEDUP, told)
    return found


def has_ray(python: str) -> bool:
    code = "from importlib.util import find_spec; raise SystemExit(find_spec('ray') is None)"
    return subprocess.run([python, "-c", code], check=False).returncode == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", default="100000,1000000", help="messages, smallest first")
    parser.add_argument("--turns", type=int, default=2000, help="labelled by each engine; 0: none")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--python", default=sys.executable, help="one that has Ray")
    parser.add_argument("--threads", type=Path, metavar="FILE", help="Reddit trees as JSON, or .gz")
    parser.add_argument("--json", type=Path, help="also keep the figures")
    given = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    sizes = [int(size) for size in given.sizes.split(",") if size]
    with tempfile.TemporaryDirectory(prefix="realtalk-bench-") as temporary:
        steps = growth(Path(temporary), sizes)
        if given.turns:
            ray = has_ray(given.python)
            if not ray:
                print("Ray is not installed: see --python", file=sys.stderr)
            steps += labelling(Path(temporary), given.turns, given.workers, given.python, ray)
        if given.threads is not None:
            steps += sampling(Path(temporary), given.threads)
    promises = verdicts(steps)
    for name, (kept, told) in promises.items():
        print(f"{'kept' if kept else 'BROKEN':<8}{name}: {told}")
    if given.json is not None:
        figures = [asdict(step) for step in steps]
        given.json.write_text(json.dumps({"steps": figures, "promises": promises}, indent=2))
    raise SystemExit(not all(kept for kept, _ in promises.values()))


if __name__ == "__main__":
    main()
