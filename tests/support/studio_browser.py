"""Pages of the studio in a real browser, for tests; `studio_pages` has the fixtures."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from page_browser import CHROMIUM, listen_for_errors
from realtalk.chat import Chat, Message, Session
from realtalk.web.app import Server

pytest.importorskip("fastapi", reason="the extra studio is not installed")

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

NEEDED = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")
CHAT = "Chat_1_Ilse_Omar"


def long_chat(sessions: int, each: int) -> Chat:
    """Many messages of different length, an hour apart."""
    start = datetime(2026, 1, 1)
    made = [
        Session(
            number,
            start + timedelta(days=number),
            tuple(
                Message(
                    f"D{number}:{at}",
                    "Ilse" if (at // 3) % 2 else "Omar",
                    start + timedelta(days=number, minutes=at),
                    f"message {number}-{at} " + "and more " * (at % 17),
                )
                for at in range(1, each + 1)
            ),
        )
        for number in range(1, sessions + 1)
    ]
    return Chat("long", ("Ilse", "Omar"), tuple(made))


def base_of(server: Server) -> str:
    return server.url.partition("?")[0]


def opened(context: BrowserContext, server: Server, trouble: list[str], chat: int = 0) -> Page:
    page = _listening(context, trouble)
    page.goto(f"{base_of(server)}chat/{chat}")
    page.wait_for_selector("#panel h3", state="attached")
    return page


def watched(context: BrowserContext, url: str, trouble: list[str]) -> Page:
    """A page of another kind, whose scripts have run: modules do before a page counts as loaded."""
    page = _listening(context, trouble)
    page.goto(url)
    return page


def _listening(context: BrowserContext, trouble: list[str]) -> Page:
    (*_, last) = context.pages
    page = last if last.url == "about:blank" else context.new_page()
    listen_for_errors(page, trouble)
    return page


def asked(context: BrowserContext, server: Server, text: str) -> Page:
    """A tab in which a question was begun, the keys still in it."""
    from playwright.sync_api import expect

    page = opened(context, server, [])  # the browser itself reports a refusal as an error
    page.keyboard.press("q")
    page.keyboard.type(text)
    expect(page.locator("#saved")).to_have_text("Saved")
    return page
