"""Answers are read strictly: what is not plainly an answer is none."""

from __future__ import annotations

import pytest

from realtalk.ei.judge import FORMS, Values, read_answer, unreadable
from realtalk.ei.labels import MEASURES

SCORES = '{"emotional_reaction": 2, "interpretation": 1, "exploration": 0}'
READ = {
    "emotional_reaction": 2.0,
    "interpretation": 1.0,
    "exploration": 0.0,
    "empathy": 3.0,
    "emotional_reaction_level": 2,
    "interpretation_level": 1,
    "exploration_level": 0,
}


@pytest.mark.parametrize(
    ("measure", "text", "value"),
    [
        ("reflective", "True", {"reflective": True}),
        ("reflective", " false.\n", {"reflective": False}),
        ("grounding", "**True**", {"grounding": True}),
        ("sentiment", "Neutral", {"sentiment": "neutral"}),
        ("emotion", '"joy"', {"emotion": "joy"}),
        ("intimacy", "0.25", {"intimacy": 0.25}),
        ("intimacy", ".5", {"intimacy": 0.5}),
        ("intimacy", "1.0", {"intimacy": 1.0}),
        ("empathy", SCORES, READ),
        ("empathy", f"```json\n{SCORES}\n```", READ),
    ],
)
def test_answers(measure: str, text: str, value: Values) -> None:
    assert read_answer(measure, text) == value


@pytest.mark.parametrize(
    ("measure", "text"),
    [
        ("reflective", ""),
        ("reflective", "True or False"),
        ("reflective", "True, because the speaker reflects"),
        ("grounding", "1"),
        ("sentiment", "mixed"),
        ("emotion", "happiness"),
        ("intimacy", "1.5"),
        ("intimacy", "-0.2"),
        ("intimacy", "5e-1"),
        ("intimacy", "about 0.5"),
        ("empathy", SCORES[:-8]),
        ("empathy", f"Here you are: {SCORES}"),
        ("empathy", SCORES.replace("2", "3")),
        ("empathy", SCORES.replace("2", "true")),
        ("empathy", SCORES.replace("2", "2.0")),
        ("empathy", SCORES.replace("2", '"2"')),
        ("empathy", SCORES.replace("2", "[2]")),
        ("empathy", SCORES.replace("exploration", "other")),
        ("empathy", SCORES.replace("}", ', "overall": 3}')),
        ("empathy", "[2, 1, 0]"),
        ("empathy", "[" * 100_000),
    ],
)
def test_no_answers(measure: str, text: str) -> None:
    assert read_answer(measure, text) is None


def test_every_measure_has_a_form() -> None:
    assert set(FORMS) == set(MEASURES)


@pytest.mark.parametrize("text", ["I'm sorry, but no.", "I cannot help.", "I can’t judge that"])
def test_refusals(text: str) -> None:
    assert unreadable(text) == "refused"


@pytest.mark.parametrize("text", ["True", "The writer is sorry.", "I think True"])
def test_no_refusals(text: str) -> None:
    assert unreadable(text) != "refused"
