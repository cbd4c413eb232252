"""A loss of a batch → training steps; on a GPU each shape of batch is recorded once and replayed.

    steps = Stepper(lambda index, width: loss, [{"params": encoder, "lr": 2e-4}], total=9000)
    steps(index, 48); …; steps.mean()    → the mean loss since the last call

A small model spends its time in starting kernels: a step of 128 short rows takes 31 ms of Python
for 3 ms of work. So the whole step (reading the rows, loss, gradients, clipping, AdamW) becomes a
CUDA graph for every shape. The first batch of a shape runs as it is, which also warms libraries
up; the second is recorded. Rates and the sum of losses stay on the device. Where recording fails,
and on a CPU, all steps run as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

WARM_UP = 0.06  # of all steps
RECORDED = 16_384  # tokens of a batch: beyond, the device is busy anyway and recording costs memory


def cosine(step: int, total: int) -> float:
    """From 0 up to 1 and down to 0 again: what the learning rate is multiplied with."""
    warm = max(1, int(WARM_UP * total))
    if step < warm:
        return step / warm
    return 0.5 * (1 + math.cos(math.pi * min(1.0, (step - warm) / max(1, total - warm))))


class Stepper:
    """AdamW over groups of parameters, gradients clipped at 1.

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
        self._device = self._parameters[0].device
        on_gpu = self._device.type == "cuda"
        self._recording = on_gpu
        self._rates = [float(group["lr"]) for group in groups]
        self._starts = [float(group.get("starts", 0.0)) for group in groups]
        made = [
            {**group, "lr": torch.tensor(rate, device=self._device) if on_gpu else rate}
            for group, rate in zip(groups, self._rates, strict=True)
        ]
        self._optimizer = torch.optim.AdamW(
            made, weight_decay=0.01, fused=on_gpu, capturable=on_gpu
        )
        for parameter in self._parameters:
            parameter.grad = torch.zeros_like(parameter)  # recorded steps need them to stay
        self._lost = torch.zeros((), device=self._device)
        self._since = self.done = 0
        self._beside = torch.cuda.Stream() if on_gpu else None  # one: each keeps memory of its own
        self._seen: set[tuple[int, int]] = set()
        self._graphs: dict[tuple[int, int], tuple[Any, Tensor]] = {}
        self._pool: Any = None

    def __call__(self, index: Tensor, width: int) -> None:
        rates = zip(self._optimizer.param_groups, self._rates, self._starts, strict=True)
        for group, rate, start in rates:
            begun = self.done >= start * self.total
            now = rate * cosine(self.done, self.total) if begun else 0.0
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(now)
            else:
                group["lr"] = now
        shape = (len(index), width)
        small = len(index) * width <= RECORDED
        if self._recording and small and shape in self._seen and shape not in self._graphs:
            self._record(index, width)
        if shape in self._graphs:
            graph, static = self._graphs[shape]
            static.copy_(index)
            graph.replay()
        else:
            self._as_it_is(index, width)
        self._seen.add(shape)
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

    def _advance(self, index: Tensor, width: int) -> None:
        torch._foreach_zero_([each.grad for each in self._parameters])
        loss = self._loss_of(index, width)
        loss.backward()
        nn.utils.clip_grad_norm_(self._parameters, 1.0)
        self._optimizer.step()
        self._lost.add_(loss.detach())

    def _as_it_is(self, index: Tensor, width: int) -> None:
        if self._beside is None:
            self._advance(index, width)
            return
        # On another stream, as steps must run before they are recorded.
        self._beside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._beside):
            self._advance(index, width)
        torch.cuda.current_stream().wait_stream(self._beside)

    def _record(self, index: Tensor, width: int) -> None:
        static = index.clone()
        graph = torch.cuda.CUDAGraph()
        if self._pool is None:
            self._pool = torch.cuda.graph_pool_handle()
        try:
            with torch.cuda.graph(graph, pool=self._pool):
                self._advance(static, width)
        except RuntimeError as error:
            print(f"steps are not recorded: {error}", flush=True)
            self._recording = False
            return
        self._graphs[len(index), width] = (graph, static)
