"""Dates as programs write them, for people or for programs, into times.

parse_stamp("2021-11-03T07:37:48Z")                    → 2021-11-03 07:37:48
parse_stamp("3.11.21, 7:37", order="dmy")              → 2021-11-03 07:37
parse_spelled("Tuesday, March 14, 2021 at 10:41:03 PM UTC")  → 2021-03-14 22:41:03
parse_spelled("2021年3月14日 下午10:41")                       → 2021-03-14 22:41
day_of("--------------- Wednesday, May 1, 2024 ---")   → 2024-05-01, a line that parts days
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

from realtalk.text.calendars import DateOrder, hour_of_day, month_number

# Lines that state a day, as messengers part their exports by days, into dates.
#
#     day_of("2024년 5월 1일 수요일")                       → 2024-05-01
#     day_of("--------------- Wednesday, May 1, 2024 ---")  → 2024-05-01
#     day_of("2024/05/01(水)")                              → 2024-05-01
#     day_of("Wed, 05/01/2024", "mdy")                      → 2024-05-01
#     shares_order(["Wed, 05/01/2024"])                     → "mdy", which makes it a Wednesday
#
# Where year, month and day are only numbers, the weekday beside them tells their order. Thai years
# count from 543 before ours.

MONTH = "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
# From Monday to Sunday. The longer spellings begin with these or hold them.
_WEEKDAYS = (
    "monday mon lunes 月 월 一 จันทร์ จ",
    "tuesday tue tues 火 화 二 อังคาร อ",
    "wednesday wed 水 수 三 พุธ พ",
    "thursday thu thur thurs 木 목 四 พฤหัสบดี พฤ",
    "friday fri 金 금 五 ศุกร์ ศ",
    "saturday sat 土 토 六 เสาร์ ส",
    "sunday sun 日 일 天 อาทิตย์ อา",
)
_WEEKDAY = {word: number for number, words in enumerate(_WEEKDAYS) for word in words.split()}
_AROUND = re.compile("^(?:週|周|星期|禮拜|礼拜|วัน)|(?:曜日|曜|요일)$")
_MARKS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+")
_DIGIT = re.compile("[0-9]")
_DAY_WORD = r"[^\W\d_][^\d\s()（）,]{0,14}"
_DAY_NUMBERS = r"(\d{1,4})(?P<sep>[./-])\s?(\d{1,2})(?P=sep)\s?(\d{1,4})\.?"
_LINES = (
    # 2024년 5월 1일 수요일, 2024年5月1日 星期三
    re.compile(
        r"(?P<y>\d{4})[년年]\s?(?P<m>\d{1,2})[월月]\s?(?P<d>\d{1,2})[일日]\s?"
        rf"[(（]?(?P<w>{_DAY_WORD})?[)）]?"
    ),
    # Wednesday, May 1, 2024 and May 1, 2024
    re.compile(rf"(?:(?P<w>{_DAY_WORD}),? )?(?P<m>{MONTH})\.? (?P<d>\d{{1,2}}),? (?P<y>\d{{4}})"),
    # Wednesday, 1 May 2024
    re.compile(rf"(?:(?P<w>{_DAY_WORD}),? )?(?P<d>\d{{1,2}}) (?P<m>{MONTH})\.?,? (?P<y>\d{{4}})"),
)
_NUMERIC = re.compile(
    rf"(?:({_DAY_WORD}),? )?{_DAY_NUMBERS}\s?(?:[(（]\s?({_DAY_WORD})\s?[)）]|({_DAY_WORD}))?"
)
_OPENS_WITH_YEAR = re.compile(r"\W*\d{4}")
_DASHES = re.compile(r"-{3,}\s(.{6,60})\s-{3,}")
_ERA = re.compile(r"R(\d{1,2})(?=/)")  # Japanese years since 2019
_Stated = tuple[tuple[str, str, str], int | None]  # the numbers of a day, and its weekday
_LONGEST = 100  # letters of such a line, its dashes among them


def is_parted(line: str) -> bool:
    """Whether a line sets a day between dashes, as nobody writes it in a message."""
    return len(line) <= _LONGEST and _DASHES.fullmatch(line.strip()) is not None


def day_of(line: str, order: DateOrder = "dmy") -> date | None:
    """The day that a line states, and nothing else; None for any other line."""
    plain = _plain(line)
    for pattern in _LINES:
        if match := pattern.fullmatch(plain):
            year, month, number = match.group("y", "m", "d")
            named = int(month) if month.isdigit() else month_number(month)
            return _day(int(year), named, int(number)) if _is_weekday(match["w"]) else None
    stated = _numeric(plain)
    return _day_in_order(stated[0], order) if stated else None


def shares_order(lines: Iterable[str]) -> tuple[DateOrder, bool]:
    """Day or month first, and whether anything in the file says so.

    Days that do not exist speak against an order, weekdays for or against it, and so do steps
    back in time: days follow each other.
    """
    every = filter(None, (_numeric(_plain(line)) for line in lines))
    stated = [(numbers, weekday) for numbers, weekday in every if len(numbers[0]) < 4]
    by_day, by_month = (_against(stated, order) for order in ("dmy", "mdy"))
    return "mdy" if by_month < by_day else "dmy", by_day != by_month


def _against(stated: Sequence[_Stated], order: DateOrder) -> int:
    """How many days of a file speak against an order."""
    days = [(_day_in_order(numbers, order), weekday) for numbers, weekday in stated]
    wrong = sum(day is None or weekday not in (None, day.weekday()) for day, weekday in days)
    dated = [day for day, _ in days if day is not None]
    return wrong + sum(after < before for before, after in pairwise(dated))


def is_open(line: str) -> bool:
    """Whether a line may state a day whose year is not written first."""
    return _OPENS_WITH_YEAR.match(line) is None and day_of(line) != day_of(line, "mdy")


def _plain(line: str) -> str:
    if len(line) > _LONGEST or not _DIGIT.search(line):
        return ""
    plain = (line if line.isascii() else _MARKS.sub("", line)).strip()
    if era := _ERA.match(plain):
        return f"{2018 + int(era[1])}{plain[era.end() :]}"
    parted = _DASHES.fullmatch(plain)
    return parted[1].strip() if parted else plain


def _numeric(plain: str) -> _Stated | None:
    """Three numbers and the weekday beside them; None where there is more in the line."""
    match = _NUMERIC.fullmatch(plain)
    if match is None or len(match[2]) == len(match[5]) == 4:
        return None
    before, in_brackets, behind = match.group(1, 6, 7)
    # What stands in brackets behind a date is a weekday in whatever language.
    if not (_is_weekday(before) and _is_weekday(behind)):
        return None
    return (match[2], match[4], match[5]), _weekday(before or in_brackets or behind or "")


def _day_in_order(numbers: tuple[str, str, str], order: DateOrder) -> date | None:
    first, second, third = map(int, numbers)
    if len(numbers[0]) == 4 or (order == "ymd" and len(numbers[2]) < 4):
        return _day(first, second, third)
    return _day(third, first, second) if order == "mdy" else _day(third, second, first)


def _is_weekday(word: str | None) -> bool:
    return word is None or _weekday(word) is not None


def _weekday(word: str) -> int | None:
    """Monday is 0; None for a word that is no weekday known to us."""
    plain = word.strip(".,").lower()
    if not plain.isascii():
        plain = _AROUND.sub("", plain).strip(".")
    return _WEEKDAY.get(plain)


def _day(year: int, month: int, day: int) -> date | None:
    if year < 100:
        year += 2000
    elif 2500 < year < 2700:
        year -= 543
    try:
        return date(year, month, day)
    except ValueError:
        return None


# Dates as downloads spell them for people, in several languages, into times.
#
#     parse_spelled("Tuesday, March 14, 2021 at 10:41:03 PM UTC") → datetime(2021, 3, 14, 22, 41, 3)
#     parse_spelled("14 mars 2021 à 22:41") → datetime(2021, 3, 14, 22, 41)
#     parse_spelled("2021年3月14日 下午10:41") → datetime(2021, 3, 14, 22, 41)
#     parse_spelled("Tháng 3 14, 2021 10:41chiều") → the same: a month by its number
#     parse_spelled("14.03.2021 22:41") → the same; "dmy" where both orders fit
#
# The names of months and parts of the day are those that WhatsApp's reader knows. A month stands
# beside its day and year: "mardi" is no March.

LONGEST = 80  # letters of a date

_TIME = re.compile(r"(?<!\d)(\d{1,2})(?::|[.h](?=\d\d(?!\d|[./-]\d)))(\d\d)(?::(\d\d))?(?!\d)")
_TIME_EAST = re.compile(r"(\d{1,2})[時时시] ?(\d{1,2})[分분](?: ?(\d{1,2})[秒초])?")
_WORD = r"(?P<m>[^\W\d_]{3,20})[.,]?"
_MONTH_NUMBER, _NUMBER, _YEAR = r"(?P<m>\d{1,2})", r"(?P<d>\d{1,2})", r"(?P<y>\d{4})"
_SHAPES = [
    re.compile(shape)
    for shape in (
        rf"(?<!\d){_NUMBER}(?:st|nd|rd|th|er|º|\.)?,? (?:de |of |d['’])?"
        rf"{_WORD},? (?:del? )?{_YEAR}",
        rf"{_WORD} {_NUMBER}(?:st|nd|rd|th)?,? {_YEAR}",
        rf"(?<!\d){_YEAR}\.?,? {_WORD} {_NUMBER}",
        r"(?<!\d)(?P<y>\d{4})-(?P<m>\d\d)-(?P<d>\d\d)",
        rf"{_YEAR} ?[年년./] ?{_MONTH_NUMBER} ?[月월./] ?{_NUMBER}",
        # A month by its number: "Tháng 10 02, 2023", "10月 02, 2023"; and behind its day,
        # "2 thg 10, 2023".
        rf"(?<![^\W\d_])[^\W\d_]{{2,10}}\.? ?{_MONTH_NUMBER},? {_NUMBER},? {_YEAR}",
        rf"(?<!\d){_MONTH_NUMBER} ?[月월],? {_NUMBER},? {_YEAR}",
        rf"(?<!\d){_NUMBER},? [^\W\d_]{{2,10}}\.? ?{_MONTH_NUMBER},? "
        rf"(?:[^\W\d_]{{2,5}} )?{_YEAR}(?!\d)",
    )
]
_DATE_NUMBERS = re.compile(r"(?<!\d)(\d{1,2})[./-] ?(\d{1,2})[./-] ?(\d{4}|\d\d)(?!\d)")
_SPACES = re.compile(r"[\s\u200e\u200f\u202a-\u202e\u202f\u00a0]+")


def order_of(texts: Iterable[str]) -> DateOrder:
    """Whether dates in numbers begin with the day or the month; the day where both fit."""
    for text in texts:
        match = _DATE_NUMBERS.search(text[:LONGEST])
        if match and int(match[2]) > 12:
            return "mdy"
    return "dmy"


@lru_cache(maxsize=10_000)  # a page says most minutes several times
def parse_spelled(text: str, order: DateOrder = "dmy") -> datetime | None:
    """The time that a text spells; None where it spells none."""
    if len(text) > LONGEST:
        return None
    plain = _SPACES.sub(" ", unicodedata.normalize("NFC", text)).strip()
    date = _spelled_date(plain, order)
    if date is None:
        return None
    year, month, day, (start, end) = date
    clock = _TIME.search(plain, end) or _TIME_EAST.search(plain, end) or _TIME.search(plain)
    if clock is None:
        return None
    before, behind = plain[end : clock.start()], plain[clock.end() :]
    if clock.end() <= start:  # "10:41 PM, 14 March 2021"
        before, behind = plain[: clock.start()], plain[clock.end() : start]
    words = behind.replace("UTC", " ").replace("GMT", " ").strip(" ,.+-0123456789:")
    # The name of the weekday may stand before it, in Chinese and Japanese without a space.
    words_before = before.strip(" ,.日일")
    hour = hour_of_day(int(clock[1]), words, words_before, words_before[-2:])
    try:
        return datetime(year, month, day, hour, int(clock[2]), int(clock[3] or 0))
    except ValueError:
        return None


def _spelled_date(text: str, order: DateOrder) -> tuple[int, int, int, tuple[int, int]] | None:
    """Year, month, day, and from where to where the date stands."""
    for pattern in _SHAPES:
        for match in pattern.finditer(text):
            word = match["m"]
            month = int(word) if word.isdecimal() else month_number(word)
            if month or word.isdecimal():
                return int(match["y"]), month, int(match["d"]), match.span()
    if numbers := _DATE_NUMBERS.search(text):
        first, second, year = map(int, numbers.groups())
        day, month = (second, first) if order == "mdy" else (first, second)
        return year if year > 99 else 2000 + year, month, day, numbers.span()
    return None


# Time stamps of unknown make into wall-clock times.
#
#     parse_stamp("2021-11-03T07:37:48Z")  → 2021-11-03 07:37:48
#     parse_stamp("2021-11-03 07:37")      → 2021-11-03 07:37
#     parse_stamp(1635925068)              → 2021-11-03 07:37:48 (seconds; also ms, µs, digits)
#     parse_stamp("3.11.21, 7:37", order="dmy") → 2021-11-03 07:37
#     parse_stamp("yesterday")             → None
#
# A stamp that names its offset keeps the clock it was written in, unless a time zone is
# given: then it is converted to that zone, as epoch stamps are (UTC without one).

_DIGITS = re.compile(r"[+-]?[0-9]{1,17}(?:\.[0-9]{1,9})?")
_STAMP_NUMBERS = re.compile(
    r"([0-9]{1,4})[./-]([0-9]{1,2})[./-]([0-9]{1,4})"
    r"(?:,?[ T]\s*([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,][0-9]{1,9})?)?"
    r"(?:\s*([ap])\.?\s?m\.?)?)?",
    re.IGNORECASE,
)
_LATEST_SECONDS = 1e11  # the year 5138; larger numbers count milliseconds or microseconds
_LATEST_MILLISECONDS = 1e14


def from_epoch(seconds: float, tz: ZoneInfo | None = None) -> datetime | None:
    """Seconds since 1970 as a wall-clock time: UTC, or the clock of `tz`; None out of range."""
    try:
        return datetime.fromtimestamp(seconds, tz=tz or UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return None


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
    match = _STAMP_NUMBERS.fullmatch(text)
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
    hour, half = int(match[4] or 0), match[7]
    if half and not 1 <= hour <= 12:
        return None
    hour = hour_of_day(hour, f"{half}m" if half else "")
    try:
        return datetime(year, month, day, hour, int(match[5] or 0), int(match[6] or 0))
    except ValueError:
        return None


def date_order(stamps: list[str]) -> tuple[DateOrder | None, bool]:
    """(day or month first, whether the stamps prove it); None where no stamp asks for it."""
    is_asked = False
    for stamp in stamps:
        match = _STAMP_NUMBERS.fullmatch(stamp.strip())
        if match is None or len(match[1]) == 4:
            continue
        is_asked = True
        if int(match[1]) > 12:
            return "dmy", True
        if int(match[2]) > 12:
            return "mdy", True
    return ("dmy", False) if is_asked else (None, True)
