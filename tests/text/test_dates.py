"""Dates in every dress are found and equal, and spoken dates land on the right day; days as they
are typed, spelled in words, and counted by other calendars."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from realtalk.text.calendars import MONTHS, Calendar, calendar_of, month_number, ordinal
from realtalk.text.dates import PartialDate, days_of, find_dates, typed_date
from realtalk.text.relative_dates import resolve
from realtalk.text.written_days import order_of, parse_spelled
from text_tables import cases, lines, rows
from work_done import within

SAID = datetime(2024, 1, 17, 21, 30)  # a Wednesday
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
STYLES = lines("""
    {d:%Y-%m-%d}
    {d:%Y-%m-%d}T10:30
    {d.year}/{d.month}/{d.day}
    {d:%d.%m.%Y}
    {d.day}.{d.month}.{d.year}
    {d.day}/{d.month}/{d.year}
    {d:%d-%m-%Y}
    {d.day} {d:%B %Y}
    {d:%d %B, %Y}
    {d:%B} {d.day}, {d.year}
    {d:%B}, {d.day} {d.year}
    {d:%b} {ordinal} {d.year}
    {d:%b}. {d.day}, {d.year}
    the {ordinal} of {d:%B, %Y}
    {d:%A}, {d.day} {d:%B %Y}
    {d:%a} {d:%B} {d.day}, {d.year}
    {d.day}{d:%B, %Y}
    {month} {d.day} {d.year}
""")
RANGES = lines("""
    {a.day} {a:%B} - {b.day} {b:%B %Y}
    {a:%B} {a.day} to {b:%B} {b.day}, {b.year}
    {a:%d.%m}.–{b:%d.%m.%Y}
    {a.day} {a:%B %Y} until {b.day}th {b:%B}
""")
days = st.dates(date(1900, 1, 1), date(2099, 12, 31))
styles = st.sampled_from(STYLES)


def written(day: date, style: str) -> str:
    last = {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    ordinal = f"{day.day}{'th' if 10 <= day.day <= 20 else last}"
    return style.format(d=day, ordinal=ordinal, month=MONTHS[day.month - 1].lower())


def values(text: str) -> list[PartialDate]:
    return [found.value for found in find_dates(text)]


def stated(*days: date) -> list[PartialDate]:
    return [PartialDate(day.year, day.month, day.day) for day in days]


@given(day=days, style=styles)
def test_a_date_in_any_style_is_found_and_equal(day: date, style: str) -> None:
    date_text = written(day, style)
    for text in (date_text, f"On {date_text}.", f"few weeks after {date_text}, I think"):
        (found,) = find_dates(text)
        assert [found.value] == stated(day)
        assert str(day.year) in text[found.start : found.end]


@given(first=days, second=days, one=styles, other=styles)
def test_two_dates_in_one_text(first: date, second: date, one: str, other: str) -> None:
    text = f"from {written(first, one)} until {written(second, other)}"
    assert values(text) == stated(first, second)


@given(
    first=days.filter(lambda day: (day.month, day.day) != (2, 29)),
    length=st.integers(1, 360),
    style=st.sampled_from(RANGES),
)
def test_a_range_of_less_than_a_year_is_found_in_any_style(
    first: date, length: int, style: str
) -> None:
    last = first + timedelta(length)
    assert values(style.format(a=first, b=last)) == stated(first, last)


@given(st.text(max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    for found in find_dates(text):
        assert 0 <= found.start < found.end <= len(text)
    resolve(text, SAID)


# Year, month and day of each date as far as they are stated; nothing where there is none.
PARTIAL = """
    January 2024                             | 2024 1
    April.2023                               | 2023 4
    01.2024                                  | 2024 1
    In 2022.                                 | 2022
    summer 2022                              | 2022
    13 August                                | ? 8 13
    On January, 3th.                         | ? 1 3
    She wanted it on 02.01.                  | ? 1 2
    12.01.24                                 | 2024 1 12
    since September                          | ? 9
    January                                  | ? 1
    1/19/24                                  | 2024 1 19
    29 February 2024                         | 2024 2 29
    2.5 hours, version 1.2.3 and $10.12      |
    May I ask if he may come?                |
    a march for 12 people                    |
    31.02.2024                               |
    29.02.2023                               |
    the 2020s at 12:30                       |
    Mark 5 and Octopus 3                     |
    call 555-0199                            |
    May-June 2023                            | 2023 5, 2023 6
    from March to May of 2023                | 2023 3, 2023 5
    between December and January 2024        | 2023 12, 2024 1
    5 May - June 2023                        | 2023 5 5, 2023 6
    May 28 - June 2                          | ? 5 28, ? 6 2
    June 12-14                               | ? 6 12, ? 6 14
    2021-2023                                | 2021, 2023
    from 2021 to 2023                        | 2021, 2023
    1998–99                                  | 1998, 1999
    3, 4 and 6 May 2023                      | 2023 5 3, 2023 5 4, 2023 5 6
    May 3, 4 and 6, 2023                     | 2023 5 3, 2023 5 4, 2023 5 6
    3 May and 5 June 2023                    | 2023 5 3, 2023 6 5
    5 June and 3 May 2023                    | ? 6 5, 2023 5 3
    29 Feb - 2 March 2023                    | ? 2 29, 2023 3 2
    May 3 to 5 pm                            | ? 5 3
    on May 3 and 5 people came               | ? 5 3
    page 3, 5 May 2023                       | 2023 5 5
    between 10 and 12 people on 5 May 2023   | 2023 5 5
    5-3 May 2023                             | 2023 5 3
    in 2021 to 23 people                     | 2021
    2021-12                                  |
    2 to 3 hours, 2.5-3.5 kg, 1-800-555-2023 |
