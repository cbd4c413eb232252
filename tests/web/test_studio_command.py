"""`realtalk studio`: its link, its errors, its end."""

from __future__ import annotations

import signal
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from realtalk.errors import MissingExtraError
from realtalk.web import serving
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
    monkeypatch.setattr(serving, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install .*\[studio\]'"):
        serving.need_extra()


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
