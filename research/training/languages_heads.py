"""What the multilingual encoder is asked: the English encoder's heads, then those of more sets.

    HEADS["brighter"] → Head("sigmoid", 6, ...): six emotions, any number of them
    PLACES["sentiment"] == ei_heads.PLACES["sentiment"]: the English heads stand first, in order

So the English encoder's outputs can be copied column by column. The heads that ship are those
that give a chat its labels, and those that a public test set is scored with.
"""

from __future__ import annotations

from typing import Any

from research.training.ei_heads import HEADS as ENGLISH
from research.training.ei_heads import Head, places

EKMAN = ("anger", "disgust", "fear", "joy", "sadness", "surprise")
PLUTCHIK = (
    *("anger", "anticipation", "disgust", "fear"),
    *("joy", "sadness", "surprise", "trust"),
)
MOODS = ("neutral", *EKMAN)

HEADS: dict[str, Head] = {
    **ENGLISH,
    "brighter": Head("sigmoid", len(EKMAN), 2.0, True),
    "xed": Head("sigmoid", len(PLUTCHIK), 0.7, True),
    "mood": Head("softmax", len(MOODS), 0.7, True),  # tweets and comments: one of seven
    "spoken_mood": Head("softmax", len(MOODS), 0.7, True),  # the same of lines of dialogue
    "spoken_sentiment": Head("softmax", 3, 0.7, True),
    "review_sentiment": Head("softmax", 3, 0.4),
}
PLACES = places(HEADS)
WIDTH = sum(head.size for head in HEADS.values())
ENGLISH_WIDTH = sum(head.size for head in ENGLISH.values())

# How answers are read off heads that languages_mix.py mixed: nothing more to join, no cuts.
MIXED_ANSWERS: dict[str, Any] = {
    **{"reflective_cut": 0.0, "grounding_cut": 0.0},
    **{name: [1.0, 0.0] for name in ("sentiment", "emotion", "intimacy")},
    "temperature": dict.fromkeys(("reflective", "grounding", "sentiment", "emotion"), 1.0),
}
