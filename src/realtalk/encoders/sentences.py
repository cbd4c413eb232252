"""Texts → vectors, with the retrieval encoder that ships with the package.

    encoder = SentenceEncoder()
    encoder.embed(["did you sleep at all", "the radio works"])   → float32 [2, 384], length 1
    encoder.encode(texts, groups=[1, 1, 2])               → EncodedTexts: one vector per text,
                                                      seen with its neighbours of a group
    passages("A long answer. It goes on …", 20)           → ("A long answer.", "It goes on …")

Texts of one group stand side by side in a row, `[CLS] first [SEP] second [SEP]`, and a text's
vector is the mean over its own tokens, which have seen the others: an answer knows its question,
at no cost. Every row is run alone on one thread, so that its result cannot depend on what else is
asked (see `encoders.pairs`). The encoder in `OTHER_LANGUAGES` gives a text of any language the
vector that its English twin has; rows of its table are looked up here, in a file that others share.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

import realtalk_models
from realtalk.encoders.model import LoadedModel, shorten
from realtalk.encoders.weights import read_rows
from realtalk.files.progress import Progress, silent

Rows: TypeAlias = npt.NDArray[np.float32]
Bytes: TypeAlias = npt.NDArray[np.int8]
Keep: TypeAlias = Callable[[int, Rows, Rows, Rows], None]
Places: TypeAlias = npt.NDArray[np.int64]

OTHER_LANGUAGES = "memory_multilingual"
STEPS = 127  # a small token vector is stored in whole numbers
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+|\n+")


class PackedTexts(NamedTuple):
    """Rows of token ids, and for each text its row, first token and length there."""

    rows: list[list[int]]
    spans: list[tuple[int, int, int]]


@dataclass(frozen=True, slots=True)
class EncodedTexts:
    """One vector per text, and small vectors of its tokens.

    The tokens of text i are `tokens[offsets[i]:offsets[i + 1]]`, in whole numbers of 1/127;
    `weights` say how much each of them counts where the text is a question.
    """

    vectors: Rows
    tokens: Bytes
    offsets: Places
    weights: Rows

    @classmethod
    def empty(cls, packed: PackedTexts, width: int, small: int) -> EncodedTexts:
        """Zeros for the texts of these rows, to be filled in."""
        lengths = np.array([length for _, _, length in packed.spans], np.int64)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        total = int(offsets[-1])
        return cls(
            np.zeros((len(packed.spans), width), np.float32),
            np.zeros((total, small), np.int8),
            offsets,
            np.zeros(total, np.float32),
        )

    def part(self, first: int, end: int) -> EncodedTexts:
        """The texts from `first` up to `end`."""
        offsets = self.offsets[first : end + 1]
        tokens = slice(offsets[0], offsets[-1])
        vectors = self.vectors[first:end]
        return EncodedTexts(
            vectors, self.tokens[tokens], offsets - offsets[0], self.weights[tokens]
        )

    @classmethod
    def joined(cls, parts: Sequence[EncodedTexts]) -> EncodedTexts:
        """The texts of all parts, one after the other."""
        ends = np.cumsum([0, *(len(part.tokens) for part in parts)])
        offsets = [part.offsets[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
        return cls(
            np.concatenate([part.vectors for part in parts]),
            np.concatenate([part.tokens for part in parts]),
            np.concatenate([*offsets, ends[-1:]]),
            np.concatenate([part.weights for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.vectors)


class TextEncoder(Protocol):
    """Whatever turns texts into vectors, on any device; vectors of one version are alike."""

    version: str
    passage: int  # letters of a long text that it reads at once; 0: all

    def encode(
        self,
        texts: Sequence[str],
        groups: Sequence[int] | None = None,
        progress: Progress = silent,
    ) -> EncodedTexts: ...


def pack(
    texts: Sequence[list[int]], groups: Sequence[int] | None, most: int, first: int, last: int
) -> PackedTexts:
    """Neighbours of one group side by side, up to `most` tokens per row; without groups, alone."""
    rows: list[list[int]] = []
    spans = []
    for at, ids in enumerate(texts):
        alone = groups is None or not at or groups[at] != groups[at - 1]
        if alone or len(rows[-1]) + len(ids) + 1 > most:
            rows.append([first])
        spans.append((len(rows) - 1, len(rows[-1]), len(ids) + 1))
        rows[-1] += [*ids, last]
    return PackedTexts(rows, spans)


@lru_cache(1 << 12)  # a chat that grows from question to question is cut once
def passages(text: str, most: int) -> tuple[str, ...]:
    """A text cut where sentences end, so that one vector need not stand for a whole page.

    A passage has at most so many letters; 0 cuts nothing.
    """
    if not most or len(text) <= most:
        return (text,)
    found = [""]
    for sentence in _SENTENCE_END.split(text):
        for piece in textwrap.wrap(sentence, most):
            joined = f"{found[-1]} {piece}".strip()
            if len(joined) <= most:
                found[-1] = joined
            else:
                found.append(piece)
    return tuple(found)


class SentenceEncoder(LoadedModel):
    """A model of texts; the shipped one unless a folder is given."""

    def __init__(
        self,
        folder: Path | None = None,
        threads: int | None = None,
        device: str = "cpu",
    ) -> None:
        place = folder or realtalk_models.path("memory")
        super().__init__(place, threads, device)
        table = self.settings.get("table")
        self._table = read_rows(place / table) if table else None
        # Vectors are kept under the version: those of another device are others.
        own = str(self.settings["version"])
        self.version = own if device == "cpu" else f"{own} ({device}, {self.numbers})"
        self.passage = int(self.settings.get("passage", 0))

    def embed(self, texts: Sequence[str], progress: Progress = silent) -> Rows:
        """One vector of length 1 per text, each encoded alone."""
        return self.encode(texts, progress=progress).vectors

    def encode(
        self,
        texts: Sequence[str],
        groups: Sequence[int] | None = None,
        progress: Progress = silent,
    ) -> EncodedTexts:
        """Vectors and small token vectors; texts of one group are seen with their neighbours."""
        packed = self._pack(texts, groups)
        vectors = EncodedTexts.empty(
            packed, int(self.settings["width"]), int(self.settings["late"])
        )
        of_row: list[list[int]] = [[] for _ in packed.rows]
        for at, (row, _, _) in enumerate(packed.spans):
            of_row[row].append(at)

        def keep(row: int, states: Rows, late: Rows, weight: Rows) -> None:
            for at in of_row[row]:
                _, start, length = packed.spans[at]
                own = slice(start, start + length)
                mean = states[own].mean(axis=0)
                vectors.vectors[at] = mean / max(float(np.linalg.norm(mean)), 1e-12)
                place = slice(vectors.offsets[at], vectors.offsets[at + 1])
                vectors.tokens[place] = np.rint(late[own] * STEPS).astype(np.int8)
                vectors.weights[place] = weight[own]

        self._run(packed.rows, keep, len(texts), progress)
        return vectors

    def token_vectors(self, texts: Sequence[str]) -> list[Rows]:
        """The full states of each text's own tokens, length 1 each: [tokens, 384] per text."""
        packed = self._pack(texts, None)
        rows: list[Rows] = [np.empty((0, 0), np.float32)] * len(texts)

        def keep(row: int, states: Rows, _late: Rows, _weight: Rows) -> None:
            own = states[1:-1]  # without the marks around a text
            rows[row] = own / np.maximum(np.linalg.norm(own, axis=1, keepdims=True), 1e-12)

        self._run(packed.rows, keep, len(texts), silent)
        return rows

    def _pack(self, texts: Sequence[str], groups: Sequence[int] | None) -> PackedTexts:
        longest = int(self.settings["longest"])
        ids = [shorten(encoding.ids, longest) for encoding in self._encode(texts)]
        row = int(self.settings["row"])
        return pack(ids, groups, row, int(self.settings["cls"]), int(self.settings["sep"]))

    def _run(self, rows: list[list[int]], keep: Keep, total: int, progress: Progress) -> None:
        """Runs each row and hands its outputs to `keep`."""

        def run(some: list[int]) -> None:
            inputs: dict[str, npt.NDArray[Any]] = {
                "tokens": np.array([rows[at] for at in some], np.int64)
            }
            if self._table is not None:  # its rows, where they are not in the model's file
                (whole, scales), tokens = self._table, inputs.pop("tokens")
                inputs["words"] = whole[tokens] * scales[tokens][..., None]
            outputs = self._session.run(None, inputs)
            for place, at in enumerate(some):
                keep(at, *(output[place] for output in outputs))

        self._run_rows(
            [len(row) for row in rows],
            run,
            lambda done: progress(done * total // len(rows), total, ""),
        )
        progress(total, total, "")
