"""A memory and a budget → what comes to mind of a chat when something is said.

    remember = reminder(Retrieved(way="bm25"), Budget(words=300))
    recall = remember(chat)                              # the memory of a chat, built once
    recall("did the oven break again?", datetime(…))     → ("D1:4", "D3:2"), in time order

What was said takes the place of a question. Only memories that show messages can do this; one that
tells in words of its own is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeAlias

from realtalk.chat import Chat, Question
from realtalk.errors import RealtalkError
from realtalk.memory.own import built_memory
from realtalk.memory.values import Budget, Memory

MessagesFor: TypeAlias = Callable[[str, datetime], Sequence[str]]


def reminder(memory: Memory, budget: Budget) -> Callable[[Chat], MessagesFor]:
    """For a chat, which of its messages something brings to mind."""

    def remember(chat: Chat) -> MessagesFor:
        built = built_memory(memory, chat)

        def recall(said: str, moment: datetime) -> Sequence[str]:
            asked = Question("cue", said, None, "", asked=moment)
            found = built.recall(asked, budget)
            if found.tells:
                raise RealtalkError(
                    f"the memory {memory.name} shows no messages",
                    fix="take recent, retrieved or none",
                )
            return found.message_ids

        return recall

    return remember
