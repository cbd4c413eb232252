"""Whoever waits for a server that fails is told, not too often, and on standard error alone."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from judge_server import Call, JudgeServer, Reply
from realtalk.files.progress import Trouble, within
from realtalk.models import asking, attempts
from realtalk.models.asking import Asked, Prompt, ask

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("LOCAL_API_KEY", raising=False)
    monkeypatch.setattr(asking, "_heard", set())
    yield
    gc.collect()  # here, where the engine's warnings are silenced


def failing(times: int, reply: Reply) -> Any:
    """Every prompt fails so often, then it is answered."""
    return lambda call: reply if call.times < times else "1 May"


def troubles(rule: Any, cache: Path, prompts: int = 1, **options: Any) -> list[str]:
    told: list[str] = []

    def progress(done: int, total: int, what: str) -> None:
        if isinstance(what, Trouble):
            told.append(what)

    given: dict[str, Any] = {"timeout": 20, "retries": 3, "wait": 0.001, "connections": 4}
    with JudgeServer(rule) as server:
        asked = Asked(
            "openai-api/local/tiny", base_url=server.url, cache=cache, **(given | options)
        )
        many = [Prompt(str(at), lambda at=at: f"question {at}") for at in range(prompts)]  # type: ignore[misc]
        ask(many, asked, lambda *_: None, progress)
        told.append(f"{len(server.calls)} calls")
    return told


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (Reply(status=500), "the server answers 500"),
        (Reply(status=503), "the server answers 503"),
        (Reply(status=429), "the server answers 429 (too many requests)"),
        (Reply(reset=True), "the server cannot be reached"),
    ],
)
def test_each_attempt_is_told(reply: Reply, said: str, tmp_path: Path) -> None:
    assert troubles(failing(2, reply), tmp_path) == [
        f"{said}, trying again (1 of 3)",
        f"{said}, trying again (2 of 3)",
        "3 calls",  # nobody repeats behind our back
    ]


def test_a_hang_and_the_pause_that_a_server_asks_for_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "_LONGEST", 1.0)
    soon = Reply(status=429, headers={"Retry-After": "60"})
    told = troubles(failing(1, soon), tmp_path)
    assert told[0] == "the server answers 429 (too many requests), trying again (1 of 3) in 1 s"
    monkeypatch.setattr(attempts, "_SLOW", 0.2)
    told = troubles(failing(1, Reply("late", delay=60)), tmp_path / "other", timeout=1)
    assert told[:2] == [
        "the server has not answered for 0 s, still waiting",
        "the server does not answer in time, trying again (1 of 2)",
    ]


def test_many_that_fail_alike_are_told_once(tmp_path: Path) -> None:
    told = troubles(failing(2, Reply(status=500)), tmp_path, prompts=12)
    assert sorted(told[:-1]) == [
        f"the server answers 500, trying again ({at} of 3)" for at in (1, 2)
    ]
    assert told[-1] == "36 calls"


def test_nothing_is_told_where_nothing_fails(tmp_path: Path) -> None:
    assert troubles(lambda _: "1 May", tmp_path, prompts=3) == ["3 calls"]


def test_the_command_tells_on_standard_error_alone(
    tmp_path: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_RETRY_WAIT", "0.001")
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path / "cache"))

    def rule(call: Call) -> str | Reply:
        return Reply(status=500) if call.times < 3 else "1 May"

    with JudgeServer(rule) as server:
        status, out, said = run(
            *("probe", "sample", "--memory", "none", "--reader", "llm", "--limit", "4", "--json"),
            *("--model", "openai-api/local/tiny", "--base-url", server.url),
        )
    assert status == 0
    json.loads(out)
    assert "note: the server answers 500, trying again (3 of 5)\n" in said
    assert said.count("trying again") == 6  # of each chat, whose questions are asked together


def test_python_hears_it_through_its_progress(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REALTALK_RETRY_WAIT", "0.001")
    monkeypatch.setenv("REALTALK_CACHE", str(tmp_path))
    heard: list[str] = []
    with JudgeServer(failing(1, Reply(status=502))) as server:
        rt.probe(
            "sample",
            memory="none",
            model=rt.Model("openai-api/local/tiny", base_url=server.url),
            limit=2,
            progress=lambda _, __, what: heard.append(what),
        )
    assert "the server answers 502, trying again (1 of 5)" in heard


def test_a_part_passes_trouble_on() -> None:
    heard: list[tuple[int, int, str]] = []
    inner = within(lambda *told: heard.append(told), 10, 51, "the whole")
    inner(1, 4, "the part")
    inner(2, 4, Trouble("the server answers 500"))
    assert heard == [(11, 51, "the whole"), (12, 51, "the server answers 500")]
