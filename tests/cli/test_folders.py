"""Where commands write: never into a folder of something else; and the examples in the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from refusals import refused

WRITERS = {
    "probe": ("probe", "sample", "--reader", "none", "--limit", "2"),
    "score": ("probe", "score", "sample", "answers.jsonl"),
    "probe sweep": ("sweep", "probe", "sample", "--set", "memory=recent", "--set", "limit=2"),
    "persona": ("persona", "run", "sample", "-s", "Mara", "--simulator", "constant"),
    "persona sweep": (
        *("sweep", "simulate", "sample", "--set", "speaker=Mara"),
        *("--set", "simulator=constant", "--set", "context_sessions=1"),
    ),
    "threads": ("threads", "run", "sample-threads", "--predictor", "majority", "--limit", "5"),
    "ei": ("ei", "sample"),
    "persona converse": ("persona", "converse", "--simulator", "constant", "--days", "1"),
}


def listed(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("writer", WRITERS)
def test_nothing_is_written_into_something_else(
    run: Any, tmp_path: Path, writer: str, fresh: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("realtalk.ei.embedded.EmbeddedLabeller.label", _not_labelled)
    answer = '{"chat": "Chat_1_Mara_Theo", "id": "Q1", "answer": "no"}\n'
    (tmp_path / "answers.jsonl").write_text(answer, "utf-8")
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "to-mara.txt").write_text("mine", "utf-8")
    assert run("read sample --out corpus")[0] == 0
    more = ["--fresh"] if fresh else []
    for place, what in (("corpus", "corpus"), ("letters", "to-mara.txt")):
        before = listed(tmp_path / place)
        err = run(*WRITERS[writer], "--out", place, *more).wrong
        assert err.startswith(f"error: {place}: holds ")
        assert what in err and err.count("\n") == 1
        assert listed(tmp_path / place) == before


def _not_labelled(*_: Any, **__: Any) -> Any:
    raise AssertionError("the folder is looked at before anything is labelled")


def test_a_report_replaces_pages_only(run: Any, tmp_path: Path) -> None:
    assert run("read sample --out corpus")[0] == 0
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    assert "mine.txt: is a file, but not a page" in run("report corpus --out mine.txt").wrong
    assert (tmp_path / "mine.txt").read_text("utf-8") == "mine"
    before = listed(tmp_path / "corpus")
    assert "corpus: holds a stored corpus" in run("report corpus --out corpus/report.html").wrong
    assert listed(tmp_path / "corpus") == before
    for _ in range(2):
        assert run("report corpus --no-labels --out page.html")[0] == 0


def test_reading_again_spares_what_lies_beside_a_corpus(run: Any, tmp_path: Path) -> None:
    for _ in range(2):
        assert run("read sample --out corpus")[0] == 0
    (tmp_path / "corpus" / "notes.txt").write_text("mine", "utf-8")
    assert "corpus: holds notes.txt beside its corpus" in run("read sample --out corpus").err
    assert (tmp_path / "corpus" / "notes.txt").read_text("utf-8") == "mine"


def test_an_adapter_goes_into_a_folder_of_its_own(tmp_path: Path) -> None:
    from realtalk.files.writing import refuse_strangers
    from realtalk.persona.tuning import ADAPTER, SETTINGS

    marks = (SETTINGS, ADAPTER, "adapter", "checkpoint-*")
    refuse_strangers(tmp_path / "new", "an adapter", *marks)
    (tmp_path / ".DS_Store").touch()
    refuse_strangers(tmp_path, "an adapter", *marks)
    (tmp_path / "run.json").touch()
    with refused("holds a run: not a folder for an adapter"):
        refuse_strangers(tmp_path, "an adapter", *marks)
    (tmp_path / "run.json").unlink()
    (tmp_path / "checkpoint-000004").mkdir()
    (tmp_path / "notes.txt").touch()
    refuse_strangers(tmp_path, "an adapter", *marks)
