"""Stored answers of a model of 1.5B to the paper's questions → rows of Table 3 and §6.2.

    memory_rows()[0]    → ResultRow("Table 3, multi-hop", "gpt-4o-mini .301 → .177, …", …)

The rows are those of docs/results/memory.md: Qwen2.5-Coder-1.5B answered every question from the
whole conversation and from the annotated events. The dummy is the same model without any memory:
its answers do not depend on the input.
"""

from __future__ import annotations

from collections.abc import Iterator

from realtalk.evals.tables import p_value, share
from realtalk.memory.golds import TABLE_3, PublishedLine
from research.papers.rule import (
    ALPHA,
    Effect,
    Outcome,
    ResultRow,
    compare_numbers,
    compare_sentence,
    not_comparable,
    still_dummy,
)
from research.results.memory_claims import Test, family
from research.results.memory_stored import CATEGORIES, Stored

_INPUTS = (("whole", "all"), ("events", "all"))
_MODELS = tuple(dict.fromkeys(line.model for line in TABLE_3))


def memory_rows() -> Iterator[ResultRow]:
    """What events instead of the conversation cost, by kind of question."""
    stored = Stored()
    tests = [Test(*_INPUTS, "f1", category=category) for category in CATEGORIES]
    for test, change, p in family(stored, tests):
        category = test.category or ""
        losses = [_loss(model, category) for model in _MODELS]
        relative = change.relative
        low, high = relative.low or 0.0, relative.high or 0.0
        effect = Effect(
            -(change.difference.value or 0.0),
            clear=p is not None and p < ALPHA,
            fits=low <= -min(losses) and high >= -max(losses),
        )
        says = ", ".join(
            f"{model} {_line(model, 'whole').f1[category]:.3f} → {_line(model, 'events').f1[category]:.3f}"
            for model in _MODELS
        )
        text = f"{change.first:.3f} → {change.second:.3f}, {share(relative)} (p {p_value(p)})"
        yield ResultRow(
            f"Table 3, {category.replace('_', '-')}",
            f"events cost F1: {says}",
            compare_sentence([effect], text),
            still_dummy("no memory: the same from both"),
        )
    losses = [100 * _loss(model, "multi_hop") for model in _MODELS]
    text = f"Table 3: {losses[0]:.1f} % and {losses[1]:.1f} %"
    says = "events cost multi-hop questions 41 to 46 %"
    yield ResultRow("§6.2 beside Table 3", says, compare_numbers([41, 46], losses, 0, text))
    whole, none = (
        stored.figures(which).overall["f1"].value or 0.0
        for which in (("whole", "all"), ("none", "all"))
    )
    yield ResultRow(
        "§6.2",
        "models struggle even with the whole conversation",
        Outcome(f"F1 {whole:.3f}", "agrees"),
        Outcome(f"without any memory {none:.3f}", "agrees"),
    )
    reason = "a model of 1.5B answers here, not the paper's two"
    yield not_comparable("Table 3, F1 levels", "twelve F1 scores of two models", reason)
    reason = "no judge of ours was asked; `realtalk probe --judge` asks one"
    yield not_comparable("Table 3, accuracy", "twelve accuracies by a judge", reason)


def _line(model: str, memory: str) -> PublishedLine:
    return next(line for line in TABLE_3 if (line.model, line.memory) == (model, memory))


def _loss(model: str, category: str) -> float:
    return 1 - _line(model, "events").f1[category] / _line(model, "whole").f1[category]
