"""Steps on fixed buffers write what steps with a growing cache write."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest

from realtalk.persona.decoding import suits
from realtalk.persona.generation import Asked, Sampling, generate
from realtalk.persona.pretrained import Pretrained

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("torch", "transformers")),
    reason="torch and transformers are not installed (the extra 'train')",
)
SIZES: dict[str, Any] = {
    **{"vocab_size": 97, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3},
    **{"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128},
}
MANNERS = {
    "greedy": Sampling(40),
    "one token": Sampling(1),
    "sampled": Sampling(40, temperature=1.2, top_p=0.9, seed=3),
    "without circles": Sampling(40, repetition_penalty=1.6),
    "sampled, without circles": Sampling(40, temperature=1.0, seed=5, repetition_penalty=1.3),
}


def model(kind: str, **more: Any) -> Any:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    torch.manual_seed(7)
    config = AutoConfig.for_model(kind, **{**SIZES, **more})
    return AutoModelForCausalLM.from_config(config).float().eval()


def loaded(kind: str, **more: Any) -> Pretrained:
    return Pretrained(model(kind, **more), None, kind, "", "cpu", "fp32", 128)


def prompts() -> list[Asked]:
    import torch

    drawn = torch.Generator().manual_seed(1)
    return [
        Asked(f"#{n}", tuple(torch.randint(3, 97, (length,), generator=drawn).tolist()))
        for n, length in enumerate((1, 17, 5, 40, 39))
    ]


@pytest.mark.parametrize("manner", MANNERS)
def test_fixed_buffers_change_nothing(manner: str) -> None:
    base, asked = loaded("llama"), prompts()
    plain = generate(base, asked, (), MANNERS[manner])
    assert generate(base, asked, (), MANNERS[manner], recorded=True) == plain
    # The model is left as it was.
    assert generate(base, asked, (), MANNERS[manner]) == plain
    assert len({each.ids for each in plain}) > 1


@pytest.mark.parametrize("kind", ["mistral", "qwen2", "qwen3"])
def test_of_every_kind_that_is_said_to_suit(kind: str) -> None:
    more = {"sliding_window": None} if kind == "mistral" else {}
    base, asked = loaded(kind, **more), prompts()
    assert suits(base.model)
    assert generate(base, asked, (), Sampling(24), recorded=True) == generate(
        base, asked, (), Sampling(24)
    )


def test_rows_end_where_they_end_and_all_stop_together() -> None:
    base, asked = loaded("llama"), prompts()
    free = generate(base, asked, (), Sampling(60))
    stops = {each.ids[n] for n, each in enumerate(free)}  # every row ends within five steps
    found = generate(base, asked, stops, Sampling(60), recorded=True)
    assert found == generate(base, asked, stops, Sampling(60))
    assert all(each.ended and len(each.ids) < 6 for each in found)


def test_a_penalty_breaks_a_circle() -> None:
    """A model that always says the same word says others; the prompt's own words stay free."""
    import torch

    base = loaded("llama")
    with torch.no_grad():
        base.model.lm_head.weight.mul_(0.02)
        base.model.lm_head.weight[11] = base.model.lm_head.weight[11] * 0 + 1.0
    asked = [Asked("#0", (5, 11, 11, 6))]
    (circle,) = generate(base, asked, (), Sampling(12))
    (free,) = generate(base, asked, (), Sampling(12, repetition_penalty=5.0))
    assert len(set(circle.ids)) < len(set(free.ids))
    assert free.ids[0] == circle.ids[0]


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("mistral", {"sliding_window": 16}),
        ("gpt2", {}),
        ("llama", {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0, "rope_theta": 1e4}}),
    ],
)
def test_what_does_not_suit_runs_as_before(kind: str, more: dict[str, Any]) -> None:
    base = loaded(kind, **more)
    assert not suits(base.model)
    asked = prompts()[:2]
    assert generate(base, asked, (), Sampling(6), recorded=True) == generate(
        base, asked, (), Sampling(6)
    )
