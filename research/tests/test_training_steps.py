"""Steps of training: the same weights as the loop that one writes first."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import pytest


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed (extra 'train')")
def test_steps_are_those_of_a_plain_loop() -> None:
    import torch

    stepping = import_module("research.training.stepping")
    torch.manual_seed(0)
    given = torch.randn(64, 4)
    wanted = given.sum(1, keepdim=True)
    ours, plain = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
    plain.load_state_dict(ours.state_dict())

    def lost(model: torch.nn.Linear, index: torch.Tensor) -> torch.Tensor:
        return ((model(given[index]) - wanted[index]) ** 2).mean()

    step = stepping.Stepper(
        lambda index, _: lost(ours, index), [{"params": list(ours.parameters()), "lr": 0.05}], 100
    )
    optimizer = torch.optim.AdamW(plain.parameters(), lr=0.05, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: stepping.cosine(at, 100))
    total = 0.0
    for at in range(100):
        index = torch.arange(8) + 8 * (at % 8)
        step(index, 4)
        loss = lost(plain, index)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        total += float(loss.detach())
    assert torch.equal(ours.weight, plain.weight)
    assert step.mean() == pytest.approx(total / 100)
    assert float((ours.weight.detach() - 1).abs().max()) < 0.1  # it has learned to add
