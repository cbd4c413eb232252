"""What a chat is written in → which of the two shipped encoders labels it.

    encoder_for({"en": 95, "es": 3, "und": 20})     → "english"
    encoder_for({"en": 50, "es": 50})               → "multilingual"
    encoder_by("multilingual 1")                    → "multilingual", from a label's version

One chat has one encoder: labels of two that stand side by side could not be compared. The English
one knows only English, the multilingual one English too, so a chat in which other languages are
more than a quotation goes there, and so do Hindi or Arabic in Latin letters with English between.
A chat of which nothing can be told stays with the English one.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final, Literal, TypeAlias

from realtalk.encoders.shipped import has_weights
from realtalk.registry import known_name
from realtalk.text.languages import ENGLISH, SOME, UNTOLD

EncoderName: TypeAlias = Literal["english", "multilingual"]

ENGLISH_ENCODER: Final = "english"
MULTILINGUAL: Final = "multilingual"
AUTO: Final = "auto"
CHOICES = (AUTO, ENGLISH_ENCODER, MULTILINGUAL)
FOLDERS: Mapping[EncoderName, str] = {ENGLISH_ENCODER: "ei", MULTILINGUAL: "ei_multilingual"}


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
