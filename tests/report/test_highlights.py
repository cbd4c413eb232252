"""What is said first: the best by the right direction, the cheapest that is nearly as good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from realtalk.report.persona import persona_sections
from realtalk.report.threads import thread_sections
from realtalk.report.unscored import unscored_section

import report_runs
from realtalk.ei import FACETS
from realtalk.evals.summaries import Summary
from realtalk.evals.values import Answer
from realtalk.metrics.statistics import Estimate
from realtalk.report.highlights import highlights
from realtalk.report.loading import LoadedRuns, ProbeRun, load
from realtalk.report.speakers import compared
from realtalk.report.values import ChartView
from realtalk.report.writers import WriterKind
from realtalk.threads.benchmark import summary_of
from realtalk.threads.predictors import Value
from realtalk.threads.values import Task
from report_runs import write_labels
from thread_items import item, scored

PEOPLE, MODELS = WriterKind(False, "as you said"), WriterKind(True, "as you said")


def predicted(name: str, task: Task, pairs: Sequence[tuple[float, Value]]) -> Summary:
    samples = [item(at, truth, task=task, user=f"u{at}") for at, (truth, _) in enumerate(pairs)]
    return summary_of(name, task, scored(task, samples, [Answer(value) for _, value in pairs]))


def votes() -> dict[str, Summary]:
    """Three predictors of votes, of which `near` is off by least."""
    truths = [float(3 * at - 9) for at in range(10)]
    return {
        name: predicted(name, "impact", [(truth, truth + off) for truth in truths])
        for name, off in (("far", 60.0), ("near", 1.0), ("farther", 400.0))
    }


def test_the_best_of_errors_is_the_smallest_and_of_scores_the_largest() -> None:
    (found,) = highlights(LoadedRuns(), (), {}, {("impact", "cats", "0a"): votes()})
    assert "“near”" in found.says and "best of 3" in found.says
    truths = [float((-1) ** at * at) for at in range(1, 11)]
    liked = {
        name: predicted(
            name,
            "sentiment",
            [(truth, (truth > 0) != (at < wrong)) for at, truth in enumerate(truths)],
        )
        for name, wrong in (("half", 5), ("good", 1), ("fair", 3))
    }
    (found,) = highlights(LoadedRuns(), (), {}, {("sentiment", "cats", "0a"): liked})
    assert "“good”" in found.says


def memory(
    name: str,
    recall: Sequence[float],
    tokens: int,
    *,
    corpus: str = "ferry",
    written: WriterKind = PEOPLE,
) -> ProbeRun:
    """A run that finds so much for each question, at so many tokens."""
    known = next(each for each in load([report_runs.runs() / "memory"]).probes if each.memory)
    first = known.probed.rows[0]
    scores = {"any@budget": 1.0, "all@budget": 1.0}
    rows = [
        first
        | scores
        | {"sample": f"Q{at}", "variant": "all", "tokens": tokens, "recall@budget": value}
        for at, value in enumerate(recall)
    ]
    settings: dict[str, Any] = {
        **known.probed.settings,
        "corpus": {"name": corpus, "sha256": corpus},
    }
    parts = settings["solver"]["settings"]
    named = {**parts, "memory": {**parts["memory"], "name": name}}
    settings["solver"] = {**settings["solver"], "settings": named}
    probed = replace(known.probed, rows=rows, timings=(), settings=settings)
    return ProbeRun(known.folder, probed, written)


def test_the_cheapest_memory_that_finds_nearly_as_much_comes_first() -> None:
    best = memory("best", [1.0] * 19 + [0.9], 5000)
    lean = memory("lean", [1.0] * 18 + [0.5] * 2, 700)
    poor = memory("poor", [1.0] * 10 + [0.0] * 10, 100)
    (found,) = highlights(LoadedRuns(probes=(best, lean, poor)), (), {}, {})
    assert found.figure == "95\u202f%" and "“lean”, at 700 tokens" in found.says
    assert "“best” at 5,000" in found.says
    (found,) = highlights(LoadedRuns(probes=(best, poor)), (), {}, {})
    assert "“best”, at 5,000 tokens per question." in found.says


def test_an_oracle_is_no_memory_and_other_golds_are_named() -> None:
    poor, told = memory("poor", [1.0, 0.0] * 10, 100), memory("oracle", [1.0] * 20, 50)
    (found,) = highlights(LoadedRuns(probes=(poor, told)), (), {}, {})
    assert "“poor”" in found.says and "oracle" not in found.says
    settings = {**poor.probed.settings, "golds": "audited"}
    audited = replace(poor, probed=replace(poor.probed, settings=settings))
    assert audited.memory == "poor, audited golds"
    assert audited.probed.name.endswith(", audited golds")


def test_chats_of_people_come_before_larger_ones_of_models() -> None:
    small = memory("recent", [1.0, 0.5, 0.0], 50, corpus="family")
    large = memory("recent", [1.0, 0.5, 0.0] * 4, 50, corpus="bench", written=MODELS)
    middle = memory("recent", [1.0, 0.5, 0.0, 0.5], 50, corpus="friends")

    def about(*probes: ProbeRun) -> str:
        return highlights(LoadedRuns(probes=probes), (), {}, {})[0].says

    assert "about family" in about(large, small)
    assert "about friends" in about(small, middle, large)
    assert "about bench" in about(large)


def test_the_facet_that_differs_most_beyond_chance_comes_first() -> None:
    (pair,) = compared(load([report_runs.runs() / "labels"]).labels)
    told = {
        "emotion_diversity": (Estimate(0.95, 0.1, 1.0), 0.2),
        "empathy": (Estimate(-0.7, -0.9, -0.4), 0.01),
        "sentiment_diversity": (Estimate(0.6, 0.3, 0.8), 0.02),
    }
    nothing = (Estimate(0.0, -0.2, 0.2), 1.0)
    facets = tuple(
        replace(
            each,
            delta=told.get(each.facet, nothing)[0],
            p_shift_holm=told.get(each.facet, nothing)[1],
        )
        for each in pair.comparison.facets
    )
    pair = replace(pair, comparison=replace(pair.comparison, facets=facets))
    (found,) = highlights(LoadedRuns(), [pair], {}, {})
    assert "mean empathy in" in found.says and f"2 of {len(FACETS)} facets" in found.says
    unclear = tuple(replace(each, p_shift_holm=0.3) for each in facets)
    pair = replace(pair, comparison=replace(pair.comparison, facets=unclear))
    (found,) = highlights(LoadedRuns(), [pair], {}, {})
    assert "mean emotion diversity in" in found.says and "no facet differs" in found.says


@pytest.mark.parametrize("turned", [False, True])
def test_who_differs_most_from_themselves_is_named(tmp_path: Path, turned: bool) -> None:
    write_labels(tmp_path / "two", {"a": ("Ana", "Bo"), "b": ("Ana", "Bo")}, wide=True)
    (labels,) = load([tmp_path]).labels
    apart = {"Ana": 0.4, "Bo": 0.7}
    known = tuple(
        replace(each, overall=Estimate(apart[each.speaker], 0.1, 0.9))
        for each in labels.consistency[:: -1 if turned else 1]
    )
    (found,) = highlights(LoadedRuns(labels=(replace(labels, consistency=known),)), (), {}, {})
    assert found.figure == "0.70" and "Bo's two chats" in found.says and "2 speakers" in found.says


def directions(chart: ChartView) -> Mapping[str, str]:
    """What each panel of a chart says of which way is better."""
    return {
        panel["title"]["text"]: panel["layer"][0]["encoding"]["x"]["title"]
        for panel in chart.spec["concat"]
    }


def test_every_panel_says_which_way_is_better() -> None:
    _, section = thread_sections({("impact", "cats", "0a"): votes()})
    told = dict(directions(section.charts[0]))
    assert len(told) == 5 and told.pop("Spearman") == "more is better"
    assert set(told.values()) == {"less is better"}
    run = load([report_runs.runs() / "persona"]).personas[0].simulation
    both = {name: replace(run, name=name) for name in ("one", "two")}
    _, section = persona_sections({("bakery", "0a"): both})
    less = {name for name, said in directions(section.charts[0]).items() if said.startswith("less")}
    assert less == {"Intimacy difference", "Empathy difference"}


def test_a_turn_without_any_score_is_not_counted_again_for_each_score() -> None:
    run = load([report_runs.runs() / "persona"]).personas[0].simulation
    (who,) = run.speakers.values()
    whole = replace(who, unscored={"timeout": 3})
    lacking = {"emotion": 5, "rouge_1": 3}
    scores = {
        name: replace(found, left_out=lacking.get(name, 3)) for name, found in who.scores.items()
    }
    run = replace(run, speakers={who.speaker: replace(whole, scores=scores)})
    section = unscored_section(LoadedRuns(), {("bakery", "0a"): {"x": run}}, {})
    assert section is not None
    assert [row[1:3] for row in section.tables[0].rows] == [("turns", 3), ("emotion", 2)]


def test_a_tie_has_no_winner_and_chance_is_not_proved() -> None:
    same = {
        name: replace(each, name=name)
        for name, each in zip("ab", [votes()["near"]] * 2, strict=True)
    }
    (found,) = highlights(LoadedRuns(), (), {}, {("impact", "cats", "0a"): same})
    assert "best" not in found.says
    run = load([report_runs.runs() / "persona"]).personas[0].simulation
    (found,) = highlights(LoadedRuns(), (), {("bakery", "0a"): {"one": run, "two": run}}, {})
    assert "best" not in found.says and "nobody" not in found.says
    assert found.says.endswith("; the interval holds chance.")  # "constant": 0.00 … 0.00
