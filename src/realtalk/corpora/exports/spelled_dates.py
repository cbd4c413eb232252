"""Dates as downloads spell them for people, in several languages, into times.

    spelled("Tuesday, March 14, 2021 at 10:41:03 PM UTC")  → datetime(2021, 3, 14, 22, 41, 3)
    spelled("14 mars 2021 à 22:41")                        → datetime(2021, 3, 14, 22, 41)
    spelled("2021年3月14日 下午10:41")                       → datetime(2021, 3, 14, 22, 41)
    spelled("Tháng 3 14, 2021 10:41chiều")                 → the same: a month by its number
    spelled("14.03.2021 22:41")                            → the same; "dmy" where both orders fit

The names of months and parts of the day are those that WhatsApp's reader knows. A month stands
beside its day and year: "mardi" is no March.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime
from functools import cache, lru_cache

from realtalk.corpora.exports.whatsapp.dayparts import hour_of_day
from realtalk.corpora.exports.whatsapp.wording import WORDING
from realtalk.corpora.reading import DateOrder

LONGEST = 80  # letters of a date

_WORD = r"([^\W\d_]{3,20})[.,]?"
_TIME = re.compile(r"(?<!\d)(\d{1,2})(?::|[.h](?=\d\d(?!\d|[./-]\d)))(\d\d)(?::(\d\d))?(?!\d)")
_TIME_EAST = re.compile(r"(\d{1,2})[時时시] ?(\d{1,2})[分분](?: ?(\d{1,2})[秒초])?")
_DAY_FIRST = re.compile(
    rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?,? (?:de |of |d['’])?{_WORD},? (?:del? )?(\d{{4}})"
)
_MONTH_FIRST = re.compile(rf"{_WORD} (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})")
_YEAR_FIRST = re.compile(rf"(?<!\d)(\d{{4}})\.?,? {_WORD} (\d{{1,2}})")
_SHAPES = ((_DAY_FIRST, 3, 2, 1), (_MONTH_FIRST, 3, 1, 2), (_YEAR_FIRST, 1, 2, 3))
_EAST = re.compile(r"(\d{4}) ?[年년./] ?(\d{1,2}) ?[月월./] ?(\d{1,2})")
# A month by its number: "Tháng 10 02, 2023", "10月 02, 2023"; and behind its day, "2 thg 10, 2023".
_MONTH_NUMBER = r"(?:(?<![^\W\d_])[^\W\d_]{2,10}\.? ?(\d{1,2})|(?<!\d)(\d{1,2}) ?[月월])"
_NUMBER_FIRST = re.compile(rf"{_MONTH_NUMBER},? (\d{{1,2}}),? (\d{{4}})")
_NUMBER_SECOND = re.compile(
    r"(?<!\d)(\d{1,2}),? [^\W\d_]{2,10}\.? ?(\d{1,2}),? (?:[^\W\d_]{2,5} )?(\d{4})(?!\d)"
)
_NUMBERS = re.compile(r"(?<!\d)(\d{1,2})[./-] ?(\d{1,2})[./-] ?(\d{4}|\d\d)(?!\d)")
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)")
_SPACES = re.compile(r"[\s\u200e\u200f\u202a-\u202e\u202f\u00a0]+")


@cache
def _months() -> re.Pattern[str]:
    lines = WORDING["months"].split("\n")
    return re.compile("|".join(f"(?P<m{n}>{begins})" for n, begins in enumerate(lines, 1)))


def _month(word: str) -> int:
    small = word.lower()
    match = _months().match(small) or _months().match(_bare(small))
    return int(match.lastgroup[1:]) if match and match.lastgroup else 0


def _bare(word: str) -> str:
    """A word without its accents."""
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def order_of(texts: Iterable[str]) -> DateOrder:
    """Whether dates in numbers begin with the day or the month; the day where both fit."""
    for text in texts:
        match = _NUMBERS.search(text[:LONGEST])
        if match and int(match[2]) > 12:
            return "mdy"
    return "dmy"


@lru_cache(maxsize=10_000)  # a page says most minutes several times
def spelled(text: str, order: DateOrder = "dmy") -> datetime | None:
    """The time that a text spells; None where it spells none."""
    if len(text) > LONGEST:
        return None
    plain = _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip()
    date = _date(plain, order)
    if date is None:
        return None
    year, month, day, (start, end) = date
    clock = _TIME.search(plain, end) or _TIME_EAST.search(plain, end) or _TIME.search(plain)
    if clock is None:
        return None
    before, behind = plain[end : clock.start()], plain[clock.end() :]
    if clock.end() <= start:  # "10:41 PM, 14 March 2021"
        before, behind = plain[: clock.start()], plain[clock.end() : start]
    hour = _hour(int(clock[1]), before, behind)
    try:
        return datetime(year, month, day, hour, int(clock[2]), int(clock[3] or 0))
    except ValueError:
        return None


def _date(text: str, order: DateOrder) -> tuple[int, int, int, tuple[int, int]] | None:
    """Year, month, day, and from where to where the date stands."""
    for pattern, year_at, month_at, day_at in _SHAPES:
        for named in pattern.finditer(text):
            if month := _month(named[month_at]):
                return int(named[year_at]), month, int(named[day_at]), named.span()
    if match := _ISO.search(text) or _EAST.search(text):
        return int(match[1]), int(match[2]), int(match[3]), match.span()
    if match := _NUMBER_FIRST.search(text):
        return int(match[4]), int(match[1] or match[2]), int(match[3]), match.span()
    if match := _NUMBER_SECOND.search(text):
        return int(match[3]), int(match[2]), int(match[1]), match.span()
    if match := _NUMBERS.search(text):
        day, month = (2, 1) if order == "mdy" else (1, 2)
        year = int(match[3])
        year = year if year > 99 else 2000 + year
        return year, int(match[month]), int(match[day]), match.span()
    return None


def _hour(hour: int, before: str, after: str) -> int:
    """The hour of the day, by the words beside the clock."""
    words_after = after.replace("UTC", " ").replace("GMT", " ").strip(" ,.+-0123456789:")
    words_before = before.strip(" ,.日일")
    # The name of the weekday may stand before it, in Chinese and Japanese without a space.
    return hour_of_day(hour, words_after, words_before, words_before[-2:])
