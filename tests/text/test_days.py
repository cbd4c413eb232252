"""Days as they are typed, spelled in words, and counted by other calendars."""

from __future__ import annotations

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from realtalk.text.calendars import Calendar, calendar_of, month_number, ordinal
from realtalk.text.dates import PartialDate, days_of, typed_date
from realtalk.text.written_days import order_of, parse_spelled
from text_tables import lines, rows

DAYS = """
    2026-03-02
    2 March 2026
    02.03.2026
    2.3.2026
    2026/3/2
    2 mar 2026
    March 2, 2026
    Monday 2 March 2026
    2nd of March 2026
    02/03/2026
"""
NO_DATES = """
    12
    the red bicycle
    since 2 March 2026
    2026-13
    0000-01
    31.02.2026
    2 March 2026 or 3 May 2026
    3-5 May 2026
"""


@pytest.mark.parametrize("text", lines(DAYS))
def test_a_day(text: str) -> None:
    assert typed_date(text) == PartialDate(2026, 3, 2)


def test_less_than_a_day() -> None:
    assert typed_date("2026-03") == typed_date("March 2026") == PartialDate(2026, 3)
    assert typed_date("2 March") == typed_date("02.03.") == PartialDate(None, 3, 2)
    assert typed_date("2026") == PartialDate(2026)


@pytest.mark.parametrize("text", ["", " ", "2" * 5000, *lines(NO_DATES)])
def test_no_date(text: str) -> None:
    assert typed_date(text) is None


def test_the_days_of_a_date() -> None:
    assert days_of(PartialDate(2026, 2)) == (date(2026, 2, 1), date(2026, 2, 28))
    assert days_of(PartialDate(2026)) == (date(2026, 1, 1), date(2026, 12, 31))
    assert days_of(PartialDate(2026, 3, 2)) == (date(2026, 3, 2), date(2026, 3, 2))
    assert days_of(PartialDate(None, 3, 2)) is None


@given(st.dates())
def test_every_day_is_read_as_it_is_written(day: date) -> None:
    assert typed_date(f"{day:%Y}-{day:%m}-{day:%d}".rjust(10, "0")) == PartialDate(
        day.year, day.month, day.day
    )


@given(st.text(max_size=60))
def test_anything_may_be_typed(text: str) -> None:
    told = typed_date(text)
    if told is not None:
        days_of(told)


# --- in words, as downloads write them ---


EVENING = datetime(2021, 3, 14, 22, 41)
IN_LANGUAGES = """
    Sunday, March 14, 2021 at 10:41:00 PM UTC
    Sunday, 14 March 2021 at 22:41:00 UTC
    Mar 14, 2021, 10:41 PM
    Mar 14, 2021 10:41 pm
    Mar 14, 2021 10:41:00 pm
    14 mars 2021 à 22:41
    dimanche 14 mars 2021 à 22:41
    14. März 2021, 22:41
    Sonntag, 14. März 2021 um 22:41:00 UTC
    14 de marzo de 2021, 22:41
    domingo, 14 de março de 2021 às 22:41
    14 mar 2021, 10:41 p. m.
    14 maart 2021 22:41
    14 mrt. 2021 22:41
    14 марта 2021 г., 22:41
    2021. március 14. 22:41
    14.3.2021 klo 22.41
    14.03.2021 22:41
    14/03/2021 22:41
    14/03/21, 22:41
    2021年3月14日 22:41
    2021年3月14日 下午10:41
    2021년 3월 14일 오후 10:41
    2021년 3월 14일 일요일 오후 10시 41분 0초 UTC
    2021年3月14日日曜日 22時41分00秒 UTC
    2021年3月14日星期日 UTC 22:41:00
    2021年3月14日星期日下午10:41
    2021/03/14 22:41
    2021-03-14T22:41:00
    14 tháng 3, 2021 22:41
    Tháng 3 14, 2021 10:41:00chiều
    Thg 3 14, 2021 10:41 CH
    14 Thg 3, 2021 10:41 CH
    14 tháng 3 năm 2021 lúc 22:41
    3月 14, 2021 10:41:00下午
    3월 14, 2021 10:41:00오후
    10:41 PM, 14 March 2021
"""
ODD = """
    Mar 14, 2021 12:05 AM          | 2021-03-14T00:05:00
    Mar 14, 2021 12:05 PM          | 2021-03-14T12:05:00
    Tháng 10 02, 2023 9:15:07sáng  | 2023-10-02T09:15:07
    Tháng 12 31, 2023 12:15:07sáng | 2023-12-31T00:15:07
    2 thg 10, 2023 9:15 SA         | 2023-10-02T09:15:00
    2021年3月14日 中午1:05              | 2021-03-14T13:05:00
    2021年3月14日 中午12:05             | 2021-03-14T12:05:00
    14 March 2021, 12:05 at night  | 2021-03-14T00:05:00
    14 March 2021, 9:05 at night   | 2021-03-14T21:05:00
    14 March 2021, 13:05 AM        | 2021-03-14T13:05:00
    mardi 16 février 2021 à 07:03  | 2021-02-16T07:03:00
    30 Feb 2021, 10:41             |
    see you at 10:41               |
    14 March 2021                  |
"""


