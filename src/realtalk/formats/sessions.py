"""Cuts a flat stream of messages into sessions at pauses, and names the messages.

    messages at 18:03, 18:04, 23:50, next day 18:01 with gap=6h
    → session 1: D1:1 D1:2 D1:3, session 2: D2:1

Exports have no sessions of their own; the ids follow the published corpora's
"D<session>:<number>". Two forms of one rule: `cut_frame` for columns, `cut_at_pauses` for values.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Literal, Protocol, TypeVar

import polars as pl

from realtalk.errors import RealtalkError

Gap = timedelta | Literal["day"]


class HasTime(Protocol):
    """Whatever was sent at a time."""

    @property
    def time(self) -> datetime | None: ...


TimedT = TypeVar("TimedT", bound=HasTime)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}


def parse_gap(text: str) -> Gap:
    """ "6h", "90m", "2d" or "day" (one session per calendar day)."""
    text = text.strip().lower()
    if text == "day":
        return "day"
    number, unit = text[:-1], text[-1:]
    if unit in _UNITS:
        try:
            gap = timedelta(**{_UNITS[unit]: float(number)})
        except (ValueError, OverflowError):
            gap = timedelta(0)
        if gap > timedelta(0):
            return gap
    raise RealtalkError(f"'{text}' is not a pause", fix="write `gap=6h`, 90m, 2d or day")


def sorted_by_time(messages: Iterable[TimedT]) -> list[TimedT]:
    """Oldest first; messages of one instant, or without time, keep their order."""
    ordered: list[tuple[datetime, TimedT]] = []
    last = datetime.min
    for message in messages:
        last = message.time if message.time is not None else last
        ordered.append((last, message))
    ordered.sort(key=itemgetter(0))  # a stable sort
    return [message for _, message in ordered]


def cut_at_pauses(messages: Iterable[TimedT], gap: Gap) -> list[list[TimedT]]:
    """Messages in sessions, oldest first."""
    groups: list[list[TimedT]] = []
    last: datetime | None = None
    for message in sorted_by_time(messages):
        if not groups or is_pause(last, message.time, gap):
            groups.append([])
        groups[-1].append(message)
        last = message.time or last
    return groups


def is_pause(last: datetime | None, now: datetime | None, gap: Gap) -> bool:
    """Whether a session ends between two messages; without both times nobody can tell."""
    if last is None or now is None:
        return False
    return now.date() != last.date() if gap == "day" else now - last > gap


def pauses_before(time: pl.Expr, gap: Gap) -> pl.Expr:
    """`is_pause` for columns: whether a session ends before each message."""
    day = time.dt.date()
    pause = day != day.shift(1) if gap == "day" else time - time.shift(1) > gap
    return pause.fill_null(False)


def cut_frame(frame: pl.DataFrame, gap: Gap, by: str | None = None) -> pl.DataFrame:
    """Adds `session`, `session_time` and `id` to a time-ordered frame of one chat.

    Of several chats, one after the other, `by` is the column that tells them apart.
    """
    time = pl.col.time
    number = (pauses_before(time, gap).cum_sum() + 1).cast(pl.Int32)
    frame = frame.with_columns(session=number if by is None else number.over(by))
    session = ["session"] if by is None else [by, "session"]
    place = pl.int_range(1, pl.len() + 1).over(session)
    return frame.with_columns(
        session_time=time.first().over(session), id=pl.format("D{}:{}", "session", place)
    )
