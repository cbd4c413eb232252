"""Who answers from a context: nobody, or a language model.

    reader = LlmReader(ModelConfig("openai/gpt-4o-mini"), load_wording())
    reader.solve([Item(chat, question, context)])
    → [Answer("3 March 2026", cost=Cost(calls=1, tokens_in=1042, tokens_out=6))]

`none` looks at what was retrieved only. `llm` asks any model that inspect-ai knows. A reader is
given several questions at once, so that it can ask them together.

The prompts of memory probing: text files with placeholders, in versions.

    wording = load_wording()                      → version "3", ours
    wording = load_wording(Path("1"))             → version "1", as we asked before
    wording = load_wording(Path("my-prompts"))    → version "sha256:3f2a9c1b04d2"
    wording.fill("answer", speakers="Mara and Theo", context="…", question="…")

`answer` is what a reader is asked, `answer_or_abstain` where a corpus also has questions that
the chat does not tell; `judge_lenient` and `judge_strict` are what a judge is asked. A user's
folder may hold any of them; ours stand in for the rest. The hash is over all as used.

Version 2 differs from 1 in `answer_or_abstain` alone: it also speaks of questions that take for
granted what was never said, as LongMemEval's do. Version 3 lets a reader use what everybody knows:
commonsense questions cannot be answered otherwise (REALTALK, §3.2). Every question is asked so: a
prompt for one category would tell a reader what kind of answer is wanted. What a judge is asked
is the same in all. A run that began with an earlier version goes on with it (`--prompts 2`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from realtalk.chat import Chat, Question
from realtalk.errors import RealtalkError
from realtalk.evals.language_models import LanguageModel
from realtalk.evals.prompts import Prompts, join_names, load_prompts, written_day
from realtalk.evals.values import Answer, PlainSolver, Solver
from realtalk.files.progress import Progress, silent
from realtalk.memory.values import Budget, Context
from realtalk.models.asking import ModelConfig

WORDING_VERSION = "3"
_EARLIER = ("1", "2")
_ANSWERING = ("context", "question")
_JUDGING = ("question", "gold", "answer")
_NEEDED: Mapping[str, tuple[str, ...]] = {
    "answer": _ANSWERING,
    "answer_or_abstain": _ANSWERING,
    "judge_lenient": _JUDGING,
    "judge_strict": _JUDGING,
}


def load_wording(folder: Path | None = None) -> Prompts:
    """Our prompts, those in `folder` replaced by the user's own; or an earlier version of ours."""
    ours = WORDING_VERSION
    if folder is not None and str(folder) in (*_EARLIER, ours) and not folder.is_dir():
        ours, folder = str(folder), None
    prompts = load_prompts("realtalk.memory", ours, _NEEDED, ("speakers",), folder)
    for name, text in prompts.texts.items():
        unknown = set(prompts.placeholders.findall(text)) - {*_NEEDED[name], "speakers"}
        if unknown or (name.startswith("judge") and "{speakers}" in text):
            raise RealtalkError(
                "the prompt has a placeholder of another one", where=str(folder and folder / name)
            )
    return prompts


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

    def __init__(self, config: ModelConfig, prompts: Prompts, *, abstain: bool = False) -> None:
        if config.max_tokens is None and config.model.startswith(_SMALL):
            config = replace(config, max_tokens=_SMALL_ANSWER)
        super().__init__(config, prompts)
        self._abstain = abstain

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "base_url": None,
            **super().settings,
            "model_args": dict(self.config.model_args),
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
        speakers=join_names(item.chat.speakers),
        context=item.context.text or "(nothing of the conversation is shown)",
        question=question,
    )
