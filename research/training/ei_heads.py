"""What the EI encoder is asked, head by head: one table that data, training and export share.

    HEADS["sentiment"] → Head("softmax", 3, ...): three classes, one is right

`shipped` heads are in the package's model; the others only teach the encoder, or let it be
scored on a public test set. Sets with different conventions get heads of their own: a Reddit
post's "interpretation 2" (EPITOME) is not a chat turn's (the rubric).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

EMOTIONS = (
    *("anger", "anticipation", "disgust", "fear", "joy", "love"),
    *("optimism", "pessimism", "sadness", "surprise", "trust"),
)
SENTIMENTS = ("negative", "neutral", "positive")
GOEMOTIONS = (
    *("admiration", "amusement", "anger", "annoyance", "approval", "caring", "confusion"),
    *("curiosity", "desire", "disappointment", "disapproval", "disgust", "embarrassment"),
    *("excitement", "fear", "gratitude", "grief", "joy", "love", "nervousness", "optimism"),
    *("pride", "realization", "relief", "remorse", "sadness", "surprise", "neutral"),
)
ACTS = ("inform", "question", "directive", "commissive")
FEELINGS = ("no emotion", "happiness", "surprise", "fear", "disgust", "sadness", "anger")
STRATEGIES = (
    *("Other", "Questions", "Self-disclosure", "Affirmation and Reassurance"),
    *("Providing Suggestions", "Information", "Reflection of feelings"),
    "Restatement or Paraphrasing",
)
BEHAVIOURS = ("question", "reflection", "therapist_input", "other")
DISCLOSURES = ("emotional_disclosure", "information_disclosure", "info_support", "emo_support")


@dataclass(frozen=True)
class Head:
    """softmax: one class is right; sigmoid: any number are; value: a number."""

    kind: str
    size: int
    weight: float = 1.0  # of its loss
    shipped: bool = False


HEADS: dict[str, Head] = {
    # The rubric's six measures, learned from the silver labels.
    "reflective": Head("sigmoid", 1, 1.0, True),
    "grounding": Head("sigmoid", 1, 1.0, True),
    "sentiment": Head("softmax", 3, 1.0, True),
    "emotion": Head("softmax", 11, 1.0, True),
    "intimacy": Head("value", 1, 2.0, True),
    "emotional_reaction": Head("softmax", 3, 0.7, True),
    "interpretation": Head("softmax", 3, 0.7, True),
    "exploration": Head("softmax", 3, 0.7, True),
    # Public sets with a test part, scored with heads of their own.
    "tweet_sentiment": Head("softmax", 3, 1.0, True),
    "tweet_emotion": Head("sigmoid", 11, 2.0, True),
    "tweet_intimacy": Head("value", 1, 2.0, True),
    "epitome_reaction": Head("softmax", 3, 0.7, True),
    "epitome_interpretation": Head("softmax", 3, 0.7, True),
    "epitome_exploration": Head("softmax", 3, 0.7, True),
    # Only teachers.
    "goemotions": Head("sigmoid", 28, 1.0),
    "act": Head("softmax", 4, 0.4),
    "feeling": Head("softmax", 7, 0.4),
    "emocontext": Head("softmax", 4, 0.5),
    "disclosure": Head("sigmoid", 4, 0.5),
    "wassa": Head("value", 4, 0.7),  # empathy, intensity, polarity, self-disclosure
    "strategy": Head("softmax", 8, 0.4),
    "behaviour": Head("softmax", 4, 0.4),
    "four_emotions": Head("softmax", 4, 0.4),
    "question_intimacy": Head("value", 1, 1.0),
}


def places(heads: Mapping[str, Head]) -> dict[str, slice]:
    """Where each head's outputs stand in the model's one row of outputs."""
    found, start = {}, 0
    for name, head in heads.items():
        found[name] = slice(start, start + head.size)
        start += head.size
    return found


PLACES = places(HEADS)
WIDTH = sum(head.size for head in HEADS.values())

# How heads become answers: (share of the rubric's head, share of the tweets' head). The paper's
# sentiment, emotion and intimacy come from classifiers of tweets: of those heads is added what
# costs nothing against the rubric on both folds, of intimacy what costs little. The cuts are where
# a yes is said as often as by the rubric (ei_mix.py). Temperatures make probabilities true: a
# student of confident teachers is surer than it is right.
ANSWERS: dict[str, Any] = {
    "reflective_cut": 0.5,
    "grounding_cut": 1.1,
    "sentiment": (1.0, 1.0),
    "emotion": (1.0, 0.3),
    "intimacy": (1.0, 0.2),
    "temperature": {"reflective": 1.9, "grounding": 2.1, "sentiment": 3.4, "emotion": 2.4},
}
