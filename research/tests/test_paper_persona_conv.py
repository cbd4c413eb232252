"""PersonaConvBench's table and claims beside predictions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from paper_chats import write_data
from realtalk.threads.values import TASKS
from research.papers.claims import CLAIMS
from research.papers.persona_conv import thread_rows
from research.papers.rule import DUMMY_TOO, ResultRow
from research.papers.shared_rows import Predictions, shared_frame, write_shared
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


def rows(predictions: Predictions) -> dict[str, ResultRow]:
    return {row.where: row for row in thread_rows(predictions)}


def test_without_predictions_nothing_is_compared() -> None:
    assert {row.word for row in thread_rows({})} == {"cannot be compared"}


def test_every_claim_has_a_row() -> None:
    """The conversation helps by released rules alone: on the paper's side, not beyond chance."""
    found = rows(invented(ALIKE, HELPED))
    assert len(found) == len(CLAIMS) + 2
    mcc = found["Sentiment, MCC"]
    assert mcc.says == "better with the conversation: 5 of 5 models, +21% to +199%"
    assert "clean: " in mcc.ours.text and "released: +" in mcc.ours.text
    assert mcc.word in ("agrees in order", "differs")
    assert found["Main table, levels"].word == "cannot be compared"


def test_all_may_agree_unless_a_copy_does() -> None:
    every = invented(HELPED, HELPED)
    found = rows(every)
    assert found["Next text, ROUGE-1"].word == found["Next text, own history"].word == "agrees"
    # A program that copies what it answers gains as much.
    for rules in ("clean", "released"):
        for name, right in (("majority", ALIKE), ("parent", HELPED)):
            own = [row for row in predicted("next_text", right) if row["variant"] == "p-conv"]
            every = {**every, key("next_text", rules, name): own}
    found = rows(every)
    assert found["Next text, ROUGE-1"].reason == DUMMY_TOO
    assert found["Sentiment, accuracy"].word == "agrees"


def test_some_tasks_alone_leave_the_others_out() -> None:
    every = invented(ALIKE, HELPED)
    found = rows({each: every[each] for each in every if each.task == "impact"})
    assert found["Sentiment, MCC"].reason == "no predictions of its settings are here"
    assert found["Impact, RMSE"].ours.text != "–"


def test_the_command_takes_shared_rows(research: Any, tmp_path: Path) -> None:
    data = write_data(tmp_path / "data", chats=1)
    every = invented(ALIKE, HELPED)
    made = {each: every[each] for each in every if each.task == "sentiment"}
    write_shared([shared_frame(each, made[each]) for each in made], tmp_path / "rows.parquet")
    words = ("papers.reproduce", "--data", str(data), "--out", "out", "--only", "threads")
    _, out, err = research(*words, "--threads", "rows.parquet", "--json")
    found = json.loads(out)["papers"]["PersonaConvBench"]
    assert [row["where"] for row in found][:3] == [
        "Sentiment, accuracy",
        "Sentiment, positive F1",
        "Sentiment, MCC",
    ], err
    status, _, err = research(*words, "--threads", "nothing.parquet")
    assert status == 2
    assert "cannot be read as Parquet" in err
