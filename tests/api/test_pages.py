"""One page of corpora, labels, runs and folders; and the studio."""

from __future__ import annotations

import stat
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from refusals import refused

pytest_plugins = ["surface_runs"]


def test_a_page_of_everything(
    by_length: None,
    recent: rt.Run,
    majority: rt.Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stored = recent.save(tmp_path / "stored")
    between = tmp_path / "between"
    between.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(between))
    corpus = rt.read("sample")
    parts: list[Any] = [corpus, rt.label(corpus), majority, stored, "sample-simulated"]
    page = rt.report(parts, out=tmp_path / "page.html", title="My chats").path
    assert page == tmp_path / "page.html"
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    text = page.read_text("utf-8")
    for expected in ("My chats", "sample-simulated", "majority", "recent"):
        assert expected in text
    assert "realtalk-report-" not in text  # no path of this machine
    assert list(between.iterdir()) == []


def test_at_most_one_folder_is_made_for_a_page(recent: rt.Run, tmp_path: Path) -> None:
    corpus = rt.read("sample")
    for parts in (corpus, [recent]):
        with refused("there is no such folder") as caught:
            rt.report(parts, out=tmp_path / "new" / "deep" / "x.html", labels=False)
        assert str(caught.value).startswith(f"{tmp_path / 'new'}: ")
    with refused("there is no such folder"):
        rt.persona.export_dataset(
            "sample", speaker=corpus.chats[0].speakers[0], out=tmp_path / "new" / "deep" / "x"
        )
    assert list(tmp_path.iterdir()) == []
    assert rt.report(recent, out=tmp_path / "new" / "x.html").path.is_file()


def test_one_part_needs_no_list(recent: rt.Run, tmp_path: Path) -> None:
    assert rt.report(recent, out=tmp_path / "one.html").path.is_file()
    with refused("nothing to report"):
        rt.report([], out=tmp_path / "none.html")
    with refused("is a folder"):
        rt.report(recent, out=tmp_path)
    with refused("int holds no chats"):
        rt.report([7], out=tmp_path / "none.html")  # type: ignore[list-item]


STUDIO = """
import logging, os, sys, urllib.request
import realtalk as rt
from realtalk.web.serving import Server

def interrupted(server):
    with urllib.request.urlopen(server.url, timeout=30) as page:
        print("answered", page.status)
    raise KeyboardInterrupt

Server.wait = interrupted
logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
rt.studio("sample", annotations="notes.sqlite", annotator="Ana", browser=False)
sys.stdout.flush()
os._exit(0)  # a thread that still labels may abort Python's own end
"""


def test_the_studio_answers_until_it_is_interrupted(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    done = subprocess.run(
        [sys.executable, "-c", STUDIO], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    link, kept, answered = done.stdout.splitlines()
    assert link.startswith("studio: http://127.0.0.1:")
    assert kept == "annotations are kept in notes.sqlite"
    assert answered == "answered 200"
    assert done.stderr.splitlines()[-1] == "realtalk: closed; everything was saved"
    assert (tmp_path / "notes.sqlite").is_file()
