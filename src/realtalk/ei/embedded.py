"""The default way of measuring: one small encoder that ships with the package, on the CPU.

    EmbeddedLabeller().label(turn_inputs(corpus))
    → [Label(reflective=False, reflective_p=0.93, sentiment="positive", ...), ...]

One pass per turn answers all six measures. How the encoder was trained and scored, and what it
must not be used for, is in encoders/ei/card.md (`realtalk models card ei`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from realtalk.ei.labels import COMPONENTS, EMOTIONS, MEASURES, SENTIMENTS, Label, TurnInput
from realtalk.encoders.pairs import PairEncoder
from realtalk.local.progress import Progress, silent

Rows = npt.NDArray[np.float32]
_WORDLESS = "the turn has no words"
_UNREADABLE = "the encoder can read nothing of the turn"
_SEEN = re.compile(r"[!-~]")  # what can be typed on any keyboard always has a token


class EmbeddedLabeller:
    """Labels turns with the shipped encoder, or with another of the same make."""

    name = "embedded"
    at_once = 1024

    def __init__(self, folder: Path | None = None, threads: int | None = None) -> None:
        with as_file(files("realtalk.encoders") / "ei") as shipped:
            self._encoder = PairEncoder(folder or shipped, threads)
        self._settings: dict[str, Any] = self._encoder.settings["answers"]
        self.version = str(self._encoder.settings["version"])

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
        """One label per input; a turn without words, or with none that can be read, is unscored."""
        strange = self._strange(inputs)
        spoken = [at for at, given in enumerate(inputs) if given.text.strip() and at not in strange]
        pairs = [(inputs[at].previous, inputs[at].text) for at in spoken]
        answers = self._answers(self._encoder.outputs(pairs, progress))
        labels = [Label(unscored=dict.fromkeys(MEASURES, _WORDLESS))] * len(inputs)
        for at, label in zip(spoken, answers, strict=True):
            labels[at] = label
        for at in strange:
            labels[at] = Label(unscored=dict.fromkeys(MEASURES, _UNREADABLE))
        return labels

    def _strange(self, inputs: Sequence[TurnInput]) -> set[int]:
        """Turns of which the encoder sees nothing: a flag alone, a script it lacks.

        It would answer all the same, from what was said before alone.
        """
        doubted = [
            at
            for at, given in enumerate(inputs)
            if given.text.strip() and _SEEN.search(given.text) is None
        ]
        known = self._encoder.reads([inputs[at].text for at in doubted])
        return {at for at, is_known in zip(doubted, known, strict=True) if not is_known}

    def _answers(self, outputs: Rows) -> list[Label]:
        def head(name: str) -> Rows:
            start, stop = self._encoder.settings["places"][name]
            return outputs[:, start:stop]

        def mixed(name: str) -> Rows:
            """The rubric's head and the tweets' head, each with its share."""
            own, tweets = (np.float32(share) for share in self._settings[name])
            return np.asarray(own * head(name) + tweets * head(f"tweet_{name}"), np.float32)

        # Divided so that a probability is how often such an answer is right; no answer changes.
        heat = {name: np.float32(by) for name, by in self._settings["temperature"].items()}
        sentiment, emotion = (_softmax(mixed(n) / heat[n]) for n in ("sentiment", "emotion"))
        shares = np.float32(sum(self._settings["intimacy"]))
        intimacy = np.clip(mixed("intimacy")[:, 0] / shares, 0, 1)
        levels = {name: _softmax(head(name)) for name in COMPONENTS}
        steps = np.arange(3, dtype=np.float32)
        # In float32, as they are stored: the components add up to empathy to the last bit.
        expected = {name: p @ steps for name, p in levels.items()}
        empathy = np.sum(list(expected.values()), axis=0)
        yes = {
            name: head(name)[:, 0] - self._settings[f"{name}_cut"]
            for name in ("reflective", "grounding")
        }
        columns = {
            **{name: margin > 0 for name, margin in yes.items()},
            **{f"{name}_p": _sigmoid(np.abs(yes[name]) / heat[name]) for name in yes},
            "sentiment": np.array(SENTIMENTS)[sentiment.argmax(-1)],
            "sentiment_p": sentiment.max(-1),
            "emotion": np.array(EMOTIONS)[emotion.argmax(-1)],
            "emotion_p": emotion.max(-1),
            "intimacy": intimacy,
            **expected,
            "empathy": empathy,
            **{f"{name}_level": p.argmax(-1) for name, p in levels.items()},
        }
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [Label(**dict(zip(columns, row, strict=True))) for row in rows]


def _softmax(logits: Rows) -> Rows:
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True), np.float32)


def _sigmoid(margin: Rows) -> Rows:
    return np.asarray(1 / (1 + np.exp(-margin)), np.float32)
