"""A run by the board's golds → a result file in the form of MTEB, for its REALTALK task.

    board_result(probed)
    → {"task_name": "REALTALK", "scores": {"test": [{"hf_subset": "multi_hop",
       "main_score": 0.43, "ndcg_at_10": 0.43, "recall_at_20": 0.65, …}, …]}, …}

One entry per category, as the board's subsets; the main score is nDCG@10. The board's models rank
the messages of one chat by a vector of each: a memory may look at more than that (neighbours,
days, words), which the file says in `realtalk`. MTEB's own revision of the data is not known
here: `dataset_revision` is a hash of the chats that were read.

    realtalk probe data/realtalk --golds lmeb --reader none --out probe-lmeb
    python -m research.results.mteb probe-lmeb --out REALTALK.json
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.evals.run import Run
from realtalk.evals.values import Row
from realtalk.files.writing import check_holder, write_json
from realtalk.memory.benchmark import KIND, building, golds_of, solver_part
from realtalk.memory.golds import LMEB
from research.command import call

TASK = "REALTALK"
SUBSETS = {
    "commonsense": "commonsense",
    "multi_hop": "multi_hop",
    "temporal": "temporal_reasoning",
}
_AT = (1, 3, 5, 10, 20, 50)
_DIGITS = 5


def board_result(probed: Run) -> dict[str, Any]:
    """The result of the run, by category."""
    if golds_of(probed) != LMEB:
        raise RealtalkError(
            f"the run is scored by {golds_of(probed)} golds, not the board's",
            where=probed.place,
            fix="probe with --golds lmeb",
        )
    memory = solver_part(probed, "memory")
    first = probed.rows[0]["variant"]
    rows = [row for row in probed.rows if row["variant"] == first]
    if any(row["ranked"] is None for row in rows):
        raise RealtalkError(
            f"the memory {memory['name']} ranks no messages",
            where=probed.place,
            fix="probe one that does: retrieved",
        )
    limited = any(probed.settings.get(name) for name in ("limit", "categories"))
    return {
        "dataset_revision": str(probed.settings["corpus"]["sha256"]),
        "task_name": TASK,
        "mteb_version": None,
        "scores": {
            "test": [
                {**_scores(kept), "hf_subset": subset, "languages": ["eng-Latn"]}
                for category, subset in SUBSETS.items()
                if (kept := [row for row in rows if row["category"] == category])
            ]
        },
        "evaluation_time": _seconds(probed, first),
        "kg_co2_emissions": None,
        "realtalk": {
            "version": dict(probed.versions[-1]) if probed.versions else None,
            "memory": memory,
            "questions": len(rows),
            "all_questions": not limited,
            "ranking": "whole memory, not one vector of each message",
        },
    }


def _seconds(probed: Run, variant: str) -> float | None:
    """What building and recalling took; None where nobody measured it."""
    built = building(probed)
    if built is None or built["seconds"] is None:
        return None
    recalled = sum(float(row["recall_ms"]) for row in probed.timings if row["variant"] == variant)
    return round(float(built["seconds"]) + recalled / 1000, 2)


def _scores(rows: Sequence[Row]) -> dict[str, float]:
    ranked = [
        ([id_ in set(row["evidence"]) for id_ in row["ranked"]], len(set(row["evidence"])))
        for row in rows
    ]
    found: dict[str, float] = {}
    for name, score in _MEASURES.items():
        for k in _AT:
            values = [score(hits[:k], wanted, k) for hits, wanted in ranked]
            found[f"{name}_at_{k}"] = round(fmean(values), _DIGITS)
    return found | {"main_score": found["ndcg_at_10"]}


def _ndcg(hits: Sequence[bool], wanted: int, k: int) -> float:
    gain = sum(1 / math.log2(place + 2) for place, hit in enumerate(hits) if hit)
    return gain / sum(1 / math.log2(place + 2) for place in range(min(wanted, k)))


def _average_precision(hits: Sequence[bool], wanted: int, _k: int) -> float:
    right = [place for place, hit in enumerate(hits, 1) if hit]
    return sum(number / place for number, place in enumerate(right, 1)) / wanted


def _reciprocal(hits: Sequence[bool], _wanted: int, _k: int) -> float:
    return next((1 / place for place, hit in enumerate(hits, 1) if hit), 0.0)


_MEASURES: dict[str, Callable[[Sequence[bool], int, int], float]] = {
    "ndcg": _ndcg,
    "map": _average_precision,
    "recall": lambda hits, wanted, _k: sum(hits) / wanted,
    "precision": lambda hits, _wanted, k: sum(hits) / k,
    "mrr": _reciprocal,
    "hit_rate": lambda hits, _wanted, _k: float(any(hits)),
}


def main(words: Sequence[str] | None = None) -> None:
    """Writes the result file of a stored run."""
    parser = argparse.ArgumentParser(prog="python -m research.results.mteb")
    parser.add_argument("run", type=Path, help="a folder that `realtalk probe --golds lmeb` wrote")
    parser.add_argument("--out", "-o", type=Path, required=True, metavar="FILE", help="JSON file")
    chosen = parser.parse_args(words)
    write_json(check_holder(chosen.out), board_result(Run.load(chosen.run, KIND)))


if __name__ == "__main__":
    call(main)
