"""Days of other calendars against days that are known to be the same."""

from __future__ import annotations

from datetime import date

import pytest

from realtalk.text.calendars import Calendar, calendar_of, month_number, ordinal


@pytest.mark.parametrize(
    ("told", "calendar", "ours"),
    [
        ((2563, 6, 20), "buddhist", date(2020, 6, 20)),
        ((63, 6, 20), "buddhist", date(2020, 6, 20)),
        # Nowruz of four years, two of them after leap years.
        ((1388, 1, 1), "persian", date(2009, 3, 21)),
        ((1396, 1, 1), "persian", date(2017, 3, 21)),
        ((1400, 1, 1), "persian", date(2021, 3, 21)),
        ((1404, 1, 1), "persian", date(2025, 3, 21)),
        ((1403, 12, 30), "persian", date(2025, 3, 20)),
        ((1399, 3, 31), "persian", date(2020, 6, 20)),
        ((1441, 9, 1), "islamic", date(2020, 4, 24)),
        ((1445, 1, 1), "islamic", date(2023, 7, 19)),
        ((20, 2, 29), "gregorian", date(2020, 2, 29)),
    ],
)
def test_same_day(told: tuple[int, int, int], calendar: Calendar, ours: date) -> None:
    assert ordinal(*told, calendar) == ours.toordinal()


@pytest.mark.parametrize(
    ("told", "calendar"),
    [
        ((2021, 2, 29), "gregorian"),
        ((2021, 13, 1), "gregorian"),
        ((1402, 12, 30), "persian"),
        ((1402, 7, 31), "persian"),
        ((543, 1, 1), "gregorian"),
    ],
)
def test_no_such_day(told: tuple[int, int, int], calendar: Calendar) -> None:
    assert ordinal(*told, calendar) is None


@pytest.mark.parametrize(
    ("years", "calendar"),
    [
        ([2019, 2020], "gregorian"),
        ([19, 20], "gregorian"),
        ([2562, 2563], "buddhist"),
        ([62, 63], "buddhist"),
        ([1398, 1399], "persian"),
        ([1441, 1442], "islamic"),
        ([], "gregorian"),
    ],
)
def test_which_calendar(years: list[int], calendar: Calendar) -> None:
    assert calendar_of(years, 2024) == calendar


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("Sept.", 9),
        ("janv", 1),
        ("MÄRZ", 3),
        ("marraskuuta", 11),  # Finnish November, which begins like March
        ("lipnja", 6),  # Croatian June, which begins like Polish July
        ("lipca", 7),
        ("мая", 5),
        ("mardi", 0),
        ("ju", 0),
        ("word", 0),
    ],
)
def test_names_of_months(word: str, number: int) -> None:
    assert month_number(word) == number
