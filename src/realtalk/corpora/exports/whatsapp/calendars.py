"""A year, month and day of the calendars that phones write, as a day of our calendar.

    ordinal(2563, 6, 20, "buddhist")  → that of 20 June 2020
    ordinal(1399, 3, 31, "persian")   → that of 20 June 2020
    calendar_of([1398, 1399], 2024)   → "persian"

The Islamic calendar is computed by the tabular rule, which can be a day off what a
phone in Saudi Arabia shows; the reader says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from statistics import median_low
from typing import Literal

Calendar = Literal["gregorian", "buddhist", "persian", "islamic"]

_BUDDHIST = 543
_PERSIAN_EPOCH = date(622, 3, 21).toordinal()
_ISLAMIC_EPOCH = date(622, 7, 19).toordinal()
# Leap years inside the 33-year round that holds from 1799 to 2256.
_PERSIAN_LEAP = (1, 5, 9, 13, 17, 22, 26, 30)


def calendar_of(years: Sequence[int], latest: int) -> Calendar:
    """Which calendar these years are counted in; `latest` is our own current year."""
    if not years:
        return "gregorian"
    middle = median_low(years)
    if middle >= 2400:
        return "buddhist"
    if 1380 <= middle < 1425:
        return "persian"
    if 1425 <= middle <= 1500:
        return "islamic"
    # Two digits: 63 is 2563 of the Buddhist era where 2063 has not come yet.
    if latest % 100 + 1 < middle < 100 and 52 <= middle <= (latest + _BUDDHIST) % 100:
        return "buddhist"
    return "gregorian"


def ordinal(year: int, month: int, day: int, calendar: Calendar) -> int | None:
    """The day's number (date.toordinal), or None where there is no such day."""
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    if calendar == "buddhist":
        year += (2500 if year < 100 else 0) - _BUDDHIST
    elif calendar == "persian":
        return _persian(year, month, day)
    elif calendar == "islamic":
        return _islamic(year, month, day)
    elif year < 100:
        year += 2000
    if not 1970 <= year <= 2199:
        return None
    try:
        return date(year, month, day).toordinal()
    except ValueError:
        return None


def _persian(year: int, month: int, day: int) -> int | None:
    leap = year % 33 in _PERSIAN_LEAP
    length = 31 if month <= 6 else 30 if month < 12 or leap else 29
    if not 1300 <= year <= 1500 or day > length:
        return None
    rounds, rest = divmod(year - 1, 33)
    leaps = 8 * rounds + sum(1 for place in _PERSIAN_LEAP if place <= rest)
    before = 31 * (month - 1) if month <= 7 else 186 + 30 * (month - 7)
    return _PERSIAN_EPOCH + 365 * (year - 1) + leaps + before + day - 1


def _islamic(year: int, month: int, day: int) -> int | None:
    if not 1300 <= year <= 1600 or day > 30:
        return None
    days = 29 * (month - 1) + month // 2 + (year - 1) * 354 + (3 + 11 * year) // 30
    return _ISLAMIC_EPOCH + days + day - 1
