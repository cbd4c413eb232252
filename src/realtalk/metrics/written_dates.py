"""Calendar dates as they are written in text, whatever their dress.

    find_dates("On the 19th of January, 2024")  → [FoundDate(3, 28, PartialDate(2024, 1, 19))]
    find_dates("19.01.2024 or Jan 2024")        → PartialDate(2024, 1, 19), PartialDate(2024, 1)

What is not written is left out: `13 August` has no year. A number that only may be a date (a
price, a version, a phone number) is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["DAYS_IN", "MONTHS", "FoundDate", "PartialDate", "find_dates", "leap"]

MONTHS = tuple(
    """January February March April May June July August September October November
    December""".split()  # noqa: SIM905 - words read better than quotes
)

DAYS_IN = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?![a-z])\.?"
)
_WEEKDAY = (
    r"(?:mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?"
    r"|sat(?:urday)?|sun(?:day)?)(?![a-z])\.?"
)
_DAY = r"(?P<d>\d{1,2})(?!\d)(?:st|nd|rd|th)?(?![a-z])"
_YEAR = r"(?P<y>\d{4}|[’']\d{2})(?!\d)"
_LEAD = rf"(?:{_WEEKDAY},?\s+(?:the\s+)?|the\s+)?"
_NOT_IN_NUMBER = r"(?<![\w.,:/$€£-])"
_END = r"(?![\w%]|[.,:/-]\d)"


@dataclass(frozen=True, slots=True)
class PartialDate:
    """A date as far as it is told: `January 2024` has no day, `13 August` no year."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def fields(self) -> int:
        """How many of the three are told."""
        return sum(field is not None for field in (self.year, self.month, self.day))

    def agreement(self, other: PartialDate) -> float:
        """1 for the same date, 0 where a field that both tell differs or none is shared.

        In between, the shared fields against all that are told: `January 2024` and
        `19 January 2024` share two of two and two of three, 0.8.
        """
        shared = 0
        pairs = ((self.year, other.year), (self.month, other.month), (self.day, other.day))
        for mine, theirs in pairs:
            if mine is not None and theirs is not None:
                if mine != theirs:
                    return 0.0
                shared += 1
        return 2 * shared / (self.fields + other.fields) if shared else 0.0


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date and where it stands: `text[start:end]`."""

    start: int
    end: int
    value: PartialDate


# Most telling first: what an earlier pattern took, a later one does not see.
_WRITTEN = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_NOT_IN_NUMBER}(?P<y>\d{{4}})[-/.](?P<n>\d{{1,2}})[-/.](?P<d>\d{{1,2}})(?!\d)",
        rf"{_NOT_IN_NUMBER}{_LEAD}(?P<a>\d{{1,2}})(?P<s>[./-])(?P<b>\d{{1,2}})(?P=s)"
        r"(?P<y>\d{4}|\d{2})(?![\d/-]|\.\d)",
        rf"(?<![\w.:]){_LEAD}{_DAY}(?:\s+of|,)?[\s-]*(?P<m>{_MONTH})(?:,?[\s-]*(?:of\s+)?{_YEAR})?",
        rf"(?<![\w]){_LEAD}{_DAY.replace('(?![a-z])', '')}(?P<m>{_MONTH})(?:,?[\s-]*{_YEAR})?",
        rf"(?<![\w]){_LEAD}(?P<m>{_MONTH}),?[\s-]*(?:the\s+)?{_DAY}(?!:)(?:,?[\s-]*{_YEAR})?",
        rf"(?<![\w])(?P<m>{_MONTH}),?[\s-]*(?:of\s+)?{_YEAR}",
        rf"{_NOT_IN_NUMBER}(?P<n>0\d|1[0-2])[./](?P<y>(?:19|20)\d{{2}}){_END}",
        rf"{_NOT_IN_NUMBER}{_LEAD}(?P<d>[0-3]\d)\.(?P<n>[01]\d)(?:{_END}|(?=\.\s|\.$))",
        rf"{_NOT_IN_NUMBER}(?P<y>(?:19|20)\d{{2}})(?:{_END}|(?=s?[.,]\s))",
        rf"(?:(?<=\bin )|(?<=\bsince )|(?<=\buntil )|(?<=\bby )|(?<=\bof )|(?<=\blast )"
        rf"|(?<=\bnext )|(?<=\bthis )|(?<=\bearly )|(?<=\blate )|(?<=\bduring )|^)(?P<m>{_MONTH})"
        r"(?=$|[^\w'’])",
    )
)
_BARE_MONTH = _WRITTEN[-1]


def find_dates(text: str, dayfirst: bool = True) -> list[FoundDate]:
    """Every written date, in the order of the text; `dayfirst` reads 01/02/2024 as 1 February.

    Dotted dates always begin with the day, and a number above 12 is never a month.
    """
    taken = bytearray(len(text))
    found: list[FoundDate] = []
    for pattern in _WRITTEN:
        for match in pattern.finditer(text):
            start, end = match.span()
            if any(taken[start:end]):
                continue
            if pattern is _BARE_MONTH and start == 0 and end < len(text.rstrip(" .!?")):
                continue  # "May I ask" begins with no month; an answer "May" is one
            value = _value(match, dayfirst)
            if value is not None:
                taken[start:end] = b"\1" * (end - start)
                found.append(FoundDate(start, end, value))
    return sorted(found, key=lambda one: one.start)


def _value(match: re.Match[str], dayfirst: bool) -> PartialDate | None:
    told = {name: text for name, text in match.groupdict().items() if text}
    year = month = day = None
    if "y" in told:
        digits = told["y"].lstrip("’'")
        year = int(digits)
        if len(digits) == 2:
            year += 2000 if year < 70 else 1900
    if "m" in told:
        month = _month(told["m"])
    elif "n" in told:
        month = int(told["n"])
    if "d" in told:
        day = int(told["d"])
    if "a" in told:
        day, month = int(told["a"]), int(told["b"])
        swap = (not dayfirst and told["s"] != ".") or month > 12
        if swap and day <= 12:
            day, month = month, day
    if month is not None and not 1 <= month <= 12:
        return None
    if day is not None:
        if month is None or not 1 <= day <= DAYS_IN[month - 1]:
            return None
        if year is not None and month == 2 and day == 29 and not leap(year):
            return None
    if year is not None and not 1 <= year <= 9999:
        return None
    return PartialDate(year, month, day)


def _month(text: str) -> int:
    head = text[:3].lower()
    return next(number for number, name in enumerate(MONTHS, 1) if name.lower().startswith(head))


def leap(year: int) -> bool:
    """Whether a year has a 29 February."""
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
