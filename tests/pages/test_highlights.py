"""What is said first: the best by the right direction, the cheapest that is nearly as good."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import report_runs
from realtalk.ei.values import FACETS
from realtalk.evals.run import Run
from realtalk.evals.values import Answer
from realtalk.metrics.statistics import Estimate
from realtalk.pages.loading import LoadedRuns, RunPlace, StoredRun, WriterKind, load
from realtalk.pages.report import highlights
from realtalk.pages.runs import groups_of
from realtalk.pages.speakers import compare_labels
from realtalk.pages.values import KeyFigure
from realtalk.threads.benchmark import predictions
from realtalk.threads.predictors import Value
from realtalk.threads.values import Task
from report_runs import write_labels
from thread_items import item, scored

PEOPLE, MODELS = WriterKind(False, "as you said"), WriterKind(True, "as you said")


def stored(run: Run, corpus: str = "cats", written: WriterKind = PEOPLE) -> StoredRun:
    settings = {**run.settings, "corpus": {"name": corpus, "sha256": "0a"}}
    place = RunPlace(run.kind, Path(run.name), run.name)
    return StoredRun(place, replace(run, settings=settings), written)


def first(*runs: StoredRun) -> KeyFigure:
    return highlights(LoadedRuns(runs=runs), (), groups_of(runs))[0]


def predicted(name: str, task: Task, pairs: Sequence[tuple[float, Value]]) -> StoredRun:
    samples = [item(at, truth, task=task, user=f"u{at}") for at, (truth, _) in enumerate(pairs)]
    rows = scored(task, samples, [Answer(value) for _, value in pairs])
    return stored(predictions(name, task, rows))


def votes() -> dict[str, StoredRun]:
    """Three predictors of votes, of which `near` is off by least."""
    truths = [float(3 * at - 9) for at in range(10)]
    return {
        name: predicted(name, "impact", [(truth, truth + off) for truth in truths])
        for name, off in (("far", 60.0), ("near", 1.0), ("farther", 400.0))
    }


def test_the_best_of_errors_is_the_smallest_and_of_scores_the_largest() -> None:
    found = first(*votes().values())
    assert "“near”" in found.says and "best of 3" in found.says
    truths = [float((-1) ** at * at) for at in range(1, 11)]
    liked = (
        predicted(
            name,
            "sentiment",
            [(truth, (truth > 0) != (at < wrong)) for at, truth in enumerate(truths)],
        )
        for name, wrong in (("half", 5), ("good", 1), ("fair", 3))
    )
    assert "“good”" in first(*liked).says


def memory(
    name: str,
    recall: Sequence[float],
    tokens: int,
    *,
    corpus: str = "ferry",
    written: WriterKind = PEOPLE,
) -> StoredRun:
    """A run that finds so much for each question, at so many tokens."""
    known = load([report_runs.runs() / "memory"]).runs[0].run
    scores = {"any@budget": 1.0, "all@budget": 1.0, "variant": "all", "tokens": tokens}
    rows = [
        known.rows[0] | scores | {"sample": f"Q{at}", "recall@budget": value}
        for at, value in enumerate(recall)
    ]
    parts = known.settings["solver"]["settings"]
    named = {**parts, "memory": {**parts["memory"], "name": name}}
    solver = {**known.settings["solver"], "settings": named}
    settings: dict[str, Any] = {**known.settings, "solver": solver}
    return stored(replace(known, rows=rows, timings=(), settings=settings), corpus, written)


def test_the_cheapest_memory_that_finds_nearly_as_much_comes_first() -> None:
    best = memory("best", [1.0] * 19 + [0.9], 5000)
    lean = memory("lean", [1.0] * 18 + [0.5] * 2, 700)
    poor = memory("poor", [1.0] * 10 + [0.0] * 10, 100)
    found = first(best, lean, poor)
    assert found.figure == "0.95" and "“lean, read by" in found.says
    assert "for 700 context tokens per question" in found.says
    assert "the most here is 0.99, by “best, read by" in found.says
    assert "“best, read by" in first(best, poor).says


def test_an_oracle_is_no_memory_and_other_golds_are_named() -> None:
    poor, told = memory("poor", [1.0, 0.0] * 10, 100), memory("oracle", [1.0] * 20, 50)
    found = first(poor, told)
    assert "“poor" in found.says and "oracle" not in found.says
    audited = replace(poor.run, settings={**poor.run.settings, "golds": "audited"})
    assert audited.name.endswith(", audited golds")


def test_chats_of_people_come_before_larger_ones_of_models() -> None:
    small = memory("recent", [1.0, 0.5, 0.0], 50, corpus="family")
    large = memory("recent", [1.0, 0.5, 0.0] * 4, 50, corpus="bench", written=MODELS)
    middle = memory("recent", [1.0, 0.5, 0.0, 0.5], 50, corpus="friends")
    assert "on family" in first(large, small).says
    assert "on friends" in first(small, middle, large).says
    assert "on bench" in first(large).says


def test_the_facet_that_differs_most_beyond_chance_comes_first() -> None:
    (pair,) = compare_labels(load([report_runs.runs() / "labels"]).labels)
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
    pair = pair._replace(comparison=replace(pair.comparison, facets=facets))
    (found,) = highlights(LoadedRuns(), [pair], ())
    assert "mean empathy in" in found.says and f"2 of {len(FACETS)} facets" in found.says
    unclear = tuple(replace(each, p_shift_holm=0.3) for each in facets)
    pair = pair._replace(comparison=replace(pair.comparison, facets=unclear))
    (found,) = highlights(LoadedRuns(), [pair], ())
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
    (found,) = highlights(LoadedRuns(labels=(labels._replace(consistency=known),)), (), ())
    assert found.figure == "0.70" and "Bo's two chats" in found.says and "2 speakers" in found.says


def test_a_tie_has_no_winner_and_chance_is_not_proved() -> None:
    near = votes()["near"].run
    assert "best" not in first(*(stored(near.with_name(name)) for name in "ab")).says
    run = load([report_runs.runs() / "persona"]).runs[0].run
    found = first(*(stored(run.with_name(name)) for name in ("one", "two")))
    assert "best" not in found.says and "nobody" not in found.says
    assert found.says.endswith("; the interval holds chance.")  # "constant": 0.00 … 0.00
