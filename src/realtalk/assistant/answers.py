"""What an answer is made of: rows with an end, and a period that was asked for.

    page({"chat": "family"}, "messages", messages, row, offset=0, limit=50)
    → {"chat": "family", "messages": [50 rows], "total": 412, "next_offset": 50}
    Period.of("2026-03", "15 April 2026").holds(message.time)    → True in March and until the 15th

An answer holds as many rows as were asked for, `MOST_ROWS` at most, and fewer where its JSON
would be longer than `MOST_CHARACTERS`: an assistant's own memory is what it fills.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias, TypeVar

from realtalk.errors import RealtalkError
from realtalk.text.dates import days_of, typed_date

T = TypeVar("T")
JsonObject: TypeAlias = dict[str, Any]

MOST_CHARACTERS = 30_000  # of the JSON of any answer
MOST_ROWS = 200
_ROOM = 400  # for what stands around the rows


def encode(value: Mapping[str, Any]) -> str:
    """The answer as compact JSON; half a character, as some exports hold, becomes a mark."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace").decode()


def rounded(value: Any) -> Any:
    """Numbers no longer than they tell: 0.38461538 → 0.385, 12.3456 → 12.35; infinity is none."""
    if isinstance(value, Mapping):
        return {name: rounded(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(own) for own in value]
    if not isinstance(value, float | Decimal):
        return value
    number = float(value)
    if not math.isfinite(number):
        return None
    return round(number, 2) if abs(number) >= 1 else float(f"{number:.3g}")


def check_page(offset: int, limit: int) -> None:
    """Raises where the bounds of a page are none."""
    if not 1 <= limit <= MOST_ROWS:
        raise RealtalkError(f"'limit' goes from 1 to {MOST_ROWS}")
    if offset < 0:
        raise RealtalkError("'offset' must be 0 or more")


def page(
    head: Mapping[str, Any],
    name: str,
    values: Sequence[T],
    row: Callable[[T], Mapping[str, Any]],
    offset: int,
    limit: int,
) -> JsonObject:
    """The answer `head` with the values from `offset` on as rows under `name`."""
    room = MOST_CHARACTERS - _ROOM - len(encode(head))
    rows: list[Mapping[str, Any]] = []
    for value in values[offset : offset + limit]:
        new = row(value)
        size = len(encode(new)) + 1
        if size > room and rows:
            break
        rows.append(new if size <= room else _shorten(new, room))
        room -= size
    end = offset + len(rows)
    following = {"next_offset": end} if rows and end < len(values) else {}
    return {**head, name: rows, "total": len(values), **following}


def _shorten(row: Mapping[str, Any], room: int) -> JsonObject:
    """One row that fills an answer alone: its longest text is cut."""
    texts = {name: value for name, value in row.items() if isinstance(value, str)}
    name = max(texts, key=lambda field: len(texts[field]))
    text, rest = texts[name], len(encode({**row, name: "", "cut": True}))
    while len(encode({name: text})) + rest > room and text:  # a letter takes up to six signs
        text = text[: len(text) * 9 // 10]
    return {**row, name: f"{text}…", "cut": True}


class Period(NamedTuple):
    """Days from `first` to `last`, both included; None where an end is open."""

    first: date | None = None
    last: date | None = None

    @classmethod
    def of(cls, since: str = "", until: str = "") -> Period:
        """The period between two dates as they are typed; "" is an open end."""
        first = days("since", since)[0] if since.strip() else None
        last = days("until", until)[1] if until.strip() else None
        if first and last and last < first:
            raise RealtalkError("'until' lies before 'since'")
        return cls(first, last)

    def holds(self, moment: datetime | None) -> bool:
        """Whether a moment is in the period; without a time it is in none that has an end."""
        if moment is None:
            return self.first is None and self.last is None
        return (self.first or date.min) <= moment.date() <= (self.last or date.max)


def days(name: str, text: str) -> tuple[date, date]:
    """The first and last day of a date as it is typed."""
    stated = typed_date(text)
    span = None if stated is None else days_of(stated)
    if span is None:
        raise RealtalkError(f"'{name}' is no date", fix="write 2026-03-02, 2026-03 or 2026")
    return span
