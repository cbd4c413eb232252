"""What models wrote for held-out turns → which way of writing to test each of them with.

    python -m research.experiments.persona_choose ../shared/data/realtalk --rows build/persona/run/rows
    → a table of the ways; chosen.json: {"tuned": "greedy1.2", "local": "sampled", …}

The turns are the last ones of the chat that a speaker's adapter learned from, which training has
held out (`persona_run.py --held`). The tested chats have no say. Of the ways that a model was
tried with, the one is chosen whose mean rank over the six EI scores and ROUGE-1 is best.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from scipy.stats import rankdata

from realtalk.evals.values import Row
from realtalk.persona.scoring import AGREEMENTS, DIFFERENCES, SCORES, TurnScorer
from realtalk.persona.turns import tasks_of
from realtalk.persona.values import PersonaTask
from realtalk.persona.written import WrittenSimulator
from research.experiments.people import open_choices
from research.results.persona_rows import RememberingLabeller

COUNTED = (*AGREEMENTS, *DIFFERENCES, "rouge_1")
HELD = "held-"
Means = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--rows", type=Path, required=True, help="the folder of written rows")
    parser.add_argument("--labels", type=Path, help="what `realtalk ei` wrote: saves labelling")
    parser.add_argument(
        "--choice", default="ei", help="ei; paper: as in its Table 8; earlier: people.py"
    )
    parser.add_argument("--out", type=Path, help="chosen.json; beside the rows by default")
    given = parser.parse_args()
    corpus, choices = open_choices(given.corpus, given.choice, given.labels)
    scorer = TurnScorer(corpus, RememberingLabeller())
    found: dict[str, dict[str, Means]] = {}
    for path in sorted(given.rows.glob(f"*{HELD}*.jsonl")):
        how, _, way = path.stem.partition(HELD)[2].rpartition("-")
        head, *lines = [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]
        tasks = tasks_of(corpus, choices, **head["context"])
        found.setdefault(how, {})[way] = scored(scorer, tasks, path, lines)
    if not found:
        sys.exit(f"no held-out turns in {given.rows}: write them with persona_run.py --held")
    chosen = {how: best(ways) for how, ways in found.items()}
    for how, ways in found.items():
        for way, means in ways.items():
            mark = "→" if chosen[how] == way else " "
            told = "  ".join(f"{name} {value:.3f}" for name, value in means.items())
            sys.stdout.write(f"{mark} {how:8} {way:12} {told}\n")
    out = given.out or given.rows / "chosen.json"
    out.write_text(json.dumps({"chosen": chosen, "scores": found}, indent=1) + "\n", "utf-8")


def scored(
    scorer: TurnScorer, tasks: Sequence[PersonaTask], path: Path, lines: Sequence[Mapping[str, Any]]
) -> Means:
    """Means over all speakers' held-out turns, and how many were written and ended."""
    simulator = WrittenSimulator(rows=path)
    ids = {(line["speaker"], line["id"]) for line in lines}
    rows: list[Row] = []
    for task in tasks:
        held = held_out(task, ids)
        if held.turns:
            simulator.prepare(task.learning)
            rows += scorer.rows(held, held.turns, simulator.solve(held.prompts))
    means = {
        name: fmean(values) if (values := [r[name] for r in rows if r[name] is not None]) else 0.0
        for name in COUNTED
    }
    ended = fmean(bool(line["ended"]) for line in lines)
    empty = sum(row["unscored"] is not None for row in rows)
    return {**means, "turns": len(rows), "unscored": empty, "ended": ended}


def held_out(task: PersonaTask, ids: set[tuple[str, str]]) -> PersonaTask:
    """The same speaker, tested on the turns of the first chat that nothing was learned from."""
    inside = [(task.speaker, turn.id) in ids for turn in task.learning.turns]
    turns = task.learning.turns
    learning = replace(
        task.learning, turns=tuple(t for t, held in zip(turns, inside, strict=True) if not held)
    )
    return replace(
        task,
        learning=learning,
        test=task.learning.chat,
        turns=tuple(t for t, held in zip(turns, inside, strict=True) if held),
    )


def best(ways: Mapping[str, Means]) -> str:
    names = list(ways)
    ranks = [
        rankdata([-SCORES[score].better * ways[name][score] for name in names]) for score in COUNTED
    ]
    means = [fmean(float(rank[at]) for rank in ranks) for at in range(len(names))]
    return names[min(range(len(names)), key=lambda at: (means[at], names[at]))]


if __name__ == "__main__":
    main()
