"""PersonaConvBench's table and claims beside predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from paper_chats import write_data
from realtalk.threads.values import TASKS
from research.papers.claims import CLAIMS
from research.papers.persona_conv import main_table
from research.papers.shared_rows import Predictions, shared_frame, write_shared
from research.papers.values import Exhibit
from research.tests.predicted_threads import key, predicted

HELPED = {"p-conv": 0.95, "p-nonconv": 0.6, "np-conv": 0.6, "np-nonconv": 0.6}
ALIKE = dict.fromkeys(HELPED, 0.7)


def invented(clean: dict[str, float], released: dict[str, float]) -> Predictions:
    """A model by both rules, and a baseline that comes first and is not meant."""
    found: dict[Any, Any] = {
        key(task, predictor="majority"): predicted(task, dict.fromkeys(HELPED, 0.7), seed=9)
        for task in TASKS
    }
    for rules, right in (("clean", clean), ("released", released)):
        found |= {key(task, rules): predicted(task, right) for task in TASKS}
    found |= {key("sentiment", shots=3): predicted("sentiment", {}, seed=8)}
    return found


@pytest.fixture(scope="module")
def leaky() -> Exhibit:
    """The conversation helps by released rules alone."""
    return main_table(invented(ALIKE, HELPED))


def test_without_predictions_nothing_is_made() -> None:
    found = main_table({})
    assert (found.id, found.verdict.kind) == ("personaconvbench", "not made")
    assert "--threads" in found.verdict.line


def test_every_claim_has_a_verdict_by_both_rules(leaky: Exhibit) -> None:
    found = leaky
    assert found.verdict.kind == "differs"
    assert found.verdict.line.startswith(f"0 of {len(CLAIMS)} claims hold by clean rules, ")
    grid = dict(found.grids)["claims"]
    assert [row[0] for row in grid.rows] == [claim.says for claim in CLAIMS]
    mcc = next(row for row in grid.rows if str(row[0]).startswith("sentiment: MCC"))
    assert mcc[1] == "5 of 5 models, +21% to +199%"
    assert mcc[5] == "not beyond chance; holds"
    # All that is gained comes with the leaks, and the interval says so.
    low = float(str(mcc[4]).partition("[")[2].partition(",")[0])
    assert low > 0
    assert any("tiny-llm" in note for note in found.notes)


def test_all_may_hold() -> None:
    every = invented(HELPED, HELPED)
    found = main_table({each: every[each] for each in every if each.task == "next_text"})
    assert str(found.verdict) == (
        "holds: 6 of 6 claims hold by clean rules, 6 of 6 claims hold by released rules"
    )


def test_printed_rows_stand_below_ours(leaky: Exhibit) -> None:
    found = leaky
    grid = dict(found.grids)["sentiment, ours above the paper's"]
    assert grid.headings == ["predictor", "setting", "accuracy", "positive F1", "MCC"]
    assert [row[0] for row in grid.rows[:8]] == ["tiny-llm, clean"] * 4 + ["tiny-llm, released"] * 4
    assert grid.rows[8] == ["paper: GPT-4.1", "p-conv", "0.9122", "0.9481", "0.677"]
    figure = next(each for each in found.figures if (each.row, each.column) == ("p-conv", "MCC"))
    assert figure.published == 0.2268
    assert figure.measured is not None and figure.low is not None


def test_some_tasks_alone_leave_the_others_not_made() -> None:
    every = invented(ALIKE, HELPED)
    some = {each: every[each] for each in every if each.task == "impact"}
    found = main_table(some)
    assert "of 3 claims hold by clean rules" in found.verdict.line
    kinds = {row[0]: row[5] for row in dict(found.grids)["claims"].rows}
    assert kinds["sentiment: by 198 % in MCC"] == "not made; not made"


def test_the_command_takes_shared_rows(research: Any, tmp_path: Path) -> None:
    data = write_data(tmp_path / "data", chats=1)
    every = invented(ALIKE, HELPED)
    made = {each: every[each] for each in every if each.task == "sentiment"}
    write_shared([shared_frame(each, made[each]) for each in made], tmp_path / "rows.parquet")
    words = ("papers.reproduce", "--data", str(data), "--out", "out", "--only", "personaconvbench")
    status, out, err = research(*words, "--threads", "rows.parquet", "--json")
    assert status == 0, err
    (exhibit,) = json.loads(out)["exhibits"]
    assert exhibit["verdict"] == "differs"
    assert len(exhibit["tables"][0]["rows"]) == len(CLAIMS)
    page = (tmp_path / "out" / "reproduced.md").read_text("utf-8")
    assert "--threads rows.parquet" in page
    assert "| sentiment: MCC is better with the conversation | 5 of 5 models" in page
    status, _, err = research(*words, "--threads", "nothing.parquet")
    assert status == 2
    assert "cannot be read as Parquet" in err
