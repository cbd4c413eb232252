"""Runs that go on where they were stopped, the command, and the Inspect task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from persona_chats import RuleLabeller, ines, light_scorer
from realtalk.corpora.opening import open_reading
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.metrics.statistics import Estimate
from realtalk.persona.choosing import Choice
from realtalk.persona.rows import row_schema
from realtalk.persona.run import joined, load_persona, run_persona, share
from realtalk.persona.simulators import Constant
from realtalk.persona.turns import label_corpus, tasks, tasks_of
from realtalk.persona.values import PersonaTask, Prompt, Simulated

CORPUS = ines(4)


def the_task(**context: int) -> PersonaTask:
    choice = Choice(
        *("Ines", "Oven", "Boat", {"Oven": 0.4, "Boat": -0.1}, {"Oven": 12, "Boat": 12}, 0.9),
        *(("empathy",), Estimate(0.2)),
    )
    return tasks_of(CORPUS, [choice], **context)[0]


class Stopping(Constant):
    """Stops in the middle, as a killed process does; later it counts what it is asked."""

    name = "stopping"
    at_once = 4

    def __init__(self, stop_at: int | None) -> None:
        super().__init__()
        self.stop_at = stop_at
        self.asked: list[str] = []

    def simulate(self, prompts: Sequence[Prompt], progress: Progress = silent) -> list[Simulated]:
        if self.stop_at is not None and len(self.asked) >= self.stop_at:
            raise KeyboardInterrupt
        self.asked += [prompt.id for prompt in prompts]
        return super().simulate(prompts, progress)


def test_a_run_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    task = the_task()
    first, then = Stopping(8), Stopping(None)
    with pytest.raises(KeyboardInterrupt):
        run_persona(CORPUS, [task], first, tmp_path / "a", scorer=light_scorer(CORPUS))
    with pytest.raises(RealtalkError, match="no scores yet"):
        load_persona(tmp_path / "a")
    run = run_persona(CORPUS, [task], then, tmp_path / "a", scorer=light_scorer(CORPUS))
    assert len(first.asked) == 8 and first.asked + then.asked == [t.id for t in task.turns]
    whole = run_persona(CORPUS, [task], Stopping(None), tmp_path / "b", scorer=light_scorer(CORPUS))
    assert list(run.rows) == list(whole.rows)
    again = Stopping(None)
    run_persona(CORPUS, [task], again, tmp_path / "a", scorer=light_scorer(CORPUS))
    assert again.asked == []


class Failing(Constant):
    name = "failing"

    def __init__(self, fails: bool) -> None:
        super().__init__()
        self.fails = fails

    def simulate(self, prompts: Sequence[Prompt], progress: Progress = silent) -> list[Simulated]:
        found = super().simulate(prompts, progress)
        return [Simulated(found[0].id, None, "timeout"), *found[1:]] if self.fails else found


def test_what_failed_is_tried_again_and_scored(tmp_path: Path) -> None:
    task = the_task()
    run = run_persona(CORPUS, [task], Failing(True), tmp_path, scorer=light_scorer(CORPUS))
    assert run.simulation.speakers["Ines"].unscored == {"timeout": 1}
    run = run_persona(CORPUS, [task], Failing(False), tmp_path, scorer=light_scorer(CORPUS))
    assert run.simulation.speakers["Ines"].unscored == {}
    assert run.simulation.scored == len(task.turns)


def test_files_are_whole_and_other_settings_are_refused(tmp_path: Path) -> None:
    run_persona(CORPUS, [the_task()], Constant(), tmp_path, scorer=light_scorer(CORPUS))
    frame = pl.read_parquet(tmp_path / "rows.parquet")
    assert frame.schema == row_schema() and frame["simulated"].unique().to_list() == ["ok"]
    assert pl.read_parquet(tmp_path / "speakers.parquet")["speaker"].to_list() == ["Ines"]
    kept = json.loads((tmp_path / "run.json").read_text())["settings"]
    assert kept["chats"] == {"Ines": ["Oven", "Boat"]}
    assert kept["context"] == {"context_sessions": 3, "context_tokens": 1500}
    with pytest.raises(RealtalkError, match="context_sessions is 3 there, 1 now"):
        run_persona(
            CORPUS,
            [the_task(context_sessions=1)],
            Constant(),
            tmp_path,
            scorer=light_scorer(CORPUS),
        )


def test_runs_of_one_speaker_are_not_joined_twice(tmp_path: Path) -> None:
    run = run_persona(CORPUS, [the_task()], Constant(), tmp_path, scorer=light_scorer(CORPUS))
    simulation, rows = joined("constant", [run])
    assert simulation.turns == len(rows) == 12
    with pytest.raises(RealtalkError, match="Ines is also in"):
        joined("constant", [run, run])


def test_a_shared_run_has_its_scores_and_no_text(tmp_path: Path) -> None:
    task = the_task()
    run = run_persona(CORPUS, [task], Constant(), tmp_path / "run", scorer=light_scorer(CORPUS))
    copy = share(tmp_path / "run", tmp_path / "shared")
    assert copy.simulation.to_json() == run.simulation.to_json()
    assert copy.settings == run.settings and list(copy.versions) == list(run.versions) != []
    found = pl.read_parquet(tmp_path / "shared" / "rows.parquet")
    assert not {"truth", "simulated"} & set(found.columns)
    written = {turn.text for turn in task.turns} | {"ok"}
    for column in found.columns:
        if found[column].dtype == pl.String:
            assert not written & set(found[column].drop_nulls())
    names = {path.name for path in (tmp_path / "shared").iterdir()}
    assert names == {"run.json", "rows.parquet", "speakers.parquet"}
    with pytest.raises(RealtalkError, match="is not empty"):
        share(tmp_path / "run", tmp_path / "shared")
    with pytest.raises(RealtalkError, match="is not empty"):
        share(tmp_path / "run", tmp_path / "run" / "run.json")


def test_a_limit_takes_the_first_turns(tmp_path: Path) -> None:
    run = run_persona(
        CORPUS, [the_task()], Constant(), tmp_path, scorer=light_scorer(CORPUS), limit=3
    )
    assert [row["id"] for row in run.rows] == ["Boat#1", "Boat#3", "Boat#5"]


@cache
def sample_labels() -> pl.DataFrame:
    """Labels of the sample by rule: the encoder would take seconds."""
    return label_corpus(open_reading("sample").reading.corpus, RuleLabeller())


def test_the_command_from_turns_to_comparison(run: Any, tmp_path: Path) -> None:
    sample_labels().write_parquet(tmp_path / "labels.parquet")
    known = ("sample", "--labels", "labels.parquet")
    status, out, err = run("persona", "turns", *known, "--json", "--out", "turns.jsonl")
    assert status == 0, err
    (found,) = json.loads(out)
    assert found["speaker"] == "Mara" and found["turns"] > 100
    lines = (tmp_path / "turns.jsonl").read_text().splitlines()
    assert len(lines) == found["turns"] and set(json.loads(lines[0])) == {"speaker", "id", "prompt"}

    sample = ("persona", "simulate", *known, "--limit", "12")
    for name, more in (("constant", ()), ("retrieve", ("--set", "by=words"))):
        status, out, err = run(*sample, "--simulator", name, *more, "--out", name)
        assert status == 0, err
        assert "averages over speakers" in out and "Table 2" not in out
    status, out, err = run("persona", "table", "flat=constant", "near=retrieve", "--json")
    assert status == 0, err
    assert [each["name"] for each in json.loads(out)] == ["flat", "near"]
    status, out, err = run("persona", "compare", "flat=constant", "near=retrieve", "--json")
    assert status == 0, err
    compared = json.loads(out)
    assert compared["names"] == ["flat", "near"]
    assert compared["tests"]["rouge_1"]["turns"] == 12
    assert compared["tests"]["rouge_1"]["p_speakers"] is None  # one speaker is no sample of people
    Path("retrieve").rename("k=3")  # a folder may be called like NAME=RUN
    status, out, err = run("persona", "compare", "flat=constant", "near=k=3", "--json")
    assert status == 0, err
    assert json.loads(out) == compared
    status, out, err = run("persona", "table", "k=3", "--json")
    assert status == 0, err
    assert json.loads(out)[0]["name"] == "retrieve (k=3)"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("simulate", "sample", "--simulator", "llm"), "needs a model"),
        (("simulate", "sample", "--speaker", "Theo"), "has only one chat"),
        (("table", "nowhere"), "no run here"),
        (("sweep", "sample", "--sessions", "1,x", "--out", "s"), "no numbers of sessions"),
        (("turns", "sample", "--labels", "nowhere"), "no labels here"),
    ],
)
def test_mistakes_are_one_line(run: Any, words: tuple[str, ...], said: str) -> None:
    status, _, err = run("persona", *words)
    assert status == 2 and said in err and err.count("\n") <= 1


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_inspect_task_scores_as_the_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("inspect_ai", reason="the extra llm is not installed")
    from inspect_ai import eval as evaluate

    from judge_server import JudgeServer
    from realtalk.persona import inspecting

    monkeypatch.setattr(inspecting, "tasks", partial(tasks, labels=sample_labels()))
    with JudgeServer(lambda call: "" if call.place == 1 else "Mara: Ha, quite.") as server:
        (log,) = evaluate(
            inspecting.persona_simulation(path="sample", speaker="Mara", turns=3),
            model="openai-api/test/rule",
            model_base_url=server.url,
            model_args={"api_key": "none"},
            log_dir=str(tmp_path),
            display="none",
            max_connections=1,
        )
        prompts = server.prompts()
    assert log.status == "success"
    assert len(prompts) == 3 and all("You are Mara" in prompt for prompt in prompts)
    assert log.samples is not None
    scores = [next(iter((sample.scores or {}).values())) for sample in log.samples]
    answered = [score for score in scores if isinstance(score.value, dict)]
    assert [score.answer for score in answered] == ["Ha, quite."] * 2
    value = answered[0].value
    assert isinstance(value, dict)
    assert {"rouge_1", "emotion", "empathy", "taken_for"} <= set(value)
