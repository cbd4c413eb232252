"""A run of a thread task: rows, going on after a kill, language models."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from judge_server import Call, JudgeServer
from judge_server import Reply as ServerReply
from killed_runs import kill_at, started
from realtalk.chat import Corpus
from realtalk.corpora.opening import open_reading
from realtalk.errors import RealtalkError
from realtalk.threads.comparing import compare_runs
from realtalk.threads.predictors import Prediction
from realtalk.threads.registry import make_predictor
from realtalk.threads.regression import Regression
from realtalk.threads.rows import row_schema
from realtalk.threads.run import load_threads, run_threads
from realtalk.threads.sampling import Samples, make_samples
from realtalk.threads.values import Protocol, Sample


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return open_reading("sample-threads").reading.corpus


@pytest.fixture(scope="module")
def samples(corpus: Corpus) -> Samples:
    return make_samples(corpus, "sentiment", limit=60)


@pytest.fixture
def _silenced() -> Iterator[None]:
    yield
    gc.collect()  # here, where the warnings about the engine's streams are silenced


class Nosy:
    """Looks at everything it is given."""

    name, version, tasks = "nosy", "1", ("sentiment",)

    def __init__(self) -> None:
        self.seen: list[Sample] = []
        self.settings: dict[str, Any] = {}

    def needs_scores(self, task: str) -> bool:
        return False

    def fit(self, samples: Any, progress: Any = None) -> None:
        assert {sample.target.part for sample in samples} == {"train"}

    def predict(self, samples: Any, progress: Any = None) -> list[Prediction]:
        self.seen += samples
        return [Prediction(sample.key, True) for sample in samples]


def test_a_run_has_a_row_a_reply_and_setting(
    corpus: Corpus, samples: Samples, tmp_path: Path
) -> None:
    nosy = Nosy()
    made: Any = nosy
    found = run_threads(corpus, samples, made, tmp_path / "run", ("p-conv", "np-nonconv"))
    frame = pl.read_parquet(tmp_path / "run" / "rows.parquet")
    assert frame.schema == row_schema()
    assert frame.height == 120
    keys = [target.key for target in samples.part("test")]
    assert frame["key"].to_list() == keys * 2
    assert found.summary.settings["p-conv"].overall["mcc"].value == 0.0
    # Nobody who predicts is handed the truth.
    assert all(sample.target.score is None and not sample.target.text for sample in nosy.seen)
    # A second call has nothing left to do.
    nosy.seen.clear()
    run_threads(corpus, samples, made, tmp_path / "run", ("p-conv", "np-nonconv"))
    assert not nosy.seen
    with pytest.raises(RealtalkError, match=r"settings is .* there"):
        run_threads(corpus, samples, made, tmp_path / "run", ("p-conv",))
    with pytest.raises(RealtalkError, match="a run of thread tasks, not of"):
        from realtalk.persona.run import load_persona

        load_persona(tmp_path / "run")


def test_what_is_not_clean_is_said(corpus: Corpus, tmp_path: Path) -> None:
    open_ = make_samples(corpus, "impact", protocol=Protocol(with_scores=True), limit=40)
    run = run_threads(corpus, open_, make_predictor("parent"), tmp_path / "p", ("p-conv",))
    assert run.name == "parent [with scores]"
    assert any("as of the crawl" in note for note in run.summary.notes)
    leaky = Protocol(leaks=("sign-shown",))
    told = make_samples(corpus, "impact", protocol=leaky, limit=40)
    run = run_threads(corpus, told, make_predictor("mean"), tmp_path / "m", ("p-conv",))
    assert run.name == "mean (log) [clean+sign-shown]"
    assert any("leaks" in note for note in run.summary.notes)
    with pytest.raises(RealtalkError, match="--with-scores"):
        run_threads(corpus, told, make_predictor("parent"), tmp_path / "x", ("p-conv",))
    assert not (tmp_path / "x").exists()


SCRIPT = """
import sys
from pathlib import Path
from realtalk.corpora.opening import open_reading
from realtalk.evals import threads
from realtalk.threads.regression import Regression
from realtalk.threads.sampling import make_samples

