"""Predictions as a table without texts, and back as rows of a run."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from realtalk.evals.comparing import estimate
from realtalk.evals.values import by_column
from realtalk.formats.opening import open_reading
from realtalk.metrics.statistics import Estimate
from realtalk.threads.benchmark import ThreadTask, predictions, run_threads
from realtalk.threads.predictors import make_predictor
from realtalk.threads.sampling import Draw
from realtalk.threads.values import Task
from refusals import refused
from research.papers.shared_rows import (
    SHARED_SCORES,
    load_predictions,
    shared_frame,
    write_shared,
)
from research.results import ROWS
from research.tests.predicted_threads import key, predicted


@pytest.mark.parametrize("task", ["sentiment", "impact", "next_text"])
def test_a_shared_table_gives_the_figures_of_its_rows(task: Task, tmp_path: Path) -> None:
    rows = predicted(task, {"p-conv": 0.9})
    rows[5] |= {"predicted": None, "unscored": "several numbers"}
    place = tmp_path / "shared.parquet"
    frames = [shared_frame(key(task), rows), shared_frame(key(task, "released"), rows[:90])]
    assert write_shared(frames, place) == len(rows) + 90
    loaded = load_predictions([place])
    assert set(loaded) == {key(task), key(task, "released")}
    again = loaded[key(task)]
    assert len(loaded[key(task, "released")]) == 90
    for setting, part in by_column(again, "variant").items():
        before = estimate(by_column(rows, "variant")[setting], SHARED_SCORES[task])
        after = estimate(part, SHARED_SCORES[task])
        for name, value in before.items():
            assert _near(value, after[name]), name
    assert [row["unscored"] for row in again[4:7]] == [None, "several numbers", None]
    assert {row["tokens_in"] for row in again} == {100, 300}


def _near(one: Estimate, other: Estimate) -> bool:
    return (one.n, one.value is None) == (other.n, other.value is None) and (
        one.value is None or one.value == pytest.approx(other.value, abs=1e-4)
    )


def test_no_text_and_no_name_is_in_the_file(tmp_path: Path) -> None:
    place = tmp_path / "shared.parquet"
    write_shared([shared_frame(key("next_text"), predicted("next_text", {}))], place)
    frame = pl.read_parquet(place)
    assert frame["reply"].dtype.is_integer() and frame["user"].dtype.is_integer()
    words = [name for name, kind in frame.schema.items() if not kind.is_numeric()]
    said = {value for name in words for value in frame[name].cast(pl.String).unique()}
    settings = {"p-conv", "p-nonconv", "np-conv", "np-nonconv"}
    assert said <= {"forum", "clean", "recent", "next_text", "tiny-llm", "cats", "dogs", *settings}
    # What nobody filled takes no room.
    assert "positive" not in frame.columns and "unscored" not in frame.columns


def test_the_same_names_in_two_corpora_are_two_people(tmp_path: Path) -> None:
    from dataclasses import replace

    rows = predicted("sentiment", {})
    place = tmp_path / "shared.parquet"
    keys = [key("sentiment"), replace(key("sentiment"), corpus="another")]
    write_shared([shared_frame(each, rows) for each in keys], place)
    loaded = load_predictions([place])
    people = [{row["group"] for row in loaded[each]} for each in keys]
    assert len(people[0]) == len(people[1]) == 40
    assert not people[0] & people[1]


def test_a_runs_folder_is_read_too(tmp_path: Path) -> None:
    corpus = open_reading("sample-threads").reading.corpus
    task = ThreadTask(Draw("sentiment").samples(corpus), ("p-conv", "p-nonconv"))
    run = run_threads(corpus, task, make_predictor("majority"), tmp_path / "run")
    loaded = load_predictions([tmp_path / "run"])
    (found,) = loaded
    assert (found.rules, found.shots, found.history) == ("clean", 0, "recent")
    assert (found.task, found.predictor) == ("sentiment", "majority")
    again = predictions("majority", "sentiment", loaded[found])
    assert again.variants["p-conv"].overall == run.variants["p-conv"].overall
    # Such a run knows no probabilities: AUC is unscored, not wrong.
    assert estimate(loaded[found], SHARED_SCORES["sentiment"])["auc"].value is None


def test_an_earlier_table_lacks_columns_and_is_read() -> None:
    loaded = load_predictions([ROWS / "threads-rows.parquet"])
    found = next(each for each in loaded if each.predictor == "majority")
    assert (found.shots, found.history) == (0, "recent")
    assert loaded[found][0]["tokens_in"] == 0


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "text.parquet").write_text("no table")
    with refused("cannot be read as Parquet"):
        load_predictions([tmp_path / "text.parquet"])
    with refused("cannot be read as Parquet"):
        load_predictions([tmp_path / "missing.parquet"])
    pl.DataFrame({"rules": ["clean"]}).write_parquet(tmp_path / "other.parquet")
    with refused("has no column 'predictor'"):
        load_predictions([tmp_path / "other.parquet"])
