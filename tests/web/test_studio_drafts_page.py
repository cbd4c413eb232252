"""The page of drafts in a real browser: mended by keyboard alone, then put into the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import realtalk as rt
from axe_checks import assert_nothing_bars
from drafted_chats import MODEL, garden
from realtalk.api.options import as_reading
from realtalk.chat import Corpus
from realtalk.formats.audit import chat_key
from realtalk.formats.store import store
from realtalk.memory.drafting import DraftedQuestion, Drafts, drafted
from realtalk.web.session import StudioSession
from studio_browser import NEEDED
from studio_server import open_studio

pytest.importorskip("fastapi", reason="the extra studio is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
from playwright.sync_api import Page, expect

pytestmark = NEEDED
pytest_plugins = ["studio_pages"]

CORPUS = Corpus("garden", "realtalk", (garden(),))
ASKED = (
    drafted("What did the greenhouse cost?", "340 euros", "single_hop", ("D1:1",)),
    drafted("When did the storm come?", "9 March 2026", "temporal", ("D2:1",)),
)


PLACE = "chat/0/drafts"


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioSession]:
    folder = store(as_reading(CORPUS), tmp_path / "garden")
    drafts = Drafts(
        tuple(
            DraftedQuestion(chat_key(garden()), each, MODEL, "", "so", "not told") for each in ASKED
        )
    )
    with open_studio(tmp_path, CORPUS, {}, drafts=drafts, stored=folder) as made:
        yield made


def test_drafts_are_mended_by_keyboard_and_put_into_the_corpus(page: Page, tmp_path: Path) -> None:
    press, cards = page.keyboard.press, page.locator(".verdict")
    press("j")
    press("a")
    expect(cards.nth(0).locator("[data-done]")).to_have_text("✓ accept")
    press("j")
    press("c")
    press("ControlOrMeta+a")  # the field has the words that are to be mended
    page.keyboard.type("When did the storm break a pane?")
    press("Tab")
    page.keyboard.type("8 March 2026")
    press("Tab")
    press("Enter")
    expect(cards.nth(1).locator("[data-done]")).to_have_text("✓ correct")
    page.get_by_role("button", name="Put the accepted ones into the corpus").press("Enter")
    expect(page.get_by_text("2 questions are in the corpus")).to_be_visible()
    first, second = rt.read(tmp_path / "garden").chats[0].questions
    assert first == ASKED[0]
    assert (second.text, second.answer) == ("When did the storm break a pane?", "8 March 2026")
    assert page.title().startswith("Drafts")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert_nothing_bars(page)
