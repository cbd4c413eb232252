"""How fast turns are labelled, beside the released code's way of calling its classifiers.

    python bench/ei.py --python path/to/python-with-torch
    → a table of turns per second, seconds and peak memory; exit status 1 where a promise is broken

realtalk labels every turn of a corpus with its embedded encoder, all six measures. The
released way is `transformers`, one text per call, fp32: two RoBERTa-large and one RoBERTa-base
with random weights, since speed does not depend on them. It makes three of the six measures;
the LLM calls for the others are not counted. It gets every advantage that is in doubt: a turn
of several messages is one call, and its tokenizer is trained on the corpus itself, so that
the texts are short in tokens. It labels a sample of turns spread evenly over their lengths.

Both run on the same two cores, each in a process of its own, loading not counted. Of several
passes the best counts; for the released way even the best of each turn. The promises: at
least 100 times the turns per second, and at most 600 MB for all of realtalk's processes.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

FASTER = 100.0
MOST_MB = 600.0
CORES = 2
# Other work on the two cores slows one side more than the other: such figures prove nothing.
BUSY = 0.7

_START = f"""
import json, os, resource, sys, time
began = time.perf_counter()
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:{CORES}])
path, count, passes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
def timed(work, *given):
    start = time.perf_counter()
    work(*given)
    return time.perf_counter() - start
def done(turns, seconds, first):
    unit = 1 if sys.platform == "darwin" else 1024
    own, child = [resource.getrusage(who).ru_maxrss * unit
                  for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps({{
        "turns": turns, "seconds": seconds, "first": first, "own": own, "child": child}}))
"""
# What a user waits for: from the start of the interpreter to the first pass's last label.
_REALTALK = (
    _START
    + """
from realtalk.formats.opening import open_reading
from realtalk.ei.embedded import EmbeddedLabeller
from realtalk.ei.labels import turn_inputs
def main():
    inputs = turn_inputs(open_reading(path).reading.corpus)
    inputs = inputs[:count] if count else inputs
    labeller = EmbeddedLabeller()
    ends = []
    def work():
        assert len(labeller.label(inputs)) == len(inputs)
        ends.append(time.perf_counter())
    seconds = min(timed(work) for _ in range(passes))
    done(len(inputs), seconds, ends[0] - began)
if __name__ == "__main__":
    main()
"""
)
_RELEASED = (
    _START
    + f"""
import torch
from tokenizers import ByteLevelBPETokenizer, processors
from transformers import (
    PreTrainedTokenizerFast, RobertaConfig, RobertaForSequenceClassification, pipeline)
torch.set_num_threads({CORES})
torch.manual_seed(0)
with open(path, encoding="utf-8") as file:
    given = json.load(file)
trained = ByteLevelBPETokenizer()
special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
trained.train_from_iterator(given["corpus"], vocab_size=50265, special_tokens=special)
trained._tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=trained._tokenizer, bos_token="<s>", eos_token="</s>", sep_token="</s>",
    cls_token="<s>", unk_token="<unk>", pad_token="<pad>", mask_token="<mask>",
    model_max_length=512)
common = dict(vocab_size=50265, max_position_embeddings=514, type_vocab_size=1)
base = dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, intermediate_size=3072)
large = dict(
    hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)
def classifier(labels, **shape):
    config = RobertaConfig(num_labels=labels, **common, **shape)
    model = RobertaForSequenceClassification(config).eval()
    return pipeline("text-classification", model=model, tokenizer=tokenizer, device="cpu")
three = [classifier(3, **base), classifier(11, **large), classifier(1, **large)]
def work(text):
    for one in three:
        one(text, truncation=True)
work("warm up")
rounds, first = [], None
for _ in range(passes):
    rounds.append([timed(work, text) for text in given["sample"]])
    first = first or time.perf_counter() - began
