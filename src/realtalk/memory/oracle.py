"""The `oracle` memory: exactly the evidence of a question, which no memory can know.

    oracle = Oracle().knowing(lambda chat, question: ("D2:3", "D2:1"))
    oracle.build(chat).recall(question, Budget())   → Context of D2:1 and D2:3, in time order

What a reader answers from it is the most that any memory could let it answer, under the golds
that are scored by: the rest is the reader's. A question whose evidence names no message is shown
nothing. It is the one memory that is told what is right, so it says nothing about memories.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from realtalk.chat import Chat, Question
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.memory.showing import MessageCosts
from realtalk.memory.values import Budget, ConfiguredMemory, Context

EvidenceOf: TypeAlias = Callable[[str, str], Sequence[str]]  # ids of a chat and a question


class Oracle(ConfiguredMemory):
    """Shows the evidence. A plan hands it over: `knowing`."""

    name = "oracle"

    def __init__(self) -> None:
        self._evidence: EvidenceOf | None = None

    def knowing(self, evidence: EvidenceOf) -> Oracle:
        """The same memory, told what is needed for each question."""
        told = Oracle()
        told._evidence = evidence
        return told

    def build(self, chat: Chat, progress: Progress = silent) -> BuiltOracle:  # noqa: ARG002
        if self._evidence is None:
            raise RealtalkError("the oracle was not told the evidence", fix="use it in `probe`")
        return BuiltOracle(chat, self._evidence)


class BuiltOracle:
    def __init__(self, chat: Chat, evidence: EvidenceOf) -> None:
        self._costs = MessageCosts(chat)
        self._evidence = evidence

    def recall(self, question: Question, budget: Budget) -> Context:
        named = self._evidence(self._costs.chat.id, question.id)
        known = [id_ for id_ in named if id_ in self._costs.place]
        return self._costs.context(self._costs.fit(known, budget), ranked=known)
