"""What the package's own tests share, for the research's too, and its commands in this process."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest
from conftest import data, no_own_cache, no_pause, run, shared_cache

from research.command import call

__all__ = ["data", "no_own_cache", "no_pause", "run", "shared_cache"]


@pytest.fixture
def research(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Any:
    """Runs a command of research in this process, in an empty folder: (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def start(module: str, *words: str) -> tuple[int, str, str]:
        main = importlib.import_module(f"research.{module}").main
        status = 0
        try:
            call(lambda: main(words))
        except SystemExit as stop:
            status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return start
