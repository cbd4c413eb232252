"""The browser is opened without the link's secret in its command line."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from studio_server import entered

pytest.importorskip("fastapi", reason="the extra studio is not installed")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the browser is a shell script")

_COMMAND = "from realtalk.cli.main import main; main()"
_BROWSER = """#!/bin/sh
printf '%s' "$*" > "$SEEN.half" && mv "$SEEN.half" "$SEEN"
"""


def until(holds: Callable[[], bool]) -> None:
    late = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < late
        time.sleep(0.05)


def opened(folder: Path, browser: str) -> tuple[subprocess.Popen[str], str]:
    """The command, with a browser that only notes how it was called."""
    process = subprocess.Popen(
        [sys.executable, "-c", _COMMAND, "studio", "sample", "-a", "notes.sqlite"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ
        | {"HOME": str(folder), "BROWSER": browser, "SEEN": str(folder / "seen")}
        | {"REALTALK_CACHE": str(folder / "cache"), "PATH": "/nowhere:/bin", "DISPLAY": ""},
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip().removeprefix("studio: ")


def pages(folder: Path) -> list[Path]:
    return list(folder.glob("realtalk-studio-*.html"))


def test_a_command_line_holds_no_secret_and_the_file_goes_away(tmp_path: Path) -> None:
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(_BROWSER)
    browser.chmod(0o755)
    process, url = opened(tmp_path, str(browser))
    try:
        until(seen.exists)
        token = url.partition("token=")[2]
        (page,) = pages(tmp_path)
        assert seen.read_text() == page.as_uri() and len(token) > 20
        assert token not in seen.read_text()
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert f'content="0;url={url}"' in page.read_text()
        with entered(url) as client:
            assert client.get("/").status_code == 200
        until(lambda: not page.exists())
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_a_link_that_nobody_followed_leaves_no_file(tmp_path: Path) -> None:
    process, _ = opened(tmp_path, "/nowhere/browser")
    try:
        until(lambda: bool(pages(tmp_path)))
        assert process.stderr is not None
        kept, told = process.stderr.readline(), process.stderr.readline()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert kept.startswith("annotations are kept in notes.sqlite")
    assert process.returncode == 0 and "no browser was found" in told
    assert pages(tmp_path) == []
