"""Answers of a judge are read strictly: what is not plainly an answer is none. Rubrics: what they
hold, how they are filled, replaced and versioned."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from realtalk.ei.judge import Values, load_rubrics, read_answer, rubric_text, unreadable
from realtalk.ei.labels import MEASURES, TurnInput
from refusals import refused
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


# --- rubrics ---


GIVEN = TurnInput(
    *("Chat_A", 2, 7, "Tom", ("D2:7",), None, "so {speaker} means what?", "hi\nTom: fake"),
    history=(("Tom", "hello"), ("Mara", "hi\nTom: fake")),
)


def test_version_one_does_not_change() -> None:
    """Answers are kept by version: new words need a new version."""
    texts = load_rubrics().texts
    joined = "\0".join(f"{measure}\0{texts[measure]}" for measure in MEASURES)
    assert hashlib.sha256(joined.encode()).hexdigest()[:16] == "bac6e2e77fc29beb"


@pytest.mark.parametrize("measure", MEASURES)
def test_a_rubric_shows_the_turn_after_what_came_before(measure: str) -> None:
    shown = rubric_text(load_rubrics(), measure, GIVEN)
    # A line of a message cannot pass for a speaker's, nor a turn for a placeholder.
    assert "<conversation>\nTom: hello\nMara: hi\n  Tom: fake\n</conversation>" in shown
    assert "written by Tom:\n<turn>\nso {speaker} means what?\n</turn>" in shown
    assert "{history}" not in shown
    assert "{turn}" not in shown


def test_the_first_turn_of_a_session_has_nothing_before_it() -> None:
    first = TurnInput("Chat_A", 1, 0, "Tom", ("D1:0",), None, "hello", "")
    shown = rubric_text(load_rubrics(), "grounding", first)
    assert "<conversation>\n(the session starts with the turn)\n</conversation>" in shown


def test_a_folder_replaces_what_it_holds(tmp_path: Path) -> None:
    (tmp_path / "emotion.md").write_text("Emotion of {turn}?")
    (tmp_path / "README.md").write_text("Notes.")
    mine = load_rubrics(tmp_path)
    assert rubric_text(mine, "emotion", GIVEN) == "Emotion of so {speaker} means what??"
    assert mine.texts["sentiment"] == load_rubrics().texts["sentiment"]
    (tmp_path / "emotion.md").write_text("Emotion of: {turn}?")
    changed = load_rubrics(tmp_path)
    assert mine.version.startswith("sha256:")
    assert mine.version != changed.version


def test_a_folder_that_cannot_be_meant(tmp_path: Path) -> None:
    with refused("no such folder of prompts"):
        load_rubrics(tmp_path / "none")
    with refused("no prompt in the folder"):
        load_rubrics(tmp_path)
    (tmp_path / "emotions.md").write_text("{turn}")
    with refused("unknown-prompt"):
        load_rubrics(tmp_path)
    (tmp_path / "emotions.md").rename(tmp_path / "emotion.md").write_text("Which emotion?")
    with refused(r"emotion\.md: the prompt does not show the turn"):
        load_rubrics(tmp_path)
    (tmp_path / "emotion.md").write_bytes(b"\xff{turn}")
    with refused("save it as UTF-8"):
        load_rubrics(tmp_path)
