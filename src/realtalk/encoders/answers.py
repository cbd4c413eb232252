"""Rows of the EI encoder's outputs → columns of answers, as its settings say.

    columns = answer_columns(outputs, settings)
    columns["reflective"], columns["sentiment"]      → [False, …], [2, …]: the third of its classes

Classes and levels are numbers here; `ei.embedded` gives them their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Rows: TypeAlias = npt.NDArray[np.float32]
Column: TypeAlias = npt.NDArray[Any]

_COMPONENTS = ("emotional_reaction", "interpretation", "exploration")  # of empathy


def answer_columns(outputs: Rows, settings: Mapping[str, Any]) -> dict[str, Column]:
    """One entry per row and column, in the order of `ei.labels.Label`."""
    answers = settings["answers"]

    def head(name: str) -> Rows:
        start, stop = settings["places"][name]
        return outputs[:, start:stop]

    def mixed(name: str) -> Rows:
        """The rubric's head and the tweets' head, each with its share."""
        own, tweets = (np.float32(share) for share in answers[name])
        return np.asarray(own * head(name) + tweets * head(f"tweet_{name}"), np.float32)

    # Divided so that a probability is how often such an answer is right; no answer changes.
    heat = {name: np.float32(by) for name, by in answers["temperature"].items()}
    sentiment, emotion = (_softmax(mixed(n) / heat[n]) for n in ("sentiment", "emotion"))
    shares = np.float32(sum(answers["intimacy"]))
    intimacy = np.clip(mixed("intimacy")[:, 0] / shares, 0, 1)
    levels = {name: _softmax(head(name)) for name in _COMPONENTS}
    steps = np.arange(3, dtype=np.float32)
    # In float32, as they are stored: the components add up to empathy to the last bit.
    expected = {name: p @ steps for name, p in levels.items()}
    empathy = np.sum(list(expected.values()), axis=0)
    yes = {name: head(name)[:, 0] - answers[f"{name}_cut"] for name in ("reflective", "grounding")}
    return {
        **{name: margin > 0 for name, margin in yes.items()},
        **{f"{name}_p": _sigmoid(np.abs(yes[name]) / heat[name]) for name in yes},
        "sentiment": sentiment.argmax(-1),
        "sentiment_p": sentiment.max(-1),
        "emotion": emotion.argmax(-1),
        "emotion_p": emotion.max(-1),
        "intimacy": intimacy,
        **expected,
        "empathy": empathy,
        **{f"{name}_level": p.argmax(-1) for name, p in levels.items()},
    }


def _softmax(logits: Rows) -> Rows:
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True), np.float32)


def _sigmoid(margin: Rows) -> Rows:
    return np.asarray(1 / (1 + np.exp(-margin)), np.float32)
