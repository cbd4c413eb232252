"""Every command that asks a model, against a server that misbehaves and then recovers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from judge_server import Call, JudgeServer, Reply
from model_faults import FAULTS, raw_answer
from realtalk.models import asking

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
MODEL = "openai-api/local/tiny"
EMPATHY = '{"emotional_reaction": 1, "interpretation": 0, "exploration": 2}'


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REALTALK_RETRIES", "0")
    monkeypatch.setenv("LOCAL_API_KEY", "none")
    monkeypatch.setattr(asking, "_heard", set())
    chat = [{"speaker": "AB"[n % 2], "text": f"word number {n}", "session": 1} for n in range(6)]
    two = [
        {"chat": which, "speaker": f"A{which}"[n % 2], "text": f"{which} says {n}", "session": 1}
        for which in "BC"
        for n in range(16)
    ]
    for name, rows in (("chat", chat), ("two", two)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, rows)) + "\n", "utf-8")


def notes(_: Call) -> str:
    return '{"notes": [{"fact": "They met at the lake.", "messages": [1]}]}'


def well(call: Call) -> str:
    """An answer that every command can use."""
    prompt = call.prompt
    if '"notes"' in prompt:
        return notes(call)
    if "how much empathy" in prompt[:200]:
        return EMPATHY
    if "CORRECT" in prompt:
        return "CORRECT"
    if "positive or negative" in prompt:
        return "positive"
    return "True" if "<turn>" in prompt else "well then"


PROBE = ("probe", "sample", "--memory", "recent", "--budget", "300", "--limit", "6")
COMMANDS: dict[str, tuple[str, ...]] = {
    "probe": (*PROBE, "--model", MODEL),
    "persona": ("persona", "run", "two.jsonl", "-s", "A", "--limit", "6", "--model", MODEL),
    "threads": (
        *("threads", "run", "sample-threads", "--setting", "p-conv", "--limit", "6"),
        *("--model", MODEL),
    ),
    "ei": ("ei", "chat.jsonl", "--measures", "judge", "--model", MODEL, "--ask", "reflective"),
}
TABLES = {"probe": "rows", "persona": "rows", "threads": "rows", "ei": "labels"}


@pytest.fixture
def started(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs a command against a server: (status, stderr, its table)."""

    def start(server: JudgeServer, name: str, *more: str) -> tuple[int, str, pl.DataFrame | None]:
        monkeypatch.setenv("LOCAL_BASE_URL", server.url)
        status, _, err = run(*COMMANDS[name], "--out", f"{name}-out", *more)
        table = tmp_path / f"{name}-out" / f"{TABLES[name]}.parquet"
        return status, err, pl.read_parquet(table) if table.is_file() else None

    return start


def reasons(frame: pl.DataFrame | None) -> list[str | None]:
    assert frame is not None and frame.height == 6
    if frame.schema["unscored"] == pl.String():
        return frame["unscored"].to_list()
    return [
        next((each["reason"] for each in row if each["reason"] != "not asked"), None)
        for row in frame["unscored"].to_list()
    ]


@pytest.mark.parametrize(
    "fault",
    [
        "lone surrogate",
        pytest.param("nothing", marks=pytest.mark.slow),
        pytest.param("web page", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_fault_costs_one_row_and_is_asked_again(
    started: Callable[..., Any], command: str, fault: str
) -> None:
    hit: set[str] = set()

    def rule(call: Call) -> str | Reply:
        # A judge's prompt comes again with a reminder behind it.
        if not hit or any(call.prompt.startswith(each) for each in hit):
            hit.add(call.prompt)
            return FAULTS[fault].rule(call)
        return well(call)

    with JudgeServer(rule) as server:
        options = () if command in {"persona", "threads"} else ("--connections", "1")
        status, err, frame = started(server, command, *options)
        assert status == 0, err
        wrong = [reason for reason in reasons(frame) if reason is not None]
        answered = FAULTS[fault].reason is None and command in {"probe", "persona"}
        assert len(wrong) == (0 if answered else 1), wrong
        server.rule = well
        before = len(server.calls)
        again = ("--fresh",) if command != "ei" and fault == "nothing" else ()
        status, err, frame = started(server, command, *options, *again)
        assert status == 0, err
        assert reasons(frame) == [None] * 6
        assert len(server.calls) - before == len(wrong)  # and nothing else


@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_that_scored_nothing_says_so(started: Callable[..., Any], command: str) -> None:
    with JudgeServer(lambda _: Reply(status=400)) as server:
        status, err, frame = started(server, command)
    assert status == 1
    assert err.splitlines()[-1] == "error: nothing was scored: provider error (400)"
    assert reasons(frame) == ["provider error (400)"] * 6


def test_no_key_of_an_address_is_written(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with JudgeServer(well) as server:
        secret = server.url.replace("http://", "http://me:hunter2@") + "?key=hunter2"
        monkeypatch.setenv("LOCAL_BASE_URL", secret)
        for name in ("probe", "persona", "threads"):
            run(*COMMANDS[name], "--out", name)
            told = (tmp_path / name / "run.json").read_text("utf-8")
            assert "hunter2" not in told and server.url in told
        # What an earlier version wrote down does not keep its run from going on.
        path = tmp_path / "probe" / "run.json"
        path.write_text(path.read_text("utf-8").replace(server.url, secret), "utf-8")
        err = run(*COMMANDS["probe"], "--out", "probe")[2]
        assert "other settings" not in err and "hunter2" not in err + path.read_text("utf-8")


def test_a_judge_that_fails_is_asked_again(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judging = (*COMMANDS["probe"], "--judge", "openai-api/local/judge", "--out", "judged")

    def only_answers(call: Call) -> str | Reply:
        return Reply(status=400) if "CORRECT" in call.prompt else well(call)

    with JudgeServer(only_answers) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.url)
        status, _, err = run(*judging)
        assert status == 1  # the answers have their other scores, but nothing was judged
        assert err.splitlines()[-1] == "error: nothing was scored: provider error (400)"
        frame = pl.read_parquet(tmp_path / "judged" / "judgements.parquet")
        answered = frame.height
        assert answered == len(server.calls) - 6 > 6
        assert frame["right"].null_count() == answered
        assert set(frame["unscored"]) == {"provider error (400)"}
        server.rule = well
        assert run(*judging)[0] == 0
        frame = pl.read_parquet(tmp_path / "judged" / "judgements.parquet")
        assert frame["right"].to_list() == [1.0] * answered
        assert run(*judging)[0] == 0
        assert len(server.calls) == 6 + 2 * answered
        with JudgeServer(well) as other:
            monkeypatch.setenv("LOCAL_BASE_URL", other.url)
            status, _, err = run(*judging)
            assert (status, len(other.calls)) == (2, 0)
            assert "judged at another address there" in err and err.count("\n") == 1


def test_values_come_back_as_they_were_written(started: Callable[..., Any], tmp_path: Path) -> None:
    """Halves of characters, controls and marks in answers: JSONL, Parquet and JSON agree."""
    odd = "no \ud83d way\x00 \x1b[31mred\N{GRINNING FACE}"
    with JudgeServer(lambda _: raw_answer(odd)) as server:
        status, err, frame = started(server, "probe", "--json")
    assert status == 0, err
    assert frame is not None
    mark = "\N{REPLACEMENT CHARACTER}"
    assert set(frame["answer"]) == {f"no {mark} way{mark} {mark}[31mred\N{GRINNING FACE}"}
    lines = (tmp_path / "probe-out" / "rows.jsonl").read_text("utf-8").splitlines()
    assert {json.loads(line)["answer"] for line in lines} == set(frame["answer"])
