"""What people get wrong on the command line of `threads`, and broken runs: one clear line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

SAMPLE = "sample-threads"


@pytest.fixture
def made(run: Any) -> Path:
    """A run of all settings."""
    assert run("threads", "run", SAMPLE, "--limit", "20", "--out", "made")[0] == 0
    return Path("made")


def one_line(found: tuple[int, str, str], *words: str) -> None:
    status, out, err = found
    assert status == 2
    assert out == ""
    assert err.startswith("error: ")
    assert len(err.strip().splitlines()) == 1
    assert all(word in err for word in words)


def test_a_prompt_is_json_where_json_is_asked_for(run: Any) -> None:
    status, out, _ = run("threads", "samples", SAMPLE, "--show", "1", "--json")
    plain = run("threads", "samples", SAMPLE, "--show", "1")[1]
    found = json.loads(out)
    assert status == 0
    assert found["prompt"] == plain.removesuffix("\n")
    assert found["setting"] == "p-conv" and "/" in found["key"]


def test_a_budget_of_nothing_is_refused(run: Any) -> None:
    one_line(run("threads", "samples", SAMPLE, "--show", "1", "--budget", "0"), "budget of 0")


@pytest.mark.parametrize("option", ["--seed", "--limit", "--train-limit"])
def test_a_number_that_no_file_can_hold_is_refused(run: Any, option: str) -> None:
    one_line(run("threads", "run", SAMPLE, option, "9" * 20), "too large")


def test_comparing_with_a_setting_where_nothing_was_predicted(run: Any) -> None:
    """`parent` knows nothing without the conversation: strict scores are 0 there, not a crash."""
    words = ("-t", "next_text", "-p", "parent", "--limit", "15", "--out", "parent")
    assert run("threads", "run", SAMPLE, *words)[0] == 0
    status, out, _ = run("runs", "compare", "parent", "--json")
    assert status == 0
    (found,) = json.loads(out).values()
    assert found["strict"]["rouge_1"]["first"] == 0.0
    assert found["strict"]["rouge_1"]["second"] > 0
    assert found["strict"]["rouge_1"]["n"] == 15
    assert found["changes"]["rouge_1"]["n"] == 0


@pytest.mark.usefixtures("made")
def test_settings_that_cannot_be_compared(run: Any) -> None:
    one_line(run("runs", "compare", "made", "--settings", "p-conv,p-conv"), "not two settings")
    two = ("runs", "compare", "made", "made")
    one_line(run(*two, "--settings", "p-conv,np-conv"), "leave --settings out")
    assert run(*two)[0] == 0


@pytest.mark.parametrize(
    "line", ['{"setting":"p-conv","key":"k"}', '{"key":"k"}', "[1]", '{"setting":"odd","key":"k"}']
)
@pytest.mark.parametrize("command", ["table", "compare"])
def test_rows_of_something_else(run: Any, made: Path, line: str, command: str) -> None:
    (made / "rows.jsonl").write_text(line + "\n", "utf-8")
    one_line(run("threads", command, "made"), "made", "not the rows", "--fresh")


def test_settings_of_something_else(run: Any, made: Path) -> None:
    kept = json.loads((made / "run.json").read_text("utf-8"))
    (made / "run.json").write_text(json.dumps({**kept, "settings": {}}), "utf-8")
    one_line(run("runs", "table", "made"), "made", "not the settings", "--fresh")