@pytest.mark.parametrize("text", lines(IN_LANGUAGES))
def test_one_moment_in_many_languages(text: str) -> None:
    assert parse_spelled(text) == EVENING


@pytest.mark.parametrize(("text", "expected"), rows(ODD))
def test_odd_ones(text: str, expected: str) -> None:
    assert parse_spelled(text) == (datetime.fromisoformat(expected) if expected else None)


def test_what_is_no_date() -> None:
    assert parse_spelled("") is parse_spelled("9" * 5000) is None


def test_the_order_of_numbers() -> None:
    assert order_of(["03/04/2021 10:00", "03/14/2021 10:00"]) == "mdy"
    assert order_of(["03/04/2021 10:00", "14/03/2021 10:00"]) == "dmy"
    assert parse_spelled("03/14/2021 22:41", "mdy") == EVENING


# --- days of other calendars ---


# Nowruz of four years is among them, two of them after leap years; nothing: there is no such day.
SAME_DAYS = """
    2563-6-20  | buddhist  | 2020-06-20
    63-6-20    | buddhist  | 2020-06-20
    1388-1-1   | persian   | 2009-03-21
    1396-1-1   | persian   | 2017-03-21
    1400-1-1   | persian   | 2021-03-21
    1404-1-1   | persian   | 2025-03-21
    1403-12-30 | persian   | 2025-03-20
    1399-3-31  | persian   | 2020-06-20
    1441-9-1   | islamic   | 2020-04-24
    1445-1-1   | islamic   | 2023-07-19
    20-2-29    | gregorian | 2020-02-29
    2021-2-29  | gregorian |
    2021-13-1  | gregorian |
    1402-12-30 | persian   |
    1402-7-31  | persian   |
    543-1-1    | gregorian |
"""
YEARS = """
    2019 2020 | gregorian
    19 20     | gregorian
    2562 2563 | buddhist
    62 63     | buddhist
    1398 1399 | persian
    1441 1442 | islamic
              | gregorian
"""
# Finnish November begins like March, Croatian June like Polish July.
MONTH_NAMES = """
    Sept.       | 9
    janv        | 1
    MÄRZ        | 3
    marraskuuta | 11
    lipnja      | 6
    lipca       | 7
    мая         | 5
    mardi       | 0
    ju          | 0
    word        | 0
"""


@pytest.mark.parametrize(("told", "calendar", "ours"), rows(SAME_DAYS))
def test_same_day(told: str, calendar: Calendar, ours: str) -> None:
    year, month, day = map(int, told.split("-"))
    expected = date.fromisoformat(ours).toordinal() if ours else None
    assert ordinal(year, month, day, calendar) == expected


@pytest.mark.parametrize(("years", "calendar"), rows(YEARS))
def test_which_calendar(years: str, calendar: Calendar) -> None:
    assert calendar_of([int(year) for year in years.split()], 2024) == calendar


@pytest.mark.parametrize(("word", "number"), rows(MONTH_NAMES))
def test_names_of_months(word: str, number: str) -> None:
    assert month_number(word) == int(number)
