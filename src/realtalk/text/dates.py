"""Calendar dates as people write them in text, in many notations.

    find_dates("On the 19th of January, 2024")  → [FoundDate(3, 28, PartialDate(2024, 1, 19))]
    find_dates("19.01.2024 or Jan 2024")        → PartialDate(2024, 1, 19), PartialDate(2024, 1)
    find_dates("28 Dec to 2 Jan 2024")    → PartialDate(2023, 12, 28), PartialDate(2024, 1, 2)
    typed_date("02.03.2026")              → PartialDate(2026, 3, 2): a text that is a date
    days_of(PartialDate(2026, 3))         → (date(2026, 3, 1), date(2026, 3, 31))

What is not written is left out: `13 August` has no year. A number that only may be a date (a
price, a version, a phone number) is none. Both ends of a range are dates, and what one end
leaves to the other is filled in: `3-5 May 2023` are two days of that month, and a range that
passes a new year ends in the later one. So are dates in a row: `3, 4 and 6 May`.
"""

from __future__ import annotations

import re
from calendar import isleap, monthrange
from collections.abc import Iterator, Sequence
from datetime import MAXYEAR, date
from itertools import pairwise
from typing import NamedTuple

from realtalk.text.calendars import month_number

_LEAP = 2024  # a year that has every day
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
_PLAIN_YEAR = r"(?:\d{4}|[’']\d{2})(?!\d)"
_SHORT_END = r"\s*(?:$|[.!?;)\n]|,(?!\s*\d{1,2}(?!\d)))"


