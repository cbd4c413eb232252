"""Pages with Python in them say what the code says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from research.results import run_pages
from research.results.python_reference import reference

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_what_the_code_says() -> None:
    written = (DOCS / "reference-python.md").read_text("utf-8")
    assert written == reference(), "run: python -m research.results.python_reference"
    assert " at 0x" not in written


@pytest.mark.slow
def test_the_page_shows_what_its_code_shows() -> None:
    written = (DOCS / "python.md").read_text("utf-8")
    assert run_pages.run_markdown(written) == written, "run: python -m research.results.run_pages"


@pytest.mark.slow
def test_the_tour_shows_what_its_code_shows() -> None:
    written = json.loads((DOCS / "tour.ipynb").read_text("utf-8"))
    assert shown(run_pages.run_notebook(written)) == shown(written), (
        "run: python -m research.results.run_pages"
    )


def shown(page: dict[str, Any]) -> list[list[str]]:
    """What each cell shows, but for pictures: fonts differ from machine to machine."""
    return [
        [
            "".join(text)
            for output in cell.get("outputs", ())
            for kind, text in (output.get("data") or {"text/plain": output.get("text")}).items()
            if kind.startswith("text/")
        ]
        for cell in page["cells"]
    ]
