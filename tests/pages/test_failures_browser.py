"""The page of failures in a real browser: found and sorted by keys, and nothing leaves it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from audited_chats import audit, corpus, probed
from axe_checks import assert_nothing_bars
from realtalk.evals.run import Run
from realtalk.memory.golds import Golds
from realtalk.pages.runs import failures_page
from realtalk.pages.sections import render
from report_runs import HOSTILE

LONG_NAME = "retrieved, read by some-provider/A-Model-With-A-Long-Name-2026-11-01, audited golds"
TABLE = "#s-multi-hop .table"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs with long names and answers, and texts that would be scripts."""
    runs = {"one": _long(probed(Golds("published", audit()))), LONG_NAME: _long(probed(Golds()))}
    file = tmp_path_factory.mktemp("failures") / "failed.html"
    sections = failures_page(runs, most=10, corpus=corpus())
    file.write_text(render("What failed", sections, made={}, lead=" · ".join(runs)), "utf-8")
    return file


def _long(run: Run) -> Run:
    """The run with a script for a question and an answer, and one more question beside it."""
    spoilt = {"question": f"What is it called? {HOSTILE}", "answer": f"{HOSTILE} {'on ' * 200}"}
    rows = [row | spoilt if row["sample"] == "Q2" else dict(row) for row in run.rows]
    more = run.rows[1] | {"sample": "Q9", "question": "Who named the kitten?", "verdict": None}
    return replace(run, rows=[*rows, more])


def _shown(page: Any) -> int:
    return int(page.locator(f"{TABLE} tbody tr:visible").count())


def test_failures_are_found_and_sorted_by_keys(
    open_file: Callable[..., Any], page_file: Path
) -> None:
    page = open_file(page_file)
    press = page.keyboard.press
    field = page.locator(f"{TABLE} [data-find]")
    page.locator(TABLE).evaluate("(box) => box.scrollIntoView({behavior: 'instant'})")
    whole = _shown(page)
    press("/")
    assert field.evaluate("(each) => each === document.activeElement")
    page.keyboard.type("GOLD doubtful (wrong")
    assert _shown(page) == 1 < whole
    assert page.inner_text(f"{TABLE} .found") == f"1 of {whole}"
    press("Escape")
    assert _shown(page) == whole and page.inner_text(f"{TABLE} .found") == ""
    for _ in range(3):  # the CSV, the table itself, its first heading
        press("Tab")
    press("Enter")
    assert page.get_attribute(f"{TABLE} thead th >> nth=0", "aria-sort") == "ascending"
    assert page.evaluate("window.hit") is None and page.query_selector("main img") is None


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_nothing_bars_the_way(scheme: str, open_file: Callable[..., Any], page_file: Path) -> None:
    """axe finds no violation, and the page itself is no wider than a phone."""
    page = open_file(page_file, width=390)
    page.emulate_media(color_scheme=scheme)
    assert_nothing_bars(page)


def test_a_page_without_failures_says_so() -> None:
    run = probed(Golds())
    (section,) = failures_page({"one": replace(run, rows=[])}, most=10)
    assert section.lead.startswith("No run got anything wrong.") and section.tables == ()
