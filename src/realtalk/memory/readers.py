"""Who answers from a context: nobody, a rule, or a language model.

    reader = LlmReader(Asked("openai/gpt-4o-mini"), load_wording())
    reader.read([Item(chat, question, context)], keep=print)
    → 0, Answered("3 March 2026", cost=Cost(calls=1, tokens_in=1042, tokens_out=6))

`none` looks at what was retrieved only. `extract` picks a span or a date from the context's own
messages and needs no model. `llm` asks any model that inspect-ai knows. A reader is given
several questions at once, so that it can ask them together, and hands each answer on as it comes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Protocol

from realtalk.chat import Chat, Question
from realtalk.evals.prompts import Prompts, written_day
from realtalk.local.progress import Progress, silent
from realtalk.memory.values import Context, Cost
from realtalk.models.asking import Asked, Prompt, Reply, ask

__all__ = ["Answered", "ExtractReader", "Item", "LlmReader", "NoReader", "Reader", "prompt_of"]

_SMALL = "realtalk/"
_SMALL_ANSWER = 64  # tokens: a small model does not stop by itself


@dataclass(frozen=True, slots=True)
class Item:
    """One question with what its reader may see."""

    chat: Chat
    question: Question
    context: Context


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, or why there is none; neither where none was wanted."""

    text: str | None
    reason: str | None = None
    cost: Cost = field(default=Cost())


Keep = Callable[[int, Answered], None]  # (place among the items, what came of it)


class Reader(Protocol):
    """A way to answer. `settings` and `version` go into every run made with it."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, Any]: ...

    def read(self, items: Sequence[Item], keep: Keep, progress: Progress = silent) -> None: ...


class NoReader:
    """Nobody answers: only what the memory brings is looked at."""

    name = "none"
    version = "1"
    settings: Mapping[str, Any] = MappingProxyType({})

    def read(self, items: Sequence[Item], keep: Keep, progress: Progress = silent) -> None:  # noqa: ARG002
        for place in range(len(items)):
            keep(place, Answered(None))


class ExtractReader:
    """The best span of the context, or a date where one is asked for, by rule."""

    name = "extract"
    version = "2"  # 2: a day is written as LoCoMo's annotators write it
    settings: Mapping[str, Any] = MappingProxyType({})

    def read(self, items: Sequence[Item], keep: Keep, progress: Progress = silent) -> None:  # noqa: ARG002
        from realtalk.memory.extract import answer

        for place, item in enumerate(items):
            began = time.perf_counter()
            found = answer(item.chat, item.question, item.context)
            cost = Cost(seconds=time.perf_counter() - began)
            keep(place, Answered(found.text, found.unscored, cost))


@dataclass(frozen=True)
class LlmReader:
    """A language model, asked with the context. `abstain` tells it that it may say so where the
    conversation does not tell; every question of a corpus is asked alike."""

    asked: Asked
    wording: Prompts
    abstain: bool = False

    name = "llm"

    def __post_init__(self) -> None:
        if self.asked.max_tokens is None and self.asked.model.startswith(_SMALL):
            limited = replace(self.asked, max_tokens=_SMALL_ANSWER)
            object.__setattr__(self, "asked", limited)

    @property
    def version(self) -> str:
        return f"prompts {self.wording.version}"

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "model": self.asked.model,
            "base_url": self.asked.address,
            "model_args": dict(self.asked.model_args),
            "seed": self.asked.seed,
            "max_tokens": self.asked.max_tokens,
            "abstain": self.abstain,
        }

    def read(self, items: Sequence[Item], keep: Keep, progress: Progress = silent) -> None:
        prompts = [
            Prompt(str(place), lambda item=item: prompt_of(item, self.wording, self.abstain))  # type: ignore[misc]
            for place, item in enumerate(items)
        ]
        ask(prompts, self.asked, lambda key, reply: keep(int(key), _answered(reply)), progress)


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


def _answered(reply: Reply) -> Answered:
    cost = Cost(reply.calls, reply.tokens_in, reply.tokens_out, reply.seconds)
    text = None if reply.text is None else reply.text.strip()
    return Answered(text, reply.reason or None, cost)
