"""Numbers in tables: one rule for the page and the terminal, and nothing that is small is zero."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from realtalk.cells import cell_text
from realtalk.cli import printing
from realtalk.pages.sections import table_html
from realtalk.pages.values import TableView
from text_tables import cases


@cases("""
    value     | shown
    null      | –
    NaN       | –
    true      | yes
    false     | no
    a<b       | a<b
    ""        | ""
    8944      | 8,944
    17109.84  | 17,109.8
    100.0     | "100.0"
    99.999    | "100"
    21.345    | "21.34"
    0.5       | "0.5"
    -0.5      | "-0.5"
    2.0       | "2"
    0.1       | "0.1"
    0.03416   | "0.034"
    0.004     | "0.004"
    -0.0042   | "-0.0042"
    0.0000034 | "3.4e-06"
    0.0       | "0"
    -0.0      | "0"
    Infinity  | ∞
    -Infinity | -∞
""")
def test_numbers_as_people_write_them(value: Any, shown: str) -> None:
    assert cell_text(value) == shown
    assert printing.cell(value) == shown
    page = table_html(TableView("t", ("name", "n"), (("x", value),)), 3)
    assert f">{shown.replace('<', '&lt;')}</td>" in page


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_only_zero_is_shown_as_zero_and_no_sign_is_lost(value: float) -> None:
    shown = float(cell_text(value).replace(",", ""))
    assert (shown == 0) == (value == 0)
    assert math.copysign(1, shown) == math.copysign(1, value) or value == 0
    assert math.isclose(shown, value, rel_tol=0.06, abs_tol=0)


def test_the_terminal_takes_no_text_for_markup(capsys: pytest.CaptureFixture[str]) -> None:
    printing.show("[red]t[/red]", ("[i]name[/i]", "n"), [("[bold]Ana[/bold]", 1)])
    shown = capsys.readouterr().out
    for text in ("[red]t[/red]", "[i]name[/i]", "[bold]Ana[/bold]"):
        assert text in shown


def test_what_is_no_number_is_not_sorted_as_one() -> None:
    page = table_html(TableView("t", ("name", "n"), (("x", math.nan), ("y", 0.25))), 3)
    assert '<td class="num none" data-local>–</td>' in page and page.count("data-v") == 1
