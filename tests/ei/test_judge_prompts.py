"""Rubrics: what they hold, how they are filled, replaced and versioned."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from realtalk.ei.judge import load_rubrics, rubric_text
from realtalk.ei.labels import MEASURES, TurnInput
from refusals import refused

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
