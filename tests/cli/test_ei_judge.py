"""`realtalk ei --measures judge --base-url`: a server of one's own, on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from judge_server import Call, JudgeServer

pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
CHAT = [
    {"speaker": "Wren", "text": "I keep thinking about the ferry we missed", "session": 1},
    {"speaker": "Oke", "text": "did you sleep at all?", "session": 1},
]
WORDS = "ei chat.jsonl --measures judge --model openai-api/local/tiny"


@pytest.fixture(autouse=True)
def _chat(tmp_path: Path) -> None:
    (tmp_path / "chat.jsonl").write_text("\n".join(map(json.dumps, CHAT)) + "\n", "utf-8")


def reflects(call: Call) -> str:
    return str(call.turn.startswith("I keep"))


def test_the_named_server_is_asked_and_named(run: Any, tmp_path: Path) -> None:
    with JudgeServer(reflects) as server:
        given = f"--ask reflective --base-url {server.url} --out judged --json"
        status, _, err = run(f"{WORDS} {given}")
        assert (status, len(server.calls)) == (0, 2), err
        assert run(f"{WORDS} {given}")[0] == 0
        assert len(server.calls) == 2  # the answers were kept
        frame = pl.read_parquet(tmp_path / "judged" / "labels.parquet")
        assert frame["reflective"].to_list() == [True, False]
        assert frame["version"][0].endswith(f"tiny at {server.url}")
        told = run("cache list --json").told
    kept = {each["kind"]: each["files"] for each in told["rows"] if each["files"]}
    assert kept == {"judge": 2, "labels": 1}


def test_another_server_is_another_labelling(run: Any) -> None:
    for number in range(2):
        with JudgeServer(reflects) as server:
            given = f"--ask reflective --base-url {server.url} --out judged"
            status, _, err = run(f"{WORDS} {given}")
            assert len(server.calls) == 2 * (1 - number)
    assert status == 2 and err.count("\n") == 1
    assert "made with other settings (solver.version is " in err
