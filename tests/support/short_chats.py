"""Chats from a few lines, for tests to which little else matters.

chat_of("Mara: the kiln broke", "Theo: oh no")    → one session, D1:1 and D1:2
chat_of(said(1, monday, "Mara: hi"), said(2, friday, "Theo: ho"))
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from realtalk.chat import Chat, Message, Session


def said(number: int, time: datetime | None, *lines: str) -> Session:
    """A session whose messages, "who: what", have its time."""
    parts = [line.partition(": ") for line in lines]
    messages = tuple(
        Message(f"D{number}:{at}", who, time, text) for at, (who, _, text) in enumerate(parts, 1)
    )
    return Session(number, time, messages)


def chat_of(*given: str | Session, **more: Any) -> Chat:
    """Sessions, or the lines of one."""
    lines = [each for each in given if isinstance(each, str)]
    sessions = tuple(each for each in given if isinstance(each, Session))
    sessions = sessions or (said(1, None, *lines),)
    speakers = dict.fromkeys(message.speaker for each in sessions for message in each.messages)
    return Chat(**{"id": "Chat_1", "speakers": tuple(speakers), "sessions": sessions, **more})
