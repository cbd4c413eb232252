"""What "last friday" meant when it was said, in days of the calendar.

    resolve("got it two days ago", datetime(2024, 1, 19, 9, 30))
    → [ResolvedDate(7, 19, date(2024, 1, 17), date(2024, 1, 17), "day", "two days ago")]
    find_dates("19.01.2024")   → [FoundDate(0, 10, PartialDate(2024, 1, 19))]

`resolve` reads a message as said at a time and always ends in days: one day, or the first and
the last of a week, month, season or year. Rules, English, and a choice where people differ:
weeks begin on Monday, "last friday" is the nearest one before today and "next friday" the
nearest after, "on friday" looks back in a sentence with a past verb and ahead in others.
Written dates (`find_dates`) are resolved too; a year that is not stated is the nearest.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Literal, NamedTuple, TypeAlias

from realtalk.text.dates import PartialDate, find_dates

Precision: TypeAlias = Literal["day", "weekend", "week", "month", "season", "year", "about"]


class ResolvedDate(NamedTuple):
    """An expression of time and the days it means, `first` to `last`.

    `about` is a precision too: "a few days ago" has days that are only likely.
    """

    start: int
    end: int
    first: date
    last: date
    precision: Precision
    text: str


_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_FULL_WEEKDAY = (
    r"(?P<w>mon(?:day)?|tues?(?:day)?|wed(?:s|nesday)?|thu(?:rs?)?(?:day)?|fri(?:day)?"
    r"|sat(?:urday)?|sun(?:day)?)s?"
)
_SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
_NUMBERS = {
    word: number
    for number, words in enumerate(
        """
        a an one|two couple|three few|four several|five|six|seven|eight|nine|ten|eleven|twelve
        """.split("|"),  # noqa: SIM905 - words read better than quotes
        1,
    )
    for word in words.split()
}
_VAGUE = re.compile(r"couple|few|several|about|around|like|almost|nearly|or so", re.IGNORECASE)
_COUNT = (
    r"(?:(?:about|around|like|almost|nearly)\s+)?(?P<n>\d{1,3}|a\s+couple(?:\s+of)?|"
    r"couple(?:\s+of)?|a\s+few|several|few|an?|"
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
_UNIT = r"(?P<u>day|night|week|weekend|month|year|yr|wk)s?"
_PAST = re.compile(
    r"\b(?:was|were|did|had|went|got|saw|came|made|ate|took|met|bought|left|said|told|found"
    r"|ended|been|won|ran|gave|began|drove|flew|spent|taught|held|lost|caught|felt|broke|\w{3,}ed)\b",
    re.IGNORECASE,
)
_HOLIDAYS = {
    "new year's eve": "12-31",
    "nye": "12-31",
    "new year's day": "1-1",
    "christmas eve": "12-24",
    "christmas day": "12-25",
    "christmas": "12-25",
    "halloween": "10-31",
    "valentine's day": "2-14",
}

Days: TypeAlias = tuple[date, date, Precision]
DateRule: TypeAlias = Callable[[re.Match[str], date, bool], Days | None]


def _one(day: date) -> Days:
    return day, day, "day"


def _shift(months: int, today: date) -> date:
    """The same day some months away, or the last one of a shorter month."""
    year, month = divmod(today.year * 12 + today.month - 1 + months, 12)
    return date(year, month + 1, min(today.day, monthrange(year, month + 1)[1]))


def _months(first: date, count: int, precision: Precision) -> Days:
    return first, _shift(count, first) - timedelta(1), precision


def _days_counted(match: re.Match[str], today: date, _past: bool) -> Days:
    """ "two days ago", "in a couple of weeks", "3 years from now"."""
    word = match["n"].lower()
    number = int(word) if word.isdigit() else _NUMBERS[re.sub(r"\s+of$", "", word).split()[-1]]
    number *= -1 if match.re is _AGO else 1
    unit = match["u"].lower()
    vague = bool(_VAGUE.search(match[0]))
    if unit == "weekend":
        return _weekend(today + timedelta(7 * number))
    if unit in {"day", "night", "week", "wk"}:
        is_day = unit in {"day", "night"}
        day = today + timedelta(number if is_day else 7 * number)
        if vague:
            return day, day, "about"
        return _one(day) if is_day else _week(day)
    if unit == "month":
        first = _shift(number, today.replace(day=1))
        return _months(first, 1, "about" if vague else "month")
    first = date(today.year + number, 1, 1)
    return _months(first, 12, "about" if vague else "year")


def _week(day: date) -> Days:
    first = day - timedelta(day.weekday())
    return first, first + timedelta(6), "week"


def _weekend(day: date) -> Days:
    saturday = day - timedelta(day.weekday()) + timedelta(5)
    return saturday, saturday + timedelta(1), "weekend"


def _weekday(match: re.Match[str], today: date, past: bool) -> Days:
    number = _WEEKDAYS.index(match["w"][:3].lower())
    which = (match["q"] or "").lower()
    ahead = (number - today.weekday()) % 7
    if which in {"last", "past"} or (past and which in {"", "on", "this"}):
        return _one(today - timedelta((7 - ahead) if ahead else 7))
    if which in {"next", "coming"}:
        return _one(today + timedelta(ahead or 7))
    return _one(today + timedelta(ahead))


def _period(match: re.Match[str], today: date, past: bool) -> Days:
    """last, this or next week, weekend, month, year, or season."""
    which, unit = match["q"].lower(), match["u"].lower()
    step = {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1}.get(which, 0)
    if unit == "week":
        return _week(today + timedelta(7 * step))
    if unit == "weekend":
        # On a Sunday night "this weekend" and "the weekend" are the ones that end.
        back = past and step == 0 and today.weekday() < 4
        return _weekend(today + timedelta(7 * (-1 if back else step)))
    if unit == "month":
        return _months(_shift(step, today.replace(day=1)), 1, "month")
    if unit == "year":
        return _months(date(today.year + step, 1, 1), 12, "year")
    first = date(today.year, _SEASONS[unit], 1)
    end = _shift(3, first)
    if (step < 0 and end > today) or (step == 0 and past and first > today):
        first = _shift(-12, first)
    elif (step > 0 and first <= today) or (step == 0 and not past and end <= today):
        first = _shift(12, first)
    return _months(first, 3, "season")


def _day_of_month(match: re.Match[str], today: date, past: bool) -> Days | None:
    """ "on the 5th": of the month that makes it past or to come."""
    day = int(match["d"])
    for months in (0, -1, -2) if past else (0, 1, 2):
        near = _shift(months, today.replace(day=1))
        if day <= monthrange(near.year, near.month)[1]:
            day_near = near.replace(day=day)
            if (day_near <= today) if past else (day_near >= today):
                return _one(day_near)
    return None


def _holiday(match: re.Match[str], today: date, _past: bool) -> Days:
    stated = _HOLIDAYS[match[0].lower().replace("’", "'").replace("years", "year's")]
    month, day = map(int, stated.split("-"))
    near = (date(today.year + step, month, day) for step in (-1, 0, 1))
    return _one(min(near, key=lambda day: abs((day - today).days)))


def _away(days: int) -> DateRule:
    return lambda _match, today, _past: _one(today + timedelta(days))


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b{pattern}\b", re.IGNORECASE)


_AGO = _compile(rf"{_COUNT}\s+{_UNIT}(?:\s+or\s+so)?\s+(?:ago|back)")
_RELATIVE: tuple[tuple[re.Pattern[str], DateRule], ...] = (
    (_compile(r"(?:the\s+)?day\s+before\s+yesterday"), _away(-2)),
    (_compile(r"(?:the\s+)?day\s+after\s+(?:tomorrow|tmrw?|tmr)"), _away(2)),
    (_compile(r"(?:yesterday|yest|last\s+night|yesturday)"), _away(-1)),
    (_compile(r"(?:tomorrow|tommorow|tomorow|tmrw?|tmr|tmw)"), _away(1)),
    (
        _compile(r"(?:today|tonight|tonite|this\s+(?:morning|afternoon|evening)|earlier\s+today)"),
        _away(0),
    ),
    (
        _compile(r"the\s+other\s+(?:day|night)"),
        lambda _match, today, _past: (today - timedelta(3), today - timedelta(1), "about"),
    ),
    (_AGO, _days_counted),
    (_compile(rf"in\s+{_COUNT}\s+{_UNIT}(?!\s+(?:ago|back|old))"), _days_counted),
    (_compile(rf"{_COUNT}\s+{_UNIT}\s+from\s+now"), _days_counted),
    (
        _compile(r"(?P<q>last|past|previous|this|next|coming|over\s+the|the)\s+(?P<u>weekend)"),
        _period,
    ),
    (
        _compile(
            r"(?P<q>last|past|previous|this|next|coming)\s+"
            r"(?P<u>week|month|year|spring|summer|fall|autumn|winter)"
        ),
        _period,
    ),
    (_compile(rf"(?P<q>last|past|this|next|coming|on)\s+{_FULL_WEEKDAY}"), _weekday),
    (_compile(r"on\s+the\s+(?P<d>[12]?\d|3[01])(?:st|nd|rd|th)"), _day_of_month),
    (
        _compile(
            r"(?:new\s+year[’']?s\s+(?:eve|day)|nye|christmas(?:\s+(?:eve|day))?|halloween"
            r"|valentine[’']s\s+day)"
        ),
        _holiday,
    ),
)


def resolve(text: str, sent: datetime) -> list[ResolvedDate]:
    """Expressions of time in a message and the days they mean, in the order of the text."""
    today = sent.date()
    covered = bytearray(len(text))
    resolved: list[ResolvedDate] = []
    for start, end, days in (*_find_written(text, today), *_relations(text, today)):
        if not any(covered[start:end]):
            covered[start:end] = b"\1" * (end - start)
            resolved.append(ResolvedDate(start, end, *days, text[start:end]))
    return sorted(resolved, key=lambda match: match.start)


def _relations(text: str, today: date) -> Iterator[tuple[int, int, Days]]:
    for pattern, rule in _RELATIVE:
        for match in pattern.finditer(text):
            # "999 years ago" leads out of the calendar.
            with suppress(ValueError, OverflowError):
                if days := rule(match, today, _in_past(text, *match.span())):
                    yield *match.span(), days


def _in_past(text: str, start: int, end: int) -> bool:
    before = max(text.rfind(mark, 0, start) for mark in ".!?\n")
    after = min((place for mark in ".!?\n" if (place := text.find(mark, end)) >= 0), default=None)
    return bool(_PAST.search(text[before + 1 : after]))


def _find_written(text: str, today: date) -> Iterator[tuple[int, int, Days]]:
    for match in find_dates(text):
        before = text[max(0, match.start - 5) : match.start].lower()
        # "December 9999" ends where the calendar does.
        with suppress(ValueError, OverflowError):
            if days := _days_of(match.value, before, today):
                yield match.start, match.end, days


def _days_of(stated: PartialDate, before: str, today: date) -> Days | None:
    """A written date's days; a year that is not stated is the one nearest to the message."""
    if stated.month is None:
        assert stated.year is not None
        return _months(date(stated.year, 1, 1), 12, "year")
    if stated.year is None:
        firsts = [date(today.year + step, stated.month, 1) for step in (-1, 0, 1)]
        if before.endswith("last "):
            firsts = [first for first in firsts if first < today.replace(day=1)][-1:]
        elif before.endswith("next "):
            firsts = [first for first in firsts if first > today][:1]
        first = min(firsts, key=lambda day: abs((day - today).days))
    else:
        first = date(stated.year, stated.month, 1)
    if stated.day is None:
        return _months(first, 1, "month")
    if stated.day > monthrange(first.year, stated.month)[1]:
        return None
    return _one(first.replace(day=stated.day))
