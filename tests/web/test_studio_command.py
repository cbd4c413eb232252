"""`realtalk studio`: its link, its errors, its end, and the browser that it opens."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from realtalk.errors import MissingExtraError
from realtalk.web import app
from studio_server import entered, run_studio
from text_tables import cases

pytest.importorskip("fastapi", reason="the extra studio is not installed")


@cases("""
    words                           | why
    nowhere                         | no such file
    sample --labels nowhere         | no labels here
    sample --annotator final        | not a person's name
    sample --annotations letter.txt | not a file of annotations
    sample --port 99999             | port
""")
def test_mistakes_are_one_line(run: Any, words: str, why: str) -> None:
    Path("letter.txt").write_text("dear reader, " * 100)
    status, out, err = run(f"studio {words} --no-browser")
    assert status == 2 and out == ""
    assert why in err and err.count("\n") == 1
    assert Path("letter.txt").read_text().startswith("dear reader")


def test_a_missing_extra_names_its_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[studio\]'"):
        app.need_extra()


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_it_ends_at_ctrl_c_and_leaves_a_whole_file(tmp_path: Path) -> None:
    notes = tmp_path / "notes.sqlite"
    with run_studio("sample", notes, "--annotator", "Ana") as running:
        with entered(running.url) as client:
            assert "Mara" in client.get("/chat/0").text
        running.process.send_signal(signal.SIGINT)
        assert running.process.wait(60) == 0
    lines = notes.with_suffix(".said").read_text("utf-8").splitlines()
    assert lines[-1] == "closed; everything was saved"  # and no traceback of a thread behind it
    with closing(sqlite3.connect(notes)) as connection, connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert connection.execute("SELECT count(*) FROM item").fetchone()[0] == 62
    connection.close()
    assert not notes.with_name("notes.sqlite-wal").exists()


# --- the browser is opened without the link's secret ---


A_SHELL = pytest.mark.skipif(sys.platform == "win32", reason="the browser is a shell script")

_COMMAND = "from realtalk.cli.main import main; main()"
_BROWSER = """#!/bin/sh
printf '%s' "$*" > "$SEEN.half" && mv "$SEEN.half" "$SEEN"
"""


def until(holds: Callable[[], bool]) -> None:
    late = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < late
        time.sleep(0.05)


def started(folder: Path, browser: str) -> tuple[subprocess.Popen[str], str]:
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


@A_SHELL
def test_a_command_line_holds_no_secret_and_the_file_goes_away(tmp_path: Path) -> None:
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    browser.write_text(_BROWSER)
    browser.chmod(0o755)
    process, url = started(tmp_path, str(browser))
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


@A_SHELL
@pytest.mark.slow
def test_a_link_that_nobody_followed_leaves_no_file(tmp_path: Path) -> None:
    process, _ = started(tmp_path, "/nowhere/browser")
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
