"""A loss of a batch → training steps: AdamW, a rate that rises and falls, gradients clipped at 1.

    steps = Stepper(lambda index, width: loss, [{"params": encoder, "lr": 2e-4}], total=9000)
    steps(index, 48); …; steps.mean()    → the mean loss since the last call

The sum of losses stays on the device, so that no step waits for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

WARM_UP = 0.06  # of all steps


def cosine(step: int, total: int) -> float:
    """From 0 up to 1 and down to 0 again: what the learning rate is multiplied with."""
    warm = max(1, int(WARM_UP * total))
    if step < warm:
        return step / warm
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warm) / max(1, total - warm))))


class Stepper:
    """AdamW over groups of parameters.

    A group may say at which share of the steps it begins to learn (`starts`).
    """

    def __init__(
        self,
        loss_of: Callable[[Tensor, int], Tensor],
        groups: Sequence[dict[str, Any]],
        total: int,
    ) -> None:
        self._loss_of = loss_of
        self.total = total  # may change under way, where the time decides how many there are
        self._parameters = [each for group in groups for each in group["params"]]
        device = self._parameters[0].device
        self._rates = [float(group["lr"]) for group in groups]
        self._starts = [float(group.get("starts", 0.0)) for group in groups]
        self._optimizer = torch.optim.AdamW(
            list(groups), weight_decay=0.01, fused=device.type == "cuda"
        )
        self._lost = torch.zeros((), device=device)
        self._since = self.done = 0

    def __call__(self, index: Tensor, width: int) -> None:
        rates = zip(self._optimizer.param_groups, self._rates, self._starts, strict=True)
        for group, rate, start in rates:
            begun = self.done >= start * self.total
            group["lr"] = rate * cosine(self.done, self.total) if begun else 0.0
        self._optimizer.zero_grad()
        loss = self._loss_of(index, width)
        loss.backward()
        nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self._optimizer.step()
        self._lost.add_(loss.detach())
        self.done += 1
        self._since += 1

    def state(self) -> dict[str, Any]:
        """What a later process needs to go on from here, beside the parameters."""
        return {"optimizer": self._optimizer.state_dict(), "done": self.done, "total": self.total}

    def resume(self, state: dict[str, Any]) -> None:
        self._optimizer.load_state_dict(state["optimizer"])
        self.done, self.total = state["done"], state["total"]

    def mean(self) -> float:
        """The mean loss of the steps since this was last asked."""
        mean = float(self._lost.item()) / max(1, self._since)
        self._lost.zero_()
        self._since = 0
        return mean
