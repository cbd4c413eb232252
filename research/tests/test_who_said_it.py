"""Prompts that a server writes down, and recorded answers, become rows without text."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from research.experiments import who_said_it
from research.experiments.prompt_files import read

needs_inspect = pytest.mark.skipif(
    find_spec("inspect_ai") is None, reason="inspect_ai is not installed (the extra 'llm')"
)


def called(monkeypatch: pytest.MonkeyPatch, out: Path, *words: str) -> list[dict[str, object]]:
    memories = ("--memories", "oracle", "--questions", "swapped", "--golds", "published")
    monkeypatch.setattr(sys, "argv", ["", "sample", "--out", str(out), *memories, *words])
    who_said_it.main()
    return [json.loads(line) for line in (out / "rows.jsonl").read_text("utf-8").splitlines()]


@needs_inspect
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning")
def test_what_was_asked_and_answered_is_scored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = called(monkeypatch, tmp_path)
    _, asked = read(tmp_path / "prompts.jsonl.xz")
    oracle = [row for row in first if row["memory"] == "oracle"]
    assert len(asked) == len(oracle) > 1
    assert {row["declined"] for row in oracle} == {None}
    answers = tmp_path / "answers.jsonl"
    lines = [{"id": prompt["id"], "answer": "not mentioned"} for prompt in asked[1:]]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    second = called(monkeypatch, tmp_path, "--answers", str(answers))
    declined = [row["declined"] for row in second if row["memory"] == "oracle"]
    assert declined.count(1.0) == len(asked) - 1 and declined.count(None) == 1
    assert [row["id"] for row in read(tmp_path / "prompts.jsonl.xz")[1]] == [asked[0]["id"]]
    by_chance = [row for row in second if row["memory"] == "random"]
    assert all(0 <= row["misattributed"] < 1 for row in by_chance)  # type: ignore[operator]
    texts = {value for row in second for value in row.values() if isinstance(value, str)}
    assert all(len(text) < 40 for text in texts)
