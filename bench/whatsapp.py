"""How fast a WhatsApp export is read, beside the packages whatstk and chat-miner.

    python bench/whatsapp.py --python path/to/python-with-rivals
    → a table of seconds, peak memory and ratios; exit status 1 where a promise is broken

realtalk reads the export AND stores it as Parquet; the others only read. Every run is a
process of its own, so that neither caches nor memory carry over; the best of several
counts. The promises: at least five times faster than the faster of the two, at most
1.5 GB, and time that grows no faster than the messages.
"""

from __future__ import annotations

import argparse
import json
import platform
import random
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path

FASTER = 5.0
MOST_GB = 1.5
# Time a message may cost at the largest size, compared with a tenth of it.
GROWTH = 1.3

_WORDS = tuple(
    word
    for line in (
        "the of and to in you that was for are with they this have from one had but what some",
        "we can out other were all there when up use your how said each she time if will way",
        "about many then them write would like so these her long make thing see him two has day",
    )
    for word in line.split()
)
_EMOJI = ("😂", "👍🏽", "❤️", "😅", "🎉", "🤷‍♀️", "🙏", "😭😭", "✨")
_NAMES = ("Mara Lind", "Theo", "Juno 🌙", "+49 170 1234567", "Dr. K-Meyer", "Ana Sofía")

_MEASURE = """
import json, resource, sys, time
def done(count, start):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak *= 1 if sys.platform == "darwin" else 1024
    print(json.dumps({"seconds": time.perf_counter() - start, "bytes": peak, "messages": count}))
"""
_SYSTEMS = {
    "realtalk": """
import tempfile
from pathlib import Path
from realtalk.formats.exports.whatsapp import reader as whatsapp
from realtalk.formats.reading import ReadOptions
from realtalk.formats.source import Source
from realtalk.formats.store import store
with tempfile.TemporaryDirectory() as folder:
    start = time.perf_counter()
    source = Source.open(sys.argv[1])
    reading = whatsapp.read(source, ReadOptions())
    store(reading, Path(folder) / "corpus", source)
    done(reading.tables.messages.height, start)
""",
    "whatstk": """
import inspect
from whatstk import df_from_whatsapp
limits = inspect.signature(df_from_whatsapp).parameters
options = {"max_size": None} if "max_size" in limits else {}
start = time.perf_counter()
done(len(df_from_whatsapp(sys.argv[1], **options)), start)
""",
    "chat-miner": """
from chatminer.chatparsers import WhatsAppParser
start = time.perf_counter()
parser = WhatsAppParser(sys.argv[1])
parser.parse_file()
done(len(parser.parsed_messages.get_df()), start)
""",
}


@dataclass(frozen=True, slots=True)
class Run:
    """The best of several runs of one system on one file."""

    system: str
    size: int  # messages written
    seconds: float
    gigabytes: float
    messages: int  # messages found


def generate(path: Path, messages: int, seed: int) -> None:
    """An Android export: short and long texts, several lines, emoji, media, six people."""
    rng = random.Random(seed)
    texts = []
    for _ in range(20_000):
        words = rng.choices(_WORDS, k=max(1, int(rng.lognormvariate(2.3, 0.8))))
        text = " ".join(words)
        kind = rng.random()
        if kind < 0.05:
            text = "<Media omitted>"
        elif kind < 0.07:
            number = rng.randrange(10_000)
            text = f"IMG-20190620-WA{number:04d}.jpg (file attached)\n{text}"
        elif kind < 0.15:
            text = f"{text}\n\n{' '.join(rng.choices(_WORDS, k=8))}"
        elif kind < 0.35:
            text = f"{text} {rng.choice(_EMOJI)}"
        texts.append(text)
    now = datetime(2015, 1, 1, 8)
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for _ in range(messages):
            now += timedelta(seconds=int(rng.expovariate(1 / 300)))
            who, said = rng.choice(_NAMES), rng.choice(texts)
            date = f"{now.day:02d}/{now.month:02d}/{now.year}"
            file.write(f"{date}, {now.hour:02d}:{now.minute:02d} - {who}: {said}\n")


