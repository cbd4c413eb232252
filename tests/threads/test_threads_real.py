"""On the research data: a regression knows more than the majority and the user's mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from realtalk.formats.opening import open_reading
from realtalk.threads.benchmark import ThreadTask, run_threads
from realtalk.threads.predictors import make_predictor
from realtalk.threads.sampling import make_samples
from realtalk.threads.values import Task


def test_a_small_part_runs_end_to_end(data: Path, tmp_path: Path) -> None:
    corpus = open_reading(str(data / "reddit" / "persona_like_small.json")).reading.corpus
    wanted = ThreadTask(make_samples(corpus, "impact", limit=300), ("p-conv",))
    found = run_threads(corpus, wanted, make_predictor("mean"), tmp_path / "run")
    scores = found.variants["p-conv"]
    assert scores.scored == scores.rows == 300
    mae = scores.overall["mae_log"]
    assert mae.value is not None and mae.low is not None and mae.high is not None
    assert mae.low < mae.value < mae.high


@pytest.mark.slow
def test_the_regression_beats_majority_and_mean(data: Path, tmp_path: Path) -> None:
    corpus = open_reading(str(data / "reddit" / "persona_like.json.gz")).reading.corpus
    named: dict[Task, tuple[str, str]] = {
        "sentiment": ("majority", "mcc"),
        "impact": ("mean", "mae_log"),
    }
    for task, (baseline, score) in named.items():
        samples = make_samples(corpus, task, limit=5000, train_limit=12000)
        wanted = ThreadTask(samples, ("p-conv",))
        plain = run_threads(corpus, wanted, make_predictor(baseline), tmp_path / f"{task}-b")
        # Counts alone are enough to win, and take no encoding.
        made = make_predictor("regression", {"texts": False})
        better = run_threads(corpus, wanted, made, tmp_path / f"{task}-r")
        change = plain.changes(better)["p-conv"].changes[score]
        assert change.difference.low is not None and change.difference.high is not None
        if task == "sentiment":
            assert change.difference.low > 0
        else:
            assert change.difference.high < 0
        assert change.p_holm is not None and change.p_holm < 0.01
