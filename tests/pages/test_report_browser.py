"""The page in a real Chromium: it opens, draws, sorts, saves, and runs nobody else's script."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from realtalk.pages.report import write_report
from realtalk.pages.sections import render
from realtalk.pages.values import KeyFigure, Section, TableView
from report_runs import FORMULA, HOSTILE, report


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(report(), tmp_path_factory.mktemp("browser") / "report.html")


@pytest.fixture
def page(open_file: Callable[..., Any], page_file: Path) -> Iterator[Any]:
    """The page, opened from its file, on which no script of a name or a text may run."""
    made = open_file(page_file, height=800)
    yield made
    assert made.evaluate("window.hit") is None


def test_charts_are_there_and_hold_no_script(page: Any) -> None:
    count = page.locator("figure.chart").count()
    assert count >= 8 and page.locator(".plot svg").count() == count
    assert page.locator("svg script, svg img").count() == 0


def test_a_mark_says_what_it_is(page: Any) -> None:
    mark = page.locator("#s-ei-ferry figure.chart [data-tip]").first
    mark.scroll_into_view_if_needed()
    mark.hover()
    lines = page.locator("#tip div").all_inner_texts()
    assert lines[0].startswith("name:") and len(lines) == 4


def rows_of(page: Any, box: str) -> list[str]:
    found: list[str] = page.locator(f"{box} tbody tr").all_inner_texts()
    return found


def test_a_click_sorts_and_a_third_restores(page: Any) -> None:
    box = "#s-measured .table >> nth=0"
    head = page.locator(f"{box} >> thead th >> nth=4")
    before = rows_of(page, box + " >>")
    values: list[list[int]] = []
    for state in ("ascending", "descending"):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == state
        cells = page.locator(f"{box} >> tbody td:nth-child(5)").all_inner_texts()
        values.append([int(cell.replace(",", "")) for cell in cells])
    assert values[0] == sorted(values[0]) and values[1] == sorted(values[0], reverse=True)
    assert values[0] != values[1]
    head.locator("button").click()
    assert rows_of(page, box + " >>") == before


def test_what_has_no_value_stands_last_both_ways(page: Any) -> None:
    box = "#s-measured .table >> nth=1"
    head = page.locator(f"{box} >> thead th >> nth=2")
    for _ in range(2):
        head.locator("button").click()
        cells = page.locator(f"{box} >> tbody td:nth-child(3)").all_inner_texts()
        assert cells[-1] == "–" and cells[0] != "–"


def test_dark_is_one_click_away(page: Any) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.locator("#theme").click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate(colour) != light
    turned = "getComputedStyle(document.querySelector('.plot svg')).filter"
    assert page.evaluate(turned).startswith("invert")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_paper_is_light_and_shows_every_chart(page: Any, tmp_path: Path) -> None:
    """Also where the page is dark: nothing is turned round, cut off or left to a button."""
    page.locator("#theme").click()
    page.emulate_media(media="print")
    style = "(each, name) => getComputedStyle(each)[name]"
    assert page.locator("body").evaluate(style, "backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("body").evaluate(style, "color") == "rgb(0, 0, 0)"
    drawings = page.locator("figure.chart svg")
    assert drawings.count() == page.locator("figure.chart").count() >= 8
    for drawing in drawings.all():
        assert drawing.is_visible() and drawing.evaluate(style, "filter") == "none"
    for hidden in page.locator(".bar, .contents, .acts").all():
        assert not hidden.is_visible()
    for box in page.locator(".table .scroll").all():
        assert box.evaluate(style, "overflow") == "visible"
    page.pdf(path=tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def saved(page: Any, button: Any) -> bytes:
    with page.expect_download() as waiting:
        button.click()
    return Path(waiting.value.path()).read_bytes()


@pytest.mark.slow
def test_charts_and_tables_can_be_saved(page: Any) -> None:
    figure = page.locator("figure.chart").first
    assert saved(page, figure.locator("[data-save=png]")).startswith(b"\x89PNG")
    svg = saved(page, figure.locator("[data-save=svg]")).decode()
    assert svg.startswith("<svg") and "Response gaps" in svg
    button = page.locator("#s-ei-ferry .table [data-save=csv]")
    table = list(csv.reader(io.StringIO(saved(page, button).decode())))
    assert table[0][:3] == ["speaker", "chat", "turns"]
    names = {row[0] for row in table[1:]}
    # A spreadsheet must not take a name for a formula.
    assert HOSTILE.strip() in names and f"'{FORMULA}" in names and FORMULA not in names


def test_a_phone_scrolls_no_page_sideways(page: Any) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.reload()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator(".contents details").get_attribute("open") is None


def test_numbers_and_dates_follow_the_reader_and_savings_do_not(
    open_file: Callable[..., Any], tmp_path: Path
) -> None:
    rows = (
        ("second", 17109.8, 1234, "0.53 [0.49, 0.57]", "2026-03-02", "0.2.0"),
        ("first", 2.5, 98, "0.61 [0.50, 0.70]", "2025-12-31", "0.2.0"),
    )
    table = TableView("Figures", ("run", "mean", "n", "share", "day", "version"), rows)
    section = Section("one", "One", "1,234 turns in 2 chats.", (table,))
    key = KeyFigure("81 %", "of 1,234 turns", "95 % interval 78 … 84 %")
    file = tmp_path / "page.html"
    made = {"realtalk": "0.2.0", "date": "2026-11-15"}
    file.write_text(render("Any", [section], made=made, key_figures=[key]), "utf-8")
    page = open_file(file, locale="de-DE")
    cells = page.locator("tbody tr").nth(0).locator("th, td").all_inner_texts()
    assert cells == ["second", "17.109,8", "1.234", "0,53 [0,49, 0,57]", "2. März 2026", "0.2.0"]
    assert page.inner_text(".lead >> nth=0") == "1.234 turns in 2 chats."
    assert page.inner_text("footer") == "realtalk\n0.2.0\ndate\n15. November 2026"
    page.locator("thead th button").nth(1).click()  # sorted by what the numbers are
    assert page.locator("tbody th").all_inner_texts() == ["first", "second"]
    page.locator("thead th button").nth(4).click()
    assert page.locator("tbody th").all_inner_texts() == ["first", "second"]
    text = saved(page, page.locator("[data-save=csv]")).decode()
    assert "second,17109.8,1234" in text and "2026-03-02" in text
    arabic = open_file(file, locale="ar-EG")
    assert arabic.inner_text("tbody td >> nth=1") == "١٬٢٣٤"
    assert arabic.inner_text("tbody td >> nth=4") == "0.2.0"
    english = open_file(file)
    assert english.inner_text("tbody td >> nth=0") == "17,109.8"
    assert "2026-11-15" in english.inner_text("footer")
