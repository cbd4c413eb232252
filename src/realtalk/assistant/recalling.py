"""A question → the messages that tell most about it, within a budget, as text with ids.

    recall(ranked, "When did Mara sell the bicycle?", Budget(tokens=1000)).text
    → "Chat_1_Mara_Theo
       [Monday 2 March 2026]
       (D1:2, 18:04) Mara: did you sleep at all"

Messages come in time order under their days. The budget counts days, names and texts, as
`realtalk probe` does; ids and clock times come on top. Several chats share one budget: the
messages that rank highest are taken, whichever chat they are in.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from realtalk.assistant.answers import MOST_CHARACTERS, encoded
from realtalk.assistant.collection import ListedChat
from realtalk.assistant.finding import nearest
from realtalk.assistant.indexes import Ranked
from realtalk.assistant.periods import Period
from realtalk.chat import Message, Session
from realtalk.errors import RealtalkError
from realtalk.memory.budgets import label, parse_budgets
from realtalk.memory.counting import Filling, Size
from realtalk.memory.showing import MessageCosts, day_line, shown
from realtalk.memory.values import Budget

_MOST_TOKENS, _MOST_WORDS = 5000, 4000
_ROOM = 1500  # characters for what stands around the text
_DAY = 40  # characters of a day's line
_IN_VAIN = 50  # messages that did not fit, one after the other: the budget is full


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


class Recalling:
    """Lines of chats with their costs, counted once per chat."""

    def __init__(self) -> None:
        self._costs: dict[ListedChat, MessageCosts] = {}

    def recall(self, ranked: Ranked, text: str, budget: Budget, period: Period) -> RecalledText:
        """The messages that rank highest for a question and fit the budget."""
        size, room = Size(budget), MOST_CHARACTERS - _ROOM
        fillings: dict[ListedChat, Filling] = {}
        chosen: dict[ListedChat, set[str]] = {}
        headed: set[tuple[ListedChat, date | None]] = set()
        in_vain = 0
        for found in nearest(ranked, text, "", period):
            costs = self._costs_of(found.chat)
            filling = fillings.setdefault(found.chat, Filling(costs.sheet, size))
            day = (found.chat, found.time.date() if found.time else None)
            written = encoded({"": line(found.session, found.message)})
            length = len(written) + (0 if day in headed else _DAY)
            if length <= room and filling.add(costs.at(found.message.id)):
                chosen.setdefault(found.chat, set()).add(found.message.id)
                room -= length
                headed.add(day)
                in_vain = 0
            elif (in_vain := in_vain + 1) == _IN_VAIN:
                break
        parts = [f"{chat.id}\n{_written(chat, ids)}" for chat, ids in chosen.items()]
        count = sum(map(len, chosen.values()))
        return RecalledText("\n\n".join(parts), count, size.tokens, size.words)

    def _costs_of(self, chat: ListedChat) -> MessageCosts:
        if chat not in self._costs:
            self._costs[chat] = MessageCosts(chat.shown)
        return self._costs[chat]


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
