"""The built examples as tensors on one device, and which of them an epoch takes, in which order.

    data = Data(Path("build/ei.npz"), device)
    for part in batches(chosen(data, options), data.lengths, 128, rng): data.batch(index, width)

Everything sits on the device once. A fold holds whole REALTALK conversations of the silver labels
out (A: chat 6, B: chat 2); a part is a quarter of all silver conversations.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from research.training.ei_heads import HEADS, Head
from research.training.ei_model import CLS, SEP

HELD_OUT = {"A": "realtalk/Chat_6_Vanessa_Nicolas", "B": "realtalk/Chat_2_Kevin_Elise"}
PARTS = 4  # a teacher that is one of these has not seen its part of the silver labels
SILVER_MORE = ("silver_more", "silver_open", "silver_chats", "silver_twins")
REPEAT = {"epitome": 3, "mint": 3, "semeval2018_ec": 2, "question_intimacy": 1}


class Rows:
    """Rows `[CLS] previous [SEP] turn [SEP]` as tensors on one device, padded to the longest."""

    def __init__(
        self,
        flat: np.ndarray[Any, Any],
        sizes: np.ndarray[Any, Any],
        device: torch.device,
        first: int = CLS,
        last: int = SEP,
    ) -> None:
        """`flat` holds all tokens behind one another, `sizes` of both parts of every row."""
        sizes = sizes.astype(np.int64)
        self.lengths = sizes.sum(1) + 3
        tokens = np.zeros((len(sizes), int(self.lengths.max(initial=3))), np.int16)
        borders = sizes[:, 0] + 2
        row = np.repeat(np.arange(len(sizes)), sizes.sum(1))
        column = np.arange(len(flat)) - (np.cumsum(sizes.sum(1)) - sizes.sum(1))[row] + 1
        column += column >= borders[row] - 1
        tokens[row, column] = flat.astype(np.int16)
        every = np.arange(len(sizes))
        tokens[:, 0] = np.int64(first).astype(np.int16)
        for place in (borders - 1, self.lengths - 1):
            tokens[every, place] = np.int64(last).astype(np.int16)
        self.tokens = torch.from_numpy(tokens).to(device)
        self.borders = torch.from_numpy(borders.astype(np.int32)).to(device)
        self.ends = torch.from_numpy(self.lengths.astype(np.int32)).to(device)

    def batch(self, index: Tensor, width: int) -> tuple[Tensor, Tensor, Tensor]:
        """Tokens, types and mask of these rows. No value is looked at: a GPU need not wait."""
        tokens = self.tokens[index, :width].int() & 0xFFFF
        place = torch.arange(width, device=tokens.device)
        mask = (place < self.ends[index, None]).int()
        types = (place >= self.borders[index, None]).int() * mask
        return tokens, types, mask

    def width(self, rows: np.ndarray[Any, Any]) -> int:
        """Of the longest row, rounded up: few widths, so that a step of each is recorded once."""
        longest = int(self.lengths[rows].max())
        return min(-(-longest // 8) * 8, self.tokens.shape[1])


class Data(Rows):
    """The built file: rows, where they are from, and what is known of them."""

    def __init__(self, path: Path, device: torch.device) -> None:
        file = np.load(path)
        super().__init__(file["tokens"], file["sizes"], device)
        self.set, self.split, self.group = file["set"], file["split"], file["group"]
        self.labels = dense_labels(file, HEADS, len(self.lengths))


def dense_labels(
    file: Mapping[str, np.ndarray[Any, Any]], heads: Mapping[str, Head], count: int
) -> dict[str, np.ndarray[Any, Any]]:
    """Per head a label of every row: -1 or not a number where there is none."""
    labels: dict[str, np.ndarray[Any, Any]] = {}
    for name, head in heads.items():
        where, values = file[f"at_{name}"], file[f"is_{name}"]
        if head.kind == "softmax":
            dense = np.full(count, -1, np.int64)
        else:
            dense = np.full((count, head.size), np.nan, np.float32)
            values = values.reshape(-1, head.size)
        dense[where] = values
        labels[name] = dense
    return labels


def batches(
    rows: np.ndarray[Any, Any], lengths: np.ndarray[Any, Any], size: int, rng: np.random.Generator
) -> Iterator[np.ndarray[Any, Any]]:
    """Shuffled batches of like length: shuffle, sort within pools, shuffle the batches."""
    rows = rng.permutation(rows)
    found = []
    for start in range(0, len(rows), size * 64):
        pool = rows[start : start + size * 64]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        found += [pool[i : i + size] for i in range(0, len(pool), size)]
    for at in rng.permutation(len(found)):
        yield found[at]


def is_silver(data: Data) -> np.ndarray[Any, Any]:
    return np.char.startswith(data.set, "silver")


def parts(groups: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Which part a conversation belongs to: stable, and whole conversations together."""
    names, place = np.unique(groups, return_inverse=True)
    return np.array([zlib.crc32(name.encode()) % PARTS for name in names])[place]


def chosen(data: Data, options: argparse.Namespace) -> np.ndarray[Any, Any]:
    """The rows of one epoch, repeats included."""
    use = data.split == "train"
    if options.teachers:
        use |= data.split == "unlabelled"
    if options.fold:
        use &= ~np.char.startswith(data.group, HELD_OUT[options.fold])
    if options.part is not None:
        use &= ~(is_silver(data) & (parts(data.group) == options.part))
    if options.no_more:
        use &= data.set != "silver_more"
    if options.no_joined:
        use &= ~np.isin(data.set, ["silver_joined", "semeval2017_joined"])
    if options.rest < 1:
        rest = ~(is_silver(data) | np.isin(data.set, ["epitome", "mint", "semeval2018_ec"]))
        rng = np.random.default_rng(options.seed)
        use &= ~rest | (rng.random(len(use)) < options.rest)
    rows = [np.flatnonzero(use)]
    repeat = REPEAT | ({"epitome": options.epitome} if options.epitome else {})
    for name, times in repeat.items():
        rows += [np.flatnonzero(use & (data.set == name))] * (times - 1)
    silver = {
        "silver": options.silver,
        **dict.fromkeys(SILVER_MORE, options.silver_more),
        "silver_joined": options.silver_joined,
    }
    for name, times in silver.items():
        rows += [np.flatnonzero(use & (data.set == name))] * (times - 1)
    return np.concatenate(rows)
