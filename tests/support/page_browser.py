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
        _ENDS.close()


@pytest.fixture
def open_file(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page in a context of its own; whatever must not happen on it is a failure."""
    wrong: list[str] = []
    contexts: list[Any] = []

    def opened(file: Path, width: int = 1200, height: int = 900, locale: str = "en-US") -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            accept_downloads=True,
            color_scheme="light",
            locale=locale,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(("file:", "blob:", "data:"))
                else wrong.append(request.url)
            ),
        )
        page.goto(file.as_uri())
        return page

    yield opened
    assert wrong == []
    for context in contexts:
        context.close()
