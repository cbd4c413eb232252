"""A chat and a session's number, a day, or a message → messages in order, page by page.

read(chat, session=3)                  → the rows of session 3
read(chat, day="2 March 2026")         → the rows of every session that has messages that day
read(chat, around="D3:7", limit=20)    → the rows of its session, from ten before it on
message_row(session, message)          → {"id": "D3:7", "session": 3, "time": …, "text": …}
"""

from __future__ import annotations

from typing import Any

from realtalk.assistant.answers import check_page, cut, moment, page
from realtalk.assistant.collection import ListedChat
from realtalk.assistant.periods import Period, days
from realtalk.chat import Message, Session
from realtalk.errors import RealtalkError
from realtalk.memory.showing import one_line, shown


def said(message: Message) -> str:
    """What a message says and shows, on one line and without its speaker."""
    return shown(message).removeprefix(f"{one_line(message.speaker)}:").strip()


def message_row(session: Session, message: Message, most: int | None = None) -> dict[str, Any]:
    """A message as answers show it; `most` cuts its text."""
    text = said(message)
    row: dict[str, Any] = {
        "id": message.id,
        "session": session.number,
        "time": moment(message.time),
        "person": message.speaker,
        "text": text if most is None else cut(text, most),
    }
    if message.reply_to is not None:
        row["reply_to"] = message.reply_to
    if most is not None and len(text) > most:
        row["cut"] = True
    return row


def read(
    chat: ListedChat,
    *,
    session: int | None = None,
    day: str = "",
    around: str = "",
    offset: int = 0,
    limit: int = 50,
) -> dict[str, Any]:
    """One page of a chat's messages."""
    check_page(offset, limit)
    if sum((session is not None, bool(day), bool(around))) != 1:
        raise RealtalkError("say which part to read", fix="give one of session, date and around")
    if around:
        chosen, at = _with_message(chat, around)
        # Given an offset, the reader is on a later page of the same session.
        offset = offset or max(0, at - limit // 2)
    elif session is not None:
        chosen = [each for each in chat.shown.sessions if each.number == session]
    else:
        chosen = _on_days(chat, Period(*days("date", day)))
    if not chosen:
        raise RealtalkError("no such part in this chat", fix=_known(chat))
    messages = [(each, message) for each in chosen for message in each.messages]
    rows = (message_row(each, message) for each, message in messages[offset:])
    head = {"chat": chat.id, "offset": offset}
    return page(head, "messages", rows, total=len(messages), offset=offset, limit=limit)


def _with_message(chat: ListedChat, message_id: str) -> tuple[list[Session], int]:
    """The session of a message, and the message's place in it."""
    for session in chat.shown.sessions:
        for at, message in enumerate(session.messages):
            if message.id == message_id:
                return [session], at
    raise RealtalkError("no message of this chat has this id", fix="take ids from answers")


def _on_days(chat: ListedChat, period: Period) -> list[Session]:
    return [
        session
        for session in chat.shown.sessions
        if any(period.holds(message.time or session.time) for message in session.messages)
    ]


def _known(chat: ListedChat) -> str:
    """Which sessions and days there are."""
    numbers = [session.number for session in chat.shown.sessions]
    times = [time for session, each in chat.spoken() if (time := each.time or session.time)]
    if not numbers:
        return "it has no messages"
    span = f", days {min(times):%Y-%m-%d} to {max(times):%Y-%m-%d}" if times else ""
    return f"it has sessions {min(numbers)} to {max(numbers)}{span}"
