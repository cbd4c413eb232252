"""A classifier's own label names → the names of this package.

    outputs("sentiment", {0: "LABEL_0", 1: "LABEL_1", 2: "LABEL_2"}, "some/model")
    → ("negative", "neutral", "positive")
    outputs("sentiment", {0: "1 star", 1: "3 stars", 2: "5 stars"}, "some/model")
    → ("negative", "neutral", "positive")
    outputs("emotion", {0: "happiness", 1: "sad"}, "some/model")
    → ("joy", "sadness")

Two outputs may carry one name ("very negative" and "negative"). An output without a name
here is an error: leaving it out would hand its turns to another label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from realtalk.ei.labels import EMOTIONS, SENTIMENTS
from realtalk.errors import RealtalkError

NAMES: Mapping[str, tuple[str, ...]] = {"sentiment": SENTIMENTS, "emotion": EMOTIONS}

_SYNONYMS: Mapping[str, Mapping[str, str]] = {
    "sentiment": {
        **dict.fromkeys(("neg", "very negative", "1 star", "2 stars"), "negative"),
        **dict.fromkeys(("neu", "mixed or neutral", "3 stars"), "neutral"),
        **dict.fromkeys(("pos", "very positive", "4 stars", "5 stars"), "positive"),
    },
    "emotion": {
        **dict.fromkeys(("angry", "rage"), "anger"),
        **dict.fromkeys(("anticipating", "expectation"), "anticipation"),
        **dict.fromkeys(("disgusted",), "disgust"),
        **dict.fromkeys(("afraid", "fearful", "scared"), "fear"),
        **dict.fromkeys(("happy", "happiness", "joyful", "joyous"), "joy"),
        **dict.fromkeys(("loving",), "love"),
        **dict.fromkeys(("optimistic",), "optimism"),
        **dict.fromkeys(("pessimistic",), "pessimism"),
        **dict.fromkeys(("sad", "unhappy"), "sadness"),
        **dict.fromkeys(("surprised",), "surprise"),
        **dict.fromkeys(("trusting",), "trust"),
    },
}
_NUMBERED = re.compile(r"label (\d+)")


def outputs(measure: str, id2label: Mapping[int, str], model: str) -> tuple[str, ...]:
    """This package's name for each output of a classifier, in the order of the outputs."""
    names, synonyms = NAMES[measure], _SYNONYMS[measure]
    stated = [str(id2label[index]) for index in sorted(id2label)]
    plain = [_plain(name) for name in stated]
    if _is_numbered(plain) and len(plain) == len(names):
        # TweetEval and SemEval-2018 number their labels in the order that `names` has.
        return names
    matched = [name if name in names else synonyms.get(name) for name in plain]
    mapped = tuple(name for name in matched if name is not None)
    if len(mapped) < len(stated):
        strange = [theirs for theirs, ours in zip(stated, matched, strict=True) if ours is None]
        raise RealtalkError(
            f"the labels {', '.join(strange)} of its {len(stated)} ({', '.join(stated)}) "
            f"are not among {', '.join(names)}",
            where=f"{measure} model {model}",
            fix="give another model, or name its labels so in its config.json (id2label)",
        )
    if len(set(mapped)) < 2:
        raise RealtalkError(
            f"it can only answer {', '.join(stated)}",
            where=f"{measure} model {model}",
            fix=f"give a model with at least two of {', '.join(names)}",
        )
    return mapped


def _plain(name: str) -> str:
    """ "LABEL_0" → "label 0", "Very-Negative " → "very negative"."""
    return " ".join(re.findall(r"[^\W_]+", name.lower()))


def _is_numbered(plain: list[str]) -> bool:
    """Whether the labels are nothing but their own numbers: LABEL_0, LABEL_1, ..."""
    matches = [_NUMBERED.fullmatch(name) for name in plain]
    return [int(match[1]) if match else -1 for match in matches] == list(range(len(plain)))