done(len(given["sample"]), sum(map(min, zip(*rounds))), first)
"""
)


@dataclass(frozen=True, slots=True)
class Run:
    """The best pass of one system; `whole` is start, reading, loading and the first pass."""

    system: str
    turns: int
    seconds: float
    whole: float
    megabytes: float  # all its processes together

    @property
    def rate(self) -> float:
        return self.turns / self.seconds


def sampled(texts: list[str], size: int) -> list[str]:
    """Texts spread evenly over their lengths, so that a few stand for all."""
    order = sorted(texts, key=len)
    size = min(size, len(order))
    return [order[int((place + 0.5) * len(order) / size)] for place in range(size)]


def measure(
    *,
    system: str,
    python: str,
    code: str,
    path: Path | str,
    count: int,
    passes: int,
    watched: bool,
) -> Run | None:
    """One system in its own process, or None where it is not installed or fails."""
    with tempfile.TemporaryDirectory() as folder:
        # A file, not `-c`: worker processes that are spawned read the main module again.
        script, out = Path(folder) / "run.py", Path(folder) / "out.txt"
        script.write_text(code, encoding="utf-8")
        with out.open("wb") as stdout, (Path(folder) / "err.txt").open("w+b") as stderr:
            process = subprocess.Popen(
                [python, str(script), str(path), str(count), str(passes)],
                stdout=stdout,
                stderr=stderr,
                env={**os.environ, "TOKENIZERS_PARALLELISM": "false"},
            )
            peak = watch(process, watched)
            stderr.seek(0)
            said = stderr.read().decode("utf-8", "replace").strip().splitlines()
        if process.returncode != 0:
            print(f"{system}: {said[-1] if said else 'no reason given'}", file=sys.stderr)
            return None
        found = json.loads(out.read_text("utf-8").strip().splitlines()[-1])
    # A process knows its own peak exactly, but not what it and its children held at once.
    megabytes = (max(peak, found["own"]) if peak else found["own"] + found["child"]) / 1e6
    return Run(system, found["turns"], found["seconds"], found["first"], megabytes)


def watch(process: subprocess.Popen[bytes], watched: bool) -> int:
    """Waits for a process; the most memory that it and its children held at once (0: unknown).

    Only for a small process: looking through gigabytes would slow it down.
    """
    peak = 0
    while watched and process.poll() is None:
        peak = max(peak, sum(held(pid) for pid in family(process.pid)))
        time.sleep(0.05)
    process.wait()
    return peak


def family(pid: int) -> list[int]:
    """A process and all that descend from it, on Linux."""
    found = [pid]
    for one in found:
        try:
            for task in Path(f"/proc/{one}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
        except OSError:
            continue
    return found


def held(pid: int) -> int:
    """Bytes in memory; pages that processes share are split between them."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def verdicts(ours: Run | None, theirs: Run | None) -> dict[str, tuple[bool, str]]:
    """Each promise: whether it was kept, and the figures."""
    if ours is None:
        return {"realtalk": (False, "did not run")}
    memory = f"{ours.megabytes:.0f} MB at most (limit {MOST_MB:g})"
    found = {"memory": (ours.megabytes <= MOST_MB, memory)}
    if theirs is None:
        return {"speed": (False, "the released way did not run; it needs torch"), **found}
    ratio = ours.rate / theirs.rate
    told = f"{ratio:.0f} times the turns per second (at least {FASTER:g})"
    return {"speed": (ratio >= FASTER, told), **found}


def table(runs: list[Run]) -> str:
    """The runs as text."""
    lines = [f"{'system':<14}{'turns':>8}{'seconds':>10}{'turns/s':>10}{'whole s':>10}{'MB':>8}"]
    lines += [
        f"{run.system:<14}{run.turns:>8,}{run.seconds:>10.2f}{run.rate:>10.2f}"
        f"{run.whole:>10.2f}{run.megabytes:>8.0f}"
        for run in runs
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--corpus", default="sample", help="anything that `realtalk` can open")
    parser.add_argument("--turns", type=int, default=0, help="only the first so many; 0 is all")
    parser.add_argument("--sample", type=int, default=30, help="turns for the released way")
    parser.add_argument("--passes", type=int, default=3, help="passes of each; the best counts")
    parser.add_argument("--python", default=sys.executable, help="interpreter with torch")
    parser.add_argument("--only", choices=("realtalk", "released"), help="run one of the two")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    options = parser.parse_args()

    from realtalk.ei.labels import turn_inputs
    from realtalk.formats.opening import open_reading

    inputs = turn_inputs(open_reading(options.corpus).reading.corpus)
    texts = [given.text for given in inputs[: options.turns or None] if given.text]
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    if load > BUSY:
        print(f"the machine is busy (load {load:.1f}): the figures will be off", file=sys.stderr)
    ours = theirs = None
    if options.only != "released":
        ours = measure(
            system="realtalk",
            python=sys.executable,
            code=_REALTALK,
            path=options.corpus,
            count=options.turns,
            passes=options.passes,
            watched=True,
        )
    if options.only != "realtalk":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "texts.json"
            chosen = sampled(texts, options.sample)
            path.write_text(json.dumps({"corpus": texts, "sample": chosen}), encoding="utf-8")
            theirs = measure(
                system="released way",
                python=options.python,
                code=_RELEASED,
                path=path,
                count=0,
                passes=options.passes,
                watched=False,
            )
    runs = [run for run in (ours, theirs) if run]
    print(table(runs))
    if ours and theirs:
        hours = len(texts) / theirs.rate / 3600
        print(f"all {len(texts):,} turns: {ours.whole:.1f} s against {hours:.2f} h")
    found = {} if options.only else verdicts(ours, theirs)
    for name, (kept, told) in found.items():
        print(f"{'kept  ' if kept else 'BROKEN'} {name}: {told}")
    if options.json:
        about = {"python": platform.python_version(), "machine": platform.platform(), "load": load}
        promises = {name: {"kept": kept, "told": told} for name, (kept, told) in found.items()}
        figures = [{**asdict(run), "turns_per_second": run.rate} for run in runs]
        record = {**about, "corpus": Path(options.corpus).name, "runs": figures}
        text = json.dumps({**record, "promises": promises}, indent=2)
        options.json.write_text(text + "\n", encoding="utf-8")
    wanted = 1 if options.only else 2
    return 0 if len(runs) == wanted and all(kept for kept, _ in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
