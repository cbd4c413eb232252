"""What somebody types for a day, a month or a year → the days that are meant.

typed_date("2 March 2026")     → PartialDate(2026, 3, 2)
typed_date("02.03.2026")       → the same: days come before months
typed_date("2026-03")          → PartialDate(2026, 3)
typed_date("the red bicycle")  → None, and so is a text that only holds a date
days_of(PartialDate(2026, 3))  → (date(2026, 3, 1), date(2026, 3, 31))
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import MAXYEAR, date

from realtalk.metrics.written_dates import PartialDate, find_dates

_LONGEST = 40  # letters; a date is shorter, and a page of text need not be looked at
_YEAR_MONTH = re.compile(r"(\d{4})-(\d{1,2})\Z")
_ENDS = " \t.,"


def typed_date(text: str) -> PartialDate | None:
    """The date that a text is, as far as it is stated; None of anything else."""
    wanted = text.strip(_ENDS)
    if not 0 < len(wanted) <= _LONGEST:
        return None
    if match := _YEAR_MONTH.match(wanted):
        year, month = int(match[1]), int(match[2])
        return PartialDate(year, month) if year and 1 <= month <= 12 else None
    found = find_dates(wanted)
    whole = [each for each in found if (each.start, each.end) == (0, len(wanted))]
    return whole[0].value if len(found) == len(whole) == 1 else None


def days_of(told: PartialDate) -> tuple[date, date] | None:
    """The first and the last day of a date that has a year; None of one without."""
    if told.year is None or not 1 <= told.year <= MAXYEAR:
        return None
    first = date(told.year, told.month or 1, told.day or 1)
    if told.day is not None:
        return first, first
    last = told.month or 12
    return first, date(told.year, last, monthrange(told.year, last)[1])
