"""Rows with named columns, from any CSV or JSON Lines file, to chats.

    {"From": "Mara", "Date": "2026-03-02 18:03", "Message": "hey"}
    → Message("D1:1", "Mara", 2026-03-02 18:03, "hey")

Which column is what: the user says so (`text=Message`), else common names are recognised.
Columns of no meaning here are kept in the message's extra. Rows with a session column keep
their sessions; others are put in time order and cut at pauses. Ids that the file gives stay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from realtalk.chat import Chat, Message, Session
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.formats.json_input import NOT_TEXT, is_odd, list_fields, text_of, zone
from realtalk.formats.published.record import LARGEST_SESSION, extra_of, make_chat, undated_notes
from realtalk.formats.reading import ReadOptions
from realtalk.formats.sessions import cut_at_pauses
from realtalk.registry import suggest
from realtalk.text.wordlists import language_lines
from realtalk.text.written_days import date_order, parse_stamp

FIELDS = tuple("id chat session speaker time text reply_to edited deleted".split())  # noqa: SIM905
_NEEDED = ("speaker", "text")
_TEXTS, _FLAGS = ("session", "id", "reply_to"), ("edited", "deleted")
_CLOCK = "clock"  # the time of day, where the date is a column of its own
_STAMPS = 1 << 14  # stamps that are remembered: many rows have the same
_YES = frozenset({"true", "1", "yes"})

# Best first; compared without case, spaces and punctuation.
_GUESSES = language_lines("realtalk.formats.published", "columns.txt")


def _plain(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def map_columns(names: Sequence[str], options: ReadOptions, where: str) -> dict[str, str]:
    """Our field → the file's column, or an error that lists the columns."""
    columns: dict[str, str] = {}
    for ours, theirs in options.columns:
        if ours not in FIELDS:
            raise suggest("column", ours, list(FIELDS))
        if theirs not in names:
            raise RealtalkError(
                f"has no column '{theirs}'", where=where, fix=f"it has: {list_fields(names)}"
            )
        columns[ours] = theirs
    free = {_plain(name): name for name in reversed(names) if name not in columns.values()}
    for field, guesses in _GUESSES.items():
        if field in columns:
            continue
        hit = next((name for name in guesses.split() if name in free), None)
        if hit is not None:
            columns[field] = free.pop(hit)
    by_hand = dict(options.columns)
    if "time" not in by_hand and _plain(columns.get("time", "")) == "time" and "date" in free:
        columns[_CLOCK], columns["time"] = columns["time"], free.pop("date")
    missing = [field for field in _NEEDED if field not in columns]
    if missing:
        raise RealtalkError(
            f"no column is known to hold the {' and the '.join(missing)}",
            where=where,
            fix=f"name it with `columns={missing[0]}=COLUMN`; found: {list_fields(names)}",
        )
    return columns


@dataclass(slots=True)
class _Row:
    """A row until all are known: times need all stamps, and ids need the sessions."""

    stamp: Any
    speaker: str
    text: str
    session: str = ""
    id: str = ""
    reply_to: str | None = None
    edited: bool = False
    deleted: bool = False
    extra: str = ""
    time: datetime | None = None


class TableRows:
    """Rows of one file, gathered and then made into chats."""

    def __init__(
        self, columns: Mapping[str, str], options: ReadOptions, chat: str, notes: list[str]
    ) -> None:
        self._columns = columns
        self._options = options
        self._default = chat
        self._used = frozenset(columns.values())
        self._optional = tuple(
            (field, columns[field]) for field in (*_TEXTS, *_FLAGS) if field in columns
        )
        self._rows: dict[str, list[_Row]] = {}
        self._notes = notes

    def add(self, row: Mapping[str, Any], where: str) -> str | None:
        """Takes a row, or says why it is no message."""
        columns = self._columns
        speaker, text = row.get(columns["speaker"]), row.get(columns["text"])
        if isinstance(speaker, dict | list) or not text_of(speaker).strip():
            return "has no speaker"
        if is_odd(text):
            return NOT_TEXT
        stamp = row.get(columns["time"]) if "time" in columns else None
        if _CLOCK in columns:
            stamp = f"{text_of(stamp)} {text_of(row.get(columns[_CLOCK]))}".strip()
        parsed = _Row(stamp, text_of(speaker).strip(), text_of(text))
        # A row of a large table has few of these: only columns that are there are looked at.
        for field, name in self._optional:
            if value := text_of(row.get(name)):
                setattr(parsed, field, value.lower() in _YES if field in _FLAGS else value)
        if len(row) > len(self._used) or not self._used.issuperset(row):
            beyond = {
                key: value
                for key, value in row.items()
                if key not in self._used and value not in (None, "")
            }
            parsed.extra = extra_of(beyond, where) if beyond else ""
        chat = (text_of(row.get(columns["chat"])) if "chat" in columns else "") or self._default
        self._rows.setdefault(chat, []).append(parsed)
        return None

    def chats(self) -> list[Chat]:
        tz = zone(self._options.timezone)
        order = self._options.dates
        if order is None:
            stamps = [row.stamp for rows in self._rows.values() for row in rows]
            order, proven = date_order([stamp for stamp in stamps if isinstance(stamp, str)])
            if not proven:
                self._notes.append(
                    "dates were read with the day first; `dates=mdy` reads the month"
                )
        undated = 0
        chats = []

        @lru_cache(_STAMPS)
        def moment(stamp: str) -> datetime | None:
            return parse_stamp(stamp, tz, order)

        for id_, rows in self._rows.items():
            for row in rows:
                stamp = row.stamp
                row.time = moment(stamp) if type(stamp) is str else parse_stamp(stamp, tz, order)
                undated += row.time is None and row.stamp not in (None, "")
            chats.append(make_chat(id_, _sessions(self._number_sessions(rows))))
        self._notes += undated_notes(undated)
        return chats

    def _number_sessions(self, rows: list[_Row]) -> list[tuple[int, list[_Row]]]:
        """The rows of each session with its number: as the file has them, else cut at pauses."""
        if not any(row.session for row in rows):
            return list(enumerate(cut_at_pauses(rows, self._options.gap), 1))
        groups: dict[str, list[_Row]] = {}
        last = next(row.session for row in rows if row.session)
        for row in rows:
            last = row.session or last
            groups.setdefault(last, []).append(row)
        numbers = [_number(name) for name in groups]
        if None in numbers or len(set(numbers)) < len(numbers):
            numbers = list(range(1, len(groups) + 1))
        numbered = [
            (number or 0, group) for number, group in zip(numbers, groups.values(), strict=True)
        ]
        return sorted(numbered, key=lambda entry: entry[0])


def _sessions(numbered: Sequence[tuple[int, list[_Row]]]) -> Iterator[Session]:
    """Messages, each with an id of its own: the given one, else D<session>:<number>."""
    ids = UniqueNames("{}~{}")
    for number, rows in numbered:
        messages = tuple(
            Message(
                ids.free(row.id or f"D{number}:{position}"),
                row.speaker,
                row.time,
                row.text,
                reply_to=row.reply_to,
                edited=row.edited,
                deleted=row.deleted,
                extra=row.extra,
            )
            for position, row in enumerate(rows, 1)
        )
        yield Session(number, rows[0].time, messages)


def _number(name: str) -> int | None:
    fits = name.isascii() and name.isdigit() and len(name) < 11 and int(name) <= LARGEST_SESSION
    return int(name) if fits else None
