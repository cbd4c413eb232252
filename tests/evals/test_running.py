"""Runs of any benchmark: in memory, in a folder, of an earlier version; the fourth benchmark."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from realtalk.chat import Corpus
from realtalk.corpora.opening import open_reading
from realtalk.errors import RealtalkError
from realtalk.evals.comparing import compare
from realtalk.evals.rows import run_schema
from realtalk.evals.running import load, run
from realtalk.evals.summaries import summarise
from realtalk.threads.benchmark import ThreadTask, load_threads, run_threads
from realtalk.threads.registry import make_predictor
from realtalk.threads.sampling import make_samples

EXAMPLES = Path(__file__).parents[2] / "examples"


def next_speaker() -> Any:
    """The benchmark that the documentation adds in one file."""
    spec = importlib.util.spec_from_file_location("next_speaker", EXAMPLES / "next_speaker.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return open_reading("sample").reading.corpus


def test_a_fourth_benchmark_is_one_short_file(corpus: Corpus, tmp_path: Path) -> None:
    assert (EXAMPLES / "next_speaker.py").read_text("utf-8").count("\n") < 150
    own = next_speaker()
    benchmark = own.NextSpeaker()
    runs = {
        made.name: run(benchmark, corpus, made, tmp_path / made.name)
        for made in (own.SameAgain(), own.TakingTurns())
    }
    frame = pl.read_parquet(tmp_path / "same-again" / "rows.parquet")
    assert frame.schema == run_schema(benchmark.columns)
    assert frame.height == sum(len(tuple(chat.messages)) - 10 for chat in corpus.chats)
    same, turns = (
        summarise(name, made.rows, benchmark.scores).variants[""].overall["accuracy"].value
        for name, made in runs.items()
    )
    assert same is not None and turns is not None
    truth = [row["answer"] == row["speaker"] for row in runs["same-again"].rows]
    assert same == pytest.approx(sum(truth) / len(truth))
    changes = compare(runs["same-again"].rows, runs["taking-turns"].rows, benchmark.scores).changes
    assert changes["accuracy"].difference.value == pytest.approx(turns - same)


def test_without_a_folder_the_rows_are_the_same(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = next_speaker()
    kept = run(own.NextSpeaker(), corpus, own.TakingTurns(), tmp_path / "kept")
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    made = run(own.NextSpeaker(), corpus, own.TakingTurns())
    assert made.folder is None and not list(empty.iterdir())
    assert list(made.rows) == list(kept.rows)
    assert list(load(tmp_path / "kept", "next speaker").rows) == list(kept.rows)


def test_a_solver_is_not_handed_the_truth(corpus: Corpus) -> None:
    own = next_speaker()

    class Nosy(own.TakingTurns):  # type: ignore[misc, name-defined]
        def solve(self, shown: Any, progress: Any = None) -> Any:
            assert all(len(messages) == 10 for messages in shown)
            return super().solve(shown)

    assert run(own.NextSpeaker(), corpus, Nosy()).rows


def test_a_run_of_the_first_version_is_read(tmp_path: Path) -> None:
    threads = open_reading("sample-threads").reading.corpus
    task = ThreadTask(make_samples(threads, "sentiment", limit=20), ("p-conv",))
    made = run_threads(threads, task, make_predictor("mean"), tmp_path / "new")
    old = tmp_path / "old"
    old.mkdir()
    record = json.loads((tmp_path / "new" / "run.json").read_bytes())
    record["settings"]["predictor"] = record["settings"].pop("solver")
    (old / "run.json").write_text(json.dumps(record))
    names = {"sample": "key", "group": "user", "variant": "setting"}
    for row in made.rows:
        plain = {names.get(name, name): value for name, value in row.items()}
        plain |= {"text": None}
        del plain["answer"], plain["calls"]
        with (old / "rows.jsonl").open("a") as stream:
            stream.write(json.dumps(plain) + "\n")
    found = load_threads(old)
    assert found.name == made.name
    assert found.summary.to_json() == made.summary.to_json()
    # It can be read, but not gone on with: its rows have other columns.
    with pytest.raises(RealtalkError, match="earlier version"):
        run_threads(threads, task, make_predictor("mean"), old)
