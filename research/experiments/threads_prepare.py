"""Reddit-like threads → the prompts of the thread tasks in one file, for another machine.

    python -m research.experiments.threads_prepare ../shared/data/reddit/persona_like.json.gz \\
        ../shared/data/reddit/rumoureval.json --limit 1000
    → build/threads/prompts.jsonl.xz

    {"head": true, "budget": 2000, "prompt_version": "1", "sets": {"persona_like clean 0 recent
     sentiment p-conv": {…}, …}}
    {"set": "persona_like clean 0 recent sentiment p-conv", "id": "post-000001/D1:3",
     "prompt": "Task: say how …", "max_tokens": 32}

A prompt is what `realtalk threads run --predictor llm` sends for the same reply, made by the same
code. No outcome is in the file beyond what a leak of the released protocol shows.
"""

from __future__ import annotations

import argparse
import json
import lzma
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from realtalk.chat import Corpus
from realtalk.formats.opening import open_reading
from realtalk.threads.asking import BUDGET, PROMPT_VERSION, LlmPredictor
from realtalk.threads.benchmark import ThreadTask
from realtalk.threads.sampling import Draw
from realtalk.threads.values import SETTINGS, TASKS, protocol

HERE = Path(__file__).parent
Row = dict[str, Any]
TRAIN = 12_000  # replies that solved examples are taken from, as those of research/results/threads_rows.py


@dataclass(frozen=True)
class Rules:
    """By which rules a set of prompts is made."""

    protocol: str
    shots: int
    history: str

    @property
    def name(self) -> str:
        return f"{self.protocol} {self.shots} {self.history}"

    @property
    def settings(self) -> Row:
        return {"shots": self.shots, "chosen": self.history}


# The released code chooses history and its one example by rules of its own.
RULES = (
    Rules("clean", 0, "recent"),
    Rules("clean", 3, "recent"),
    Rules("clean", 0, "near"),
    Rules("clean", 3, "near"),
    Rules("released", 0, "recent"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=HERE / "build/threads/prompts.jsonl.xz")
    parser.add_argument("--limit", type=int, default=1000, help="replies per task and rules")
    parser.add_argument("--rules", help="only these (clean 0 recent,released 0 recent)")
    given = parser.parse_args()
    rules = [each for each in RULES if given.rules is None or each.name in given.rules.split(",")]
    given.out.parent.mkdir(parents=True, exist_ok=True)
    head: Row = {"head": True, "budget": BUDGET, "prompt_version": PROMPT_VERSION}
    count = letters = 0
    with lzma.open(given.out, "wt", encoding="utf-8", preset=4) as stream:
        stream.write(json.dumps({**head, "limit": given.limit, "train": TRAIN}) + "\n")
        for path in given.paths:
            corpus = open_reading(path).reading.corpus
            for row in rows(corpus, corpus_name(path), rules, given.limit):
                stream.write(json.dumps(row, ensure_ascii=False) + "\n")
                count += 1
                letters += len(row["prompt"])
    size = given.out.stat().st_size
    sys.stdout.write(f"{count:,} prompts, {letters:,} letters, {size:,} bytes: {given.out}\n")


def corpus_name(path: Path) -> str:
    return path.name.partition(".")[0]


def rows(corpus: Corpus, name: str, rules: Sequence[Rules], limit: int) -> Iterator[Row]:
    predictor = LlmPredictor(model="realtalk/any")
    for each in rules:
        for task_name in TASKS:
            samples = Draw(
                task_name, protocol(each.protocol, **each.settings), limit=limit, train_limit=TRAIN
            ).samples(corpus)
            task = ThreadTask(samples, SETTINGS)
            for stage in task.stages(corpus):
                title = f"{name} {each.name} {task_name} {stage.title}"
                sys.stdout.write(f"{title}: {len(stage.samples):,}\n")
                sys.stdout.flush()
                for sample in stage.samples:
                    yield {
                        "set": title,
                        "id": sample.id,
                        "prompt": predictor.prompt(sample.shown),
                        "max_tokens": predictor.most_tokens(sample.shown),
                    }


if __name__ == "__main__":
    main()
