"""On the research data: a run from end to end."""

from __future__ import annotations

from pathlib import Path

from realtalk.formats.opening import open_reading
from realtalk.threads.benchmark import ThreadTask, run_threads
from realtalk.threads.predictors import make_predictor
from realtalk.threads.sampling import make_samples


def test_a_small_part_runs_end_to_end(data: Path, tmp_path: Path) -> None:
    corpus = open_reading(str(data / "reddit" / "persona_like_small.json")).reading.corpus
    wanted = ThreadTask(make_samples(corpus, "impact", limit=300), ("p-conv",))
    found = run_threads(corpus, wanted, make_predictor("mean"), tmp_path / "run")
    scores = found.variants["p-conv"]
    assert scores.scored == scores.rows == 300
    mae = scores.overall["mae_log"]
    assert mae.value is not None and mae.low is not None and mae.high is not None
    assert mae.low < mae.value < mae.high
