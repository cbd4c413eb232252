"""Dates in words, as downloads write them."""

from __future__ import annotations

from datetime import datetime

import pytest

from realtalk.text.written_days import order_of, parse_spelled
from text_tables import lines, rows

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
