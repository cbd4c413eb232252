"""Days of other calendars against days that are known to be the same."""

from __future__ import annotations

from datetime import date

import pytest

from realtalk.text.calendars import Calendar, calendar_of, month_number, ordinal
from text_tables import rows

# Nowruz of four years is among them, two of them after leap years; nothing: there is no such day.
DAYS = """
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
MONTHS = """
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


@pytest.mark.parametrize(("told", "calendar", "ours"), rows(DAYS))
def test_same_day(told: str, calendar: Calendar, ours: str) -> None:
    year, month, day = map(int, told.split("-"))
    expected = date.fromisoformat(ours).toordinal() if ours else None
    assert ordinal(year, month, day, calendar) == expected


@pytest.mark.parametrize(("years", "calendar"), rows(YEARS))
def test_which_calendar(years: str, calendar: Calendar) -> None:
    assert calendar_of([int(year) for year in years.split()], 2024) == calendar


@pytest.mark.parametrize(("word", "number"), rows(MONTHS))
def test_names_of_months(word: str, number: str) -> None:
    assert month_number(word) == int(number)
