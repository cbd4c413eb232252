"""Any language model as a solver: a benchmark says how to ask and how to read the answer.

    class Asker(LanguageModel[Question, str]):
        def prompt(self, shown: Question) -> str: ...
        def parse(self, text: str, shown: Question) -> Answer[str]: ...

    Asker(ModelConfig("openai/gpt-4o-mini"), prompts).solve(questions)   → [Answer("in March"), …]

Each sample is asked once, at temperature 0. What was answered once is kept (models/asking.py); an
answer that cannot be read, a refusal and a fault are unscored with their reason and asked again
by the next run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar

from realtalk.evals.prompts import Prompts
from realtalk.evals.values import Answer, Cost
from realtalk.files.progress import Progress, silent
from realtalk.models.asking import ModelConfig, Prompt, Reply, ask

ShownT = TypeVar("ShownT")
ValueT = TypeVar("ValueT")


def reply_cost(reply: Reply) -> Cost:
    """What a reply took."""
    return Cost(reply.calls, reply.tokens_in, reply.tokens_out, reply.seconds)


class LanguageModel(ABC, Generic[ShownT, ValueT]):
    """Asks the model named. Subclasses say what it is shown and what its answers mean."""

    name = "llm"
    at_once = 32  # rows are kept after so many: an answer costs money
    asks = True

    def __init__(self, config: ModelConfig, prompts: Prompts) -> None:
        self.config = config
        self.prompts = prompts

    @property
    def version(self) -> str:
        return f"prompts {self.prompts.version}"

    @property
    def settings(self) -> dict[str, Any]:
        """What the answers depend on."""
        settings: dict[str, Any] = {
            "model": self.config.model,
            "max_tokens": self.config.max_tokens,
            "seed": self.config.seed,
        }
        if self.config.address is not None:
            settings["base_url"] = self.config.address
        return settings

    @abstractmethod
    def prompt(self, shown: ShownT) -> str:
        """What the model is asked."""

    @abstractmethod
    def parse(self, text: str, shown: ShownT) -> Answer[ValueT]:
        """What an answer means, or why it means nothing."""

    def most_tokens(self, shown: ShownT) -> int | None:  # noqa: ARG002
        """The longest answer."""
        return self.config.max_tokens

    def prepare(self, learning: Any, progress: Progress = silent) -> None:
        """Nothing is learned, unless a subclass does."""

    def solve(self, shown: Sequence[ShownT], progress: Progress = silent) -> list[Answer[ValueT]]:
        if not shown:
            return []
        answers: dict[int, Answer[ValueT]] = {}

        def keep(key: str, reply: Reply) -> None:
            answers[int(key)] = self._answer(reply, shown[int(key)])

        prompts = [
            Prompt(str(place), partial(self.prompt, sample), partial(self._flaw, sample))
            for place, sample in enumerate(shown)
        ]
        ask(prompts, replace(self.config, max_tokens=self.most_tokens(shown[0])), keep, progress)
        return [answers[place] for place in range(len(shown))]

    def _flaw(self, shown: ShownT, text: str) -> str:
        return self.parse(text, shown).unscored

    def _answer(self, reply: Reply, shown: ShownT) -> Answer[ValueT]:
        cost = reply_cost(reply)
        if reply.text is None or reply.reason:
            return Answer(None, reply.reason or "no reason", cost)
        return replace(self.parse(reply.text, shown), cost=cost)
