"""Tables 2 and 8 beside stored simulations, and Figure 7 from a sweep."""

from __future__ import annotations

from pathlib import Path

import pytest

from persona_chats import RuleLabeller, ines, light_scorer
from realtalk.errors import RealtalkError
from realtalk.measures.labels import label_frame, turn_inputs
from realtalk.metrics.statistics import Estimate
from realtalk.persona.published import PUBLISHED_SCORES, TABLE_8
from realtalk.persona.registry import make_simulator
from realtalk.persona.rows import SCORES
from realtalk.persona.summaries import Simulation, SpeakerScores, average
from realtalk.persona.turns import tasks
from realtalk.reproduce.personas import figure_7, table_2, table_8
from realtalk.runs.persona import run_persona

OURS = {kind.published: name for name, kind in SCORES.items() if kind.published}


def printed(name: str, tuned: bool) -> Simulation:
    """A simulation that came out as Table 8 has it."""
    nothing = Estimate(None, unscored="invented")
    speakers = {}
    for row in TABLE_8:
        values = row.tuned if tuned else row.without
        scores = dict.fromkeys(SCORES, nothing)
        scores |= {OURS[score]: Estimate(values[score], n=9) for score in PUBLISHED_SCORES}
        speakers[row.speaker] = SpeakerScores(
            *(row.speaker, "-".join(row.learn), "-".join(row.test), 9, {}, scores, {}),
            *(nothing, nothing, row.consistency, 0, 0),
        )
    averages = {
        score: average(each.scores[score].value for each in speakers.values()) for score in SCORES
    }
    return Simulation(name, speakers, averages)


def test_without_runs_nothing_is_made() -> None:
    assert table_2(()).verdict.kind == "not made"
    assert table_8((), None).verdict.kind == "not made"
    assert figure_7(None).verdict.kind == "not made"


def test_fine_tuning_goes_the_papers_way() -> None:
    found = table_2([printed("untuned", False), printed("tuned", True)])
    # Lexical does not move in print, so that it has no direction.
    assert str(found.verdict) == (
        "holds: fine-tuning moves 7 of 7 columns the way the paper has it"
    )
    assert {figure.state for figure in found.figures} <= {"exact", "within rounding"}
    assert len(found.figures) == 2 * len(PUBLISHED_SCORES)


def test_the_other_way_is_said() -> None:
    found = table_2([printed("untuned", True), printed("tuned", False)])
    assert found.verdict.kind == "differs"
    assert "moves 0 of 7 columns" in found.verdict.line
    assert table_2([printed("llm", False)]).verdict.kind == "not comparable"


def test_speakers_stand_beside_table_8() -> None:
    found = table_8([printed("tuned", True)], None)
    assert {figure.state for figure in found.figures} == {"exact"}
    assert len(found.figures) == len(TABLE_8) * len(PUBLISHED_SCORES)
    orders = dict(found.grids)["tuned: order of speakers"]
    assert [str(row[1])[:4] for row in orders.rows] == ["1.00"] * len(PUBLISHED_SCORES)


def test_a_sweep_is_drawn(tmp_path: Path) -> None:
    corpus = ines()
    labeller = RuleLabeller()
    inputs = turn_inputs(corpus)
    labels = label_frame(inputs, labeller.label(inputs), labeller.name, labeller.version)
    for sessions in (1, 3):
        asked = tasks(corpus, speaker="Ines", labels=labels, context_sessions=sessions)
        run_persona(
            *(corpus, asked, make_simulator("copy"), tmp_path / str(sessions)),
            scorer=light_scorer(corpus),
        )
    found = figure_7(tmp_path)
    assert found.verdict.kind == "not comparable"
    (_, grid), (name, chart) = found.grids[0], found.charts[0]
    assert [row[0] for row in grid.rows] == [1, 3]
    assert name == "figure-7"
    assert chart.to_dict()["facet"]
    with pytest.raises(RealtalkError, match="no sweep here"):
        figure_7(tmp_path / "1")