"""


@pytest.mark.parametrize(("text", "expected"), rows(PARTIAL))
def test_dates_that_tell_less_and_several_and_none(text: str, expected: str) -> None:
    shown = (" ".join(str(field or "?") for field in value) for value in values(text))
    assert ", ".join(each.rstrip(" ?") for each in shown) == expected


def test_the_order_of_slashes_is_a_choice() -> None:
    assert values("01/02/2024") == [PartialDate(2024, 2, 1)]
    assert find_dates("01/02/2024", dayfirst=False)[0].value == PartialDate(2024, 1, 2)
    assert find_dates("01.02.2024", dayfirst=False)[0].value == PartialDate(2024, 2, 1)


def test_agreement_counts_told_fields() -> None:
    full, partial = PartialDate(2024, 1, 19), PartialDate(2024, 1)
    assert full.agreement(full) == 1
    assert full.agreement(partial) == partial.agreement(full) == pytest.approx(0.8)
    assert full.agreement(PartialDate(2024)) == 0.5
    assert full.agreement(PartialDate(2024, 1, 20)) == 0
    assert PartialDate(2024).agreement(PartialDate(None, 1, 19)) == 0


SPOKEN = """
    made it yesterday           | 2024-01-16 | 2024-01-16 | day
    last night was loud         | 2024-01-16 | 2024-01-16 | day
    the day before yesterday    | 2024-01-15 | 2024-01-15 | day
    tonight then                | 2024-01-17 | 2024-01-17 | day
    this morning                | 2024-01-17 | 2024-01-17 | day
    see you tmrw                | 2024-01-18 | 2024-01-18 | day
    the day after tomorrow      | 2024-01-19 | 2024-01-19 | day
    two days ago                | 2024-01-15 | 2024-01-15 | day
    in 5 days                   | 2024-01-22 | 2024-01-22 | day
    a couple of days ago        | 2024-01-15 | 2024-01-15 | about
    the other day               | 2024-01-14 | 2024-01-16 | about
    last friday                 | 2024-01-12 | 2024-01-12 | day
    last Wednesday              | 2024-01-10 | 2024-01-10 | day
    next wednesday              | 2024-01-24 | 2024-01-24 | day
    this friday                 | 2024-01-19 | 2024-01-19 | day
    we met on Friday            | 2024-01-12 | 2024-01-12 | day
    I fly on Friday             | 2024-01-19 | 2024-01-19 | day
    this weekend                | 2024-01-20 | 2024-01-21 | weekend
    last weekend                | 2024-01-13 | 2024-01-14 | weekend
    over the weekend I walked   | 2024-01-13 | 2024-01-14 | weekend
    next week                   | 2024-01-22 | 2024-01-28 | week
    3 weeks ago                 | 2023-12-25 | 2023-12-31 | week
    a month ago                 | 2023-12-01 | 2023-12-31 | month
    next month                  | 2024-02-01 | 2024-02-29 | month
    in March                    | 2024-03-01 | 2024-03-31 | month
    last March                  | 2023-03-01 | 2023-03-31 | month
    in December                 | 2023-12-01 | 2023-12-31 | month
    last year                   | 2023-01-01 | 2023-12-31 | year
    back in 2019                | 2019-01-01 | 2019-12-31 | year
    in two years                | 2026-01-01 | 2026-12-31 | year
    last summer                 | 2023-06-01 | 2023-08-31 | season
    next summer                 | 2024-06-01 | 2024-08-31 | season
    on the 5th                  | 2024-02-05 | 2024-02-05 | day
    I was there on the 5th      | 2024-01-05 | 2024-01-05 | day
    we danced on New Year's Eve | 2023-12-31 | 2023-12-31 | day
    my birthday is January 5    | 2024-01-05 | 2024-01-05 | day
    it opened on 3 Nov          | 2023-11-03 | 2023-11-03 | day
