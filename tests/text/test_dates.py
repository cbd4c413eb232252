"""Dates in every dress are found and equal, and spoken dates land on the right day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from realtalk.text.calendars import MONTHS
from realtalk.text.dates import PartialDate, find_dates
from realtalk.text.relative_dates import resolve
from work_done import within

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


def ends(*told: tuple[int | None, ...]) -> list[PartialDate]:
    return [PartialDate(*each) for each in told]


SHORT = ends((2023, 5, 3), (2023, 5, 5))
LONG = ends((2023, 12, 28), (2024, 1, 2))


@pytest.mark.parametrize(
    "text",
    [
        *("3-5 May 2023", "3–5 May 2023", "3 — 5 May, 2023", "03 - 05 May 2023"),
        *("3 to 5 May 2023", "from 3 until 5 May 2023", "between 3 and 5 May 2023"),
        *("3rd-5th of May 2023", "from the 3rd to the 5th of May, 2023", "3 May - 5 May 2023"),
        *("Wed 3 to Fri 5 May 2023", "from Wednesday, 3 May to Friday, 5 May 2023"),
        *("May 3-5, 2023", "May 3rd–5th 2023", "May 3 to 5, 2023", "May 3 through May 5, 2023"),
        *("Between May 3rd and 5th, 2023.", "May 3 - May 5, 2023", "3-5 may '23"),
        *("03.05.2023-05.05.2023", "03.05.2023 - 05.05.2023", "03.05.-05.05.2023"),
        *("03.-05.05.2023", "3.5.–5.5.2023", "3./5.05.2023", "3/5-5/5/2023"),
        *("3/5/2023-5/5/2023", "2023-05-03 to 2023-05-05", "2023-05-03/2023-05-05"),
        *("from 3 May 2023 to 5 May", "3 May 2023 until 5 May, I think", "3 and 5 May 2023"),
    ],
)
def test_both_ends_of_a_range_have_its_month_and_year(text: str) -> None:
    assert [found.value for found in find_dates(text)] == SHORT
    spans = [(found.start, found.end) for found in find_dates(text)]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans[0][1] <= spans[1][0]


@pytest.mark.parametrize(
    "text",
    [
        *("from 28 December 2023 to 2 January 2024", "28 December to 2 January 2024"),
        *("28 Dec – 2 Jan 2024", "Dec 28 - Jan 2, 2024", "December 28-January 2, 2024"),
        *("28.12.-02.01.2024", "28.12.2023-02.01.2024", "between 28 December and 2 January 2024"),
        "from 28 December 2023 until 2 January",
    ],
)
def test_a_range_over_the_new_year_has_two_years(text: str) -> None:
    assert [found.value for found in find_dates(text)] == LONG


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("May-June 2023", ends((2023, 5), (2023, 6))),
        ("from March to May of 2023", ends((2023, 3), (2023, 5))),
        ("between December and January 2024", ends((2023, 12), (2024, 1))),
        ("5 May - June 2023", ends((2023, 5, 5), (2023, 6))),
        ("May 28 - June 2", ends((None, 5, 28), (None, 6, 2))),
        ("June 12-14", ends((None, 6, 12), (None, 6, 14))),
        ("2021-2023", ends((2021,), (2023,))),
        ("from 2021 to 2023", ends((2021,), (2023,))),
        ("1998–99", ends((1998,), (1999,))),
        ("3, 4 and 6 May 2023", ends((2023, 5, 3), (2023, 5, 4), (2023, 5, 6))),
        ("May 3, 4 and 6, 2023", ends((2023, 5, 3), (2023, 5, 4), (2023, 5, 6))),
        ("3 May and 5 June 2023", ends((2023, 5, 3), (2023, 6, 5))),
        ("5 June and 3 May 2023", ends((None, 6, 5), (2023, 5, 3))),  # no range: who knows
        ("29 Feb - 2 March 2023", ends((None, 2, 29), (2023, 3, 2))),
    ],
)
def test_ranges_of_months_and_years_and_dates_in_a_row(
    text: str, values: list[PartialDate]
) -> None:
    assert [found.value for found in find_dates(text)] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("May 3 to 5 pm", ends((None, 5, 3))),
        ("on May 3 and 5 people came", ends((None, 5, 3))),
        ("page 3, 5 May 2023", ends((2023, 5, 5))),
        ("between 10 and 12 people on 5 May 2023", ends((2023, 5, 5))),
        ("5-3 May 2023", ends((2023, 5, 3))),
        ("in 2021 to 23 people", ends((2021,))),
        ("2021-12", []),
        ("2 to 3 hours, 2.5-3.5 kg, 1-800-555-2023", []),
    ],
)
def test_numbers_beside_a_date_are_no_range(text: str, values: list[PartialDate]) -> None:
    assert [found.value for found in find_dates(text)] == values


ENDINGS: dict[str, Callable[[date, date], str]] = {
    "days first": lambda a, b: f"{a.day} {month(a)} - {b.day} {month(b)} {b.year}",
    "months first": lambda a, b: f"{month(a)} {a.day} to {month(b)} {b.day}, {b.year}",
    "dotted": lambda a, b: f"{a.day:02}.{a.month:02}.–{b.day:02}.{b.month:02}.{b.year}",
    "year before": lambda a, b: f"{a.day} {month(a)} {a.year} until {ordinal(b.day)} {month(b)}",
}


@given(
    first=days.filter(lambda day: (day.month, day.day) != (2, 29)),
    length=st.integers(1, 360),
    style=st.sampled_from(sorted(ENDINGS)),
)
def test_a_range_of_less_than_a_year_is_found_in_any_style(
    first: date, length: int, style: str
) -> None:
    last = first + timedelta(length)
    text = ENDINGS[style](first, last)
    values = [found.value for found in find_dates(text)]
    assert values == [PartialDate(d.year, d.month, d.day) for d in (first, last)]


@pytest.mark.parametrize("text", ["'1 - ' * 5000", "'3, ' * 10000", "'may - ' * 5000"])
def test_a_page_of_numbers_is_read_at_once(text: str) -> None:
    within(60, f"from realtalk.text.relative_dates import find_dates; find_dates({text})")
