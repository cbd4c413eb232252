"""Lines that state a day, as messengers part their exports by days, into dates.

    day_of("2024년 5월 1일 수요일")                       → 2024-05-01
    day_of("--------------- Wednesday, May 1, 2024 ---")  → 2024-05-01
    day_of("2024/05/01(水)")                              → 2024-05-01
    day_of("Wed, 05/01/2024", "mdy")                      → 2024-05-01
    shares_order(["Wed, 05/01/2024"])                     → "mdy", which makes it a Wednesday

Where year, month and day are only numbers, the weekday beside them tells their order. Thai years
count from 543 before ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from functools import lru_cache
from itertools import pairwise

from realtalk.corpora.reading import DateOrder

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()  # noqa: SIM905
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
_WORD = r"[^\W\d_][^\d\s()（）,]{0,14}"
_NUMBERS = r"(\d{1,4})(?P<sep>[./-])\s?(\d{1,2})(?P=sep)\s?(\d{1,4})\.?"
_LINES = (
    # 2024년 5월 1일 수요일, 2024年5月1日 星期三
    re.compile(
        rf"(\d{{4}})[년年]\s?(\d{{1,2}})[월月]\s?(\d{{1,2}})[일日]\s?[(（]?({_WORD})?[)）]?"
    ),
    # Wednesday, May 1, 2024 and May 1, 2024
    re.compile(rf"(?:({_WORD}),? )?({MONTH})\.? (\d{{1,2}}),? (\d{{4}})"),
    # Wednesday, 1 May 2024
    re.compile(rf"(?:({_WORD}),? )?(\d{{1,2}}) ({MONTH})\.?,? (\d{{4}})"),
)
_NUMERIC = re.compile(rf"(?:({_WORD}),? )?{_NUMBERS}\s?(?:[(（]\s?({_WORD})\s?[)）]|({_WORD}))?")
_YEAR_FIRST = re.compile(r"\W*\d{4}")
_DASHES = re.compile(r"-{3,}\s(.{6,60})\s-{3,}")
_ERA = re.compile(r"R(\d{1,2})(?=/)")  # Japanese years since 2019
_OPEN_ORDERS: tuple[DateOrder, DateOrder] = ("dmy", "mdy")
_Stated = tuple[tuple[str, str, str], int | None]  # the numbers of a day, and its weekday
_LONGEST = 100  # letters of such a line, its dashes among them


def is_parted(line: str) -> bool:
    """Whether a line sets a day between dashes, as nobody writes it in a message."""
    return len(line) <= _LONGEST and _DASHES.fullmatch(line.strip()) is not None


def day_of(line: str, order: DateOrder = "dmy") -> date | None:
    """The day that a line states, and nothing else; None for any other line."""
    return _stated_day(line, order) if len(line) <= _LONGEST and _DIGIT.search(line) else None


@lru_cache(1 << 10)
def _stated_day(line: str, order: DateOrder) -> date | None:
    plain = _plain(line)
    if not plain:
        return None
    for place, pattern in enumerate(_LINES):
        match = pattern.fullmatch(plain)
        if match is None:
            continue
        if place == 0:
            year, month, day, word = match[1], int(match[2]), match[3], match[4]
        elif place == 1:
            word, month, day, year = match[1], _month(match[2]), match[3], match[4]
        else:
            word, day, month, year = match[1], match[2], _month(match[3]), match[4]
        return _date(int(year), month, int(day)) if _is_weekday(word) else None
    numbers = _numeric(plain)
    return _ordered(numbers[0], order) if numbers else None


def shares_order(lines: Iterable[str], default: DateOrder = "dmy") -> tuple[DateOrder, bool]:
    """Day or month first, and whether anything in the file says so.

    Days that do not exist speak against an order, weekdays for or against it, and so do steps
    back in time: days follow each other.
    """
    stated = [numbers for line in lines if (numbers := _numeric(_plain(line)))]
    stated = [numbers for numbers in stated if len(numbers[0][0]) < 4]
    against = {order: _against(stated, order) for order in _OPEN_ORDERS}
    first, second = _OPEN_ORDERS
    if against[first] == against[second]:
        return default, False
    return min(_OPEN_ORDERS, key=lambda order: against[order]), True


def _against(stated: Sequence[_Stated], order: DateOrder) -> int:
    """How many days of a file speak against an order."""
    days = [_ordered(numbers, order) for numbers, _ in stated]
    wrong = sum(
        day is None or (weekday is not None and day.weekday() != weekday)
        for day, (_, weekday) in zip(days, stated, strict=True)
    )
    known = [day for day in days if day is not None]
    return wrong + sum(after < before for before, after in pairwise(known))


def is_open(line: str) -> bool:
    """Whether a line may state a day whose year is not written first."""
    return _YEAR_FIRST.match(line) is None and day_of(line) != day_of(line, "mdy")


def month_day(year: str, month: str, day: str) -> date | None:
    """A date of numbers, or of a month's English name."""
    number = int(month) if month.isdigit() else _month(month)
    return _date(int(year), number, int(day))


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
    match = _NUMERIC.fullmatch(plain) if plain else None
    if match is None:
        return None
    numbers = (match[2], match[4], match[5])
    if len(match[2]) == 4 and len(match[5]) == 4:
        return None
    before, in_brackets, behind = match[1], match[6], match[7]
    # What stands in brackets behind a date is a weekday in whatever language.
    if not _is_weekday(before) or not _is_weekday(behind):
        return None
    word = before or in_brackets or behind
    return numbers, _weekday(word) if word else None


def _ordered(numbers: tuple[str, str, str], order: DateOrder) -> date | None:
    first, second, third = map(int, numbers)
    if len(numbers[0]) == 4:
        return _date(first, second, third)
    if order == "ymd" and len(numbers[2]) < 4:
        return _date(first, second, third)
    return _date(third, first, second) if order == "mdy" else _date(third, second, first)


def _is_weekday(word: str | None) -> bool:
    return word is None or _weekday(word) is not None


def _weekday(word: str) -> int | None:
    """Monday is 0; None for a word that is no weekday known to us."""
    plain = word.strip(".,").lower()
    if not plain.isascii():
        plain = _AROUND.sub("", plain).strip(".")
    return _WEEKDAY.get(plain)


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].lower()) + 1


def _date(year: int, month: int, day: int) -> date | None:
    if year < 100:
        year += 2000
    elif 2500 < year < 2700:
        year -= 543
    try:
        return date(year, month, day)
    except ValueError:
        return None
