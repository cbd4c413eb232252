"""Dates in every dress are found and equal, and spoken dates land on the right day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from realtalk.metrics.dates import MONTHS, PartialDate, find_dates, resolve

SAID = datetime(2024, 1, 17, 21, 30)  # a Wednesday


def ordinal(day: int) -> str:
    ending = "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def month(day: date) -> str:
    return MONTHS[day.month - 1]


WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
STYLES: dict[str, Callable[[date], str]] = {
    "iso": lambda d: d.isoformat(),
    "iso time": lambda d: f"{d.isoformat()}T10:30",
    "year first slashes": lambda d: f"{d.year}/{d.month}/{d.day}",
    "dotted": lambda d: f"{d.day:02}.{d.month:02}.{d.year}",
    "dotted short": lambda d: f"{d.day}.{d.month}.{d.year}",
    "slashes": lambda d: f"{d.day}/{d.month}/{d.year}",
    "dashes": lambda d: f"{d.day:02}-{d.month:02}-{d.year}",
    "day month year": lambda d: f"{d.day} {month(d)} {d.year}",
    "padded, comma": lambda d: f"{d.day:02} {month(d)}, {d.year}",
    "month day": lambda d: f"{month(d)} {d.day}, {d.year}",
    "month, day": lambda d: f"{month(d)}, {d.day} {d.year}",
    "abbreviated": lambda d: f"{month(d)[:3]} {ordinal(d.day)} {d.year}",
    "with a point": lambda d: f"{month(d)[:3]}. {d.day}, {d.year}",
    "ordinal of": lambda d: f"the {ordinal(d.day)} of {month(d)}, {d.year}",
    "weekday": lambda d: f"{WEEKDAYS[d.weekday()]}, {d.day} {month(d)} {d.year}",
    "short weekday": lambda d: f"{WEEKDAYS[d.weekday()][:3]} {month(d)} {d.day}, {d.year}",
    "together": lambda d: f"{d.day}{month(d)}, {d.year}",
    "lower case": lambda d: f"{month(d).lower()} {d.day} {d.year}",
}
days = st.dates(date(1900, 1, 1), date(2099, 12, 31))


@given(day=days, style=st.sampled_from(sorted(STYLES)))
def test_a_date_in_any_style_is_found_and_equal(day: date, style: str) -> None:
    written = STYLES[style](day)
    for text in (written, f"On {written}.", f"few weeks after {written}, I think"):
        (found,) = find_dates(text)
        assert found.value == PartialDate(day.year, day.month, day.day)
        assert text[found.start : found.end] in text
        assert str(day.year) in text[found.start : found.end]


@given(first=days, second=days, styles=st.tuples(*[st.sampled_from(sorted(STYLES))] * 2))
def test_two_dates_in_one_text(first: date, second: date, styles: tuple[str, str]) -> None:
    text = f"from {STYLES[styles[0]](first)} until {STYLES[styles[1]](second)}"
    values = [found.value for found in find_dates(text)]
    assert values == [PartialDate(d.year, d.month, d.day) for d in (first, second)]


@given(st.text(max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    for found in find_dates(text):
        assert 0 <= found.start < found.end <= len(text)
    resolve(text, SAID)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("January 2024", PartialDate(2024, 1)),
        ("April.2023", PartialDate(2023, 4)),
        ("01.2024", PartialDate(2024, 1)),
        ("In 2022.", PartialDate(2022)),
        ("summer 2022", PartialDate(2022)),
        ("13 August", PartialDate(None, 8, 13)),
        ("On January, 3th.", PartialDate(None, 1, 3)),
        ("She wanted it on 02.01.", PartialDate(None, 1, 2)),
        ("12.01.24", PartialDate(2024, 1, 12)),
        ("since September", PartialDate(None, 9)),
        ("January", PartialDate(None, 1)),
        ("1/19/24", PartialDate(2024, 1, 19)),  # no nineteenth month
        ("29 February 2024", PartialDate(2024, 2, 29)),
    ],
)
def test_dates_that_tell_less(text: str, value: PartialDate) -> None:
    assert [found.value for found in find_dates(text)] == [value]


@pytest.mark.parametrize(
    "text",
    [
        "2.5 hours, version 1.2.3 and $10.12",
        "May I ask if he may come?",
        "a march for 12 people",
        "31.02.2024",
        "29.02.2023",
        "the 2020s at 12:30",
        "Mark 5 and Octopus 3",
        "call 555-0199",
    ],
)
def test_numbers_and_words_that_are_no_dates(text: str) -> None:
    assert find_dates(text) == []


def test_the_order_of_slashes_is_a_choice() -> None:
    assert find_dates("01/02/2024")[0].value == PartialDate(2024, 2, 1)
    assert find_dates("01/02/2024", dayfirst=False)[0].value == PartialDate(2024, 1, 2)
    assert find_dates("01.02.2024", dayfirst=False)[0].value == PartialDate(2024, 2, 1)


def test_agreement_counts_told_fields() -> None:
    full, partial = PartialDate(2024, 1, 19), PartialDate(2024, 1)
    assert full.agreement(full) == 1
    assert full.agreement(partial) == partial.agreement(full) == pytest.approx(0.8)
    assert full.agreement(PartialDate(2024)) == 0.5
    assert full.agreement(PartialDate(2024, 1, 20)) == 0
    assert PartialDate(2024).agreement(PartialDate(None, 1, 19)) == 0


@pytest.mark.parametrize(
    ("text", "first", "last", "precision"),
    [
        ("made it yesterday", "2024-01-16", "2024-01-16", "day"),
        ("last night was loud", "2024-01-16", "2024-01-16", "day"),
        ("the day before yesterday", "2024-01-15", "2024-01-15", "day"),
        ("tonight then", "2024-01-17", "2024-01-17", "day"),
        ("this morning", "2024-01-17", "2024-01-17", "day"),
        ("see you tmrw", "2024-01-18", "2024-01-18", "day"),
        ("the day after tomorrow", "2024-01-19", "2024-01-19", "day"),
        ("two days ago", "2024-01-15", "2024-01-15", "day"),
        ("in 5 days", "2024-01-22", "2024-01-22", "day"),
        ("a couple of days ago", "2024-01-15", "2024-01-15", "about"),
        ("the other day", "2024-01-14", "2024-01-16", "about"),
        ("last friday", "2024-01-12", "2024-01-12", "day"),
        ("last Wednesday", "2024-01-10", "2024-01-10", "day"),
        ("next wednesday", "2024-01-24", "2024-01-24", "day"),
        ("this friday", "2024-01-19", "2024-01-19", "day"),
        ("we met on Friday", "2024-01-12", "2024-01-12", "day"),
        ("I fly on Friday", "2024-01-19", "2024-01-19", "day"),
        ("this weekend", "2024-01-20", "2024-01-21", "weekend"),
        ("last weekend", "2024-01-13", "2024-01-14", "weekend"),
        ("over the weekend I walked", "2024-01-13", "2024-01-14", "weekend"),
        ("next week", "2024-01-22", "2024-01-28", "week"),
        ("3 weeks ago", "2023-12-25", "2023-12-31", "week"),
        ("a month ago", "2023-12-01", "2023-12-31", "month"),
        ("next month", "2024-02-01", "2024-02-29", "month"),
        ("in March", "2024-03-01", "2024-03-31", "month"),
        ("last March", "2023-03-01", "2023-03-31", "month"),
        ("in December", "2023-12-01", "2023-12-31", "month"),
        ("last year", "2023-01-01", "2023-12-31", "year"),
        ("back in 2019", "2019-01-01", "2019-12-31", "year"),
        ("in two years", "2026-01-01", "2026-12-31", "year"),
        ("last summer", "2023-06-01", "2023-08-31", "season"),
        ("next summer", "2024-06-01", "2024-08-31", "season"),
        ("on the 5th", "2024-02-05", "2024-02-05", "day"),
        ("I was there on the 5th", "2024-01-05", "2024-01-05", "day"),
        ("we danced on New Year's Eve", "2023-12-31", "2023-12-31", "day"),
        ("my birthday is January 5", "2024-01-05", "2024-01-05", "day"),
        ("it opened on 3 Nov", "2023-11-03", "2023-11-03", "day"),
    ],
)
def test_spoken_dates(text: str, first: str, last: str, precision: str) -> None:
    (found,) = resolve(text, SAID)
    assert (found.first.isoformat(), found.last.isoformat()) == (first, last)
    assert found.precision == precision
    assert text[found.start : found.end] == found.text


def test_nothing_said_of_time_resolves_to_nothing() -> None:
    for text in ("the kiln is warm", "30 minutes ago", "I may march", "monday blues", ""):
        assert resolve(text, SAID) == []


@given(
    said=st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1)), weekday=st.sampled_from(WEEKDAYS)
)
def test_last_and_next_weekdays_frame_the_day(said: datetime, weekday: str) -> None:
    (last,), (following,) = resolve(f"last {weekday}", said), resolve(f"next {weekday}", said)
    assert WEEKDAYS[last.first.weekday()] == WEEKDAYS[following.first.weekday()] == weekday
    assert timedelta(0) < said.date() - last.first <= timedelta(7)
    assert timedelta(0) < following.first - said.date() <= timedelta(7)


@given(
    said=st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1)),
    text=st.sampled_from(
        ["last week", "next month", "a year ago", "this winter", "last fall", "in 3 months"]
    ),
)
def test_a_period_begins_before_it_ends(said: datetime, text: str) -> None:
    (found,) = resolve(text, said)
    assert found.first < found.last
    if text.startswith("last") or text.endswith("ago"):
        assert found.first < said.date()
    else:
        assert found.last >= said.date()


def test_out_of_the_calendar_is_no_date() -> None:
    assert resolve("999 years ago", datetime(500, 1, 1)) == []


@pytest.mark.parametrize("said", [datetime(2024, 1, 31), datetime(1, 1, 1), datetime(9999, 12, 31)])
@pytest.mark.parametrize(
    "text", ["see you in December 9999", "on 5 May", "next December", "last January", "in 2024"]
)
def test_a_written_date_at_the_end_of_the_calendar_breaks_nothing(
    text: str, said: datetime
) -> None:
    for found in resolve(text, said):
        assert found.first <= found.last
