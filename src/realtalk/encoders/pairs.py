"""Pairs of texts → rows of outputs → columns of answers, as the EI encoder's settings say.

    encoder = PairEncoder(folder)                  # model.onnx, tokenizer.json, settings.json
    outputs = encoder.outputs([("how was it?", "awful lol")])       → float32 [1, 50]
    columns = answer_columns(outputs, encoder.settings)
    columns["reflective"], columns["sentiment"]      → [False, …], [2, …]: the third of its classes

A pair is what was said before and what is said now. Every row is run alone, so its result cannot
depend on what else is asked, on any processor: kernels that take rows of a product two at a time
add up in another order where a row has an odd length and a neighbour. Two threads share one
session, one core each. Classes and levels are numbers here; `ei.embedded` gives them their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from realtalk.encoders.model import LoadedModel, shorten
from realtalk.files.progress import Progress, silent

Rows: TypeAlias = npt.NDArray[np.float32]
Column: TypeAlias = npt.NDArray[Any]

_CHUNK, _GPU_CHUNK = 4096, 65_536  # pairs tokenised at once: bounds memory on long chats
_COMPONENTS = ("emotional_reaction", "interpretation", "exploration")  # of empathy


class PairEncoder(LoadedModel):
    """A model of pairs, loaded from its folder."""

    def outputs(self, pairs: Sequence[tuple[str, str]], progress: Progress = silent) -> Rows:
        """One row per pair, in order."""
        size = _GPU_CHUNK if self._runs_together else _CHUNK  # more rows of each length there
        parts = [
            self._chunk(pairs[start : start + size], start, len(pairs), progress)
            for start in range(0, len(pairs), size)
        ]
        progress(len(pairs), len(pairs), "")
        if not parts:
            return np.empty((0, int(self.settings["width"])), np.float32)
        return np.concatenate(parts)

    def _chunk(
        self, pairs: Sequence[tuple[str, str]], before: int, total: int, progress: Progress
    ) -> Rows:
        rows = self._rows(pairs)
        vectors = np.empty((len(pairs), int(self.settings["width"])), np.float32)

        def run(some: list[int]) -> None:
            tokens = np.array([rows[at][0] for at in some], np.int64)
            borders = np.array([rows[at][1] for at in some], np.int64)
            types = (np.arange(tokens.shape[1]) >= borders[:, None]).astype(np.int64)
            vectors[some] = self._session.run(None, {"tokens": tokens, "types": types})[0]

        lengths = [len(ids) for ids, _ in rows]
        self._run_rows(lengths, run, lambda done: progress(before + done, total, ""))
        return vectors

    def _rows(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[list[int], int]]:
        """Token ids of `[CLS] before [SEP] now [SEP]`, and where the second part begins."""
        encoded = self._encode([text for pair in pairs for text in pair])
        first, last = int(self.settings["cls"]), int(self.settings["sep"])
        rows = []
        for one, other in zip(encoded[::2], encoded[1::2], strict=True):
            before = one.ids[-int(self.settings["previous"]) :]
            now = shorten(other.ids, int(self.settings["turn"]))
            rows.append(([first, *before, last, *now, last], len(before) + 2))
        return rows


def answer_columns(outputs: Rows, settings: Mapping[str, Any]) -> dict[str, Column]:
    """One entry per row and column, in the order of `ei.labels.Label`."""
    answers = settings["answers"]

    def head(name: str) -> Rows:
        start, stop = settings["places"][name]
        return outputs[:, start:stop]

    def mix(name: str) -> Rows:
        """The rubric's head and the tweets' head, each with its share."""
        own, tweets = (np.float32(share) for share in answers[name])
        return np.asarray(own * head(name) + tweets * head(f"tweet_{name}"), np.float32)

    # Divided so that a probability is how often such an answer is right; no answer changes.
    heat = {name: np.float32(by) for name, by in answers["temperature"].items()}
    sentiment, emotion = (softmax(mix(n) / heat[n]) for n in ("sentiment", "emotion"))
    shares = np.float32(sum(answers["intimacy"]))
    intimacy = np.clip(mix("intimacy")[:, 0] / shares, 0, 1)
    levels = {name: softmax(head(name)) for name in _COMPONENTS}
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


def softmax(logits: Rows) -> Rows:
    """Chances of the last axis."""
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(raised / raised.sum(-1, keepdims=True), np.float32)


def _sigmoid(margin: Rows) -> Rows:
    return np.asarray(1 / (1 + np.exp(-margin)), np.float32)
