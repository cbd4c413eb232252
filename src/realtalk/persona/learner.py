"""An adapter's weights while they learn: the loss of a batch of turns, and a step against it.

    learner = Learner(load("smollm2"), TuneSettings(rank=16), updates_in_all=48)
    (reply_loss(learner.model, batch) / targets).backward()
    learner.step(0)
    learner.tensors()     → {"now …lora_A…": …, "exp_avg …": …, "rng": …}   for a checkpoint

The loss is on the replies only, and logits are made at their positions only. On a GPU the
adapter computes in bf16 and is kept in fp32, so that small steps are not rounded away.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.persona.pretrained import Pretrained, library
from realtalk.persona.tuning_data import Example

__all__ = ["Learner", "TuneSettings", "reply_loss"]

_LARGEST_STEP = 1.0  # gradients are clipped to this norm


@dataclass(frozen=True, slots=True)
class TuneSettings:
    """How to learn. `batch_tokens` 0 is what suits the device; `patience` is in epochs."""

    epochs: int = 4
    learning_rate: float = 5e-4
    per_update: int = 16  # turns
    warmup: float = 0.1  # of all updates
    rank: int = 16
    alpha: int = 32
    dropout: float = 0.0
    held_out: float = 0.1
    patience: int = 2
    seed: int = 0
    batch_tokens: int = 0
    checkpoint_every: int = 20  # updates

    def __post_init__(self) -> None:
        least = {"epochs": 1, "per_update": 1, "rank": 1, "alpha": 1, "patience": 1}
        for name, smallest in {**least, "checkpoint_every": 1, "batch_tokens": 0}.items():
            if (given := getattr(self, name)) < smallest:
                raise RealtalkError(f"{name} must be {smallest} or more, not {given}")
        if not self.learning_rate > 0:
            raise RealtalkError(f"learning_rate must be above 0, not {self.learning_rate}")


def reply_loss(model: Any, batch: Sequence[Example]) -> Any:
    """The summed loss over the batch's reply tokens; logits are made at those alone.

    Rows are padded on the right: under causal attention no real token sees the padding, so no
    mask is needed and the fastest attention can run.
    """
    torch = library("torch")
    width = max(len(example) for example in batch)
    ids = torch.zeros(len(batch), width, dtype=torch.long)
    places: list[int] = []
    targets: list[int] = []
    for row, example in enumerate(batch):
        ids[row, : len(example)] = torch.tensor((*example.prompt, *example.reply))
        first = row * width + len(example.prompt) - 1  # where the first reply token is foretold
        places += range(first, first + len(example.reply))
        targets += example.reply
    device = model.device
    with _logits_at(model, torch.tensor(places, device=device)):
        logits = model(input_ids=ids.to(device), use_cache=False).logits[0]
    wanted = torch.tensor(targets, device=device)
    return torch.nn.functional.cross_entropy(logits.float(), wanted, reduction="sum")


@contextmanager
def _logits_at(model: Any, places: Any) -> Iterator[None]:
    """Within, the model's last layer sees only these places of the flattened batch.

    A hook and not a call of the layer: what a model does to its logits afterwards stays.
    """
    head = model.get_output_embeddings()
    handle = head.register_forward_pre_hook(
        lambda _, given: (given[0].flatten(0, 1)[places].unsqueeze(0), *given[1:])
    )
    try:
        yield
    finally:
        handle.remove()


class Learner:
    """The adapter's weights, their fp32 originals, and the optimizer over those."""

    def __init__(self, base: Pretrained, settings: TuneSettings, updates_in_all: int) -> None:
        torch, peft = library("torch"), library("peft")
        torch.manual_seed(settings.seed)
        config = peft.LoraConfig(
            r=settings.rank,
            lora_alpha=settings.alpha,
            lora_dropout=settings.dropout,
            target_modules="all-linear",
            task_type="CAUSAL_LM",
        )
        self._torch = torch
        self._settings = settings
        self._in_all = updates_in_all
        # In the base's precision, with fp32 originals here: no casts in the forward pass.
        self.wrapped = peft.get_peft_model(base.model, config, autocast_adapter_dtype=False)
        self.model = base.model  # peft put its layers into it
        used = {n: p for n, p in self.wrapped.named_parameters() if p.requires_grad}
        self._names, self._used = list(used), list(used.values())
        self._originals = [
            each if each.dtype == torch.float32 else each.detach().float().requires_grad_()
            for each in self._used
        ]
        self._optimizer = torch.optim.AdamW(
            self._originals, lr=settings.learning_rate, weight_decay=0.0
        )
        self._best: dict[str, Any] = {}

    def step(self, update: int) -> None:
        for used, original in zip(self._used, self._originals, strict=True):
            if used is not original:
                original.grad = None if used.grad is None else used.grad.float()
                used.grad = None
        self._torch.nn.utils.clip_grad_norm_(self._originals, _LARGEST_STEP)
        for group in self._optimizer.param_groups:
            group["lr"] = self._settings.learning_rate * self._share(update)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self._use()

    def _share(self, update: int) -> float:
        """Of the learning rate: up over the warm-up, then down to zero along a cosine."""
        rising = max(1, round(self._in_all * self._settings.warmup))
        if update < rising:
            return (update + 1) / rising
        along = (update - rising) / max(1, self._in_all - rising)
        return 0.5 * (1 + math.cos(math.pi * along))

    def _use(self) -> None:
        with self._torch.no_grad():
            for used, original in zip(self._used, self._originals, strict=True):
                if used is not original:
                    used.copy_(original)

    def keep(self) -> None:
        """The weights as they are now are the best so far."""
        self._best = {
            name: original.detach().cpu().clone()
            for name, original in zip(self._names, self._originals, strict=True)
        }

    def take_best(self) -> None:
        self._fill(self._best)

    def _fill(self, weights: Mapping[str, Any]) -> None:
        with self._torch.no_grad():
            for name, original in zip(self._names, self._originals, strict=True):
                original.copy_(weights[name])
        self._use()

    def tensors(self) -> dict[str, Any]:
        """All that a checkpoint needs."""
        torch = self._torch
        made: dict[str, Any] = {"rng": torch.get_rng_state()}
        if self.model.device.type == "cuda":
            made["rng_cuda"] = torch.cuda.get_rng_state(self.model.device)
        for name, original in zip(self._names, self._originals, strict=True):
            made[f"now {name}"] = original
            for what, value in self._optimizer.state[original].items():
                made[f"{what} {name}"] = value
        return made | {f"best {name}": value for name, value in self._best.items()}

    def restore(self, tensors: Mapping[str, Any]) -> None:
        torch = self._torch
        by_kind: dict[str, dict[str, Any]] = {}
        for key, value in tensors.items():
            kind, _, name = key.partition(" ")
            by_kind.setdefault(kind, {})[name] = value
        torch.set_rng_state(tensors["rng"])
        if "rng_cuda" in tensors:
            torch.cuda.set_rng_state(tensors["rng_cuda"], self.model.device)
        self._fill(by_kind["now"])
        for name, original in zip(self._names, self._originals, strict=True):
            self._optimizer.state[original] = {
                "step": by_kind["step"][name],
                "exp_avg": by_kind["exp_avg"][name].to(original.device),
                "exp_avg_sq": by_kind["exp_avg_sq"][name].to(original.device),
            }
        self._best = by_kind.get("best", {})
