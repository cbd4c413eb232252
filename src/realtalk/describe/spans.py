"""Days with messages → streaks and silences.

streaks_and_silences([2 March, 3 March, 7 March])
→ ([DaySpan(2 March, 3 March), DaySpan(7 March, 7 March)], [DaySpan(4 March, 6 March)])
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import NamedTuple

_DAY = timedelta(days=1)


class DaySpan(NamedTuple):
    """Days from `first` to `last`, both included."""

    first: date
    last: date

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1


def streaks_and_silences(dates: Iterable[date]) -> tuple[list[DaySpan], list[DaySpan]]:
    """Days in a row with messages, and days in a row without between them, oldest first."""
    streaks: list[DaySpan] = []
    silences: list[DaySpan] = []
    for day in sorted(set(dates)):
        if streaks and day - streaks[-1].last == _DAY:
            streaks[-1] = DaySpan(streaks[-1].first, day)
        else:
            if streaks:
                silences.append(DaySpan(streaks[-1].last + _DAY, day - _DAY))
            streaks.append(DaySpan(day, day))
    return streaks, silences
