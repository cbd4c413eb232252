"""Answers are read strictly: what is not plainly an answer is none."""

from __future__ import annotations

import json
from typing import Any

from realtalk.ei.judge import Values, read_answer, unreadable
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
    reflective | ""          | null
    reflective | True or False | null
    reflective | True, because the speaker reflects | null
    grounding  | 1           | null
    sentiment  | mixed       | null
    emotion    | happiness   | null
    intimacy   | 1.5         | null
    intimacy   | -0.2        | null
    intimacy   | "5e-1"      | null
    intimacy   | about 0.5   | null
    empathy    | {"emotional_reaction": 2, "interpretation": 1, "explor | null
    empathy    | Here: {"emotional_reaction": 2, "interpretation": 1, "exploration": 0} | null
    empathy    | {"emotional_reaction": 3, "interpretation": 1, "exploration": 0} | null
    empathy    | {"emotional_reaction": true, "interpretation": 1, "exploration": 0} | null
    empathy    | {"emotional_reaction": 2.0, "interpretation": 1, "exploration": 0} | null
    empathy    | {"emotional_reaction": "2", "interpretation": 1, "exploration": 0} | null
    empathy    | {"emotional_reaction": [2], "interpretation": 1, "exploration": 0} | null
    empathy    | {"emotional_reaction": 2, "interpretation": 1, "other": 0} | null
    empathy | {"emotional_reaction": 2, "interpretation": 1, "exploration": 0, "overall": 3} | null
    empathy    | [2, 1, 0]   | null
""")
def test_answers(measure: str, text: Any, value: Values | None) -> None:
    assert read_answer(measure, written(text)) == value


def test_empathy() -> None:
    levels = {f"{name}_level": value for name, value in SCORES.items()}
    for text in (written(SCORES), f"```json\n{written(SCORES)}\n```"):
        assert read_answer("empathy", text) == SCORES | levels | {"empathy": 3.0}


def test_a_nest_without_end_is_no_answer() -> None:
    assert read_answer("empathy", "[" * 100_000) is None


@cases("""
    text                 | refused
    I'm sorry, but no.   | true
    I cannot help.       | true
    I can’t judge that   | true
    True                 | false
    The writer is sorry. | false
    I think True         | false
""")
def test_a_refusal_is_told_from_what_cannot_be_read(text: str, refused: bool) -> None:
    assert (unreadable(text) == "refused") is refused
