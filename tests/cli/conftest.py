"""The command, run in this process and in an empty folder."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from realtalk.cli import main as command


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """Runs the command in this process, in an empty folder: (status, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["realtalk", *words])
        status = 0
        try:
            command.main()
        except SystemExit as stop:
            status = int(stop.code or 0)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return call
