"""A benchmark of one's own in one file: who writes the next message?

    python examples/next_speaker.py run sample --solver same-again --out same
    python examples/next_speaker.py run sample --solver taking-turns --out turns
    python examples/next_speaker.py table same turns
    python examples/next_speaker.py compare same turns
    inspect eval examples/next_speaker.py --model openai/gpt-4o-mini

A sample is one message: the ten before it are shown, and the truth is who wrote it. Two solvers
need no model: whoever wrote last writes again, or the last who is somebody else does. Everything
else (a run that can be killed, intervals by chat, tables, comparison, failures, the section of a
page, the command, the Inspect task) is the engine's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from realtalk.chat import Corpus, Message
from realtalk.cli.own import command
from realtalk.evals.language_models import LanguageModel, Prompts
from realtalk.evals.values import Answer, Benchmark, PlainSolver, Row, Sample, Score, Stage
from realtalk.files.progress import Progress, silent
from realtalk.formats.opening import open_reading
from realtalk.models.asking import ModelConfig

Shown: TypeAlias = tuple[Message, ...]
BEFORE = 10
PROMPT = "{messages}\n\nWho writes next? Reply with the name alone."


class NextSpeaker(Benchmark[Shown, str, str]):
    """Every message of a chat but the first ten, given the ten before it."""

    name, group, sample = "next speaker", "chat", "message"
    scores = (Score("accuracy", "accuracy", proportion=True),)
    columns = {"speaker": str, "accuracy": float}  # noqa: RUF012
    slices = "speaker"
    failing = ("group", "sample", "speaker", "answer", "unscored")
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


class SameAgain(PlainSolver):
    """Whoever wrote last writes again."""

    name = "same-again"

    def solve(self, shown: Sequence[Shown], progress: Progress = silent) -> list[Answer[str]]:
        return [Answer(messages[-1].speaker) for messages in shown]


class TakingTurns(PlainSolver):
    """The last who is somebody else than whoever wrote last."""

    name = "taking-turns"

    def solve(self, shown: Sequence[Shown], progress: Progress = silent) -> list[Answer[str]]:
        return [self._other(messages) for messages in shown]

    def _other(self, messages: Shown) -> Answer[str]:
        last = messages[-1].speaker
        others = (each.speaker for each in reversed(messages) if each.speaker != last)
        found = next(others, None)
        return Answer(found, "" if found else "one person wrote all ten")


class Model(LanguageModel[Shown, str]):
    """A language model, shown the ten messages."""

    def __init__(self, model: str) -> None:
        super().__init__(ModelConfig(model, max_tokens=8), Prompts("1", {"next": PROMPT}))

    def prompt(self, shown: Shown) -> str:
        lines = "\n".join(f"{each.speaker}: {each.text}" for each in shown)
        return self.prompts.fill("next", messages=lines)

    def parse(self, text: str, shown: Shown) -> Answer[str]:
        names = {each.speaker for each in shown}
        name = text.strip().strip(".")
        return Answer(name) if name in names else Answer(None, "names nobody of the chat")


try:
    from inspect_ai import Task, task

    from realtalk.evals.inspecting import inspect_task
except ImportError:  # without the extra llm there is everything but this
    pass
else:

    @task
    def next_speaker(path: str = "sample") -> Task:
        corpus = open_reading(path).reading.corpus
        return inspect_task(NextSpeaker(), corpus, Model("inspect/any"))  # Inspect says which


SOLVERS = {"same-again": SameAgain, "taking-turns": TakingTurns, "llm": Model}

if __name__ == "__main__":
    command(NextSpeaker(), SOLVERS)
