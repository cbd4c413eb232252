"""Questions that shipped parts of a probe learned from: such scores are in-sample, and are told so.

    parts = learning_parts("retrieved", {"way": "fused"}, "1+2")
    → {"DailyDialog": ("the retrieval encoder", "its ranking weights"), …}
    InSample(parts).of(chat, question)        → "LoCoMo", or None
    learned_lines(rows, settings)             → ["in-sample: 1,986 of 1,986 questions …"]

Recognised by the content of chats and questions (`encoders.shipped`), whatever the file is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from realtalk.chat import Chat, Question
from realtalk.encoders.shipped import Learned
from realtalk.evals.values import Row

_LOCOMO, _LONGMEMEVAL = "LoCoMo", "LongMemEval"
_ENCODER, _WEIGHTS = "the retrieval encoder", "its ranking weights"
# What the retriever learned from since the second version of its encoder: no text of a benchmark.
_OWN = (
    "DailyDialog",
    "ESConv",
    "Reddit threads",
    "WASSA 2024",
    "XPersona",
    "invented chats",
)


def learning_parts(
    memory: str, settings: Mapping[str, Any], version: str = ""
) -> dict[str, tuple[str, ...]]:
    """The sets that a memory learned from, each with the parts that did.

    `version` is the memory's, as a run has it: its own and its encoder's ("1+2").
    """
    found: dict[str, tuple[str, ...]] = {}
    way = settings.get("way", "fused") if memory == "retrieved" else None
    parts = {"fused": (_ENCODER, _WEIGHTS), "encoder": (_ENCODER,)}.get(str(way), ())
    if parts and version.endswith("+1"):
        found[_LOCOMO] = parts
        found[_LONGMEMEVAL] = (_ENCODER,)
    elif parts:
        found |= dict.fromkeys(_OWN, parts)
    return found


class InSample:
    """Tells which questions the given parts learned from."""

    def __init__(self, parts: Mapping[str, tuple[str, ...]]) -> None:
        self._parts = parts
        self._chats: dict[str, str | None] = {}

    @cached_property
    def _learned(self) -> Learned:
        known = Learned.of("memory").sets
        return Learned({name: hashes for name, hashes in known.items() if name in self._parts})

    def of(self, chat: Chat, question: Question) -> str | None:
        """The set that a question or its chat is part of; None where it is new to all parts."""
        if not self._parts:
            return None
        if chat.id not in self._chats:
            self._chats[chat.id] = self._learned.chat(each.text for each in chat.messages)
        return self._chats[chat.id] or self.of_text(question.text)

    def of_text(self, question: str) -> str | None:
        return self._learned.text(question) if self._parts else None


def _parts_of(settings: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    memory = settings["solver"]["settings"]["memory"]
    return learning_parts(
        str(memory["name"]), memory.get("settings") or {}, str(memory.get("version", ""))
    )


def in_sample(rows: Iterable[Row], settings: Mapping[str, Any]) -> dict[str, Any]:
    """How many of a run's questions which parts learned from, by set; empty where none did."""
    parts = _parts_of(settings)
    questions = {(row["group"], row["sample"]): row["learned"] for row in rows}
    names = dict.fromkeys(name for name in questions.values() if name is not None)
    return {
        name: {
            "questions": sum(each == name for each in questions.values()),
            "of": len(questions),
            "learned_by": list(parts.get(name, ())),
        }
        for name in names
    }


def learned_lines(rows: Iterable[Row], settings: Mapping[str, Any]) -> list[str]:
    """One line per set, for whoever reads the table."""
    return [
        f"in-sample: {each['questions']:,} of {each['of']:,} questions, or their chats, are "
        f"{name}, from which {_listed(each['learned_by'])} learned: expect less on other chats"
        for name, each in in_sample(rows, settings).items()
    ]


def _listed(parts: Iterable[str]) -> str:
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
