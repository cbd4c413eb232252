"""A real browser for tests; pages opened from their files must not complain or reach out."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
PATIENCE = 60_000  # milliseconds; for a machine that is busy with other tests
_RUNNING: dict[str, Any] = {}
_FREE: dict[str, list[Any]] = {}  # by locale: pages that no test is at
_HEARD: list[tuple[Any, str, Callable[[Any], None]]] = []
_ENDS = ExitStack()


@pytest.fixture
def browser() -> Any:
    """One for all tests of a folder that follow each other: to start it takes seconds."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    if not _RUNNING:
        playwright.expect.set_options(timeout=PATIENCE)
        driver = _ENDS.enter_context(playwright.sync_playwright()).chromium
        made = driver.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        _ENDS.callback(made.close)
        _RUNNING["browser"] = made
    return _RUNNING["browser"]


def expect(place: Any) -> Any:
    """Playwright's own, which need not be there where tests are only collected."""
    from playwright.sync_api import expect

    return expect(place)


def seeing(page: Any) -> Callable[[str], Any]:
    """What is expected of a place of the page: see("#saved").to_have_text("Saved")."""
    return lambda place: expect(page.locator(place))


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Not for longer: where Playwright runs, no other loop of asyncio can."""
    if nextitem is None or nextitem.path.parent != item.path.parent:
        _RUNNING.clear()
        _FREE.clear()
        _ENDS.close()


@pytest.fixture
def lend_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """An empty page, which a later test gets again: a new one takes a second of the processor."""
    lent: list[tuple[str, Any]] = []

    def lend(width: int, height: int, locale: str = "en-US") -> Any:
        free = _FREE.setdefault(locale, [])
        size = {"width": width, "height": height}
        if not free:
            context = browser.new_context(viewport=size, accept_downloads=True, locale=locale)
            context.set_default_timeout(PATIENCE)
            free.append(context.new_page())
        page = free.pop()
        page.set_viewport_size(size)
        page.emulate_media(media="null", color_scheme="light")
        lent.append((locale, page))
        return page

    yield lend
    for locale, page in lent:
        _empty(page)
        _FREE[locale].append(page)


def listen(page: Any, event: str, hear: Callable[[Any], None]) -> None:
    """For as long as the test lasts."""
    page.on(event, hear)
    _HEARD.append((page, event, hear))


def _empty(page: Any) -> None:
    """Nothing that a test did to the page, or beside it, is left."""
    for each, event, hear in _HEARD:
        each.remove_listener(event, hear)
    _HEARD.clear()
    for other in page.context.pages[1:]:
        other.close()
    page.context.clear_cookies()
    page.evaluate("try { localStorage.clear(); sessionStorage.clear() } catch { /* none */ }")
    page.once("dialog", lambda asked: asked.accept())  # it may have something to save
    page.goto("about:blank")


@pytest.fixture
def open_file(lend_page: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """Opens a page; whatever must not happen on it is a failure."""
    wrong: list[str] = []

    def ask(request: Any) -> None:
        if not request.url.startswith(("file:", "blob:", "data:")):
            wrong.append(request.url)

    def opened(file: Path, width: int = 1200, height: int = 900, locale: str = "en-US") -> Any:
        page = lend_page(width, height, locale)
        listen_for_errors(page, wrong)
        listen(page, "request", ask)
        page.goto(file.as_uri())
        return page

    yield opened
    assert wrong == []


def listen_for_errors(page: Any, wrong: list[str]) -> None:
    """What a page complains of is added to the list."""
    listen(page, "pageerror", lambda error: wrong.append(str(error)))
    listen(page, "console", lambda said: wrong.append(said.text) if said.type == "error" else None)
