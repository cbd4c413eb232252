"""The benchmark as an Inspect task: run in this process, its log read back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from audited_chats import corpus, write_audit
from inspect_tasks import evaluated
from judge_server import Call, JudgeServer, Reply
from model_faults import FAULTS, Fault
from realtalk.api.choices import as_reading
from realtalk.formats.store import store
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import probe_and_judge
from realtalk.memory.golds import Judge, golds_named
from realtalk.memory.plain import Oracle
from realtalk.memory.remembering import LlmReader, load_wording
from realtalk.memory.rows import SCORES
from realtalk.memory.values import Budget
from realtalk.models.asking import ModelConfig
from refusals import refused

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")


def answer(call: Call) -> str:
    if "<program_answer>" in call.prompt:
        return "WRONG" if "fully right" in call.prompt else "CORRECT"
    return "" if "Which worries did Juno" in call.prompt else "3 March 2026"


def _bodies(calls: Sequence[Call]) -> list[str]:
    return sorted(json.dumps(call.body) for call in calls)


def test_a_task_is_scored_like_a_probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log, calls = evaluated(
        *("memory_probing", tmp_path, monkeypatch, answer),
        memory="recent",
        budget="120",
        questions=10,
        judge="openai-api/local/judge",
    )
    assert log.status == "success"
    assert log.eval.task == "realtalk/memory_probing"
    assert log.eval.task_args["memory"] == "recent"
    assert log.eval.metadata["memory"]["name"] == "recent"
    scored = {each.name: each for each in log.results.scores}
    assert list(scored) == ["plain", "lenient", "strict"]
    plain = scored["plain"]
    assert {"f1", "date_f1", "recall@budget", "f1, temporal", "stderr"} <= set(plain.metrics)
    assert scored["lenient"].metrics["all"].value == 1.0
    assert scored["strict"].metrics["all"].value == 0.0
    # One model answers one question with nothing: unscored, not zero.
    assert (plain.scored_samples, plain.unscored_samples) == (9, 1)
    by_id = {sample.id: sample for sample in log.samples}
    first = by_id["Chat_1_Mara_Theo/Q1"]
    assert first.metadata["question"] == "When did the big oven at Theo's bakery break down?"
    assert first.target == "03.03.2026"
    row = first.scores["plain"].metadata
    assert row["date_f1"] == 1.0
    assert row["tokens"] <= 120
    assert row["message_ids"]
    prompt = first.messages[0].text
    assert prompt.count(first.metadata["question"]) == 1 and "03.03.2026" not in prompt
    assert first.model_usage["openai-api/local/tiny"].total_tokens == 2
    asked = [call for call in calls if "<program_answer>" not in call.prompt]
    assert len(asked) == 10


def test_a_task_says_what_is_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from realtalk.tasks import memory_probing

    with refused("did you mean 'recent'"):
        memory_probing(memory="recnt")
    with refused("one budget per task"):
        memory_probing(memory="recent", budget="100,200")
    with refused("is no setting"):
        memory_probing(memory="recent", settings="reach")
    log, _ = evaluated(
        *("memory_probing", tmp_path, monkeypatch, answer),
        memory="recent",
        budget=60,
        questions=1,
        judge="openai-api/local/tiny",
    )
    assert log.status == "error"
    assert "would judge its own answers" in log.error.message


def test_a_task_takes_the_golds_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A corrected audit is scored by as the command does: requests, scores, what is left out."""
    from realtalk.tasks import memory_probing

    store(as_reading(corpus()), tmp_path / "chats")
    path = str(write_audit(tmp_path / "mine.jsonl"))
    judge = "openai-api/local/third"

    def rule(call: Call) -> str:
        return "CORRECT" if "<program_answer>" in call.prompt else "Pepper"

    log, calls = evaluated(
        *("memory_probing", tmp_path / "log", monkeypatch, rule),
        path=str(tmp_path / "chats"),
        memory="oracle",
        judge=judge,
        golds=path,
    )
    golds = golds_named(path)
    assert log.eval.metadata["golds"] == golds.name
    with JudgeServer(rule) as server:
        asked = ModelConfig("openai-api/local/tiny", base_url=server.url, cache=tmp_path / "kept")
        plan = Plan(
            *(corpus(), Oracle(), LlmReader(asked, load_wording()), (Budget(),)), golds=golds
        )
        verdicts = Judge(replace(asked, model=judge), load_wording())
        probed = probe_and_judge(plan, judge=verdicts)
        assert _bodies(server.calls) == _bodies(calls)
    samples = {sample.id: sample for sample in log.samples}
    assert samples["Q2"].target == "Pepper (also right: Pepper the kitten)"
    for row in probed.rows:
        sample = samples[row["sample"]].scores["plain"]
        if row["left_out"]:
            assert sample.explanation == "the audit calls it unanswerable"
        else:
            scored = ("gold", "accept", "evidence", *(score.name for score in SCORES))
            assert [sample.metadata[name] for name in scored] == [row[name] for name in scored]
    assert samples["Q4"].scores["lenient"].explanation == "the audit calls it unanswerable"
    with refused("no chat here was audited"):
        memory_probing(golds="audited")
    with refused("did you mean 'audited'"):
        memory_probing(golds="auditet")


def test_the_local_models_are_a_provider() -> None:
    from inspect_ai.model import get_model

    import realtalk.tasks  # noqa: F401

    with refused("did you mean 'smollm2'"):
        get_model("realtalk/smolm2")


def test_a_fault_costs_its_own_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a character, a web page, a refused request, a judge that fails: the rest is scored."""
    faults = [FAULTS["lone surrogate"], FAULTS["web page called JSON"], FAULTS["400"]]
    hit: dict[str, Fault] = {}

    def rule(call: Call) -> str | Reply:
        if "<program_answer>" in call.prompt:
            return "CORRECT" if call.prompt.count("Berlin") else Reply(status=400)
        if call.prompt not in hit and faults:
            hit[call.prompt] = faults.pop()
        return hit[call.prompt].rule(call) if call.prompt in hit else "Berlin"

    log, _ = evaluated(
        *("memory_probing", tmp_path, monkeypatch, rule),
        memory="recent",
        budget=60,
        questions=6,
        judge="openai-api/local/other",
    )
    assert log.status == "success"
    failed = [sample for sample in log.samples if sample.error is not None]
    assert len(failed) == 2
    assert len(hit) == 3
    judged = [sample.scores["lenient"] for sample in log.samples if sample.error is None]
    assert len(judged) == 4
    reasons = {score.explanation for score in judged if score.explanation}
    assert reasons == {"the judge: provider error (400)"}  # of the answer with half a character
