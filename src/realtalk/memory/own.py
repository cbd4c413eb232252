"""A memory that anybody wrote, checked → contexts, whatever its `recall` returns.

    check_memory(MyMemory)                         → RealtalkError: … give an instance: MyMemory()
    built = built_memory(MyMemory(), chat)         # build returned nothing: the memory recalls
    built.recall(question, Budget(tokens=1000))
    → Context("[Monday 2 March 2026] …", ("D1:2", "D1:4"), tokens=981, words=702, …)

`recall` may return a Context, a text of the memory's own words, or message ids, best first, which
are shown in time order as far as the budget reaches. Anything else is refused by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from inspect import isclass, signature
from typing import Any

from realtalk.chat import Chat, Question
from realtalk.errors import OwnCodeError, RealtalkError
from realtalk.evals.values import Cost
from realtalk.files.progress import Progress, silent
from realtalk.memory.showing import MessageCosts
from realtalk.memory.values import Budget, Context, Memory

_NEEDED = ("name", "version", "settings", "build")
_RETURNS = "return a Context, a text, or a list of message ids"


def check_memory(given: Any) -> Memory:
    """The memory, where it has what a memory has; refused before anything is built from it."""
    if isclass(given):
        raise RealtalkError(
            f"{given.__name__} is a class, not a memory",
            fix=f"give an instance: {given.__name__}()",
        )
    who = type(given).__name__
    fix = "a memory has name, version, settings, build(chat) and recall(question, budget)"
    for name in _NEEDED:
        if not hasattr(given, name):
            raise RealtalkError(f"{who} is not a memory, it has no '{name}'", fix=fix)
    for name in ("build", "recall"):
        if hasattr(given, name) and not callable(getattr(given, name)):
            raise RealtalkError(f"{who} is not a memory, its '{name}' cannot be called", fix=fix)
    memory: Memory = given
    return memory


def built_memory(memory: Memory, chat: Chat, progress: Progress = silent) -> CheckedMemory:
    """A chat's memory: what `build` returned, or the memory itself where that is nothing."""
    telling = {"progress": progress} if "progress" in signature(memory.build).parameters else {}
    built: Any = memory.build(chat, **telling)
    if built is None:
        built = memory
    if not callable(getattr(built, "recall", None)):
        raise RealtalkError(
            f"the memory '{memory.name}' has no recall: {type(built).__name__} cannot be asked",
            fix="write recall(question, budget); build may return an object that has it",
        )
    return CheckedMemory(memory.name, built, chat)


class CheckedMemory:
    """One chat's memory, ready to be asked. `cost` and `unscored` are those of what was built."""

    def __init__(self, name: str, built: Any, chat: Chat) -> None:
        self._name = name
        self._built = built
        self._chat = chat
        self.cost: Cost = getattr(built, "cost", None) or Cost()
        self.unscored: Mapping[int, str] = getattr(built, "unscored", None) or {}

    def recall(self, question: Question, budget: Budget) -> Context:
        """What the memory shows. An OwnCodeError where its code failed or returned no context."""
        try:
            given: Any = self._built.recall(question, budget)
        except RealtalkError:
            raise
        except Exception as error:
            # Its own words may hold the chat: they stand in its traceback, not in our line.
            raise OwnCodeError(
                f"the memory '{self._name}' failed ({type(error).__name__})",
                where=f"{self._chat.id}, {question.id}",
            ) from error
        if isinstance(given, Context):
            return given
        if isinstance(given, str):
            return Context(given, tells=True)
        if isinstance(given, list | tuple):
            return self._shown(tuple(given), budget)
        raise self._wrong(type(given).__name__)

    def _shown(self, ranked: tuple[Any, ...], budget: Budget) -> Context:
        for each in ranked:
            if not isinstance(each, str):
                raise self._wrong(f"a list of {type(each).__name__}")
            if each not in self._costs.place:
                raise self._wrong("a list with something in it that is no message id of this chat")
        ids = tuple(dict.fromkeys(ranked))
        return self._costs.context(self._costs.fit(ids, budget), ranked=ids)

    def _wrong(self, what: str) -> OwnCodeError:
        return OwnCodeError(
            f"recall of the memory '{self._name}' returned {what}",
            where=self._chat.id,
            fix=_RETURNS,
        )

    @cached_property
    def _costs(self) -> MessageCosts:
        return MessageCosts(self._chat)
