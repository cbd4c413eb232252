"""Two typed dates → a period that messages are in, or not.

    Period.of("2026-03", "15 April 2026").holds(message.time)    → True in March and until the 15th

Either end may be left open. A message without a time is in no period that has an end.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from realtalk.errors import RealtalkError
from realtalk.text.dates import days_of, typed_date


@dataclass(frozen=True, slots=True)
class Period:
    """Days from `first` to `last`, both included; None where an end is open."""

    first: date | None = None
    last: date | None = None

    @classmethod
    def of(cls, since: str = "", until: str = "") -> Period:
        """The period between two dates as they are typed; "" is an open end."""
        period = cls(
            days("since", since)[0] if since.strip() else None,
            days("until", until)[1] if until.strip() else None,
        )
        if period.first and period.last and period.last < period.first:
            raise RealtalkError("'until' lies before 'since'")
        return period

    @property
    def is_open(self) -> bool:
        return self.first is None and self.last is None

    def holds(self, moment: datetime | None) -> bool:
        """Whether a moment is in the period."""
        if moment is None:
            return self.is_open
        day = moment.date()
        return (self.first is None or self.first <= day) and (self.last is None or day <= self.last)

    def to_json(self) -> dict[str, str | None]:
        return {
            "since": None if self.first is None else self.first.isoformat(),
            "until": None if self.last is None else self.last.isoformat(),
        }


def days(name: str, text: str) -> tuple[date, date]:
    """The first and last day of a date as it is typed."""
    told = typed_date(text)
    found = None if told is None else days_of(told)
    if found is None:
        raise RealtalkError(f"'{name}' is no date", fix="write 2026-03-02, 2026-03 or 2026")
    return found
