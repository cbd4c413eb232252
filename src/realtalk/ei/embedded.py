"""The default way of measuring: one small encoder that ships with the package.

    EmbeddedLabeller().label(turn_inputs(corpus))
    → [Label(reflective=False, reflective_p=0.93, sentiment="positive", ...), ...]
    EmbeddedLabeller(device="cuda").version      → "2 (cuda, fp16)"

One pass per turn answers all six measures. How the encoder was trained and scored, and what it
must not be used for, is in encoders/ei/card.md (`realtalk models card ei`). On a GPU other numbers
are added up in another order: a few labels in a thousand differ, so the version says where it ran.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from realtalk.ei.labels import EMOTIONS, MEASURES, SENTIMENTS, Label, TurnInput
from realtalk.encoders.answers import Rows, answer_columns
from realtalk.encoders.devices import load_pairs
from realtalk.local.progress import Progress, silent

_AT_ONCE = 65_536  # on a GPU: enough to sort by length and to work ahead
_WORDLESS = "the turn has no words"
_UNREADABLE = "the encoder can read nothing of the turn"
_SEEN = re.compile(r"[!-~]")  # what can be typed on any keyboard always has a token


class EmbeddedLabeller:
    """Labels turns with the shipped encoder, or with another of the same make."""

    name = "embedded"
    at_once = 1024

    def __init__(
        self, folder: Path | None = None, threads: int | None = None, device: str = "cpu"
    ) -> None:
        with as_file(files("realtalk.encoders") / "ei") as shipped:
            self._encoder = load_pairs(folder or shipped, device, threads)
        self.version = str(self._encoder.settings["version"])
        self.settings: dict[str, str] = {}
        if device != "cpu":
            self.at_once = _AT_ONCE
            self.settings = {"device": device, "numbers": self._encoder.numbers}
            self.version += f" ({device}, {self._encoder.numbers})"

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
        columns = answer_columns(outputs, self._encoder.settings)
        columns["sentiment"] = np.array(SENTIMENTS)[columns["sentiment"]]
        columns["emotion"] = np.array(EMOTIONS)[columns["emotion"]]
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [Label(**dict(zip(columns, row, strict=True))) for row in rows]
