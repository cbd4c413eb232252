"""Pages opened from their files in a real browser, for tests: they must not complain or reach out.

A test file has the fixtures by `pytest_plugins = ["page_browser"]`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def file_browser() -> Iterator[Any]:
    """Not `browser`: that is the studio's, and plugins share their names."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine")
    with playwright.sync_playwright() as running:
        opened = running.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def open_file(file_browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page in a context of its own; whatever must not happen on it is a failure."""
    wrong: list[str] = []
    contexts: list[Any] = []

    def opened(file: Path, width: int = 1200, height: int = 900, locale: str = "en-US") -> Any:
        context = file_browser.new_context(
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
