"""The built examples as tensors on one device, and which of them an epoch takes, in which order.

    data = Data(Path("build/ei.npz"), device)
    for part in batches(chosen(data, options), data.lengths, 128, rng): data.batch(index, width)

Everything sits on the device once. A fold holds whole REALTALK conversations of the silver labels
out (A: chat 6, B: chat 2); a part is a quarter of all silver conversations.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ei_heads import HEADS
from ei_model import CLS, SEP

HELD_OUT = {"A": "realtalk/Chat_6_Vanessa_Nicolas", "B": "realtalk/Chat_2_Kevin_Elise"}
PARTS = 4  # a teacher that is one of these has not seen its part of the silver labels
REPEAT = {"epitome": 3, "mint": 3, "semeval2018_ec": 2, "question_intimacy": 1}


class Data:
    """The built file as tensors on one device, with one row per padded example."""

    def __init__(self, path: Path, device: torch.device) -> None:
        file = np.load(path)
        sizes = file["sizes"].astype(np.int64)
        self.set, self.split, self.group = file["set"], file["split"], file["group"]
        self.lengths = sizes.sum(1) + 3
        width = int(self.lengths.max())
        tokens = np.zeros((len(sizes), width), np.int16)
        borders = sizes[:, 0] + 2  # [CLS] previous [SEP] turn [SEP]
        flat = file["tokens"].astype(np.int16)
        at = np.concatenate([[0], np.cumsum(sizes.sum(1))])
        for row, (first, second) in enumerate(sizes):
            start = at[row]
            tokens[row, 0] = CLS
            tokens[row, 1 : 1 + first] = flat[start : start + first]
            tokens[row, 1 + first] = SEP
            tokens[row, 2 + first : 2 + first + second] = flat[
                start + first : start + first + second
            ]
            tokens[row, 2 + first + second] = SEP
        self.tokens = torch.from_numpy(tokens).to(device)
        self.borders = torch.from_numpy(borders.astype(np.int32)).to(device)
        self.ends = torch.from_numpy(self.lengths.astype(np.int32)).to(device)
        self.labels: dict[str, np.ndarray[Any, Any]] = {}
        for name, head in HEADS.items():
            where, values = file[f"at_{name}"], file[f"is_{name}"]
            if head.kind == "softmax":
                dense = np.full(len(sizes), -1, np.int64)
            else:
                dense = np.full((len(sizes), head.size), np.nan, np.float32)
                values = values.reshape(-1, head.size)
            dense[where] = values
            self.labels[name] = dense

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
        rest = ~np.isin(
            data.set,
            ["silver", "silver_more", "silver_joined", "epitome", "mint", "semeval2018_ec"],
        )
        rng = np.random.default_rng(options.seed)
        use &= ~rest | (rng.random(len(use)) < options.rest)
    rows = [np.flatnonzero(use)]
    repeat = REPEAT | ({"epitome": options.epitome} if options.epitome else {})
    for name, times in repeat.items():
        rows += [np.flatnonzero(use & (data.set == name))] * (times - 1)
    silver = {
        "silver": options.silver,
        "silver_more": options.silver_more,
        "silver_joined": options.silver_joined,
    }
    for name, times in silver.items():
        rows += [np.flatnonzero(use & (data.set == name))] * (times - 1)
    return np.concatenate(rows)
