"""Texts → one array of all their tokens, and rows of it in batches of about one size.

    flat = FlatTexts.of(tokenizer, ["hey", "hey you"])
    flat.tokens, flat.starts, flat.lengths      → [4931, 4931, 2017], [0, 1], [1, 2]
    batches([9, 120, 30], tokens=256)           → [1, 2, 0], [Batch(0, 2, 120), Batch(2, 3, 16)]

Nothing here is done token by token in Python: that alone would take longer than a GPU does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Whole: TypeAlias = npt.NDArray[np.int64]
Small: TypeAlias = npt.NDArray[np.int32]

_MULTIPLE = 8  # lengths of rows: what kernels for 16-bit products like


@dataclass(frozen=True, slots=True)
class FlatTexts:
    """The tokens of text i are `tokens[starts[i]:starts[i] + lengths[i]]`."""

    tokens: Small
    starts: Whole
    lengths: Whole

    @classmethod
    def of(cls, tokenizer: Any, texts: Sequence[str]) -> FlatTexts:
        """Cut by the tokenizer, on its own threads."""
        encoded = tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        ids = [each.ids for each in encoded]
        lengths = np.fromiter(map(len, ids), np.int64, len(ids))
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if ids else 0
        tokens = np.fromiter(chain.from_iterable(ids), np.int32, total)
        return cls(tokens, ends - lengths, lengths)


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows `start` to `stop` of those in order, and the length that they are padded to."""

    start: int
    stop: int
    length: int


def batches(lengths: Whole, tokens: int) -> tuple[Whole, list[Batch]]:
    """The rows' order, longest first, and batches of at most `tokens` with their padding."""
    order = np.argsort(-lengths, kind="stable")
    found = []
    start = 0
    while start < len(order):
        length = -(-int(lengths[order[start]]) // _MULTIPLE) * _MULTIPLE
        stop = min(start + max(1, tokens // length), len(order))
        found.append(Batch(start, stop, length))
        start = stop
    return order, found


def spans(starts: Whole, lengths: Whole) -> Whole:
    """The numbers `start` to `start + length` of every span, behind one another."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    shifts = np.repeat(starts - (ends - lengths), lengths)
    return np.asarray(np.arange(total, dtype=np.int64) + shifts, np.int64)
