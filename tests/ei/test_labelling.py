"""Labels as a run: its record and key, killed and gone on with, started anew, refused."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from facet_labels import first_layout
from file_modes import open_to_others
from killed_runs import kill_at
from realtalk.corpora.opening import open_reading
from realtalk.ei.label_files import KIND, is_labels, labels_about, read_labels
from realtalk.ei.labelling import LabelRun, label_corpus, store_labels
from realtalk.ei.labels import LABELS, Label, TurnInput, label_frame, turn_inputs
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.report.finding import LABELS as REPORTED

CORPUS = open_reading("sample").reading.corpus


class Counting:
    """Labels by a turn's length, in blocks, and counts the turns that it was handed."""

    name, version, at_once = "counting", "1", 64
    settings = {"of": "length"}  # noqa: RUF012

    def __init__(self) -> None:
        self.seen: list[int] = []

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
        self.seen.append(len(inputs))
        progress(len(inputs), len(inputs), "")
        return [Label(intimacy=1 / (1 + len(given.text))) for given in inputs]


def labelled(folder: Path | None = None, *, fresh: bool = False) -> LabelRun:
    return label_corpus(CORPUS, Counting(), out=folder, fresh=fresh)


def test_a_run_says_what_it_is_and_its_rows_have_its_key(tmp_path: Path) -> None:
    found = labelled(tmp_path / "labels")
    record = json.loads((tmp_path / "labels" / "run.json").read_bytes())
    assert record["kind"] == KIND == REPORTED
    assert record["settings"] == found.settings
    assert record["settings"]["solver"] == {
        **{"name": "counting", "version": "1", "settings": {"of": "length"}}
    }
    stored = pl.read_parquet(tmp_path / "labels" / "labels.parquet")
    assert stored.columns == ["sample", "group", "variant", *LABELS.names()]
    assert stored.select("sample", "group", "variant").is_unique().all()
    assert read_labels(tmp_path / "labels").equals(found.frame)
    assert labelled().frame.equals(found.frame)
    labels = Counting().label(turn_inputs(CORPUS))
    assert label_frame(turn_inputs(CORPUS), labels, "counting", "1").equals(found.frame)
    assert open_to_others(tmp_path) == {}


def test_a_finished_run_labels_nothing_again(tmp_path: Path) -> None:
    labelled(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    again = Counting()
    label_corpus(CORPUS, again, out=tmp_path)
    assert again.seen == []
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    labelled(tmp_path, fresh=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


SCRIPT = """
import sys
from pathlib import Path
sys.path[:0] = [{tests!r}, {here!r}]
from test_labelling import labelled
labelled(Path(sys.argv[1]))
"""


def test_killed_and_gone_on_with_it_is_the_same(tmp_path: Path) -> None:
    here = Path(__file__).parent
    script = SCRIPT.format(tests=str(here.parent), here=str(here))
    kill_at(100, script, tmp_path / "killed", "labels.jsonl")
    assert is_labels(tmp_path / "killed")
    with pytest.raises(RealtalkError, match="the labels are not finished"):
        read_labels(tmp_path / "killed")
    again = Counting()
    label_corpus(CORPUS, again, out=tmp_path / "killed")
    whole = len(turn_inputs(CORPUS))
    assert sum(again.seen) == whole - 64  # the block that was cut is handed over whole
    labelled(tmp_path / "whole")
    for name in ("labels.parquet", "labels.jsonl", "run.json"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_what_was_not_answered_is_asked_again(tmp_path: Path) -> None:
    class Asking(Counting):
        asks = True
        reason = "timeout"

        def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
            labels = super().label(inputs, progress)
            failed = {"empathy": self.reason, "emotion": "not asked"}
            return [
                replace(label, unscored=failed if given.turn == 3 else {"emotion": "not asked"})
                for given, label in zip(inputs, labels, strict=True)
            ]

    first, second, third = Asking(), Asking(), Asking()
    label_corpus(CORPUS, first, out=tmp_path)
    second.reason = "no text"
    found = label_corpus(CORPUS, second, out=tmp_path)
    assert second.seen == [1, 1]  # the fourth turn of either chat
    assert "timeout" not in str(found.frame["unscored"].to_list())
    assert read_labels(tmp_path).equals(found.frame)
    label_corpus(CORPUS, third, out=tmp_path)
    assert third.seen == []


def test_other_labels_are_refused_by_what_differs(tmp_path: Path) -> None:
    labelled(tmp_path)
    other = Counting()
    other.settings = {"of": "words"}
    with pytest.raises(RealtalkError, match=r"solver\.settings\.of is length there, words now"):
        label_corpus(CORPUS, other, out=tmp_path)
    fewer = replace(CORPUS, chats=CORPUS.chats[:1])
    with pytest.raises(RealtalkError, match=r"corpus\.sha256 is"):
        label_corpus(fewer, Counting(), out=tmp_path)


@pytest.mark.parametrize("first", [True, False])
def test_labels_of_earlier_versions_are_read_and_not_gone_on_with(
    tmp_path: Path, first: bool
) -> None:
    frame = labelled().frame
    earlier = first_layout(frame) if first else frame
    earlier.write_parquet(tmp_path / "labels.parquet")
    assert read_labels(tmp_path).drop("language").equals(frame.drop("language"))
    assert labels_about(tmp_path) is None
    before = (tmp_path / "labels.parquet").read_bytes()
    with pytest.raises(RealtalkError, match="holds labels of an earlier version"):
        labelled(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["labels.parquet"]
    assert (tmp_path / "labels.parquet").read_bytes() == before
    assert labelled(tmp_path, fresh=True).frame.equals(read_labels(tmp_path))


def test_stored_labels_are_gone_on_with(tmp_path: Path) -> None:
    found = labelled()
    for _ in range(2):
        store_labels(found.frame, found.settings, tmp_path)
    again = Counting()
    assert label_corpus(CORPUS, again, out=tmp_path).frame.equals(found.frame)
    assert again.seen == []
    assert (tmp_path / "labels.jsonl").read_bytes().count(b"\n") == found.frame.height
