"""A benchmark of one's own in one file: who writes the next message?

    python examples/next_speaker.py sample

A sample is one message: the ten before it are shown, and the truth is who wrote it. Two solvers
need no model: whoever wrote last writes again, or the last who is somebody else does. Everything
else (a run that can be killed, intervals by chat, the comparison, the tables) is the engine's.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import polars as pl

from realtalk.chat import Corpus, Message
from realtalk.corpora.opening import open_reading
from realtalk.evals.comparing import compare
from realtalk.evals.running import run
from realtalk.evals.summaries import summarise
from realtalk.evals.tables import compared_table, summary_table
from realtalk.evals.values import Answer, Row, Sample, Score, Stage
from realtalk.local.progress import Progress, silent

Shown: TypeAlias = tuple[Message, ...]
BEFORE = 10


class NextSpeaker:
    """Every message of a chat but the first ten, given the ten before it."""

    name = "next speaker"
    version = "1"
    group = "chat"
    scores = (Score("accuracy", "accuracy", proportion=True),)
    columns: Mapping[str, Any] = {"speaker": pl.String, "accuracy": pl.Float64}
    settings: Mapping[str, Any] = {"before": BEFORE}

    def stages(self, corpus: Corpus, progress: Progress = silent) -> Iterator[Stage[Shown, str]]:
        for done, chat in enumerate(corpus.chats):
            progress(done, len(corpus.chats), "chats")
            messages = tuple(chat.messages)
            yield Stage(
                chat.id,
                [
                    Sample(f"{at}", chat.id, "", messages[at - BEFORE : at], messages[at].speaker)
                    for at in range(BEFORE, len(messages))
                ],
            )

    def score(
        self,
        samples: Sequence[Sample[Shown, str]],
        answers: Sequence[Answer[str]],
        progress: Progress = silent,
    ) -> list[Row]:
        return [
            {
                "speaker": sample.truth,
                "accuracy": None if answer.value is None else float(answer.value == sample.truth),
            }
            for sample, answer in zip(samples, answers, strict=True)
        ]

    def target(self, sample: Sample[Shown, str]) -> str:
        return sample.truth

    def about(self, sample: Sample[Shown, str]) -> Mapping[str, Any]:
        return {}


class SameAgain:
    """Whoever wrote last writes again."""

    name = "same-again"
    version = "1"
    settings: Mapping[str, Any] = {}

    def prepare(self, learning: Any, progress: Progress = silent) -> None:
        """Nothing is learned."""

    def solve(self, shown: Sequence[Shown], progress: Progress = silent) -> list[Answer[str]]:
        return [Answer(messages[-1].speaker) for messages in shown]


class TakingTurns(SameAgain):
    """The last who is somebody else than whoever wrote last."""

    name = "taking-turns"

    def solve(self, shown: Sequence[Shown], progress: Progress = silent) -> list[Answer[str]]:
        return [self._other(messages) for messages in shown]

    def _other(self, messages: Shown) -> Answer[str]:
        last = messages[-1].speaker
        others = (each.speaker for each in reversed(messages) if each.speaker != last)
        found = next(others, None)
        return Answer(found, "" if found else "one person wrote all ten")


def main() -> None:
    corpus = open_reading(sys.argv[1] if sys.argv[1:] else "sample").reading.corpus
    benchmark = NextSpeaker()
    runs = [run(benchmark, corpus, solver) for solver in (SameAgain(), TakingTurns())]
    names = ("same-again", "taking-turns")
    found = [
        summarise(name, made.rows, benchmark.scores) for name, made in zip(names, runs, strict=True)
    ]
    words = {"samples": "messages", "groups": "chats"}
    tables = [
        summary_table(found, benchmark.scores, solver="solver", variant="variant", **words),
        compared_table(
            compare(runs[0].rows, runs[1].rows, benchmark.scores, names),
            benchmark.scores,
            **words,
        ),
    ]
    for headings, rows in tables:
        for row in (headings, *rows):
            sys.stdout.write("  ".join("–" if cell is None else str(cell) for cell in row) + "\n")


if __name__ == "__main__":
    main()
