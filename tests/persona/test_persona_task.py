"""Persona simulation as an Inspect task: run in this process, its log read back."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from inspect_tasks import evaluated
from judge_server import Call, JudgeServer
from persona_chats import sample_labels
from realtalk.evals import running
from realtalk.persona.benchmark import PersonaBenchmark
from realtalk.persona.guessing import GuessBenchmark
from realtalk.persona.prompting import LlmGuesser, LlmSimulator
from realtalk.persona.turns import choices_of, tasks_of
from samples import read_sample

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")


@pytest.fixture(autouse=True)
def _labelled(monkeypatch: pytest.MonkeyPatch) -> None:
    from realtalk.persona import inspecting

    monkeypatch.setattr(inspecting, "choices_of", partial(choices_of, labels=sample_labels()))


def bodies(calls: list[Call]) -> list[str]:
    return sorted(json.dumps(call.body) for call in calls)


@pytest.mark.slow
@pytest.mark.parametrize("style", [False, True])
def test_inspect_sends_what_the_command_sends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, style: bool
) -> None:
    """The same requests to the last byte, whichever way a model is asked, in one's own words."""
    own = tmp_path / "prompts"
    own.mkdir()
    (own / "continue.md").write_text("Be {speaker}.\n{context}\n", "utf-8")
    _, calls = evaluated(
        "persona_simulation",
        tmp_path / "log",
        monkeypatch,
        lambda call: "haha",
        speaker="Mara",
        turns=5,
        style=style,
        seed=3,
        prompts=str(own),
    )
    corpus = read_sample()
    found = tasks_of(corpus, choices_of(corpus, speaker="Mara", labels=sample_labels()))
    with JudgeServer(lambda call: "haha") as server:
        model = LlmSimulator(
            model="openai-api/local/tiny",
            base_url=server.url,
            cache=tmp_path / "kept",
            style=style,
            seed=3,
            prompts=own,
        )
        run = running.run(PersonaBenchmark(corpus, found, limit=5), corpus, model)
        asked = bodies(server.calls)
    assert len(asked) == 5 and asked == bodies(calls)
    assert any("Be Mara." in body for body in asked) is not style
    assert run.settings["solver"]["version"].startswith("prompts sha256:")


@pytest.mark.slow
def test_who_wrote_it_is_a_task_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same requests and figures as the command's; what is no letter is strictly wrong."""
    log, calls = evaluated(
        "persona_guess",
        tmp_path / "log",
        monkeypatch,
        lambda call: "hm" if call.place == 1 else "B",
        speaker="Mara",
        turns=4,
        style=False,
        seed=2,
    )
    corpus = read_sample()
    found = tasks_of(corpus, choices_of(corpus, speaker="Mara", labels=sample_labels()))
    with JudgeServer(lambda call: "B") as server:
        model = LlmGuesser(
            model="openai-api/local/tiny",
            base_url=server.url,
            cache=tmp_path / "kept",
            style=False,
            seed=2,
        )
        running.run(GuessBenchmark(corpus, found, seed=2, limit=4), corpus, model)
        asked = bodies(server.calls)
    assert len(asked) == 4 and asked == bodies(calls)
    plain, strict = log.results.scores
    right = sum(sample.target == "B" for sample in log.samples)
    assert strict.metrics["accuracy"].value <= right / 4
    assert plain.metrics["accuracy"].value >= strict.metrics["accuracy"].value
