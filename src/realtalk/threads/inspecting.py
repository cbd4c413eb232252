"""The thread tasks as an Inspect task: `inspect eval realtalk/threads`.

    inspect eval realtalk/threads -T task=sentiment -T setting=p-conv --model openai/gpt-4o-mini
    inspect eval realtalk/threads -T path=posts.json -T task=impact -T replies=500 -T shots=2

Needs inspect-ai (extra llm): only tasks.py imports this.
"""

from __future__ import annotations

from pathlib import Path

from inspect_ai import Task, task

from realtalk.evals.inspecting import inspect_task
from realtalk.formats.opening import open_reading
from realtalk.threads.asking import BUDGET, LlmPredictor
from realtalk.threads.benchmark import ThreadTask
from realtalk.threads.sampling import Draw
from realtalk.threads.values import known_setting
from realtalk.threads.values import protocol as protocol_named


@task(name="threads")
def threads(
    path: str = "sample-threads",
    task: str = "sentiment",
    setting: str = "p-conv",
    protocol: str = "clean",
    leaks: str = "",
    with_scores: bool = False,
    split: str = "user",
    history: str = "recent",
    shots: int = 0,
    replies: int | None = None,
    seed: int = 0,
    budget: int = BUDGET,
    prompts: str | None = None,
) -> Task:
    """Replies in discussions: liked or not, how much, or what somebody writes next.

    `replies` draws so many of the test part without looking at their outcome (`--limit` of
    Inspect takes the first ones). `leaks` are names with commas, on top of the protocol's.
    """
    rules = protocol_named(
        protocol,
        leaks=tuple(part.strip() for part in leaks.split(",") if part.strip()),
        with_scores=with_scores,
        split=split,
        chosen=history,
        shots=shots,
    )
    draw = Draw(task, rules, replies, seed=seed)
    variant = known_setting(setting)
    corpus = open_reading(path).reading.corpus
    model = LlmPredictor(
        model="inspect/any",  # Inspect says which
        budget=budget,
        prompts=Path(prompts) if prompts else None,
        seed=seed,
    )
    return inspect_task(
        ThreadTask(draw.samples(corpus), (variant,), draw.record),
        corpus,
        model,
        metadata={"setting": variant},
    )
