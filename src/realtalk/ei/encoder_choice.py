"""What a chat is written in → which of the two shipped encoders labels it, and how far to trust it.

    encoder_for({"en": 95, "es": 3, "und": 20})     → "english"
    encoder_for({"en": 50, "es": 50})               → "multilingual"
    encoder_by("multilingual 1")                    → "multilingual", from a label's version
    grade_of("multilingual", "es", "sentiment")     → "good"
    grade_of("multilingual", "es")                  → "usable": of the language as a whole
    grade_of("english", "es")                       → "none"
    worst(["good", "rough"])                        → "rough"

One chat has one encoder: labels of two that stand side by side could not be compared. The English
one knows only English, the multilingual one English too, so a chat in which other languages are
more than a quotation goes there, and so do Hindi or Arabic in Latin letters with English between.
A chat of which nothing can be told stays with the English one.

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
from realtalk.encoders.shipped import has_weights
from realtalk.registry import known_name
from realtalk.text.languages import ENGLISH, SOME, UNTOLD

EncoderName: TypeAlias = Literal["english", "multilingual"]
Grade: TypeAlias = Literal["none", "rough", "usable", "good"]

ENGLISH_ENCODER: Final = "english"
MULTILINGUAL: Final = "multilingual"
AUTO: Final = "auto"
CHOICES = (AUTO, ENGLISH_ENCODER, MULTILINGUAL)
FOLDERS: Mapping[EncoderName, str] = {ENGLISH_ENCODER: "ei", MULTILINGUAL: "ei_multilingual"}
GRADES: Final[tuple[Grade, ...]] = ("none", "rough", "usable", "good")  # the better, the later


def encoder_for(turns: Mapping[str, int]) -> EncoderName:
    """The encoder of a chat, by how many of its turns are in which language."""
    total = sum(turns.values()) - turns.get(UNTOLD, 0)
    is_english = not total or turns.get(ENGLISH, 0) >= (1 - SOME) * total
    return ENGLISH_ENCODER if is_english else MULTILINGUAL


def encoder_by(version: str) -> EncoderName:
    """The encoder that made a label, by the label's version."""
    return MULTILINGUAL if version.startswith(MULTILINGUAL) else ENGLISH_ENCODER


def check_choice(name: str) -> str:
    """The name of a choice; anything else raises with those that there are."""
    return known_name("encoder", name, CHOICES)


@cache
def is_shipped(encoder: EncoderName) -> bool:
    """Whether the encoder's weights are in this package."""
    return has_weights(FOLDERS[encoder])


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
