"""Prompts and a model → what training and writing take, before and after.

    plan_lines(base, prompts, ["k3"], ways, given)
    → ["k3 tuned+retrieved: 1,806 turns to learn, 4.1M tokens an epoch, …: 240 s", …]
    rate_lines(report)    → ["training: 41,000 tokens/s, 41 % of the matrix rate by 6N, …"]

N counts the weights that a token goes through: neither the table of words, which is only looked
up, nor the last layer, which works at a reply's tokens alone. Six operations a weight and token is
how training is mostly counted; an adapter needs four, since frozen weights get no gradient.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import Any

from realtalk.persona.generation import PretrainedModel, Writer, library
from research.experiments.persona_prompts import SWAPPED, Prompts, Way

# What is taken for true before anything was measured, of one NVIDIA H200.
MATRIX, TRAINING, READING, NEW_TOKENS = 750e12, 0.25, 0.35, 4000.0
REPLY = 45  # tokens of a reply that is written


def inner_parameters(model: Any) -> int:
    """The weights that every token goes through."""
    head, table = model.get_output_embeddings().weight, model.get_input_embeddings().weight
    outer = table.numel() + (0 if head is table else head.numel())
    return sum(each.numel() for each in model.parameters()) - int(outer)


def matrix_rate(base: PretrainedModel) -> float:
    """Operations a second in a square matrix product, the best of several."""
    torch = library("torch")
    on_card = base.device == "cuda"
    side, repeat = (8192, 20) if on_card else (512, 2)
    kind = torch.bfloat16 if base.precision == "bf16" else torch.float32
    one, two = (torch.randn(side, side, device=base.device, dtype=kind) for _ in range(2))

    def seconds() -> float:
        if on_card:
            torch.cuda.synchronize()
        began = time.perf_counter()
        for _ in range(repeat):
            one @ two
        if on_card:
            torch.cuda.synchronize()
        return time.perf_counter() - began

    seconds()
    return float(2 * side**3 * repeat / min(seconds() for _ in range(5)))


def plan_lines(
    base: PretrainedModel,
    prompts: Prompts,
    sets: Sequence[str],
    ways: Mapping[str, Way],
    given: argparse.Namespace,
) -> list[str]:
    """One line per set and way, from operations alone; what runs beside it is not counted."""
    writer, inner = Writer(base.tokenizer), inner_parameters(base.model)
    samplings = len(given.samplings.split(",")) * len(given.penalties.split(","))
    known: dict[str, int] = {}

    def tokens(text: str) -> int:
        if text not in known:
            known[text] = len(writer.prompt([{"role": "user", "content": text}]))
        return known[text]

    lines, total = [f"{base.title}: N = {inner / 1e6:,.0f}M"], 0.0
    for name in sets:
        few = "turns" in prompts.head["sets"][name]
        for how, way in ways.items():
            if not prompts.has(name, way.field) or (few and not way.tuned):
                continue
            speakers = prompts.speakers(name)
            tested = [row for who in speakers for row in prompts.rows(name, "test", who)]
            read = sum(tokens(row[way.field]) for row in tested)
            seconds = 2 * inner * read / (MATRIX * READING)
            seconds += len(tested) * REPLY * samplings / NEW_TOKENS
            said = f"{len(tested):,} turns to write, {read / 1e6:.1f}M tokens to read"
            if way.tuned and how != SWAPPED:
                learned = [row for who in speakers for row in prompts.rows(name, "learn", who)]
                epoch = sum(tokens(row[way.field]) for row in learned)
                seconds += 4 * inner * epoch * given.epochs / (MATRIX * TRAINING)
                said += f", {len(learned):,} to learn, {epoch / 1e6:.1f}M tokens an epoch"
            total += seconds
            lines.append(f"{name} {how}: {said}: {seconds:,.0f} s; so far {total:,.0f} s")
    return lines


def rate_lines(report: Mapping[str, Any]) -> list[str]:
    """How fast the card was used in training, all processes together."""
    machine = report.get("machine")
    spans = [each for each in report["trained"].values() if "began" in each]
    if not machine or not spans:
        return []
    seconds, end = 0.0, 0.0
    for each in sorted(spans, key=lambda each: each["began"]):
        seconds += max(0.0, each["ended"] - max(each["began"], end))
        end = max(end, each["ended"])
    tokens = sum(each["tokens"] for each in spans)
    alone = max(each["tokens_per_second"] for each in spans)
    peak, inner = machine["matrix_tflops"] * 1e12, machine["inner_parameters"]
    told = [
        f"{name}: {rate:,.0f} tokens/s, {6 * inner * rate / peak:.1%} of the matrix rate of "
        f"{peak / 1e12:,.0f} TFLOP/s by 6N, {4 * inner * rate / peak:.1%} by an adapter's 4N"
        for name, rate in (("training, all in all", tokens / seconds), ("its fastest", alone))
    ]
    return [f"{len(spans)} trainings, {tokens / 1e6:.1f}M tokens in {seconds:,.0f} s", *told]
