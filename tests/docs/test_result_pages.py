"""Pages of results say what the committed rows say."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["threads", "persona"])
def test_a_page_is_what_its_rows_make(name: str, tmp_path: Path) -> None:
    copy = tmp_path / "docs"
    shutil.copytree(DOCS, copy, ignore=shutil.ignore_patterns("images", "*.ipynb"))
    page = copy / "results" / f"{name}.md"
    written = page.read_text("utf-8")
    page.unlink()
    subprocess.run([sys.executable, str(copy / f"{name}_results.py")], check=True)
    assert page.read_text("utf-8") == written
