"""Time stamps of unknown make into wall-clock times.

    parse_stamp("2021-11-03T07:37:48Z")  → 2021-11-03 07:37:48
    parse_stamp("2021-11-03 07:37")      → 2021-11-03 07:37
    parse_stamp(1635925068)              → 2021-11-03 07:37:48 (seconds; also ms, µs, digits)
    parse_stamp("3.11.21, 7:37", order="dmy") → 2021-11-03 07:37
    parse_stamp("yesterday")             → None

A stamp that names its offset keeps the clock it was written in, unless a time zone is
given: then it is converted to that zone, as epoch stamps are (UTC without one).
"""

from __future__ import annotations

import re
from datetime import datetime
from zoneinfo import ZoneInfo

from realtalk.corpora.json_input import from_epoch
from realtalk.corpora.reading import DateOrder

_DIGITS = re.compile(r"[+-]?[0-9]{1,17}(?:\.[0-9]{1,9})?")
_NUMERIC = re.compile(
    r"([0-9]{1,4})[./-]([0-9]{1,2})[./-]([0-9]{1,4})"
    r"(?:,?[ T]\s*([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]{1,9})?)?"
    r"(?:\s*([ap])\.?\s?m\.?)?)?",
    re.IGNORECASE,
)
_LATEST_SECONDS = 1e11  # the year 5138; larger numbers count milliseconds or microseconds
_LATEST_MILLISECONDS = 1e14


def _epoch(number: float, tz: ZoneInfo | None) -> datetime | None:
    size = abs(number)
    if size >= _LATEST_MILLISECONDS:
        number /= 1_000_000
    elif size >= _LATEST_SECONDS:
        number /= 1000
    return from_epoch(number, tz)


def parse_stamp(
    value: object, tz: ZoneInfo | None = None, order: DateOrder | None = None
) -> datetime | None:
    """The time that a stamp states, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _epoch(value, tz)
    if not isinstance(value, str):
        return None
    text = value.strip()
    if _DIGITS.fullmatch(text) and not (len(text) == 8 and text.startswith(("19", "20"))):
        return _epoch(float(text), tz)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return moment
        return (moment if tz is None else moment.astimezone(tz)).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return _by_order(text, order)


def _by_order(text: str, order: DateOrder | None) -> datetime | None:
    match = _NUMERIC.fullmatch(text)
    if match is None:
        return None
    parts = (int(match[1]), int(match[2]), int(match[3]))
    if len(match[1]) == 4:
        order = "ymd"
    if order is None:
        return None
    day, month, year = (parts[order.index(part)] for part in "dmy")
    if year < 100:
        year += 2000 if year < 70 else 1900
    hour = int(match[4] or 0)
    if half := (match[7] or "").lower():
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half == "p" else 0)
    try:
        return datetime(year, month, day, hour, int(match[5] or 0), int(match[6] or 0))
    except ValueError:
        return None


def date_order(stamps: list[str]) -> tuple[DateOrder | None, bool]:
    """(day or month first, whether the stamps prove it); None where no stamp asks for it."""
    asked = False
    for stamp in stamps:
        match = _NUMERIC.fullmatch(stamp.strip())
        if match is None or len(match[1]) == 4:
            continue
        asked = True
        if int(match[1]) > 12:
            return "dmy", True
        if int(match[2]) > 12:
            return "mdy", True
    return ("dmy", False) if asked else (None, True)
