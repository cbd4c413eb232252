"""Rows with named columns, from any CSV or JSON Lines file, to chats.

    {"From": "Mara", "Date": "2026-03-02 18:03", "Message": "hey"}
    → Message("D1:1", "Mara", 2026-03-02 18:03, "hey")

Which column is what: the user says so (`text=Message`), else common names are recognised.
Columns of no meaning here are kept in the message's extra. Rows with a session column keep
their sessions; others are put in time order and cut at pauses. Ids that the file gives stay.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from realtalk.chat import Chat, Message, Session
from realtalk.corpora.json_input import text_of, zone
from realtalk.corpora.published.record import extra_of
from realtalk.corpora.published.stamps import date_order, parse_stamp
from realtalk.corpora.reading import ReadOptions
from realtalk.corpora.sessions import Gap, cut, sorted_by_time
from realtalk.errors import RealtalkError
from realtalk.local.naming import UniqueNames
from realtalk.registry import suggest

__all__ = ["FIELDS", "TableRows", "cut_keeping_ids", "mapped"]

FIELDS = ("id", "chat", "session", "speaker", "time", "text", "reply_to", "edited", "deleted")
_NEEDED = ("speaker", "text")
_CLOCK = "clock"  # the time of day, where the date is a column of its own
_MOST_NAMES = 20
_LONGEST_NAME = 30
_LARGEST_SESSION = 2**31 - 1
_YES = frozenset({"true", "1", "yes"})

# Best first; compared without case, spaces and punctuation.
_GUESSES: Mapping[str, tuple[str, ...]] = {
    field: tuple(names.split())
    for field, names in {
        "text": """
            text message body content messagetext messagebody utterance cleantext msg comment post
            value line sentence turn
        """,
        "speaker": """
            speaker author sender from user username sendername authorname name nick nickname
            speakerid userid senderid authorid role participant character handle
        """,
        "time": """
            time timestamp datetime date createdat createdutc sentat sent created timestampms
            messagedate sentdate when ts timeutc
        """,
        "id": "id messageid msgid diaid utteranceid commentid uuid",
        "chat": """
            chat conversation conversationid chatid dialogueid dialogid dialog dialogue thread
            threadid channel channelid room group convid chatname conversationname convoid
            chatsession
        """,
        "session": "session sessionid sessionnumber",
        "reply_to": "replyto parent parentid inreplyto replytoid replyid replytomessageid",
        "edited": "edited isedited",
        "deleted": "deleted isdeleted",
    }.items()
}


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def mapped(names: Sequence[str], options: ReadOptions, where: str) -> dict[str, str]:
    """Our field → the file's column, or an error that lists the columns."""
    chosen: dict[str, str] = {}
    for ours, theirs in options.columns:
        if ours not in FIELDS:
            raise suggest("column", ours, list(FIELDS))
        if theirs not in names:
            raise RealtalkError(
                f"has no column '{theirs}'", where=where, fix=f"it has: {_listed(names)}"
            )
        chosen[ours] = theirs
    free = {_plain(name): name for name in reversed(names) if name not in chosen.values()}
    for field, guesses in _GUESSES.items():
        if field in chosen:
            continue
        hit = next((name for name in guesses if name in free), None)
        if hit is not None:
            chosen[field] = free.pop(hit)
    by_hand = dict(options.columns)
    if "time" not in by_hand and _plain(chosen.get("time", "")) == "time" and "date" in free:
        chosen[_CLOCK], chosen["time"] = chosen["time"], free.pop("date")
    missing = [field for field in _NEEDED if field not in chosen]
    if missing:
        raise RealtalkError(
            f"no column is known to hold the {' and the '.join(missing)}",
            where=where,
            fix=f"name it with --column {missing[0]}=COLUMN; found: {_listed(names)}",
        )
    return chosen


def _listed(columns: Sequence[str]) -> str:
    """Column names for an error. A long one is a message of a file without header: not shown."""
    names = [name if 0 < len(name) <= _LONGEST_NAME else "(…)" for name in columns[:_MOST_NAMES]]
    return ", ".join(names) + (", …" if len(columns) > _MOST_NAMES else "")


def cut_keeping_ids(messages: Sequence[Message], gap: Gap) -> tuple[Session, ...]:
    """Sessions by the rule of `cut`, but the messages stay as they are."""
    sessions = []
    start = 0
    for session in cut(messages, gap):
        stop = start + len(session.messages)
        sessions.append(Session(session.number, session.time, tuple(messages[start:stop])))
        start = stop
    return tuple(sessions)


