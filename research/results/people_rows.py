"""Threads of Reddit → what needs no model, written for many people: scored rows without texts.

    python -m research.results.people_rows ../shared/data/reddit/persona_like.json.gz
    → research/results/rows/people/constant, copy, common, retrieve, common-other, retrieve-other

Who is in, and what is learned from and tested, says research/experiments/people.py. The last two
write what somebody else wrote: whatever they reach is not the person's own. That other person is
the next one in the order of the hashed names. Scored runs with their texts stay in a build folder;
a call that was stopped goes on. What a language model writes for these people is scored by
persona_rows.py (`--choice earlier`).
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from realtalk.evals import running
from realtalk.evals.values import Answer, PlainSolver
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import Similarity
from realtalk.persona.benchmark import PersonaBenchmark
from realtalk.persona.scoring import TurnScorer
from realtalk.persona.turns import tasks_of
from realtalk.persona.values import Learning, Settings, Simulator, TurnPrompt, make_simulator
from research.experiments.people import read_people
from research.results import ROWS
from research.results.persona_rows import BUILD, Remembering

OUT = ROWS / "people"
OWN = ("constant", "copy", "common", "retrieve")
OF_ANOTHER = ("common", "retrieve")
CONTEXT = {"context_sessions": 1, "context_tokens": 700}  # a session is a branch, and all of it


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("threads", type=Path)
    parser.add_argument("--limit", type=int, help="each person's first turns, to try it out")
    parser.add_argument("--scored", type=Path, default=BUILD / "people")
    parser.add_argument("--out", type=Path, default=OUT)
    given = parser.parse_args()
    people = read_people(given.threads)
    tasks = tasks_of(people.corpus, people.choices, **CONTEXT)
    truths = {turn.text for task in tasks for turn in task.turns}
    scorer = TurnScorer(people.corpus, similarity=Similarity(Remembering(truths)))
    learnings = {
        task.speaker: following.learning
        for task, following in zip(tasks, [*tasks[1:], tasks[0]], strict=True)
    }
    writers: dict[str, Callable[[], Simulator]] = {
        **{name: lambda name=name: make_simulator(name) for name in OWN},  # type: ignore[misc]
        **{
            f"{name}-other": lambda name=name: Borrowed(make_simulator(name), learnings)  # type: ignore[misc]
            for name in OF_ANOTHER
        },
    }
    for name, make in writers.items():
        benchmark = PersonaBenchmark(people.corpus, tasks, scorer, given.limit)
        run = running.run(benchmark, people.corpus, make(), given.scored / name)
        shutil.rmtree(given.out / name, ignore_errors=True)
        run.share(given.out / name)
        sys.stdout.write(f"{name}: {len(run.rows):,} turns of {len(run.groups)} people\n")
        sys.stdout.flush()


class Borrowed(PlainSolver):
    """A simulator that learned from another person."""

    version = "1"

    def __init__(self, simulator: Simulator, learnings: Mapping[str, Learning]) -> None:
        self._simulator, self._learnings = simulator, learnings
        self.name = f"{simulator.name} of another"

    @property
    def settings(self) -> Settings:
        return dict(self._simulator.settings)

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        self._simulator.prepare(self._learnings[learning.speaker], progress)

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        return list(self._simulator.solve(shown, progress))


if __name__ == "__main__":
    main()
