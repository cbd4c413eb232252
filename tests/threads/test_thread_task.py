"""The thread tasks as Inspect tasks: run in this process, their log read back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspect_tasks import evaluated
from judge_server import JudgeServer
from realtalk.threads.asking import LlmPredictor
from realtalk.threads.benchmark import ThreadTask, run_threads
from realtalk.threads.sampling import Draw
from realtalk.threads.values import protocol
from refusals import refused
from samples import read_sample

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")


def test_a_task_refuses_what_it_does_not_know() -> None:
    from realtalk.tasks import threads

    with refused("did you mean 'impact'"):
        threads(task="impct")
    with refused("unknown leak"):
        threads(leaks="everything")


@pytest.mark.slow
def test_inspect_sends_what_the_command_sends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same requests to the last byte, whichever way a model is asked."""
    log, calls = evaluated(
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
    corpus = read_sample("sample-threads")
    rules = protocol("clean", shots=1)
    samples = Draw("sentiment", rules, limit=8, seed=3).samples(corpus)
    with JudgeServer(lambda call: "positive") as server:
        model = LlmPredictor(
            model="openai-api/local/tiny", base_url=server.url, cache=tmp_path / "kept", seed=3
        )
        run_threads(corpus, ThreadTask(samples, ("p-conv",)), model)
        asked = sorted(json.dumps(call.body) for call in server.calls)
    assert len(asked) == 8
    assert asked == sorted(json.dumps(call.body) for call in calls)
    assert log.eval.task == "realtalk/threads"
    assert log.eval.metadata["protocol"]["protocol"] == "clean"
    plain, strict = log.results.scores
    assert (plain.name, strict.name, strict.scored_samples) == ("plain", "strict", 8)