class PartialDate(NamedTuple):
    """A date as far as it is stated: `January 2024` has no day, `13 August` no year."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def fields(self) -> int:
        """How many of the three are stated."""
        return sum(field is not None for field in self)

    def agreement(self, other: PartialDate) -> float:
        """1 for the same date, 0 where a field that both state differs or none is shared.

        In between, the shared fields against all that are stated: `January 2024` and
        `19 January 2024` share two of two and two of three, 0.8.
        """
        pairs = zip(self, other, strict=True)
        shared = [mine == theirs for mine, theirs in pairs if None not in (mine, theirs)]
        if not shared or not all(shared):
            return 0.0
        return 2 * len(shared) / (self.fields + other.fields)


class FoundDate(NamedTuple):
    """A date and where it stands: `text[start:end]`."""

    start: int
    end: int
    value: PartialDate


_Dates = list[FoundDate]


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


# Most telling first: what an earlier pattern took, a later one does not see.
_WRITTEN = tuple(
    _compile(pattern)
    for pattern in (
        rf"{_NOT_IN_NUMBER}(?P<y>\d{{4}})[-/.](?P<n>\d{{1,2}})[-/.](?P<d>\d{{1,2}})(?!\d)",
        rf"{_NOT_IN_NUMBER}{_LEAD}(?P<a>\d{{1,2}})(?P<s>[./-])(?P<b>\d{{1,2}})(?P=s)"
        r"(?P<y>\d{4}|\d{2})(?![\d/]|\.\d|-(?!\d{1,2}[./-]\d{1,2}[./-]\d{2}))",
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

# What stands between the ends of a range, and between dates in a row. Only a range may pass a
# new year from its first end to the second.
_DASH = r"[-–—−]"
_RANGE = rf"(?:\s*{_DASH}\s*|\s+(?:up\s+)?(?:to|till?|until|through|thru)\s+)"
_ROW = r"(?:\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+|\s*&\s*)"
_AGAIN = rf"(?:on\s+)?(?:{_WEEKDAY},?\s+)?(?:the\s+)?"
_PLAIN_DAY = r"\d{1,2}(?!\d)(?:st|nd|rd|th)?(?![a-z])"
# A row has an end, so that a page of numbers is read in one go.
_DAYS = rf"(?P<days>{_PLAIN_DAY}(?:(?:{_RANGE}|{_ROW}){_AGAIN}{_PLAIN_DAY}){{1,6}})"
# Behind "May 3 to" and "May 3," a number may be an hour or a crowd: "May 3 to 5 pm".
_DAYS_END = rf"(?!\s*(?:[ap]\.?m\b|:\d|o['’]clock|%|{_MONTH}))(?={_SHORT_END}|,?\s*{_PLAIN_YEAR})"
_OPEN = r"(?<![\w.:/$€£-])"
_FULL_YEAR = r"(?:19|20)\d{2}"
_DAYS_FIRST = _compile(
    rf"{_OPEN}{_LEAD}{_DAYS}(?:\s+of|,)?[\s-]*(?P<m>{_MONTH})(?:,?[\s-]*(?:of\s+)?{_YEAR})?"
)
_DAYS_LAST = _compile(
    rf"(?<!\w)(?P<m>{_MONTH}),?\s*(?:the\s+)?{_DAYS}{_DAYS_END}(?:,?[\s-]*(?:of\s+)?{_YEAR})?"
)
# "May 28 - June 2, 2023": without it, "28 - June" would be a day of June.
_MONTHS_FIRST = _compile(
    rf"(?<!\w)(?P<one>(?P<m>{_MONTH}),?\s*(?:the\s+)?{_DAY})(?:{_RANGE}|{_ROW}){_AGAIN}"
    rf"(?P<other>{_MONTH},?\s*(?:the\s+)?{_PLAIN_DAY}(?!:)(?:,?[\s-]*{_PLAIN_YEAR})?)"
)
_MONTHS = _compile(
    rf"(?<!\w)(?P<one>(?P<m>{_MONTH}))(?:{_RANGE}|\s+(?:and|or)\s+|\s*[&/]\s*)"
    rf"(?P<other>{_MONTH},?[\s-]*(?:of\s+)?{_PLAIN_YEAR})"
)
_DAY_BEFORE = _compile(r"\d(?:st|nd|rd|th)?(?:\s+of)?[\s-]*$")
_FIGURES = _compile(
    rf"{_OPEN}(?P<one>\d{{1,2}}(?:\.|(?P<s>[./])(?P<b>\d{{1,2}})\.?)?)(?:{_RANGE}|(?<=\.)/)"
    r"(?P<other>\d{1,2}(?P<t>[./])\d{1,2}(?P=t)(?:\d{4}|\d{2})(?![\d/-]|\.\d))"
)
_YEARS = _compile(
    rf"{_OPEN}(?P<one>{_FULL_YEAR})(?:{_RANGE}(?P<other>{_FULL_YEAR})|{_DASH}(?P<short>\d{{2}})){_END}"
)
_LISTED = _compile(rf"(?:{_WEEKDAY},?\s+)?(?:the\s+)?(?P<number>\d+)(?:st|nd|rd|th)?")
_COMMAS = _compile(r"[\s\dsthnrd]+,[\s\dsthnrd]+")
_NEXT = re.compile(rf"\s*(?:{_DASH}|/|\.\.+)\s*")
_BETWEEN_RANGE = _compile(rf"{_RANGE}{_AGAIN}")
_BEGINS = _compile(r"\bbetween\s+(?:the\s+)?$")
_BETWEEN_ROW = _compile(rf"{_ROW}{_AGAIN}")


def find_dates(text: str, dayfirst: bool = True) -> _Dates:
    """Every written date, in the order of the text; `dayfirst` reads 01/02/2024 as 1 February.

    Dotted dates always begin with the day, and a number above 12 is never a month.
    """
    covered = bytearray(len(text))
    candidates: _Dates = []

    def take(dates: Sequence[FoundDate]) -> None:
        if dates and not any(covered[dates[0].start : dates[-1].end]):
            start, end = dates[0].start, dates[-1].end
            covered[start:end] = b"\1" * (end - start)
            candidates.extend(dates)

    for dates in _ranges(text, dayfirst):
        take(dates)
    for pattern in _WRITTEN:
        for match in pattern.finditer(text):
            take(_single(match, dayfirst, text))
    for first in tuple(candidates):
        take(_behind(first, text, dayfirst))
    return _fill_years(sorted(candidates, key=lambda match: match.start), text)


def _single(match: re.Match[str], dayfirst: bool, text: str, offset: int = 0) -> _Dates:
    start, end = match.span()
    if match.re is _BARE_MONTH and start + offset == 0 and end < len(text.rstrip(" .!?")):
        return []  # "May I ask" begins with no month; an answer "May" is one
    value = _value(match, dayfirst)
    return [] if value is None else [FoundDate(start + offset, end + offset, value)]


def _behind(first: FoundDate, text: str, dayfirst: bool) -> _Dates:
    """The date behind a dash behind a date, which alone might be any number."""
    dash = _NEXT.match(text, first.end)
    if dash is None:
        return []
    rest = text[dash.end() :]
    for pattern in _WRITTEN[:-1]:
        match = pattern.match(rest)
        if match is not None and (single := _single(match, dayfirst, text, dash.end())):
            return single
    return []


def _ranges(text: str, dayfirst: bool) -> Iterator[_Dates]:
    """Dates of which one states the month or the year for others."""
    for pattern in (_DAYS_FIRST, _DAYS_LAST):
        for match in pattern.finditer(text):
            yield _days(match, dayfirst)
    for pattern in (_MONTHS_FIRST, _MONTHS):
        for match in pattern.finditer(text):
            if pattern is _MONTHS and _DAY_BEFORE.search(
                text, max(0, match.start() - 20), match.start()
            ):
                continue  # "5 May - June 2023" is a day and a month
            values = _value(match, dayfirst), _first(match["other"], dayfirst)
            yield [
                FoundDate(*match.span(name), value)
                for name, value in zip(("one", "other"), values, strict=True)
                if value and all(values)
            ]
    for match in _FIGURES.finditer(text):
        yield _figures(match, dayfirst)
    for match in _YEARS.finditer(text):
        one_year, name = int(match["one"]), "other" if match["other"] else "short"
        last = int(match[name]) + (one_year // 100 * 100 if name == "short" else 0)
        # "2021-12" is a month of that year, "2021-23" two years.
        if last > one_year and (name == "other" or int(match[name]) > 12):
            yield [
                FoundDate(*match.span("one"), PartialDate(one_year)),
                FoundDate(*match.span(name), PartialDate(last)),
            ]


def _first(text: str, dayfirst: bool) -> PartialDate | None:
    return next((match.value for match in find_dates(text, dayfirst)), None)


def _days(match: re.Match[str], dayfirst: bool) -> _Dates:
    """Days of one month: each a date; days that fall or leave the month do not count."""
    listed = list(_LISTED.finditer(match["days"]))
    days = [int(day["number"]) for day in listed]
    # "page 3, 5 May": a comma alone joins no two days.
    if _COMMAS.fullmatch(match["days"]) or any(
        earlier >= later for earlier, later in pairwise(days)
    ):
        return []
    begin = match.start("days")
    dates = [
        FoundDate(begin + day.start(), begin + day.end(), value)
        for day in listed
        if (value := _value(match, dayfirst, day=day["number"]))
    ]
    if len(dates) < len(listed):
        return []
    dates[0] = dates[0]._replace(start=match.start())
    dates[-1] = dates[-1]._replace(end=match.end())
    return dates


def _figures(match: re.Match[str], dayfirst: bool) -> _Dates:
    """ "3.-5.05.2023" and "03.05.-05.05.2023"."""
    last = _first(match["other"], dayfirst)
    if last is None or (match["s"] is not None and match["s"] != match["t"]):
        return []
    number = match["one"].rstrip(".")
    if match["b"] is None:
        if match["t"] == "/" or last.day is None or not 1 <= int(number) < last.day:
            return []  # "2 to 3/5/2023" counts something
        value = last._replace(day=int(number))
    elif same_year := _first(f"{number}{match['s']}{_LEAP}", dayfirst):
        value = same_year._replace(year=None)
    else:
        return []
    return [FoundDate(*match.span("one"), value), FoundDate(*match.span("other"), last)]


def _fill_years(dates: _Dates, text: str) -> _Dates:
    """Years that one date leaves to its neighbour."""
    filled = list(dates)
    for place in range(len(filled) - 2, -1, -1):
        earlier, later = filled[place], filled[place + 1]
        if earlier.value.year is None and later.value.year is not None:
            between = text[earlier.end : later.start]
            late = _later(earlier.value, later.value)
            row = _BETWEEN_ROW.fullmatch(between) is not None
            # "between" makes "and" a range; else a row goes on in one year.
            if row and late:
                row = _BEGINS.search(text, max(0, earlier.start - 20), earlier.start) is not None
            if row or _BETWEEN_RANGE.fullmatch(between):
                filled[place] = _with_year(earlier, later.value.year - late)
    for place in range(1, len(filled)):
        earlier, later = filled[place - 1], filled[place]
        is_range = _BETWEEN_RANGE.fullmatch(text[earlier.end : later.start])
        if is_range and earlier.value.year is not None and later.value.year is None:
            filled[place] = _with_year(
                later, earlier.value.year + _later(earlier.value, later.value)
            )
    return filled


def _later(earlier: PartialDate, later: PartialDate) -> bool:
    """Whether a day of the year comes after another, as far as both are stated."""
    if earlier.month is None or later.month is None or earlier.month != later.month:
        return (earlier.month or 0) > (later.month or 12)
    return earlier.day is not None and later.day is not None and earlier.day > later.day


def _with_year(match: FoundDate, year: int) -> FoundDate:
    if (match.value.month, match.value.day) == (2, 29) and not isleap(year):
        return match
    return match._replace(value=match.value._replace(year=year)) if 1 <= year <= 9999 else match


def _value(match: re.Match[str], dayfirst: bool, day: str = "") -> PartialDate | None:
    fields = {name: text for name, text in match.groupdict().items() if text}
    year = month = None
    if "y" in fields:
        digits = fields["y"].lstrip("’'")
        year = int(digits)
        if len(digits) == 2:
            year += 2000 if year < 70 else 1900
    if "m" in fields:
        month = month_number(fields["m"])
    elif "n" in fields:
        month = int(fields["n"])
    day = day or fields.get("d", "")
    number = int(day) if day else None
    if "a" in fields:
        number, month = int(fields["a"]), int(fields["b"])
        swap = (not dayfirst and fields["s"] != ".") or month > 12
        if swap and number <= 12:
            number, month = month, number
    if month is not None and not 1 <= month <= 12:
        return None
    if year is not None and not 1 <= year <= 9999:
        return None
    if number and month and number <= monthrange(year or _LEAP, month)[1]:
        return PartialDate(year, month, number)
    return PartialDate(year, month) if number is None else None


# What somebody types for a day, a month or a year → the days that are meant.
#
# typed_date("2 March 2026")     → PartialDate(2026, 3, 2)
# typed_date("02.03.2026")       → the same: days come before months
# typed_date("2026-03")          → PartialDate(2026, 3)
# typed_date("the red bicycle")  → None, and so is a text that only holds a date
# days_of(PartialDate(2026, 3))  → (date(2026, 3, 1), date(2026, 3, 31))

_LONGEST = 40  # letters; a date is shorter, and a page of text need not be looked at
_YEAR_MONTH = re.compile(r"(\d{4})-(\d{1,2})\Z")
_ENDS = " \t.,"


def typed_date(text: str) -> PartialDate | None:
    """The date that a text is, as far as it is stated; None of anything else."""
    phrase = text.strip(_ENDS)
    if not 0 < len(phrase) <= _LONGEST:
        return None
    if match := _YEAR_MONTH.match(phrase):
        year, month = int(match[1]), int(match[2])
        return PartialDate(year, month) if year and 1 <= month <= 12 else None
    dates = find_dates(phrase)
    if len(dates) == 1 and (dates[0].start, dates[0].end) == (0, len(phrase)):
        return dates[0].value
    return None


def days_of(stated: PartialDate) -> tuple[date, date] | None:
    """The first and the last day of a date that has a year; None of one without."""
    if stated.year is None or not 1 <= stated.year <= MAXYEAR:
        return None
    first = date(stated.year, stated.month or 1, stated.day or 1)
    if stated.day is not None:
        return first, first
    last = stated.month or 12
    return first, date(stated.year, last, monthrange(stated.year, last)[1])
