"""The thread tasks as Inspect tasks: run in this process, their log read back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspect_tasks import evaluated
from judge_server import JudgeServer
from realtalk.formats.opening import open_reading
from realtalk.threads.asking import LlmPredictor
from realtalk.threads.benchmark import ThreadTask, run_threads
from realtalk.threads.sampling import make_samples
from realtalk.threads.values import protocol
from refusals import refused

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")


def _figures(log: Any) -> dict[str, dict[str, float]]:
    return {
        each.name: {name: found.value for name, found in each.metrics.items()}
        for each in log.results.scores
    }


def test_sentiment_plain_and_strict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, calls = evaluated(
        *(
            "threads",
            tmp_path,
            monkeypatch,
            lambda call: "hm" if "in Art" in call.prompt else "positive",
        ),
        task="sentiment",
        setting="p-conv",
        replies=20,
        budget=400,
    )
    assert log.status == "success"
    assert log.eval.task == "realtalk/threads"
    assert log.eval.metadata["protocol"]["protocol"] == "clean"
    odd = sum(sample.metadata["domain"] == "Art" for sample in log.samples)
    assert odd
    plain, strict = log.results.scores
    assert (plain.name, strict.name) == ("plain", "strict")
    assert (plain.scored_samples, plain.unscored_samples) == (20 - odd, odd)
    assert (strict.scored_samples, strict.unscored_samples) == (20, 0)
    found = _figures(log)
    assert found["strict"]["accuracy"] < found["plain"]["accuracy"]
    assert found["plain"]["accuracy"] == pytest.approx(
        sum(s.target == "positive" for s in log.samples if s.metadata["domain"] != "Art")
        / (20 - odd)
    )
    assert "stderr" in found["plain"]
    assert len(calls) == 20


def test_a_task_refuses_what_it_does_not_know() -> None:
    from realtalk.tasks import threads

    with refused("did you mean 'impact'"):
        threads(task="impct")
    with refused("unknown leak"):
        threads(leaks="everything")


def test_inspect_sends_what_the_command_sends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same requests to the last byte, whichever way a model is asked."""
    _, calls = evaluated(
        "threads",
        tmp_path / "log",
        monkeypatch,
        lambda call: "positive",
        task="sentiment",
        setting="p-conv",
        replies=8,
        seed=3,
        shots=1,
    )
    corpus = open_reading("sample-threads").reading.corpus
    rules = protocol("clean", shots=1)
    samples = make_samples(corpus, "sentiment", protocol=rules, limit=8, seed=3)
    with JudgeServer(lambda call: "positive") as server:
        model = LlmPredictor(
            model="openai-api/local/tiny", base_url=server.url, cache=tmp_path / "kept", seed=3
        )
        run_threads(corpus, ThreadTask(samples, ("p-conv",)), model)
        asked = sorted(json.dumps(call.body) for call in server.calls)
    assert len(asked) == 8
    assert asked == sorted(json.dumps(call.body) for call in calls)
