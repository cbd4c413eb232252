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


def test_the_page_can_be_wrong() -> None:
    said = "```python\nx = 2\nx + 2\n```\n\n```text\n5\n```\n"
    assert run_pages.run_markdown(said) == said.replace("5", "4")
    assert run_pages.run_markdown("```python\nprint('a')\n```\n").endswith("```text\na\n```\n")
    assert run_pages.run_markdown("```python\nx = 2\n```\n") == "```python\nx = 2\n```\n"
    with pytest.raises(ZeroDivisionError):
        run_pages.run_markdown("```python\n1 / 0\n```\n")


@pytest.mark.slow
def test_the_tour_shows_what_its_code_shows() -> None:
    written = json.loads((DOCS / "tour.ipynb").read_text("utf-8"))
    assert shown(run_pages.run_notebook(written)) == shown(written), (
        "run: python -m research.results.run_pages"
    )


def test_the_tour_has_its_outputs() -> None:
    """Committed as it was run: every cell that ends in a value shows it."""
    written = json.loads((DOCS / "tour.ipynb").read_text("utf-8"))
    outputs = [text for texts in shown(written) for text in texts]
    assert len(outputs) > 10
    assert any("<table>" in text for text in outputs)
    assert any("shared words, read by none (second)" in text for text in outputs)
    assert "Traceback" not in str(outputs)


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
