"""Line-ups of `persona who-wrote-it` → prompts for a machine without the package's libraries, and back.

    python -m research.experiments.guess_prompts ../shared/data/realtalk --simulated untuned-greedy=SCORED
    → build/guess/prompts.jsonl.xz                 for answers_run.py
    python -m research.experiments.guess_prompts ../shared/data/realtalk --simulated untuned-greedy=SCORED \\
        --answers build/guess/run/answers.jsonl --model realtalk/qwen2.5-1.5b --run RUN
    → RUN                                                   as `realtalk persona who-wrote-it` writes it

A prompt is the one that `persona who-wrote-it --model` sends for the same line-up, made by the same code,
and the answer is read and scored by it. SCORED is a persona run with its texts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from realtalk.chat import Corpus
from realtalk.evals.run import Run
from realtalk.evals.running import run as carry_out
from realtalk.evals.values import Answer, Cost
from realtalk.files.progress import Progress, silent
from realtalk.formats.opening import open_reading
from realtalk.models.replies import sendable
from realtalk.persona.guessing import GuessBenchmark, run_tasks, simulated_texts
from realtalk.persona.lineups import Lineup
from realtalk.persona.prompting import LlmGuesser
from research.experiments.answers_prepare import write
from research.experiments.prompt_files import lines

OUT = Path(__file__).parent / "build" / "guess" / "prompts.jsonl.xz"
SET = "guess"
Row = dict[str, Any]


class AnsweredGuesser(LlmGuesser):
    """The guesser whose model has answered already, elsewhere."""

    def __init__(self, model: str, answers: Mapping[tuple[str, str], Row]) -> None:
        super().__init__(model=model)
        self._answers = answers

    def solve(self, shown: Sequence[Lineup], progress: Progress = silent) -> list[Answer[int]]:
        return [self._read(each) for each in shown]

    def _read(self, shown: Lineup) -> Answer[int]:
        row = self._answers[shown.prompt.speaker, shown.prompt.id]
        cost = Cost(1, row.get("tokens_in", 0), row.get("tokens_out", 0))
        if "unscored" in row:
            return Answer(None, row["unscored"], cost)
        found = self.parse(row["answer"], shown)
        return Answer(found.value, found.unscored, cost)


def prompts(corpus: Corpus, benchmark: GuessBenchmark, guesser: LlmGuesser) -> Iterator[Row]:
    yield {"context": 0, "text": ""}
    for stage in benchmark.stages(corpus):
        guesser.prepare(stage.learning())
        for sample in stage.samples:
            asked = {"before": sendable(guesser.prompt(sample.shown)), "after": ""}
            yield {"set": SET, "chat": sample.group, "id": sample.id, "context": 0, **asked}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("corpus")
    parser.add_argument("--simulated", required=True, metavar="NAME=RUN")
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--limit", type=int, help="line-ups per speaker, to try it out")
    parser.add_argument("--answers", type=Path, help="what answers_run.py wrote")
    parser.add_argument("--model", default="realtalk/files", help="that answered")
    parser.add_argument("--run", type=Path, help="where the scored answers go")
    given = parser.parse_args()
    corpus = open_reading(given.corpus).reading.corpus
    name, _, folder = given.simulated.partition("=")
    simulated = Run.load(folder)
    benchmark = GuessBenchmark(
        corpus,
        run_tasks(corpus, [simulated]),
        simulated=simulated_texts({name: [simulated]}),
        limit=given.limit,
    )
    if given.answers is None:
        guesser = LlmGuesser(model=given.model)
        head = {"head": True, "max_tokens": guesser.config.max_tokens}
        count, size = write(given.out, head, prompts(corpus, benchmark, guesser))
        sys.stdout.write(f"{count:,} prompts, {size:,} bytes: {given.out}\n")
        return
    answers = {(row["chat"], row["id"]): row for row in lines(given.answers)}
    run = carry_out(benchmark, corpus, AnsweredGuesser(given.model, answers), given.run)
    sys.stdout.write(f"{run.name}: {run.variants[''].overall['accuracy']}\n")


if __name__ == "__main__":
    main()
