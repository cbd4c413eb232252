"""Talk in a real browser: consent, a reply as it is written, by keyboard alone, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from axe_checks import assert_nothing_bars, on_a_phone
from page_browser import seeing
from realtalk.formats.opening import open_reading
from realtalk.web.serving import Server
from realtalk.web.session import StudioSession
from studio_browser import NEEDED, base_of, watched
from studio_server import SCRIPT
from talk_rooms import Piecemeal, talk_studio

pytest.importorskip("fastapi", reason="the extra studio is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import BrowserContext, Page, expect

pytestmark = NEEDED
pytest_plugins = ["studio_pages"]


@pytest.fixture
def solver() -> Piecemeal:
    return Piecemeal()


@pytest.fixture
def studio(tmp_path: Path, solver: Piecemeal) -> Iterator[StudioSession]:
    made = talk_studio(tmp_path, solver)
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, server: Server, trouble: list[str]) -> Iterator[Page]:
    yield watched(context, f"{base_of(server)}talk", trouble)
    # The browser itself reports the refusal that asks for consent.
    assert [line for line in trouble if "409" not in line] == []


def test_a_talk_by_keyboard_alone(page: Page, tmp_path: Path, solver: Piecemeal) -> None:
    see = seeing(page)
    write = page.keyboard.type
    see("#asks").to_contain_text("Are you Ines")
    see("#asks").to_be_focused()
    press = page.keyboard.press
    press("Tab")
    press("Enter")  # I am Ines
    box = page.locator("textarea")
    expect(box).to_be_focused()
    write(SCRIPT)
    press("Enter")
    bubbles = page.locator("#said .bubble")
    expect(bubbles).to_have_count(2)
    expect(bubbles.nth(1)).to_contain_text(f"you said {SCRIPT}")
    expect(bubbles.nth(1)).to_contain_text("Ines (simulated)")
    assert page.title() != "owned"
    send = page.get_by_role("button", name="Send")
    expect(send).to_be_enabled()  # the reply is kept
    write("wait")
    press("Enter")
    expect(bubbles).to_have_count(4)
    write("not yet")
    press("Enter")  # nothing is sent while a reply is written
    expect(bubbles).to_have_count(4)
    expect(send).to_be_disabled()
    solver.go_on.set()
    expect(bubbles.nth(3)).to_contain_text("you said wait")
    expect(send).to_be_enabled()
    page.reload()
    expect(bubbles).to_have_count(4)  # and nobody is asked again
    (chat,) = open_reading(str(tmp_path / "talk")).reading.corpus.chats
    assert len(chat.messages) == 4


@pytest.mark.parametrize("scheme", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_nothing_bars_the_way(scheme: str, page: Page) -> None:
    """axe finds no violation, and everything fits on a phone."""
    on_a_phone(page, scheme)
    for step in ("consent", "talk"):
        if step == "talk":
            page.locator('[data-answer="given"]').click()
            page.locator("textarea").fill("is it dry?")
            page.get_by_role("button", name="Send").click()
            expect(page.locator("#said .bubble")).to_have_count(2)
        assert_nothing_bars(page)