def measure(system: str, python: str, path: Path, size: int, repeats: int) -> Run | None:
    """The best run, or None where the system is not installed or fails."""
    best: Run | None = None
    for _ in range(repeats):
        code = _MEASURE + _SYSTEMS[system]
        result = subprocess.run(
            [python, "-c", code, str(path)], capture_output=True, text=True, check=False
        )
        if result.returncode != 0:
            reason = result.stderr.strip().splitlines()[-1:] or ["no reason given"]
            print(f"{system}: {reason[0]}", file=sys.stderr)
            return None
        found = json.loads(result.stdout.strip().splitlines()[-1])
        run = Run(system, size, found["seconds"], found["bytes"] / 1e9, found["messages"])
        if best is None or run.seconds < best.seconds:
            best = run
    return best


def verdicts(runs: list[Run], largest: int) -> dict[str, tuple[bool, str]]:
    """Each promise: whether it was kept, and the figures."""
    ours = {run.size: run for run in runs if run.system == "realtalk"}
    rivals = [run for run in runs if run.system != "realtalk" and run.size == largest]
    found: dict[str, tuple[bool, str]] = {}
    if largest not in ours:
        return {"realtalk": (False, "did not run")}
    own = ours[largest]
    if rivals:
        fastest = min(rivals, key=lambda run: run.seconds)
        ratio = fastest.seconds / own.seconds
        told = f"{ratio:.1f} times faster than {fastest.system}"
        found["speed"] = (ratio >= FASTER, f"{told} (at least {FASTER:g})")
    else:
        found["speed"] = (False, "no rival ran; install whatstk and chat-miner")
    memory = f"{own.gigabytes:.2f} GB at most (limit {MOST_GB:g})"
    found["memory"] = (max(run.gigabytes for run in ours.values()) <= MOST_GB, memory)
    smaller = [size for size in ours if size < largest]
    if smaller:
        before = ours[max(smaller)]
        growth = (own.seconds / own.size) / (before.seconds / before.size)
        told = f"a message costs {growth:.2f} times what it does at {before.size:,}"
        found["growth"] = (growth <= GROWTH, f"{told} (limit {GROWTH:g})")
    found["messages"] = (own.messages == largest, f"{own.messages:,} of {largest:,} found")
    return found


def table(runs: list[Run]) -> str:
    """The runs as text; the ratio is to realtalk at the same size."""
    own = {run.size: run.seconds for run in runs if run.system == "realtalk"}
    lines = [
        f"{'system':<12}{'messages':>10}{'seconds':>10}{'ratio':>8}{'peak GB':>9}{'found':>11}"
    ]
    for run in runs:
        ratio = f"{run.seconds / own[run.size]:.1f}" if run.size in own else "-"
        lines.append(
            f"{run.system:<12}{run.size:>10,}{run.seconds:>10.2f}{ratio:>8}"
            f"{run.gigabytes:>9.2f}{run.messages:>11,}"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--messages", type=int, default=1_000_000, help="size of the largest file")
    parser.add_argument("--python", default=sys.executable, help="interpreter with the rivals")
    parser.add_argument("--repeats", type=int, default=3, help="runs of realtalk a size")
    parser.add_argument("--rival-repeats", type=int, default=2, help="runs of each rival")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()

    largest = options.messages
    sizes = sorted({size for size in (largest // 100, largest // 10, largest) if size >= 1000})
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes or [largest]:
            path = Path(folder) / f"{size}.txt"
            generate(path, size, options.seed)
            for system in _SYSTEMS:
                own = system == "realtalk"
                if not own and size != largest:
                    continue
                python = sys.executable if own else options.python
                repeats = options.repeats if own else options.rival_repeats
                run = measure(system, python, path, size, repeats)
                runs += [run] if run else []
    print(table(runs))
    found = verdicts(runs, largest)
    for name, (kept, told) in found.items():
        print(f"{'kept  ' if kept else 'BROKEN'} {name}: {told}")
    if options.json:
        about = {"python": platform.python_version(), "machine": platform.platform()}
        promises = {name: {"kept": kept, "told": told} for name, (kept, told) in found.items()}
        record = {**about, "runs": [asdict(run) for run in runs], "promises": promises}
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return 0 if all(kept for kept, _ in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
