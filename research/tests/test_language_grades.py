"""Scores of the multilingual encoder → the grades of its languages, by written rules."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest


def figure(task: str, lang: str, score: float, half: float = 0.05, n: int = 200) -> dict[str, Any]:
    return {
        **{"task": task, "lang": lang, "n": n, "score": score},
        **{"low": score - half, "high": score + half},
    }


@pytest.fixture
def rules() -> Any:
    pytest.importorskip("sklearn")
    return import_module("research.training.languages_grades")


def test_grades_come_from_scores_by_written_rules(rules: Any) -> None:
    assert rules.graded(figure("", "", 0.60), (0.3, 0.5, 0.53)) == "good"
    assert rules.graded(figure("", "", 0.60, half=0.15), (0.3, 0.5, 0.53)) == "usable"
    assert rules.graded(figure("", "", 0.60, half=0.35), (0.3, 0.5, 0.53)) == "rough"
    assert rules.graded(figure("", "", 0.29), (0.3, 0.5, 0.53)) == "none"
    assert rules.graded(figure("", "", 0.90, n=20), (0.3, 0.5, 0.53)) == "none"
    assert rules.graded(figure("", "", 0.90), (0.3, 0.5)) == "usable"  # no set but the rubric


def test_the_nearest_question_decides(rules: Any) -> None:
    scores = [
        figure("rubric sentiment", "fr", 0.40),
        figure("umsab", "fr", 0.80, n=900),
        figure("rubric sentiment", "es", 0.40),  # single lines
        figure("umsab", "es", 0.80, n=900),
        figure("rubric empathy", "es", 0.90),
        figure("umsab", "hi", 0.80, n=900),
        figure("twins sentiment", "hi", 0.10),
        figure("twins sentiment", "pl", 0.70),
        figure("umsab", "mean of 8", 0.90),
        figure("twins reflective", "pl", float("nan")),
        *(figure(f"twins {name}", "pl", 0.80) for name in ("emotion", "grounding", "empathy")),
        figure("xed", "sr", 0.50, n=300),
        figure("xed", "hr", 0.30, n=100),
    ]
    made = rules.grades(scores, "7")
    languages = made["languages"]
    assert made["version"] == "7" and "mean of 8" not in languages
    assert languages["fr"]["measures"]["sentiment"]["grade"] == "rough"
    assert languages["es"]["measures"]["sentiment"]["grade"] == "usable"
    assert languages["es"]["measures"]["empathy"]["grade"] == "usable"
    assert languages["hi"]["measures"]["sentiment"]["grade"] == "usable"
    assert languages["hi"]["grade"] == "none"  # one measure of six
    assert languages["pl"]["grade"] == "usable"  # four
    # Languages of one code share their figures, by n.
    assert languages["hr"]["measures"]["emotion"] == {
        **{"task": "xed", "n": 400, "score": 0.45, "low": 0.4, "high": 0.5, "grade": "usable"}
    }
    assert "| Polish (pl) | usable |" in rules.grade_table(made)
    assert "| es | .400 | .350 to .450 | 200 |" in rules.score_tables(scores)
    assert json.loads(json.dumps(made)) == json.loads(json.dumps(rules.grades(scores, "7")))


def test_a_table_takes_its_place_in_a_card(rules: Any, tmp_path: Path) -> None:
    card = tmp_path / "card.md"
    card.write_text("# Card\n<!-- grades -->\nold\n<!-- /grades -->\nby hand\n", "utf-8")
    tables = import_module("research.training.card_tables")
    tables.put_between(card, "grades", "| new |")
    assert card.read_text("utf-8") == (
        "# Card\n<!-- grades -->\n\n| new |\n\n<!-- /grades -->\nby hand\n"
    )
    with pytest.raises(ValueError, match="has no marks"):
        tables.put_between(card, "scores", "")