"""


@pytest.mark.parametrize(("text", "first", "last", "precision"), rows(SPOKEN))
def test_spoken_dates(text: str, first: str, last: str, precision: str) -> None:
    (found,) = resolve(text, SAID)
    assert (str(found.first), str(found.last), found.precision) == (first, last, precision)
    assert text[found.start : found.end] == found.text


def test_nothing_said_of_time_resolves_to_nothing() -> None:
    for text in ("the kiln is warm", "30 minutes ago", "I may march", "monday blues", ""):
        assert resolve(text, SAID) == []


moments = st.datetimes(datetime(1950, 1, 1), datetime(2090, 1, 1))


@given(said=moments, weekday=st.sampled_from(WEEKDAYS))
def test_last_and_next_weekdays_frame_the_day(said: datetime, weekday: str) -> None:
    (last,), (following,) = resolve(f"last {weekday}", said), resolve(f"next {weekday}", said)
    assert f"{last.first:%A}" == f"{following.first:%A}" == weekday
    assert timedelta(0) < said.date() - last.first <= timedelta(7)
    assert timedelta(0) < following.first - said.date() <= timedelta(7)


@given(
    said=moments,
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


@pytest.mark.parametrize("said", [datetime(2024, 1, 31), datetime(1, 1, 1), datetime(9999, 12, 31)])
@cases("""
    text
    see you in December 9999
    on 5 May
    next December
    last January
    in 2024
""")
def test_the_end_of_the_calendar_breaks_nothing(text: str, said: datetime) -> None:
    for found in resolve(text, said):
        assert found.first <= found.last
    assert resolve("999 years ago", datetime(500, 1, 1)) == []


SHORT = """
    3-5 May 2023
    3–5 May 2023
    3 — 5 May, 2023
    03 - 05 May 2023
    3 to 5 May 2023
    from 3 until 5 May 2023
    between 3 and 5 May 2023
    3rd-5th of May 2023
    from the 3rd to the 5th of May, 2023
    3 May - 5 May 2023
    Wed 3 to Fri 5 May 2023
    from Wednesday, 3 May to Friday, 5 May 2023
    May 3-5, 2023
    May 3rd–5th 2023
    May 3 to 5, 2023
    May 3 through May 5, 2023
    Between May 3rd and 5th, 2023.
    May 3 - May 5, 2023
    3-5 may '23
    03.05.2023-05.05.2023
    03.05.2023 - 05.05.2023
    03.05.-05.05.2023
    03.-05.05.2023
    3.5.–5.5.2023
    3./5.05.2023
    3/5-5/5/2023
    3/5/2023-5/5/2023
    2023-05-03 to 2023-05-05
    2023-05-03/2023-05-05
    from 3 May 2023 to 5 May
    3 May 2023 until 5 May, I think
    3 and 5 May 2023
"""
LONG = """
    from 28 December 2023 to 2 January 2024
    28 December to 2 January 2024
    28 Dec – 2 Jan 2024
    Dec 28 - Jan 2, 2024
    December 28-January 2, 2024
    28.12.-02.01.2024
    28.12.2023-02.01.2024
    between 28 December and 2 January 2024
    from 28 December 2023 until 2 January
"""


@pytest.mark.parametrize("text", lines(SHORT))
def test_both_ends_of_a_range_have_its_month_and_year(text: str) -> None:
    one, other = find_dates(text)
    assert [one.value, other.value] == stated(date(2023, 5, 3), date(2023, 5, 5))
    assert 0 <= one.start < one.end <= other.start < other.end <= len(text)


@pytest.mark.parametrize("text", lines(LONG))
def test_a_range_over_the_new_year_has_two_years(text: str) -> None:
    assert values(text) == stated(date(2023, 12, 28), date(2024, 1, 2))


@pytest.mark.parametrize("text", ["'1 - ' * 5000", "'3, ' * 10000", "'may - ' * 5000"])
def test_a_page_of_numbers_is_read_at_once(text: str) -> None:
    within(60, f"from realtalk.text.relative_dates import find_dates; find_dates({text})")


# --- days as they are typed ---


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
