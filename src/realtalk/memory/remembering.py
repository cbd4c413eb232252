"""A memory and whoever reads what it recalls → one solver of questions about a chat.

    solver = MemoryReader(Recent(), NoReader())
    solver.prepare(chat)                   # builds the memory, once per chat
    solver.solve([ShownQuestion(chat, question, Budget(tokens=1000))])
    → [Answer(RecalledAnswer(Context(…), "3 March 2026"), times={"recall_ms": 0.4, …})]

The chat has no questions in it: a memory never sees what it will be asked. A memory whose code
fails at some questions leaves these without a score; one that never got anything right stops.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from realtalk.chat import Chat
from realtalk.errors import OwnCodeError
from realtalk.evals.language_models import LanguageModel
from realtalk.evals.running import solver_record
from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent
from realtalk.memory.own import CheckedMemory, built_memory
from realtalk.memory.readers import Item, Reader
from realtalk.memory.values import (
    Budget,
    Context,
    Memory,
    NothingRemembered,
    RecalledAnswer,
    ShownQuestion,
)
from realtalk.models.asking import Asked

NO_CONTEXT = Context("", (), 0, 0, tells=True)  # of which no retrieval can be scored
_NO_ANSWER = "the reader gave no answer"


class MemoryReader:
    """Recalls for every question and has the reader answer from that."""

    at_once = 32  # questions whose contexts are held at a time: a whole chat is 100 KB
    asks = True

    def __init__(self, memory: Memory, reader: Reader) -> None:
        self.memory = memory
        self.reader = reader
        self.preparation: dict[str, Any] | None = None
        self._built: CheckedMemory | None = None
        self.proven = False  # it has recalled something, now or in an earlier sitting
        self._missing = ""  # why there is no memory
        self._build_seconds = 0.0  # of a memory of which no answer told yet
        self._contexts: dict[tuple[str, str, Budget], Context] = {}  # of prompts

    @property
    def name(self) -> str:
        return f"{self.memory.name}, read by {self.reader.name}"

    @property
    def version(self) -> str:
        return f"{self.memory.version}, {self.reader.version}"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "memory": solver_record(self.memory),
            "reader": solver_record(self.reader),
        }

    def prepare(self, learning: Chat, progress: Progress = silent) -> None:
        self.preparation = None
        began = time.perf_counter()
        try:
            self._built = built_memory(self.memory, learning, progress)
            self._build_seconds = time.perf_counter() - began
        except NothingRemembered as error:
            self._built, self._missing = None, error.what
            return
        cost, left_out = self._built.cost, self._built.unscored
        if cost.calls or left_out:
            self.preparation = {
                "calls": cost.calls,
                "tokens_in": cost.tokens_in,
                "tokens_out": cost.tokens_out,
                "unscored": [
                    {"session": number, "reason": reason} for number, reason in left_out.items()
                ],
            }

    def solve(
        self, shown: Sequence[ShownQuestion], progress: Progress = silent
    ) -> list[Answer[RecalledAnswer]]:
        if self._built is None:
            return [Answer(RecalledAnswer(NO_CONTEXT), self._missing) for _ in shown]
        items: dict[int, Item] = {}
        failures: dict[int, OwnCodeError] = {}
        spent: list[float] = []
        for at, question in enumerate(shown):
            began = time.perf_counter()
            try:
                items[at] = self.recall(question)
                self.proven = True
            except OwnCodeError as error:
                if not self.proven and error.__cause__ is None:
                    raise  # it returns what nobody can read: known at the first question
                failures[at] = error
            spent.append(1000 * (time.perf_counter() - began))
        if failures and not self.proven:
            raise failures[0]
        read = dict(zip(items, self.reader.solve([*items.values()], progress), strict=True))
        none = RecalledAnswer(NO_CONTEXT)
        # The first answer after building carries what that took: a sum over rows counts it once.
        building = [self._build_seconds, *[0.0] * (len(shown) - 1)]
        self._build_seconds = 0.0
        answers = [
            self._recalled(items[at].context, read[at])
            if at in items
            else Answer(none, failures[at].what)
            for at in range(len(shown))
        ]
        return [
            replace(
                answer,
                times={
                    "recall_ms": each,
                    "reader_seconds": answer.cost.seconds,
                    "build_seconds": built,
                },
            )
            for answer, each, built in zip(answers, spent, building, strict=True)
        ]

    def recall(self, shown: ShownQuestion) -> Item:
        """What the reader sees of one question; raises where nothing could be remembered."""
        if self._built is None:
            raise NothingRemembered(self._missing or "prepare comes first", where=shown.chat.id)
        context = self._built.recall(shown.question, shown.budget)
        return Item(shown.chat, shown.question, context, shown.budget)

    def _recalled(self, context: Context, answer: Answer[str]) -> Answer[RecalledAnswer]:
        reason = answer.unscored
        if answer.value is None and not reason and self.reader.name != "none":
            reason = _NO_ANSWER
        return Answer(RecalledAnswer(context, answer.value), reason, answer.cost)

    # What an evaluation framework that asks the model by itself needs.

    @property
    def _model(self) -> LanguageModel[Item, str]:
        if not isinstance(self.reader, LanguageModel):
            raise TypeError(f"the reader {self.reader.name} asks no model")
        return self.reader

    @property
    def asked(self) -> Asked:
        return self._model.asked

    def prompt(self, shown: ShownQuestion) -> str:
        item = self.recall(shown)
        self._contexts[_place(shown)] = item.context
        return self._model.prompt(item)

    def parse(self, text: str, shown: ShownQuestion) -> Answer[RecalledAnswer]:
        context = self._contexts[_place(shown)]
        item = Item(shown.chat, shown.question, context, shown.budget)
        return self._recalled(context, self._model.parse(text, item))

    def most_tokens(self, shown: ShownQuestion) -> int | None:  # noqa: ARG002
        return self._model.asked.max_tokens


def _place(shown: ShownQuestion) -> tuple[str, str, Budget]:
    return shown.chat.id, shown.question.id, shown.budget