@dataclass(frozen=True, slots=True)
class _Row:
    session: str
    stamp: Any
    message: Message  # without its time, which needs all stamps


class TableRows:
    """Rows of one file, gathered and then made into chats."""

    def __init__(self, columns: Mapping[str, str], options: ReadOptions, chat: str) -> None:
        self._columns = columns
        self._options = options
        self._default = chat
        self._used = frozenset(columns.values())
        self._rows: dict[str, list[_Row]] = {}
        self.notes: list[str] = []

    def add(self, row: Mapping[str, Any], where: str) -> str | None:
        """Takes a row, or says why it is no message."""
        cells = {field: row.get(name) for field, name in self._columns.items()}
        speaker, text = cells.get("speaker"), cells.get("text")
        if isinstance(speaker, dict | list) or not text_of(speaker).strip():
            return "has no speaker"
        if isinstance(text, dict | list):
            return "has no text"
        beyond = {
            key: value
            for key, value in row.items()
            if key not in self._used and value not in (None, "")
        }
        reply = text_of(cells.get("reply_to"))
        message = Message(
            text_of(cells.get("id")),
            text_of(speaker).strip(),
            None,
            text_of(text),
            reply_to=reply or None,
            edited=text_of(cells.get("edited")).lower() in _YES,
            deleted=text_of(cells.get("deleted")).lower() in _YES,
            extra=extra_of(beyond, where),
        )
        stamp = cells.get("time")
        if _CLOCK in cells:
            stamp = f"{text_of(stamp)} {text_of(cells[_CLOCK])}".strip()
        chat = text_of(cells.get("chat")) or self._default
        row_ = _Row(text_of(cells.get("session")), stamp, message)
        self._rows.setdefault(chat, []).append(row_)
        return None

    def chats(self) -> list[Chat]:
        tz = zone(self._options.timezone)
        order = self._options.dates
        if order is None:
            stamps = [r.stamp for rows in self._rows.values() for r in rows]
            order, proven = date_order([stamp for stamp in stamps if isinstance(stamp, str)])
            if not proven:
                self.notes.append("dates were read with the day first; --dates mdy reads the month")
        undated = 0
        chats = []
        for id_, rows in self._rows.items():
            messages = []
            for row in rows:
                time = parse_stamp(row.stamp, tz, order)
                undated += time is None and row.stamp not in (None, "")
                messages.append(_made(row.message, row.message.id, time))
            sessions = _named(self._sessions([row.session for row in rows], messages))
            speakers = dict.fromkeys(m.speaker for s in sessions for m in s.messages)
            chats.append(Chat(id_, tuple(speakers), sessions))
        if undated:
            self.notes.append(
                f"{undated:,} time stamps could not be read; those messages have none"
            )
        return chats

    def _sessions(self, names: list[str], messages: list[Message]) -> tuple[Session, ...]:
        if not any(names):
            return cut_keeping_ids(sorted_by_time(messages), self._options.gap)
        groups: dict[str, list[Message]] = {}
        last = next(name for name in names if name)
        for name, message in zip(names, messages, strict=True):
            last = name or last
            groups.setdefault(last, []).append(message)
        numbers = [_number(name) for name in groups]
        if None in numbers or len(set(numbers)) < len(numbers):
            numbers = list(range(1, len(groups) + 1))
        sessions = [
            Session(number or 0, group[0].time, tuple(group))
            for number, group in zip(numbers, groups.values(), strict=True)
        ]
        return tuple(sorted(sessions, key=lambda session: session.number))


def _made(m: Message, id_: str, time: datetime | None) -> Message:
    # Spelled out: dataclasses.replace takes several times as long.
    return Message(
        id_, m.speaker, time, m.text, m.attachments, m.reply_to, m.edited, m.deleted, m.extra
    )


def _number(name: str) -> int | None:
    if name.isascii() and name.isdigit() and len(name) < 11:
        number = int(name)
        return number if number <= _LARGEST_SESSION else None
    return None


def _named(sessions: tuple[Session, ...]) -> tuple[Session, ...]:
    """Every message with an id of its own: the given one, else D<session>:<number>."""
    ids = UniqueNames("{}~{}")
    named = []
    for session in sessions:
        messages = []
        for position, message in enumerate(session.messages, 1):
            id_ = ids.free(message.id or f"D{session.number}:{position}")
            messages.append(message if id_ == message.id else _made(message, id_, message.time))
        named.append(replace(session, messages=tuple(messages)))
    return tuple(named)
