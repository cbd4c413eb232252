"""Who answers from a context: nobody, or a language model.

    reader = LlmReader(Asked("openai/gpt-4o-mini"), load_wording())
    reader.solve([Item(chat, question, context)])
    → [Answer("3 March 2026", cost=Cost(calls=1, tokens_in=1042, tokens_out=6))]

`none` looks at what was retrieved only. `llm` asks any model that inspect-ai knows. A reader is
given several questions at once, so that it can ask them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from realtalk.chat import Chat, Question
from realtalk.evals.language_models import LanguageModel
from realtalk.evals.prompts import Prompts, written_day
from realtalk.evals.values import Answer, PlainSolver, Solver
from realtalk.files.progress import Progress, silent
from realtalk.memory.values import Budget, Context
from realtalk.models.asking import Asked

_SMALL = "realtalk/"
_SMALL_ANSWER = 64  # tokens: a small model does not stop by itself


@dataclass(frozen=True, slots=True)
class Item:
    """One question with what its reader may see."""

    chat: Chat
    question: Question
    context: Context
    budget: Budget = field(default=Budget())


Reader: TypeAlias = Solver[Item, str]


class NoReader(PlainSolver):
    """Nobody answers: only what the memory brings is looked at."""

    name = "none"

    def solve(self, shown: Sequence[Item], progress: Progress = silent) -> list[Answer[str]]:  # noqa: ARG002
        return [Answer(None) for _ in shown]


class LlmReader(LanguageModel[Item, str]):
    """A language model, asked with the context. `abstain` tells it that it may say so where the
    conversation does not tell; every question of a corpus is asked alike."""

    def __init__(self, asked: Asked, prompts: Prompts, *, abstain: bool = False) -> None:
        if asked.max_tokens is None and asked.model.startswith(_SMALL):
            asked = replace(asked, max_tokens=_SMALL_ANSWER)
        super().__init__(asked, prompts)
        self._abstain = abstain

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "base_url": None,
            **super().settings,
            "model_args": dict(self.asked.model_args),
            "abstain": self._abstain,
        }

    def prompt(self, shown: Item) -> str:
        return prompt_of(shown, self.prompts, self._abstain)

    def parse(self, text: str, shown: Item) -> Answer[str]:  # noqa: ARG002
        return Answer(text.strip())


def prompt_of(item: Item, wording: Prompts, abstain: bool = False) -> str:
    """What a language model is shown for one question."""
    question = item.question.text
    if item.question.asked is not None:
        question += f" (asked on {written_day(item.question.asked)})"
    return wording.fill(
        "answer_or_abstain" if abstain else "answer",
        speakers=_listed(item.chat.speakers),
        context=item.context.text or "(nothing of the conversation is shown)",
        question=question,
    )


def _listed(names: Sequence[str]) -> str:
    """Mara, Theo and Juno."""
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])
