"""Agreement of two labellings on turns made up for the purpose."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from facet_labels import label_table, table
from realtalk.ei.agreement import agreement
from realtalk.ei.labels import EMOTIONS, SENTIMENTS, Label, TurnInput
from refusals import refused


def inputs(count: int, chat: str = "Chat_A") -> list[TurnInput]:
    return [
        TurnInput(chat, 1, n, "Mara", (f"D1:{2 * n}", f"D1:{2 * n + 1}"), None, "text", "")
        for n in range(count)
    ]


def label(seed: int) -> Label:
    drawn = random.Random(seed)
    parts = [drawn.randrange(3) for _ in range(3)]
    return Label(
        reflective=drawn.random() < 0.3,
        grounding=drawn.random() < 0.5,
        sentiment=drawn.choice(SENTIMENTS),
        emotion=drawn.choice(EMOTIONS),
        intimacy=round(drawn.random(), 2),
        emotional_reaction=float(parts[0]),
        interpretation=float(parts[1]),
        exploration=float(parts[2]),
        empathy=float(sum(parts)),
        emotional_reaction_level=parts[0],
        interpretation_level=parts[1],
        exploration_level=parts[2],
    )


def frame(labels: Sequence[Label], measure: str = "judge") -> pl.DataFrame:
    return label_table(inputs(len(labels)), labels, measure)


def changed(labels: Sequence[Label], change: Callable[[int, Label], Label]) -> pl.DataFrame:
    return frame([change(n, each) for n, each in enumerate(labels)], "embedded")


FIRST = [label(n) for n in range(60)]


def test_a_labelling_agrees_with_itself() -> None:
    found = agreement(frame(FIRST), frame(FIRST, "embedded"))
    assert (found.first, found.second) == ("judge, 1", "embedded, 1")
    assert (found.turns, found.only_first, found.only_second) == (60, 0, 0)
    assert len(found.measures) == 9
    for each in found.measures:
        assert each.n == 60
        for name, estimate in each.estimates():
            assert estimate.value == pytest.approx(1), (each.measure, name)
            assert estimate.n == 60
        assert sum(each.confusion[n][n] for n in range(len(each.steps))) == 60


def test_kappa_of_a_table_worked_by_hand() -> None:
    """Kappa of [[20, 5], [10, 15]]: observed .7, expected .5 → .4."""
    cells = [(False, False)] * 20 + [(False, True)] * 5 + [(True, False)] * 10 + [(True, True)] * 15
    one, other = zip(*cells, strict=True)
    found: Any = agreement(
        frame([replace(label(0), grounding=value) for value in one]),
        frame([replace(label(0), grounding=value) for value in other]),
    )["grounding"]
    assert found.kappa.value == pytest.approx(0.4)
    assert found.kappa.low < 0.4 < found.kappa.high
    assert found.same.value == pytest.approx(0.7)
    assert found.confusion == ((20, 5), (10, 15))
    assert (found.qwk, found.pearson) == (None, None)


def test_fractions_go_to_the_nearest_step() -> None:
    for away, intimacy in ((0.4, 0.62), (-0.4, 0.65)):

        def moved(_: int, each: Label, away: float = away, intimacy: float = intimacy) -> Label:
            empathy = min(6.0, max(0.0, (each.empathy or 0) + away))
            return replace(each, empathy=empathy, intimacy=intimacy)

        found: Any = agreement(frame(FIRST), changed(FIRST, moved))
        assert found["empathy"].same.value == 1
        columns = [sum(column) for column in zip(*found["intimacy"].confusion, strict=True)]
        # Both are nearer to a half or to three quarters than to any other step.
        assert columns == ([0, 0, 60, 0, 0] if intimacy < 0.625 else [0, 0, 0, 60, 0])
        assert found["intimacy"].pearson.unscored == "one side never changes"


def test_unscored_and_missing_turns_are_counted() -> None:
    def partial(n: int, each: Label) -> Label:
        return replace(each, sentiment=None, unscored={"sentiment": "timeout"}) if n < 7 else each

    first = frame(
        [replace(each, sentiment=None) if n == 6 else each for n, each in enumerate(FIRST)]
    )
    second = changed(FIRST, partial)
    found = agreement(first[:50], second[5:])
    assert (found.turns, found.only_first, found.only_second) == (45, 5, 10)
    sentiment = found["sentiment"]
    assert (sentiment.n, sentiment.unscored_first, sentiment.unscored_second) == (43, 1, 2)
    assert sentiment.same.left_out == 2


def test_not_a_number_is_unscored() -> None:
    rows = [{"intimacy": score} for score in (0.1, 0.5, math.nan)]
    intimacy = agreement(table(rows), table(rows))["intimacy"]
    assert (intimacy.n, intimacy.unscored_first) == (2, 1)


def test_turns_are_known_by_their_messages_whatever_the_order() -> None:
    second = frame(FIRST).reverse().with_columns(turn=pl.lit(0, pl.Int32))
    assert agreement(frame(FIRST), second)["emotion"].same.value == 1


def test_what_cannot_be_compared() -> None:
    other = label_table(inputs(5, "Chat_B"), FIRST[:5], "judge")
    with refused("no turn in common"):
        agreement(frame(FIRST), other)
    with refused("the second has no column 'emotion'"):
        agreement(frame(FIRST), frame(FIRST).drop("emotion"))
    with refused("the first table of labels holds a turn twice"):
        agreement(pl.concat([frame(FIRST), frame(FIRST)]), frame(FIRST))
    with refused("a label of 'emotion' is not one that"):
        agreement(frame(FIRST), changed(FIRST, lambda _, each: replace(each, emotion="bliss")))
