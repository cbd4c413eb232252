"""The EI encoder on a GPU: turns per second, and whether labels are the CPU's.

    python bench/gpu.py --prepare FOLDER --corpus CORPUS …     # turns, and the CPU's labels
    python bench/gpu.py --corpus FOLDER/turns.jsonl --reference FOLDER/labels.json
    → turns per second, share of the card's matrix rate, agreement per measure

Preparing reads corpora and labels their turns on the CPU. Measuring needs torch, transformers,
protobuf, numpy and tokenizers alone: the machine with the GPU need not have the rest. Turns are
repeated until there are enough, each copy with other white space, so that none is a text that was
cut into tokens already. The best of several passes counts; loading does not.

The card's matrix rate is measured by one large product in the same type of number. Agreement:
reflective, grounding, sentiment and emotion are equal; intimacy is within .01 (of 0 to 1); the
likeliest levels of all three parts of empathy are equal. The promises: 20,000 turns per second,
and 99.5 % of turns equal in every measure.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from realtalk.encoders.pairs import PairEncoder, answer_columns
from realtalk.encoders.torch_session import Numbers, TorchSession
from realtalk.errors import RealtalkError

Pairs = list[tuple[str, str]]

FASTER = 20_000.0
ALIKE = 0.995
FOLDER = Path(__file__).resolve().parents[1] / "src" / "realtalk_models" / "ei"
MEASURES = ("reflective", "grounding", "sentiment", "emotion", "intimacy", "empathy")
LEVELS = ("emotional_reaction_level", "interpretation_level", "exploration_level")
KEPT = (*MEASURES, *LEVELS)
NEAR = 0.01
LAYERS, WIDTH, WIDE = 6, 384, 1536


def read_turns(path: str) -> Pairs:
    """One turn per line, `{"before": …, "text": …}`; or any corpus, where the package is whole."""
    if path.endswith(".jsonl"):
        with Path(path).open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return [(row["before"], row["text"]) for row in rows]
    from realtalk.ei.labels import turn_inputs
    from realtalk.formats.opening import open_reading

    inputs = turn_inputs(open_reading(path).reading.corpus)
    return [(given.previous, given.text) for given in inputs if given.text.strip()]


def cpu_labels(pairs: Pairs) -> dict[str, list[Any]]:
    """What the CPU says of the same turns, with the ONNX file."""
    encoder = PairEncoder(FOLDER)
    columns = answer_columns(encoder.outputs(pairs), encoder.settings)
    return {name: columns[name].tolist() for name in KEPT}


def prepare(corpora: Sequence[str], folder: Path, most: int | None) -> None:
    from realtalk.files.writing import private_folder, write_text

    pairs = [pair for path in corpora for pair in read_turns(path)][:most]
    lines = [json.dumps({"before": before, "text": text}) + "\n" for before, text in pairs]
    labels = json.dumps(cpu_labels(pairs)) + "\n"
    private_folder(folder)  # it holds what people said
    write_text(folder / "turns.jsonl", "".join(lines))
    write_text(folder / "labels.json", labels)
    print(f"{len(pairs):,} turns and their labels are in {folder}")


def repeated(pairs: Pairs, wanted: int) -> Pairs:
    """At least so many turns; no two copies are the same text, all are the same tokens."""
    copies = -(-wanted // len(pairs))
    return [
        (f"{one}{' ' * copy}", f"{two}{' ' * copy}") for copy in range(copies) for one, two in pairs
    ]


def matrix_rate(device: str, numbers: str) -> float:
    """Operations per second of one large product: the best of ten."""
    import torch

    size = 8192 if device == "cuda" else 512
    kind = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[numbers]
    one, two = (torch.randn(size, size, device=device).to(kind) for _ in range(2))
    best = 0.0
    for _ in range(10):
        wait(device)
        began = time.perf_counter()
        for _ in range(4):
            torch.mm(one, two)
        wait(device)
        best = max(best, 4 * 2 * size**3 / (time.perf_counter() - began))
    return best


def wait(device: str) -> None:
    import torch

    if device == "cuda":
        torch.cuda.synchronize()


def operations(lengths: np.ndarray[Any, np.dtype[np.int64]]) -> float:
    """Multiplications and additions that rows of these lengths need, padding not counted."""
    per_token = 2 * LAYERS * (4 * WIDTH * WIDTH + 2 * WIDTH * WIDE)
    attention = 4 * LAYERS * WIDTH
    return float(per_token * lengths.sum() + attention * (lengths**2).sum())


def agreement(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, float]:
    """The share of turns that are labelled alike, per measure."""
    found = {}
    count = len(theirs["reflective"])
    cut = {name: np.asarray(ours[name])[:count] for name in KEPT}
    given = {name: np.asarray(theirs[name]) for name in KEPT}
    for name in MEASURES[:4]:
        found[name] = float((cut[name] == given[name]).mean())
    found["intimacy"] = float((np.abs(cut["intimacy"] - given["intimacy"]) <= NEAR).mean())
    found["empathy"] = float(np.all([cut[n] == given[n] for n in LEVELS], axis=0).mean())
    return found


def measure(
    pairs: Pairs, known: dict[str, Any], device: str, numbers: str, passes: int, rounded: bool
) -> dict[str, Any]:
    encoder = PairEncoder(FOLDER, device="cpu-torch")  # runs rows of one length together
    encoder._session = TorchSession(
        FOLDER / "model.onnx", device, cast(Numbers, numbers), rounded=rounded
    )
    encoder.outputs(pairs[:2000])  # kernels are chosen, memory is taken
    best, columns = float("inf"), dict[str, Any]()
    for _ in range(passes):
        wait(device)
        began = time.perf_counter()
        columns = answer_columns(encoder.outputs(pairs), encoder.settings)
        rows = list(zip(*(column.tolist() for column in columns.values()), strict=True))
        best = min(best, time.perf_counter() - began)
        assert len(rows) == len(pairs)
    lengths = np.array([len(ids) for ids, _ in encoder._rows(pairs)], np.int64)
    rate = matrix_rate(device, numbers)
    return {
        "numbers": numbers + ("" if rounded else ", not rounded"),
        "turns": len(pairs),
        "tokens": int(lengths.sum()),
        "seconds": best,
        "turns_per_second": len(pairs) / best,
        "matrix_rate": rate,
        "share_of_rate": operations(lengths) / best / rate,
        "agreement": agreement(columns, known) if known else {},
    }


def show(found: dict[str, Any]) -> None:
    print(f"\n{found['numbers']}: {found['turns']:,} turns, {found['tokens']:,} tokens")
    print(f"  {found['turns_per_second']:,.0f} turns per second ({found['seconds']:.3f} s)")
    print(f"  matrix rate {found['matrix_rate'] / 1e12:,.1f} T/s: {found['share_of_rate']:.1%}")
    for name, share in found["agreement"].items():
        print(f"  {name:<16}{share:>9.2%} as the CPU{'' if share >= ALIKE else '   BROKEN'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", nargs="+", required=True, help="turns.jsonl, or corpora")
    parser.add_argument("--reference", type=Path, help="labels.json that --prepare wrote")
    parser.add_argument("--prepare", type=Path, metavar="FOLDER")
    parser.add_argument("--most", type=int, help="with --prepare: so many turns at most")
    parser.add_argument("--turns", type=int, default=40_000, help="repeated up to so many")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--device", default="cuda", help="cuda; cpu to try it out")
    parser.add_argument("--numbers", default="fp16", help="fp16, bf16, fp32; several with commas")
    parser.add_argument("--plain", action="store_true", help="also without rounding to 8 bits")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.prepare is not None:
        prepare(options.corpus, options.prepare, options.most)
        return
    own = [pair for path in options.corpus for pair in read_turns(path)]
    if options.reference is not None:
        known = json.loads(options.reference.read_text("utf-8"))
    else:
        known = cpu_labels(own)
    if not own or len(known["reflective"]) != len(own):
        sys.exit(f"{len(own)} turns, {len(known['reflective'])} labels: run --prepare again")
    pairs = repeated(own, options.turns)
    import torch

    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("no CUDA device can be used; --device cpu tries the rest out")
    card = torch.cuda.get_device_name() if options.device == "cuda" else platform.machine()
    print(f"{card}, {os.cpu_count()} cores, torch {torch.__version__}")
    runs = [
        measure(pairs, known, options.device, numbers, options.passes, rounded)
        for numbers in options.numbers.split(",")
        for rounded in ((True, False) if options.plain else (True,))
    ]
    for found in runs:
        show(found)
    if options.json is not None:
        options.json.write_text(json.dumps({"card": card, "runs": runs}, indent=1) + "\n")
    first = runs[0]
    fast = first["turns_per_second"] >= FASTER
    alike = min(first["agreement"].values(), default=1.0) >= ALIKE
    sys.exit(0 if fast and alike else 1)


if __name__ == "__main__":
    try:
        main()
    except RealtalkError as error:
        sys.exit(str(error))
