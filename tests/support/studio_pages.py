"""Fixtures for the studio in a real browser: a server, and pages that must not complain.

A test file has them by `pytest_plugins = ["studio_pages"]`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from realtalk.chat import Corpus
from realtalk.ei.labels import Label
from realtalk.web.app import Server
from realtalk.web.session import StudioSession
from realtalk.web.turn_labels import TurnLabels
from studio_browser import CHAT, base_of, long_chat, opened, watched
from studio_server import entered, open_studio, small_corpus

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[StudioSession]:
    chats = (*small_corpus().chats, long_chat(100, 60))
    strip = Label(sentiment="positive", sentiment_p=0.9, emotion="joy", reflective=True)
    labels = {CHAT: TurnLabels({"D1:1": strip, "D1:2": strip})}
    with open_studio(tmp_path, Corpus("harbour", "realtalk", chats), labels) as made:
        yield made


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with entered(server.url) as made:
        yield made


@pytest.fixture
def server(studio: StudioSession) -> Iterator[Server]:
    with Server.start(studio) as running:
        yield running


@pytest.fixture
def context(lend_page: Callable[..., Page], server: Server) -> BrowserContext:
    made = lend_page(1300, 800).context
    made.request.get(server.url)
    return made


@pytest.fixture
def trouble() -> list[str]:
    return []


@pytest.fixture
def page(
    request: pytest.FixtureRequest, context: BrowserContext, server: Server, trouble: list[str]
) -> Iterator[Page]:
    """The first chat, or the page that the test file names as PLACE."""
    place = getattr(request.module, "PLACE", "")
    opens = watched(context, base_of(server) + place, trouble) if place else None
    yield opens or opened(context, server, trouble)
    assert trouble == []