class Small(Regression):
    at_once = 16

corpus = open_reading("sample-threads").reading.corpus
samples = make_samples(corpus, "impact")
made = Small(texts=False)
threads.run_threads(corpus, samples, made, Path(sys.argv[1]), ("p-conv", "p-nonconv"))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_run_goes_on_to_equal_rows(corpus: Corpus, tmp_path: Path) -> None:
    class Small(Regression):
        at_once = 16

    steady, killed = tmp_path / "steady", tmp_path / "killed"
    whole = make_samples(corpus, "impact")
    run_threads(corpus, whole, Small(texts=False), steady, ("p-conv", "p-nonconv"))
    aim = random.randrange(1, 320)  # a different row every time
    path = killed / "rows.jsonl"
    there = kill_at(aim, SCRIPT, killed)
    assert there.count(b"\n") == aim
    partly = load_threads(killed)
    assert any("of 320 predictions" in note for note in partly.notes)
    assert started(SCRIPT, killed).wait() == 0
    assert path.read_bytes().startswith(there)  # what was there is kept as it was
    rows = pl.read_parquet(killed / "rows.parquet")
    assert rows.height == 320
    assert rows.equals(pl.read_parquet(steady / "rows.parquet"))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")
@pytest.mark.usefixtures("_silenced")
def test_a_language_model_is_asked_once_and_what_failed_again(
    corpus: Corpus, tmp_path: Path
) -> None:
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    few = make_samples(corpus, "sentiment", limit=12)
    down = True

    def rule(call: Call) -> str | ServerReply:
        if down and "Entrepreneur" in call.prompt:
            return ServerReply(status=400)
        return "who knows" if "Art" in call.prompt else "Positive."

    with JudgeServer(rule) as server:

        def made() -> Any:
            return make_predictor(
                "llm",
                {
                    "model": "openai-api/local/tiny",
                    "base_url": server.url,
                    "cache": tmp_path / "answers",
                    "budget": "400",
                    "connections": "2",
                },
            )

        first = run_threads(corpus, few, made(), tmp_path / "run", ("p-conv",))
        scores = first.summary.settings["p-conv"]
        bad = sum(row["domain"] == "Entrepreneur" for row in first.rows)
        odd = sum(row["domain"] == "Art" for row in first.rows)
        assert bad and odd, "the draw must hold both"
        assert scores.unscored == {
            **{"provider error (400)": bad, "neither positive nor negative": odd}
        }
        assert scores.scored == 12 - bad - odd
        assert scores.overall["accuracy"].n + scores.overall["accuracy"].left_out == 12
        assert scores.strict["accuracy"].n == 12
        assert scores.tokens_in > 0
        assert first.name == "llm openai-api/local/tiny"
        calls = len(server.calls)
        down = False
        again = run_threads(corpus, few, made(), tmp_path / "run", ("p-conv",))
        assert again.summary.settings["p-conv"].scored == 12 - odd
        assert len(server.calls) == calls + bad + odd  # what was answered is kept
    # The truth is in no prompt: neither words that were not given, nor a score.
    for call in server.calls:
        assert "score:" not in call.prompt.lower()


def test_replies_that_one_side_lacks_are_counted(
    corpus: Corpus, samples: Samples, tmp_path: Path
) -> None:
    fewer = make_samples(corpus, "sentiment", limit=10)
    runs = [
        run_threads(corpus, asked, make_predictor("majority", {}), tmp_path / name, ("p-conv",))
        for name, asked in (("many", samples), ("few", fewer))
    ]
    many, few = ({row["key"] for row in run.rows} for run in runs)
    found = compare_runs(runs[0].rows, runs[1].rows, "sentiment", ("many", "few"))["p-conv"]
    assert found.alone == (len(many - few), len(few - many))
    assert found.alone[0] >= 50
    assert found.changes["accuracy"].n == len(many & few)
