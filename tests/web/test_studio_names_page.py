"""Names to redact in a real browser: by keyboard alone, names stay names, nothing bars the way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from axe_checks import assert_nothing_bars, on_a_phone
from realtalk.redaction.candidates import Mention
from realtalk.redaction.redact import RULES
from realtalk.redaction.review import read_review
from realtalk.web.library import ChatLibrary
from realtalk.web.serving import Server
from realtalk.web.session import StudioSession
from realtalk.web.store import Store
from studio_browser import NEEDED, base_of, watched
from studio_server import small_corpus

pytest.importorskip("fastapi", reason="the extra studio is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import BrowserContext, Page, expect

pytestmark = NEEDED
pytest_plugins = ["studio_pages"]


class Guesses:
    """A source that is sure of nobody."""

    def mentions(self, texts: Sequence[str]) -> Iterator[Mention]:
        for number, text in enumerate(texts):
            for word in ("cardamom", "kettle"):
                if (start := text.find(word)) >= 0:
                    yield Mention(number, start, start + len(word), "place", 0.3, "guesses")


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioSession]:
    store = Store.open(tmp_path / "notes.sqlite")
    yield StudioSession(
        ChatLibrary(small_corpus()), store, "Ana", {}, name_sources=[*RULES, Guesses()]
    )
    store.close()


@pytest.fixture
def page(context: BrowserContext, server: Server, trouble: list[str]) -> Iterator[Page]:
    made = watched(context, f"{base_of(server)}names", trouble)
    made.wait_for_selector("#ticked:not(:empty)")  # the last that the script does: keys work now
    yield made
    assert trouble == []


def test_names_are_ticked_by_keyboard_alone(page: Page, tmp_path: Path) -> None:
    ticked = page.locator("#ticked")
    expect(ticked).to_have_text("1 of 3 are replaced")
    page.keyboard.press("j")
    expect(page.locator("[data-tick]").first).to_be_focused()
    page.keyboard.press("j")  # the rest is folded away
    expect(page.locator("[data-tick]").first).to_be_focused()
    page.keyboard.press("x")
    expect(ticked).to_have_text("0 of 3 are replaced")
    expect(page.locator("#saved")).to_have_text("Saved")
    page.get_by_label("Add a name").focus()
    page.keyboard.type("harbour xjk")
    page.keyboard.press("Tab")
    page.keyboard.type("place")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
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
    page.keyboard.press("j")
    page.keyboard.press("Space")
    expect(ticked).to_have_text("2 of 4 are replaced")


def test_doubtful_names_are_folded_away_with_their_count(page: Page) -> None:
    summary = page.locator("#doubtful summary")
    expect(summary).to_contain_text("2 doubtful")
    kettle = page.locator('[data-form="kettle"]')
    expect(kettle).to_be_hidden()
    page.keyboard.press("d")
    expect(kettle).to_be_visible()
    expect(kettle.locator("mark")).to_have_text("kettle")
    expect(page.locator("#doubtful [data-tick]").first).to_be_focused()
    page.keyboard.press("x")
    expect(summary).to_contain_text("(1 ticked)")
    page.keyboard.press("d")
    expect(kettle).to_be_hidden()
    page.locator('[data-form="Noor"] bdi').first.click()  # a click on a name decides nothing
    expect(page.locator("#ticked")).to_have_text("2 of 3 are replaced")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_the_way(scheme: str, page: Page) -> None:
    """axe finds no violation, and the page fits on a phone."""
    on_a_phone(page, scheme)
    assert_nothing_bars(page)
