"""What is typed for a date, and what is not one."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from realtalk.text.dates import PartialDate, days_of, typed_date
from text_tables import lines

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
