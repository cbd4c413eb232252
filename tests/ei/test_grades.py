"""Grades of languages: where they come from, and where nothing may be claimed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from facet_labels import lively, table
from realtalk.ei import encoder_choice as stored
from realtalk.ei.comparison import compare, comparison_rows, finding_rows
from realtalk.ei.encoder_choice import (
    GRADES,
    grade_of,
    is_usable,
    worst,
)
from realtalk.ei.labels import MEASURES
from realtalk.ei.languages import (
    Languages,
    language_name,
    other_languages,
)
from realtalk.ei.speakers import consistency, consistency_doubts, speakers
from realtalk.ei.values import from_frame, speaker_rows, speakers_frame, speakers_json
from realtalk.text.languages import LanguageIdentifier

MADE: Mapping[str, Any] = {
    "version": "1",
    "rules": {},
    "languages": {
        "es": {
            "grade": "usable",
            "measures": {
                **{"sentiment": {"grade": "good"}, "emotion": {"grade": "usable"}},
                **{"reflective": {"grade": "rough"}, "grounding": {"grade": "usable"}},
                **{"empathy": {"grade": "usable"}, "intimacy": {"grade": "usable"}},
            },
        },
        "sw": {"grade": "rough", "measures": {"sentiment": {"grade": "rough"}}},
        "en": {"grade": "usable", "measures": {"sentiment": {"grade": "usable"}}},
    },
}
VERSION = "multilingual 1"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Grades of this test's own, whatever ships."""
    monkeypatch.setattr(stored, "_grade_file", lambda: MADE)
    yield


def spoken(turns: dict[str, int], chat: str = "c", version: str = VERSION) -> Languages:
    return Languages(chat, "embedded", turns, version)


def test_the_shipped_grades_can_be_read() -> None:
    for language, figures in stored._grade_file()["languages"].items():
        assert figures["grade"] in GRADES
        assert grade_of("multilingual", language) == figures["grade"]
        for measure in MEASURES:
            own = figures["measures"].get(measure, {"grade": "none"})
            assert grade_of("multilingual", language, measure) == own["grade"]


def test_every_language_that_is_told_has_a_name() -> None:
    for language in (
        *LanguageIdentifier.load_shipped().languages,
        *stored._grade_file()["languages"],
    ):
        assert language_name(language) != language


def test_grades_by_encoder_language_and_measure(made: None) -> None:
    assert grade_of("english", "en", "emotion") == "good"
    assert grade_of("english", "es") == "none"
    assert grade_of("multilingual", "es") == "usable"
    assert grade_of("multilingual", "es", "sentiment") == "good"
    assert grade_of("multilingual", "sw", "empathy") == "none"  # nobody measured it
    assert grade_of("multilingual", "xx") == "none"
    assert worst(["good", "rough", "usable"]) == "rough" and worst([]) is None
    assert is_usable("good") and is_usable("usable") and is_usable(None)
    assert not is_usable("rough") and not is_usable("none")


def test_a_mixed_chat_has_the_worse_grade(made: None) -> None:
    assert spoken({"es": 60, "sw": 40}).grade() == "rough"
    assert spoken({"es": 90, "sw": 10}).grade() == "usable"  # a quotation
    assert spoken({"en": 60, "es": 40}).grade("sentiment") == "usable"
    assert spoken({"und": 4}).grade() is None
    assert Languages("c", "judge", {"sw": 9}).grade() is None
    assert spoken({"en": 9}, version="2").grade() == "good"


def labelled(language: str, chats: str, seed: int, version: str = VERSION) -> Any:
    rows = [
        {**row, "measure": "embedded", "version": version, "language": language}
        for at, name in enumerate(chats.split())
        for row in lively(name, ("Ana", f"Bo {name}"), seed + at, wide=seed < 9)
    ]
    return table(rows)


def test_facets_of_a_rough_language_carry_it(made: None) -> None:
    found = speakers(labelled("sw", "a", 1))
    grid = speaker_rows(found)
    assert grid.headings[-1] == "language, grade" and grid.rows[0][-1] == "Swahili: rough"
    at = grid.headings.index("sentiment diversity")
    assert str(grid.rows[0][at]).endswith("(rough)")
    assert str(grid.rows[0][grid.headings.index("empathy")]).endswith("(none)")
    told = speakers_json(found)["speakers"][0]
    assert told["grade"] == "rough" and told["facets"]["sentiment_diversity"]["grade"] == "rough"
    frame = speakers_frame(found)
    assert {"facet": "empathy", "grade": "none"} in frame["grades"][0].to_list()
    assert from_frame(frame) == found
    usable = speaker_rows(speakers(labelled("es", "a", 1)))
    assert "(rough)" in str(usable.rows[0][usable.headings.index("reflective frequency")])
    assert "(" not in str(usable.rows[0][usable.headings.index("empathy")])
    english = speaker_rows(speakers(labelled("en", "a", 1, "2")))
    assert english.headings[-1] != "language, grade"


def test_nothing_is_claimed_below_usable(made: None) -> None:
    people = speakers(labelled("en", "a b c d e", 1, "2"))
    models = speakers(labelled("sw", "f g h i j", 9))
    plain = compare(people, speakers(labelled("en", "f g h i j", 9, "2")), ("one", "two"))
    assert [each.verdict for each in plain.findings].count("cannot be told") < 3
    assert plain.unusable == frozenset() and plain.doubts == ()
    found = compare(people, models, ("one", "two"))
    assert {each.verdict for each in found.findings} == {"cannot be told"}
    assert all("labels below usable" in str(row[2]) for row in finding_rows(found).rows)
    assert all("(below usable)" in str(row[0]) for row in comparison_rows(found).rows)
    assert "empathy" in found.to_json()["below_usable"]
    # What may be the language's doing is said, beside the labellers.
    assert "what differs may be the language's doing" in found.doubts[-1]
    assert "one is in English, two in Swahili" in found.doubts[-1]
    assert found.to_json()["doubts"] == list(found.doubts)
    # Spanish is usable but for reflection: what stands on that alone is not said.
    good = compare(people, speakers(labelled("es", "f g h i j", 9)), ("one", "two"))
    assert good.unusable == {"reflective_frequency"}
    assert good.findings[1].verdict == plain.findings[1].verdict
    assert good.findings[2].verdict == "cannot be told"


def test_one_person_in_two_languages_is_said(made: None) -> None:
    import polars as pl

    both = pl.concat([labelled("es", "uno", 1), labelled("en", "two", 2, "2")])
    (line,) = consistency_doubts(consistency(both))
    assert line.startswith("Ana: uno is in Spanish, two in English: what differs may be")
    same = pl.concat([labelled("es", "uno", 1), labelled("es", "dos", 2)])
    assert consistency_doubts(consistency(same)) == ()
    assert other_languages(("a", []), ("b", [spoken({"es": 3})])) == ()
