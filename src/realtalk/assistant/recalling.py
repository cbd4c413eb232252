"""A question → the messages that tell most about it, within a budget, as text with ids.

    recall(nearest(memories, "When did Mara sell the bicycle?", …), Budget(tokens=1000)).text
    → "Chat_1_Mara_Theo
       [Monday 2 March 2026]
       (D1:2, 18:04) Mara: did you sleep at all"

Messages come in time order under their days. The budget counts days, names and texts, as
`realtalk probe` does; ids and clock times come on top. Several chats share one budget: the
messages that rank highest are taken, whichever chat they are in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from realtalk.assistant.answers import MOST_CHARACTERS, encoded
from realtalk.assistant.collection import ListedChat
from realtalk.assistant.finding import FoundMessage
from realtalk.chat import Chat, Message, Session
from realtalk.errors import RealtalkError
from realtalk.memory.budgets import label, parse_budgets
from realtalk.memory.counting import Filling, Size
from realtalk.memory.showing import MessageCosts, day_line, shown
from realtalk.memory.values import Budget

_MOST_TOKENS, _MOST_WORDS = 5000, 4000
_ROOM = 1500  # characters for what stands around the text
_DAY = 40  # characters of a day's line
_MOST_MESSAGES = 1000  # that are tried; so many short ones fill the largest budget


@dataclass(frozen=True)
class RecalledText:
    """What is shown for a question, and what it costs."""

    text: str
    messages: int
    tokens: int
    words: int

    def to_json(self) -> dict[str, Any]:
        counts = {"messages": self.messages, "tokens": self.tokens, "words": self.words}
        return {"text": self.text, **counts}


def parse_budget(text: str) -> Budget:
    """One budget as it is written, 1000 (tokens) or 800w (words), within what an answer holds."""
    budgets = parse_budgets(text)
    budget = budgets[0]
    most = budget.tokens is not None and budget.tokens <= _MOST_TOKENS
    if len(budgets) != 1 or not (most or (budget.words or _MOST_WORDS + 1) <= _MOST_WORDS):
        raise RealtalkError(
            f"'budget' {label(budget)} is more than an answer holds",
            fix=f"ask for {_MOST_TOKENS} tokens or {_MOST_WORDS}w words at most",
        )
    return budget


def recall(ranked: Sequence[FoundMessage], budget: Budget) -> RecalledText:
    """The messages that rank highest and fit the budget; `ranked` are best first."""
    ranked = ranked[:_MOST_MESSAGES]
    chats = dict.fromkeys(found.chat for found in ranked)
    costs = {chat: MessageCosts(_cut(chat, ranked)) for chat in chats}
    size, room = Size(budget), MOST_CHARACTERS - _ROOM
    most = (budget.words if budget.tokens is None else budget.tokens) or 0
    fillings = {chat: Filling(costs[chat].sheet, size) for chat in chats}
    chosen: dict[ListedChat, set[str]] = {}
    headed: set[tuple[ListedChat, date | None]] = set()
    tried = 0
    for found in ranked:
        if tried > 2 * most:
            break  # as the memory does: behind that, only crumbs would fit
        chat, id_ = found.chat, found.message.id
        at = costs[chat].at(id_)
        own = int((costs[chat].words if budget.tokens is None else costs[chat].tokens)[at])
        tried += own if own <= most else 0
        day = (chat, found.time.date() if found.time else None)
        length = len(encoded({"": line(found.session, found.message)}))
        length += 0 if day in headed else _DAY
        if length <= room and fillings[chat].add(at):
            chosen.setdefault(chat, set()).add(id_)
            headed.add(day)
            room -= length
    parts = [f"{chat.id}\n{_written(chat, ids)}" for chat, ids in chosen.items()]
    count = sum(map(len, chosen.values()))
    return RecalledText("\n\n".join(parts), count, size.tokens, size.words)


def _cut(chat: ListedChat, ranked: Sequence[FoundMessage]) -> Chat:
    """The chat with these messages alone: only what may be shown is counted."""
    kept = {found.message.id for found in ranked if found.chat is chat}
    sessions = (
        replace(each, messages=tuple(m for m in each.messages if m.id in kept))
        for each in chat.shown.sessions
    )
    return replace(chat.shown, sessions=tuple(sessions))


def line(session: Session, message: Message) -> str:
    """A message as a line that can be cited and found again."""
    time = message.time or session.time
    clock = "" if time is None else f", {time:%H:%M}"
    return f"({message.id}{clock}) {shown(message)}"


def _written(chat: ListedChat, ids: set[str]) -> str:
    """The messages in time order, each once, under their days."""
    lines: list[str] = []
    heading, left = "", set(ids)
    for session, message in chat.spoken():
        if message.id in left:
            left.remove(message.id)
            time = message.time or session.time
            day = day_line(session, None if time is None else time.date())
            if day != heading:
                lines.append(day)
                heading = day
            lines.append(line(session, message))
    return "\n".join(lines)
