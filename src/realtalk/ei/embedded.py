"""The default way of measuring: two small encoders that ship with the package.

    EmbeddedLabeller().label(turn_inputs(corpus))
    → [Label(reflective=False, reflective_p=0.93, sentiment="positive", ...), ...]
    EmbeddedLabeller(device="cuda").version                  → "2 (cuda, fp16)"
    EmbeddedLabeller().version_of("multilingual")            → "multilingual 1"
    EmbeddedLabeller(encoder="multilingual").version         → the same: all turns are its

One pass per turn answers all six measures. A turn says which encoder its chat calls for, the
English or the multilingual one (see `encoder_choice`), unless one is named for all. How they were
trained and scored, and what they must not be used for, is on their cards (`realtalk models card
ei`, `… ei_multilingual`). On a GPU other numbers are added up in another order: a few labels in a
thousand differ, so the version says where it ran.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import realtalk_models
from realtalk.ei.encoder_choice import (
    AUTO,
    ENGLISH_ENCODER,
    FOLDERS,
    MULTILINGUAL,
    EncoderName,
    check_choice,
    is_shipped,
)
from realtalk.ei.labels import EMOTIONS, MEASURES, SENTIMENTS, Label, TurnInput
from realtalk.encoders.pairs import PairEncoder, Rows, answer_columns
from realtalk.files.progress import Progress, silent, within
from realtalk.grouping import grouped

_AT_ONCE = 65_536  # on a GPU: enough to sort by length and to work ahead
_WORDLESS = "the turn has no words"
_UNREADABLE = "the encoder can read nothing of the turn"
_SEEN = re.compile(r"[!-~]")  # what can be typed on any keyboard always has a token


class EmbeddedLabeller:
    """Labels turns with the shipped encoders, or all of them with another of the same make."""

    name = "embedded"
    at_once = 1024

    def __init__(
        self,
        folder: Path | None = None,
        threads: int | None = None,
        device: str = "cpu",
        encoder: str = AUTO,
    ) -> None:
        self._choice = check_choice(encoder)
        self._folder, self._threads, self._device = folder, threads, device
        self._open_encoder = cache(self._load)
        # The one that is there in any case; the multilingual one is loaded when a chat needs it.
        first: EncoderName = MULTILINGUAL if encoder == MULTILINGUAL else ENGLISH_ENCODER
        numbers = self._open_encoder(first).numbers
        self.settings: dict[str, str] = {} if folder is None else {"folder": str(folder)}
        self._where = ""
        if device != "cpu":
            self.at_once = _AT_ONCE
            self.settings |= {"device": device, "numbers": numbers}
            self._where = f" ({device}, {numbers})"
        self.version = self.version_of(first)

    def version_of(self, encoder: EncoderName) -> str:
        """The version of whichever encoder labels turns of that one."""
        used = self._encoder_for(encoder)
        if self._folder is None:
            number = _version(used)
        else:  # which may be trained again while this runs
            number = str(self._open_encoder(used).settings["version"])
        return f"{number if used == ENGLISH_ENCODER else f'{used} {number}'}{self._where}"

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
        """One label per input; a turn without words, or with none that can be read, is unscored."""
        places = grouped((self._encoder_for(turn.encoder), at) for at, turn in enumerate(inputs))
        labels = [Label()] * len(inputs)
        before = 0
        for used, some in places.items():
            advance = progress if len(places) == 1 else within(progress, before, len(inputs))
            own = self._label(self._open_encoder(used), [inputs[at] for at in some], advance)
            for at, label in zip(some, own, strict=True):
                labels[at] = label
            before += len(some)
        return labels

    def _encoder_for(self, encoder: EncoderName) -> EncoderName:
        """The encoder that labels turns of that one: itself, or the one that is named for all."""
        if self._folder is not None or self._choice == ENGLISH_ENCODER:
            return ENGLISH_ENCODER
        if self._choice == MULTILINGUAL:
            return MULTILINGUAL
        return encoder if is_shipped(MULTILINGUAL) else ENGLISH_ENCODER

    def _place(self, encoder: EncoderName) -> Path:
        return self._folder or realtalk_models.path(FOLDERS[encoder])

    def _load(self, encoder: EncoderName) -> PairEncoder:
        return PairEncoder(self._place(encoder), self._threads, self._device)

    def _label(
        self, encoder: PairEncoder, inputs: Sequence[TurnInput], progress: Progress
    ) -> list[Label]:
        spoken = dict.fromkeys(at for at, turn in enumerate(inputs) if turn.text.strip())
        labels = [Label(unscored=dict.fromkeys(MEASURES, _WORDLESS))] * len(inputs)
        # Turns of which it sees nothing (a flag alone, a script it lacks), it would label all the
        # same, from what was said before alone.
        doubted = [at for at in spoken if _SEEN.search(inputs[at].text) is None]
        readable = encoder.reads([inputs[at].text for at in doubted])
        for at, is_known in zip(doubted, readable, strict=True):
            if not is_known:
                labels[at] = Label(unscored=dict.fromkeys(MEASURES, _UNREADABLE))
                del spoken[at]
        pairs = [(inputs[at].previous, inputs[at].text) for at in spoken]
        answers = _answers(encoder.outputs(pairs, progress), encoder.settings)
        for at, label in zip(spoken, answers, strict=True):
            labels[at] = label
        return labels


@cache
def _version(encoder: EncoderName) -> str:
    folder = realtalk_models.path(FOLDERS[encoder])
    settings = json.loads((folder / "settings.json").read_text("utf-8"))
    return str(settings["version"])


def _answers(outputs: Rows, settings: Mapping[str, Any]) -> list[Label]:
    columns = answer_columns(outputs, settings)
    columns["sentiment"] = np.array(SENTIMENTS)[columns["sentiment"]]
    columns["emotion"] = np.array(EMOTIONS)[columns["emotion"]]
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [Label(**dict(zip(columns, row, strict=True))) for row in rows]
