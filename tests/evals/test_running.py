"""Runs of any benchmark: in memory, in a folder; and a benchmark of one's own in one file."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from inspect_tasks import evaluated_task
from realtalk.cli.own import command
from realtalk.evals.run import Run
from realtalk.evals.running import run
from realtalk.evals.values import run_schema
from realtalk.pages.report import make_report
from samples import read_sample

EXAMPLES = Path(__file__).parents[2] / "examples"


CORPUS = read_sample()


def next_speaker() -> Any:
    """The benchmark that the documentation adds in one file."""
    spec = importlib.util.spec_from_file_location("next_speaker", EXAMPLES / "next_speaker.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_fourth_benchmark_is_one_short_file(tmp_path: Path) -> None:
    assert (EXAMPLES / "next_speaker.py").read_text("utf-8").count("\n") < 150
    own = next_speaker()
    benchmark = own.NextSpeaker()
    runs = {
        made.name: run(benchmark, CORPUS, made, tmp_path / made.name)
        for made in (own.SameAgain(), own.TakingTurns())
    }
    frame = pl.read_parquet(tmp_path / "same-again" / "rows.parquet")
    assert frame.schema == run_schema(benchmark.columns)
    assert frame.height == sum(len(tuple(chat.messages)) - 10 for chat in CORPUS.chats)
    same, turns = (made.variants[""].overall["accuracy"].value for made in runs.values())
    assert same is not None and turns is not None
    truth = [row["answer"] == row["speaker"] for row in runs["same-again"].rows]
    assert same == pytest.approx(sum(truth) / len(truth))
    changes = runs["same-again"].changes(runs["taking-turns"])[""].changes
    assert changes["accuracy"].difference.value == pytest.approx(turns - same)
    failed = runs["same-again"].failures(5)
    assert failed["why"].unique().to_list() == ["wrong"] and len(failed) == 5


def test_it_has_tables_a_page_and_a_command(tmp_path: Path) -> None:
    own = next_speaker()
    for name in ("same-again", "taking-turns"):
        arguments = ["run", "sample", "--solver", name, "--out", str(tmp_path / name)]
        assert command(own.NextSpeaker(), own.SOLVERS, arguments) == 0
    loaded = [Run.load(tmp_path / name) for name in ("same-again", "taking-turns")]
    summary, speakers = loaded[0].table(loaded[1], groups=True)
    assert summary.frame["solver"].to_list() == ["same-again", "taking-turns"]
    assert {"Mara", "Theo"} <= set(speakers.frame["speaker"])
    made = make_report([tmp_path])
    section = next(each for each in made.sections if each.id.startswith("next-speaker-sample"))
    assert [each.title for each in section.tables] == ["Next speaker", "Next speaker, by speaker"]
    assert "is the accuracy of" in made.key_figures[0].says and section.charts
    compared = ["compare", *(str(tmp_path / name) for name in ("same-again", "taking-turns"))]
    assert command(own.NextSpeaker(), own.SOLVERS, compared) == 0


def test_it_is_an_inspect_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    log, calls = evaluated_task(
        next_speaker().next_speaker("sample"), tmp_path, monkeypatch, lambda _call: "Mara", limit=5
    )
    assert log.status == "success" and len(calls) == 5
    assert all("Who writes next?" in call.prompt for call in calls)
    (plain,) = (score for score in log.results.scores if score.name == "plain")
    right = sum(sample.target == "Mara" for sample in log.samples)
    assert plain.metrics["accuracy"].value == pytest.approx(right / 5)


def test_a_solver_is_not_handed_the_truth() -> None:
    own = next_speaker()

    class Nosy(own.TakingTurns):  # type: ignore[misc, name-defined]
        def solve(self, shown: Any, progress: Any = None) -> Any:
            assert all(len(messages) == 10 for messages in shown)
            return super().solve(shown)

    assert run(own.NextSpeaker(), CORPUS, Nosy()).rows
