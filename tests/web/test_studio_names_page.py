"""Names to redact in a real browser: by keyboard alone, names stay names, nothing bars the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from axe_checks import assert_nothing_bars, on_a_phone
from realtalk.redaction.candidates import Mention
from realtalk.redaction.redact import RULES
from realtalk.redaction.review import read_review
from realtalk.web.session import StudioSession
from studio_browser import NEEDED
from studio_server import open_studio

pytest.importorskip("fastapi", reason="the extra studio is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import Page, expect

pytestmark = NEEDED
pytest_plugins = ["studio_pages"]


PLACE = "names"


class Guesses:
    """A source that is sure of nobody."""

    def mentions(self, texts: Sequence[str]) -> Iterator[Mention]:
        for number, text in enumerate(texts):
            for word in ("cardamom", "kettle"):
                if (start := text.find(word)) >= 0:
                    yield Mention(number, start, start + len(word), "place", 0.3, "guesses")


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioSession]:
    with open_studio(tmp_path, name_sources=[*RULES, Guesses()]) as made:
        yield made


@pytest.fixture
def page(page: Page) -> Page:
    page.wait_for_selector("#ticked:not(:empty)")  # the last that the script does: keys work now
    return page


def test_names_are_ticked_by_keyboard_alone(page: Page, tmp_path: Path) -> None:
    press = page.keyboard.press
    ticked = page.locator("#ticked")
    expect(ticked).to_have_text("1 of 3 are replaced")
    press("j")
    expect(page.locator("[data-tick]").first).to_be_focused()
    press("j")  # the rest is folded away
    expect(page.locator("[data-tick]").first).to_be_focused()
    press("x")
    expect(ticked).to_have_text("0 of 3 are replaced")
    expect(page.locator("#saved")).to_have_text("Saved")
    page.get_by_label("Add a name").focus()
    page.keyboard.type("harbour xjk")
    press("Tab")
    page.keyboard.type("place")
    press("Tab")
    press("Enter")
    expect(ticked).to_have_text("1 of 4 are replaced")
    kept = {
        each.form: (each.kind, each.is_replaced)
        for each in read_review(tmp_path / "notes.names.csv")
    }
    assert kept == {
        "Noor": ("person", False),
        "harbour xjk": ("place", True),
        "cardamom": ("place", False),
        "kettle": ("place", False),
    }
    press("j")
    press("Space")
    expect(ticked).to_have_text("2 of 4 are replaced")


def test_doubtful_names_are_folded_away_with_their_count(page: Page) -> None:
    press = page.keyboard.press
    summary = page.locator("#doubtful summary")
    expect(summary).to_contain_text("2 doubtful")
    kettle = page.locator('[data-form="kettle"]')
    expect(kettle).to_be_hidden()
    press("d")
    expect(kettle).to_be_visible()
    expect(kettle.locator("mark")).to_have_text("kettle")
    expect(page.locator("#doubtful [data-tick]").first).to_be_focused()
    press("x")
    expect(summary).to_contain_text("(1 ticked)")
    press("d")
    expect(kettle).to_be_hidden()
    page.locator('[data-form="Noor"] bdi').first.click()  # a click on a name decides nothing
    expect(page.locator("#ticked")).to_have_text("2 of 3 are replaced")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_the_way(scheme: str, page: Page) -> None:
    """axe finds no violation, and the page fits on a phone."""
    on_a_phone(page, scheme)
    assert_nothing_bars(page)
