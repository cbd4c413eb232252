"""Guess in a real browser: by keyboard alone, on a phone, and nothing bars the way."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from axe_checks import assert_nothing_bars, on_a_phone
from guess_rooms import SECRET, guess_studio
from page_browser import seeing
from realtalk.evals.run import Run
from realtalk.web.serving import Server
from realtalk.web.session import StudioSession
from studio_browser import NEEDED, base_of

pytest.importorskip("fastapi", reason="the extra studio is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import Page, expect

pytestmark = NEEDED
pytest_plugins = ["studio_pages"]


PLACE = "chat/1/guess"


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioSession]:
    made = guess_studio(tmp_path)
    yield made
    made.close()


@pytest.fixture
def page(page: Page) -> Page:
    expect(page.locator(".guess[data-ready]")).to_be_visible()  # keys and clicks are heard
    return page


def test_replies_are_picked_by_keyboard_alone(page: Page, tmp_path: Path) -> None:
    see = seeing(page)
    press, guessed = page.keyboard.press, page.locator("#guessed")
    press("y")
    see('[data-ready] [data-place="1"]').to_be_visible()  # the page comes anew
    expect(guessed).to_have_text("0 of 12 guessed")
    press("9")  # no such reply
    press("2")
    expect(guessed).to_have_text("1 of 12 guessed")
    see("#asks").to_be_focused()
    (row,) = Run.load(tmp_path / "notes.guesses").rows
    assert (row["judge"], row["knows"]) == ("Ana", True)
    press("b")  # the one before, with what was picked
    see('[data-place="1"]').to_have_attribute("aria-pressed", "true")
    press("4")
    see('[data-place][aria-pressed="true"]').to_have_count(0)
    press("Tab")  # from the question to the first reply
    see('[data-place="0"]').to_be_focused()
    press("Enter")
    expect(guessed).to_have_text("2 of 12 guessed")
    assert SECRET not in page.content()
    page.reload()  # goes on where it was, and asks nobody again
    see(".guess[data-ready]").to_be_visible()
    expect(guessed).to_have_text("2 of 12 guessed")
    for number in range(3, 13):
        press("1")
        expect(guessed).to_have_text(f"{number} of 12 guessed")
    see("#asks").to_have_text("Thank you, that was all.")
    page.get_by_role("link", name="Results").press("Enter")
    expect(page.locator("table").first).to_contain_text("the person")


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_bars_the_way(
    scheme: str, page: Page, server: Server, studio: StudioSession
) -> None:
    """axe finds no violation, and everything fits on a phone."""
    see = seeing(page)
    on_a_phone(page, scheme)
    page.locator('[data-knows="false"]').click()
    page.locator('[data-ready] [data-place="1"]').click()  # the page comes anew
    see("#guessed").to_have_text("1 of 12 guessed")
    page.locator('[data-step="-1"]').click()
    see('[aria-pressed="true"]').to_have_count(1)
    for path in ("", "guess/results"):
        if path:
            page.goto(base_of(server) + path)
        assert_nothing_bars(page)
