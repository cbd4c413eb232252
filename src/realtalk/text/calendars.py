"""Months, days and hours by the names that many languages give them, and other calendars.

month_number("März")              → 3; 0 of a word that is no month
rule_of("p. m.")                  → "pm"        so 3:07 p. m. is 15:07 and 12:10 p. m. is 12:10
rule_of("at night")               → "night"     so 9:30 at night is 21:30 and 2:00 is 02:00
hour_of_day(1, "noon")            → 13
clock_time("3", "07", None, "pm") → 15:07
ordinal(2563, 6, 20, "buddhist")  → that of 20 June 2020
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, time
from functools import cache, lru_cache
from itertools import chain
from statistics import median_low
from typing import Literal

from realtalk.text.folding import fold_word
from realtalk.text.wordlists import phrases, sections

DateOrder = Literal["dmy", "mdy", "ymd"]

MONTHS = tuple(
    """January February March April May June July August September October November
    December""".split()  # noqa: SIM905 - words read better than quotes
)
# The first language that knows a word has it: "listopada" is November in Polish and October in
# Croatian.
_LANGUAGES = """
    es fr de it pt nl ru uk tr pl cs el da sv nb fi hu ro bg sk sl hr sr lt lv et ca id ms az ar fa
    he hi
""".split()  # noqa: SIM905 - words read better than quotes


@lru_cache(1 << 12)
def month_number(word: str) -> int:
    """The month of a name in any of many languages, or of how only one name begins; else 0."""
    plain = fold_word(word.lower().strip("."))
    if len(plain) < 3:
        return 0
    english = {name.lower(): number for number, name in enumerate(MONTHS, 1)}
    # English needs no other table; the others are loaded one by one until a name is found.
    tables = chain([english], map(_month_names, _LANGUAGES))
    return next(filter(None, (_named_month(plain, names) for names in tables)), 0)


def _named_month(word: str, names: Mapping[str, int]) -> int:
    if word in names:
        return names[word]
    numbers = {number for name, number in names.items() if name.startswith(word)}
    return numbers.pop() if len(numbers) == 1 else 0


@cache
def _month_names(language: str) -> dict[str, int]:
    from babel import Locale  # which takes a tenth of a second

    months = Locale.parse(language).months
    return {
        fold_word(name.lower().strip(".")): number
        for width in ("wide", "abbreviated")
        for use in ("format", "stand-alone")
        for number, name in months[use][width].items()
    }


# A year, month and day of the calendars that phones write, as a day of our calendar.
#
#     ordinal(2563, 6, 20, "buddhist")  → that of 20 June 2020
#     ordinal(1399, 3, 31, "persian")   → that of 20 June 2020
#     calendar_of([1398, 1399], 2024)   → "persian"
#
# The Islamic calendar is computed by the tabular rule, which can be a day off what a
# phone in Saudi Arabia shows; the reader says so.

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


# The words that locales put beside a 12-hour clock, and what they do to the hour.
#
#     rule_of("凌晨")   → "am"        so 凌晨12:05 is 00:05
#
# Most locales have two words; some phones (Chinese, Hindi, "in the afternoon") name the
# part of the day instead.

HourRule = Literal["am", "pm", "noon", "night", ""]

_WORDS = sections("realtalk.text", "dayparts.txt")
_SHORT = {rule: phrases(_WORDS[f"short {rule}"]) for rule in ("am", "pm")}
_LONG = {rule: phrases(_WORDS[rule]) for rule in ("am", "pm", "noon", "night")}
SPACE = "[ \u00a0\u202f\u2009]"


def _key(word: str) -> str:
    return re.sub(r"[\s.\u200b-\u200f\u202a-\u202f\u2066-\u2069]", "", word).lower()


_RULES: dict[str, HourRule] = {
    _key(word): rule  # type: ignore[misc]
    for table in (_SHORT, _LONG)
    for rule, words in table.items()
    for word in words
}


def _alternatives(before: bool) -> str:
    long = [word for words in _LONG.values() for word in words]
    patterns = [
        re.escape(word).replace(r"\ ", f"{SPACE}+") + r"\.?"
        for word in sorted(long, key=len, reverse=True)
    ]
    short = sorted((word for words in _SHORT.values() for word in words), key=len, reverse=True)
    # One letter stands alone only after the time ("3:07 م"); before it, it would be text.
    patterns += [
        rf"\.?{SPACE}?".join(map(re.escape, word)) + r"\.?"
        for word in short
        if not before or len(word) > 1
    ]
    return "(?i:" + "|".join(patterns) + ")"


BEFORE = _alternatives(before=True)
AFTER = _alternatives(before=False)


def rule_of(word: str) -> HourRule:
    """What a word beside the time does to the hour; "" for none or an unknown one."""
    return _RULES.get(_key(word), "")


def hour_of_day(clock_hour: int, *words: str) -> int:
    """The hour on a 24-hour clock, by the first of the words beside it that says something."""
    rule = next(filter(None, map(rule_of, words)), "")
    if clock_hour > 12 or not rule:
        return clock_hour
    if rule == "noon":
        return clock_hour if clock_hour >= 10 else clock_hour + 12
    if rule == "night":
        return clock_hour % 12 if clock_hour % 12 < 6 else clock_hour + 12
    return clock_hour % 12 + (12 if rule == "pm" else 0)


def clock_time(hour: str, minute: str, second: str | None, *words: str) -> time | None:
    """The time that a clock's digits state, by the words beside them; None for no such time."""
    try:
        return time(hour_of_day(int(hour), *words), int(minute), int(second or 0))
    except ValueError:
        return None
