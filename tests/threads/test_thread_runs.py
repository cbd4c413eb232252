"""A run of a thread task: rows, going on after a kill, language models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from realtalk.evals.run import Run
from realtalk.evals.values import Answer, run_schema
from realtalk.files.progress import silent
from realtalk.threads.baselines import Majority, Regression
from realtalk.threads.benchmark import ThreadTask, run_threads
from realtalk.threads.predictors import make_predictor
from realtalk.threads.sampling import Samples, make_samples
from realtalk.threads.values import Case, Protocol
from refusals import refused
from samples import read_sample

CORPUS = read_sample("sample-threads")


@pytest.fixture(scope="module")
def samples() -> Samples:
    return make_samples(CORPUS, "sentiment", limit=60)


class Nosy(Majority):
    """Looks at everything it is given."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Case] = []

    def prepare(self, learning: Any, progress: Any = None) -> None:
        assert {case.target.part for case in learning} == {"train"}

    def solve(self, shown: Any, progress: Any = None) -> list[Answer[Any]]:
        self.seen += shown
        return [Answer(True)] * len(shown)


def test_a_run_has_a_row_a_reply_and_setting(samples: Samples, tmp_path: Path) -> None:
    nosy = Nosy()
    task = ThreadTask(samples, ("p-conv", "np-nonconv"))
    found = run_threads(CORPUS, task, nosy, tmp_path / "run")
    frame = pl.read_parquet(tmp_path / "run" / "rows.parquet")
    assert frame.schema == run_schema(task.columns)
    assert frame.height == 120
    keys = [target.key for target in samples.part("test")]
    assert frame["sample"].to_list() == keys * 2
    assert found.variants["p-conv"].overall["mcc"].value == 0.0
    # Nobody who predicts is handed the truth.
    assert all(sample.target.score is None and not sample.target.text for sample in nosy.seen)
    # A second call has nothing left to do.
    nosy.seen.clear()
    run_threads(CORPUS, task, nosy, tmp_path / "run")
    assert not nosy.seen
    with refused(r"settings is .* there"):
        run_threads(CORPUS, ThreadTask(samples, ("p-conv",)), nosy, tmp_path / "run")
    with refused("a run of thread tasks, not of"):
        Run.load(tmp_path / "run", "persona simulation")


def test_what_is_not_clean_is_said(tmp_path: Path) -> None:
    open_ = make_samples(CORPUS, "impact", protocol=Protocol(with_scores=True), limit=40)
    shown = ThreadTask(open_, ("p-conv",))
    run = run_threads(CORPUS, shown, make_predictor("parent"), tmp_path / "p")
    assert run.name == "parent [with scores]"
    assert any("as of the crawl" in note for note in run.cautions)
    leaky = Protocol(leaks=("sign-shown",))
    told = ThreadTask(make_samples(CORPUS, "impact", protocol=leaky, limit=40), ("p-conv",))
    run = run_threads(CORPUS, told, make_predictor("mean"), tmp_path / "m")
    assert run.name == "mean (log) [clean+sign-shown]"
    assert any("leaks" in note for note in run.cautions)
    with refused("`with_scores=True`"):
        run_threads(CORPUS, told, make_predictor("parent"), tmp_path / "x")
    assert not (tmp_path / "x").exists()


class Small(Regression):
    at_once, solved = 16, 0

    def solve(self, shown: Any, progress: Any = silent) -> Any:
        self.solved += len(shown)
        return super().solve(shown, progress)


def test_a_run_that_was_cut_off_says_so_and_goes_on_to_equal_rows(tmp_path: Path) -> None:
    """In the midst of a block, and of a row: what a kill leaves of the rows."""
    task = ThreadTask(make_samples(CORPUS, "impact"), ("p-conv",))
    run_threads(CORPUS, task, Small(texts=False), tmp_path)
    rows, table = tmp_path / "rows.jsonl", tmp_path / "rows.parquet"
    whole, steady = rows.read_bytes(), table.read_bytes()
    there = b"".join(whole.splitlines(keepends=True)[:25])
    table.unlink()
    rows.write_bytes(whole[: len(there) + 40])
    assert any("25 of 160 predictions" in note for note in Run.load(tmp_path).cautions)
    rest = Small(texts=False)
    run_threads(CORPUS, task, rest, tmp_path)
    assert rest.solved == 160 - 16  # a block that is there is not solved again
    assert rows.read_bytes() == whole and table.read_bytes() == steady
