"""What the heads say and what is known or taught about the rows → one number to make smaller.

loss = Loss(data.labels, HEADS, device, taught=teachers_mean(data, options, device))
loss(model(tokens, types, mask).float(), index)
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from research.training.ei_heads import Head, places
from research.training.ei_rows import Data, is_silver, parts


class Loss:
    """All heads' losses in a few operations: small heads one by one would starve the device.

    Softmax heads are laid side by side, padded to the widest; sigmoid and value heads are
    columns with a weight each. Rows without a label count nothing.
    """

    def __init__(
        self,
        known: Mapping[str, np.ndarray[Any, Any]],
        heads: Mapping[str, Head],
        device: torch.device,
        *,
        taught: Tensor | None = None,
        copy: float = 1.0,
        copied: Collection[str] | None = None,
    ) -> None:
        """`taught` has what teachers say about every row, not a number where they say nothing.

        It is copied with this weight, for the heads that are `copied`: those that ship.
        """
        self._copy, self._taught = copy, taught
        at_head = places(heads)

        def of(kind: str) -> list[str]:
            return [name for name, head in heads.items() if head.kind == kind]

        def tensor(values: Any, **more: Any) -> Tensor:
            return torch.as_tensor(values, device=device, **more)

        soft = of("softmax")
        widest = max(heads[name].size for name in soft)
        at = np.zeros((len(soft), widest), np.int64)
        there = np.zeros((len(soft), widest), bool)
        for row, name in enumerate(soft):
            size = heads[name].size
            at[row, :size] = np.arange(at_head[name].start, at_head[name].stop)
            there[row, :size] = True
        self._soft_at, self._soft_there = tensor(at), tensor(there)
        self._soft_weight = tensor([heads[name].weight for name in soft])
        self._soft = tensor(np.stack([known[name] for name in soft], 1))
        self._columns, self._column_weight, self._known = {}, {}, {}
        for kind in ("sigmoid", "value"):
            names = of(kind)
            labels = np.concatenate([known[name] for name in names], 1)
            self._columns[kind] = tensor(
                np.concatenate([np.arange(at_head[n].start, at_head[n].stop) for n in names])
            )
            scale = {n: 4.0 if kind == "value" else 1 / math.sqrt(heads[n].size) for n in names}
            weights = [[heads[n].weight * scale[n]] * heads[n].size for n in names]
            self._column_weight[kind] = tensor(np.concatenate(weights), dtype=torch.float32)
            self._known[kind] = tensor(labels)
        if copied is None:
            copied = [name for name, head in heads.items() if head.shipped]
        kept = np.zeros(sum(head.size for head in heads.values()), np.float32)
        for name in copied:
            kept[at_head[name]] = 1
        self._copied_columns = tensor(kept)
        self._copied_soft = tensor([float(name in copied) for name in soft])

    def __call__(self, logits: Tensor, index: Tensor) -> Tensor:
        spread = self._side_by_side(logits).log_softmax(-1)
        label = self._soft[index]
        right = spread.gather(-1, label.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        total = -(right * (label >= 0) * self._soft_weight).sum()
        for kind in ("sigmoid", "value"):
            total = total + self._by_column(kind, logits, self._known[kind][index])
        if self._taught is not None:
            total = total + self._copy * self._copied(logits, spread, self._taught[index].float())
        return total / len(index)

    def _side_by_side(self, logits: Tensor) -> Tensor:
        picked = logits.index_select(1, self._soft_at.flatten())
        shaped = picked.view(len(logits), *self._soft_at.shape)
        return shaped.masked_fill(~self._soft_there, -1e4)

    def _by_column(self, kind: str, logits: Tensor, label: Tensor, soft: bool = False) -> Tensor:
        guess = logits.index_select(1, self._columns[kind])
        known = ~label.isnan()
        filled = torch.where(known, label, 0.0)
        if kind == "sigmoid":
            loss = nn.functional.binary_cross_entropy_with_logits(guess, filled, reduction="none")
        else:
            loss = (guess - filled) ** 2
        weight = self._column_weight[kind]
        if soft:
            weight = weight * self._copied_columns[self._columns[kind]]
        return (loss * known * weight).sum()

    def _copied(self, logits: Tensor, spread: Tensor, taught: Tensor) -> Tensor:
        """How far a student is from its teachers' mean, where they say anything."""
        shaped = self._side_by_side(taught)
        spoken = ~shaped.isnan().any(-1)
        aim = shaped.nan_to_num().softmax(-1)
        weight = self._soft_weight * self._copied_soft
        total = -((aim * spread).sum(-1) * weight * spoken).sum()
        belief = taught[:, self._columns["sigmoid"]].sigmoid()
        total = total + self._by_column("sigmoid", logits, belief, soft=True)
        values = taught[:, self._columns["value"]]
        return total + self._by_column("value", logits, values, soft=True)


def teachers_mean(data: Data, options: argparse.Namespace, device: torch.device) -> Tensor | None:
    """The teachers' logits, averaged.

    Of teachers by part (x0, x1, x2, x3) only the one that has not seen a silver label speaks
    about its turn: the others would repeat the label, noise and all.
    """
    if not options.teachers:
        return None
    names = options.teachers.split(",")
    files = [np.load(options.out / f"{name}.npy") for name in names]
    mean = np.mean([file.astype(np.float32) for file in files], axis=0)
    if options.by_part:
        part, silver = parts(data.group), is_silver(data)
        for at, file in enumerate(files):
            rows = silver & (part == at)
            mean[rows] = file[rows]
    return torch.from_numpy(mean.astype(np.float16)).to(device)
