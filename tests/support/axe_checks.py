"""What bars the way on a page, as axe finds it."""

from __future__ import annotations

from typing import Any

import pytest


def assert_nothing_bars(page: Any) -> None:
    """No violation, and the page is no wider than its window."""
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe is not installed")
    page.evaluate(axe.AXE_FILE_PATH.read_text("utf-8"))
    found = page.evaluate("axe.run().then((done) => done.violations)")
    assert [(each["id"], each["nodes"][0]["html"][:120]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def on_a_phone(page: Any, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 800})
