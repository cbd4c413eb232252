"""Runs that go on where they were stopped, the command, and the Inspect task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from persona_chats import ines, ines_choice, light_scorer, sample_labels
from realtalk.evals import running
from realtalk.evals.run import Run, join_runs
from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent
from realtalk.persona.benchmark import PersonaBenchmark
from realtalk.persona.simulators import Constant
from realtalk.persona.turns import tasks_of
from realtalk.persona.values import PersonaTask, Simulator, TurnPrompt
from refusals import refused

CORPUS = ines(4)


def the_task(**context: int) -> PersonaTask:
    return tasks_of(CORPUS, [ines_choice()], **context)[0]


def run_task(
    simulator: Simulator, folder: Path, task: PersonaTask | None = None, limit: int | None = None
) -> Run:
    scorer = light_scorer(CORPUS)
    benchmark = PersonaBenchmark(CORPUS, [task or the_task()], scorer, limit)
    return running.run(benchmark, CORPUS, simulator, folder)


class Stopping(Constant):
    """Stops in the middle, as a killed process does; later it counts what it is asked."""

    name = "stopping"
    at_once = 4

    def __init__(self, stop_at: int | None) -> None:
        super().__init__()
        self.stop_at = stop_at
        self.asked: list[str] = []

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        if self.stop_at is not None and len(self.asked) >= self.stop_at:
            raise KeyboardInterrupt
        self.asked += [prompt.id for prompt in shown]
        return super().solve(shown, progress)


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    task = the_task()
    first, then = Stopping(8), Stopping(None)
    with pytest.raises(KeyboardInterrupt):
        run_task(first, tmp_path / "a")
    with refused("no scores yet"):
        Run.load(tmp_path / "a")
    run = run_task(then, tmp_path / "a")
    assert len(first.asked) == 8 and first.asked + then.asked == [t.id for t in task.turns]
    whole = run_task(Stopping(None), tmp_path / "b")
    assert list(run.rows) == list(whole.rows) and list(run.facts) == list(whole.facts)
    again = Stopping(None)
    run_task(again, tmp_path / "a")
    assert again.asked == []


class Failing(Constant):
    name = "failing"
    asks = True

    def __init__(self, fails: bool) -> None:
        super().__init__()
        self.fails = fails

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        found = super().solve(shown, progress)
        return [Answer(None, "timeout"), *found[1:]] if self.fails else found


def test_what_failed_is_tried_again_and_facts_follow_the_rows(tmp_path: Path) -> None:
    first = run_task(Failing(True), tmp_path)
    stale = (tmp_path / "groups.jsonl").read_bytes()
    then = run_task(Failing(False), tmp_path)
    assert first.variants[""].unscored == {"timeout": 1} and not then.variants[""].unscored
    assert [fact["scored"] for fact in (*first.facts, *then.facts)] == [11, 12]
    for left in (stale, b""):  # killed after the last row, before what is known of the speaker
        (tmp_path / "groups.jsonl").write_bytes(left)
        run = run_task(Failing(False), tmp_path)
        assert list(run.rows) == list(then.rows) and list(run.facts) == list(then.facts)


def test_runs_of_one_speaker_are_not_joined_twice(tmp_path: Path) -> None:
    run = run_task(Constant(), tmp_path, limit=3)
    assert [row["sample"] for row in run.rows] == ["Boat#1", "Boat#3", "Boat#5"]
    assert join_runs("constant", [run]).rows == run.rows
    with refused("Ines is also in"):
        join_runs("constant", [run, run])


def test_a_shared_run_has_its_scores_and_no_text(tmp_path: Path) -> None:
    task = the_task()
    run = run_task(Constant(), tmp_path / "run")
    copy = run.share(tmp_path / "shared")
    assert copy.to_json() == run.to_json()
    assert copy.settings == run.settings and list(copy.versions) == list(run.versions) != []
    found = pl.read_parquet(tmp_path / "shared" / "rows.parquet")
    assert not {"truth", "answer"} & set(found.columns)
    written = {turn.text for turn in task.turns} | {"ok"}
    for column in found.columns:
        if found[column].dtype == pl.String:
            assert not written & set(found[column].drop_nulls())
    names = {path.name for path in (tmp_path / "shared").iterdir()}
    assert names == {"run.json", "rows.parquet", "groups.parquet"}
    with refused("is not empty"):
        run.share(tmp_path / "shared")
    with refused("is not empty"):
        run.share(tmp_path / "run" / "run.json")


def test_the_command_from_turns_to_comparison(run: Any, tmp_path: Path) -> None:
    sample_labels().write_parquet(tmp_path / "labels.parquet")
    known = ("sample", "--labels", "labels.parquet")
    found = run("persona", "turns", *known, "--json", "--out", "turns.jsonl").told
    assert found["rows"][0]["speaker"] == "Mara" and found["turns"] > 100
    lines = (tmp_path / "turns.jsonl").read_text().splitlines()
    assert len(lines) == found["turns"] and set(json.loads(lines[0])) == {"speaker", "id", "prompt"}

    words = ("persona", "run", *known, "--limit", "12", "--simulator", "constant")
    out = run(*words, "--out", "constant").done.out
    assert "what raw agreement does not show" in out and "Table 2" not in out
    assert run("runs table flat=constant --json").told[0]["name"] == "flat"
    compared = run("runs compare constant constant --json").told["details"][""]
    rouge, kappa = (compared["changes"][name] for name in ("rouge_1", "kappa_sentiment"))
    assert (rouge["n"], rouge["groups"]) == (12, 1)
    assert rouge["p"] is kappa["p"] is None  # one speaker is no sample of people
    Path("constant").rename("k=3")  # a folder may be called like NAME=RUN
    assert run("runs table k=3 --json").told[0]["name"] == "constant"
