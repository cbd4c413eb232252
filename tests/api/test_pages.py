"""One page of corpora, labels, runs and folders; and the studio."""

from __future__ import annotations

import stat
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
