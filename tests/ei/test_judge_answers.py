"""Answers are read strictly: what is not plainly an answer is none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from realtalk.ei.judge import FORMS, Values, read_answer, unreadable
from realtalk.ei.labels import MEASURES
from text_tables import cases

SCORES = {"emotional_reaction": 2, "interpretation": 1, "exploration": 0}


def written(said: Any) -> str:
    """A cell of a table as the judge writes it."""
    return said if isinstance(said, str) else json.dumps(said)


@cases(r"""
    measure    | text        | value
    reflective | true        | {"reflective": true}
    reflective | " false.\n" | {"reflective": false}
    grounding  | **True**    | {"grounding": true}
    sentiment  | Neutral     | {"sentiment": "neutral"}
    emotion    | "\"joy\""   | {"emotion": "joy"}
    intimacy   | 0.25        | {"intimacy": 0.25}
    intimacy   | .5          | {"intimacy": 0.5}
    intimacy   | 1.0         | {"intimacy": 1.0}
""")
def test_answers(measure: str, text: Any, value: Values) -> None:
    assert read_answer(measure, written(text)) == value


def test_empathy() -> None:
    levels = {f"{name}_level": value for name, value in SCORES.items()}
    for text in (written(SCORES), f"```json\n{written(SCORES)}\n```"):
        assert read_answer("empathy", text) == SCORES | levels | {"empathy": 3.0}


@cases("""
    measure    | text
    reflective | ""
    reflective | True or False
    reflective | True, because the speaker reflects
    grounding  | 1
    sentiment  | mixed
    emotion    | happiness
    intimacy   | 1.5
    intimacy   | -0.2
    intimacy   | "5e-1"
    intimacy   | about 0.5
    empathy    | {"emotional_reaction": 2, "interpretation": 1, "explor
    empathy    | Here: {"emotional_reaction": 2, "interpretation": 1, "exploration": 0}
    empathy    | {"emotional_reaction": 3, "interpretation": 1, "exploration": 0}
    empathy    | {"emotional_reaction": true, "interpretation": 1, "exploration": 0}
    empathy    | {"emotional_reaction": 2.0, "interpretation": 1, "exploration": 0}
    empathy    | {"emotional_reaction": "2", "interpretation": 1, "exploration": 0}
    empathy    | {"emotional_reaction": [2], "interpretation": 1, "exploration": 0}
    empathy    | {"emotional_reaction": 2, "interpretation": 1, "other": 0}
    empathy    | {"emotional_reaction": 2, "interpretation": 1, "exploration": 0, "overall": 3}
    empathy    | [2, 1, 0]
""")
def test_no_answers(measure: str, text: Any) -> None:
    assert read_answer(measure, written(text)) is None
    assert read_answer("empathy", "[" * 100_000) is None


def test_every_measure_has_a_form() -> None:
    assert set(FORMS) == set(MEASURES)


@pytest.mark.parametrize("text", ["I'm sorry, but no.", "I cannot help.", "I can’t judge that"])
def test_refusals(text: str) -> None:
    assert unreadable(text) == "refused"


@pytest.mark.parametrize("text", ["True", "The writer is sorry.", "I think True"])
def test_no_refusals(text: str) -> None:
    assert unreadable(text) != "refused"
