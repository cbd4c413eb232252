"""Chats → who speaks in them, how much and when: the list, and the statistics of `stats`.

chat_rows(collection)    → [{"chat": "Chat_1_Mara_Theo", "people": [{"name": "Mara", …}], …}, …]
statistics(chats)        → ({"messages": 649, …}, one row per chat): what rt.stats(corpus) counts
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from realtalk.assistant.answers import moment
from realtalk.assistant.collection import ListedChat
from realtalk.chat import Corpus
from realtalk.describe.counting import describe
from realtalk.formats.tables import from_corpus

_PEOPLE = 30  # of a chat that are listed; a channel may have thousands
# Of interest to a paper, not to somebody who asks about a chat.
_LEFT_OUT = frozenset({"per_chat", "table1", "intervals", "interval_method", "name", "format"})


def chat_rows(chats: Sequence[ListedChat]) -> Iterator[dict[str, Any]]:
    """One row per chat: its people with their messages, counts and dates."""
    for chat in chats:
        messages: dict[str, int] = dict.fromkeys(chat.people, 0)
        times = []
        for session, message in chat.spoken():
            messages[message.speaker] = messages.get(message.speaker, 0) + 1
            if time := message.time or session.time:
                times.append(time)
        spoken = sorted(messages.items(), key=lambda each: -each[1])
        numbers = [session.number for session in chat.shown.sessions]
        yield {
            "chat": chat.id,
            "people": [{"name": name, "messages": count} for name, count in spoken[:_PEOPLE]],
            "people_in_all": len(messages),
            "messages": len(chat.shown.messages),
            "sessions": len(numbers),
            "session_numbers": [min(numbers), max(numbers)] if numbers else None,
            "first": moment(min(times, default=None)),
            "last": moment(max(times, default=None)),
        }


def statistics(
    chats: Sequence[ListedChat], person: str = ""
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Figures of all the chats together, and one row per chat; with a person, their part only."""
    corpus = Corpus("", "", tuple(chat.shown for chat in chats))
    told = describe(from_corpus(corpus)).to_json()
    rows = [dict(row) for row in told["per_chat"]]
    for row in rows:
        people = sorted(row["speakers"], key=lambda who: -who["messages"])
        row["speakers"] = [who for who in people if not person or who["name"] == person][:_PEOPLE]
    together = {name: value for name, value in told.items() if name not in _LEFT_OUT}
    together["response_gap_minutes"].pop("bins")
    together["consecutive_messages"].pop("counts")
    return together, rows
