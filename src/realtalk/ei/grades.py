"""An encoder, a language and a measure → how far its labels can be used there.

    grade_of("multilingual", "es", "sentiment")       → "good"
    grade_of("multilingual", "es")                    → "usable": of the language as a whole
    grade_of("english", "es")                         → "none"
    worst(["good", "rough"])                          → "rough"

The grades of the multilingual encoder come from its figures on test data, by the rules of
training's languages_grades.py, and lie beside its weights. The English encoder is good in English,
where it was measured, and nowhere else. Below "usable" no sentence is made of labels.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final, Literal, TypeAlias

import realtalk_models
from realtalk.ei.encoder_choice import FOLDERS, MULTILINGUAL, EncoderName
from realtalk.text.languages import ENGLISH

Grade: TypeAlias = Literal["none", "rough", "usable", "good"]

GRADES: Final[tuple[Grade, ...]] = ("none", "rough", "usable", "good")  # the better, the later


def grade_of(encoder: EncoderName, language: str, measure: str | None = None) -> Grade:
    """The grade of one measure in a language, or of the language as a whole."""
    if encoder != MULTILINGUAL:
        return "good" if language == ENGLISH else "none"
    own = _grade_file()["languages"].get(language, {"measures": {}})
    figures = own if measure is None else own["measures"].get(measure, {})
    grade: Grade = figures.get("grade", "none")
    return grade


def worst(grades: Iterable[Grade]) -> Grade | None:
    """The lowest of several; None of none."""
    return min(grades, key=GRADES.index, default=None)


def is_usable(grade: Grade | None) -> bool:
    """Whether sentences may be made of labels; where no grade applies, they may."""
    return grade is None or GRADES.index(grade) >= GRADES.index("usable")


@cache
def _grade_file() -> Mapping[str, Any]:
    place = realtalk_models.path(FOLDERS[MULTILINGUAL]) / "grades.json"
    stored: Mapping[str, Any] = json.loads(place.read_text("utf-8"))
    return stored
