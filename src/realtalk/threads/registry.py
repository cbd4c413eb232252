"""Names of predictors → predictors, with settings as the command line gives them.

    make_predictor("mean", {"scale": "raw"})
    make_predictor("llm", {"model": "openai/gpt-4o-mini", "budget": "2000"})

An entry is a factory with named settings, each with its type and mostly a default. Text is read
by that type; what is no such value is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from realtalk.errors import RealtalkError
from realtalk.registry import Registry, make
from realtalk.threads.predictors import Predictor
from realtalk.threads.values import Protocol, Task

__all__ = ["BASELINES", "PREDICTORS", "make_predictor", "refuse_unfit"]

PredictorFactory: TypeAlias = Callable[..., Predictor]

PREDICTORS: Registry[PredictorFactory] = Registry(
    "predictor",
    {
        "majority": "realtalk.threads.baselines:Majority",
        "parent": "realtalk.threads.baselines:Parent",
        "mean": "realtalk.threads.baselines:Mean",
        "nearest": "realtalk.threads.baselines:Nearest",
        "regression": "realtalk.threads.regression:Regression",
        "llm": "realtalk.threads.asking:LlmPredictor",
    },
)
BASELINES = ("majority", "parent", "mean", "nearest", "regression")  # need no language model


def make_predictor(name: str, settings: Mapping[str, Any] | None = None) -> Predictor:
    """The predictor of that name. Values may be text, as from the command line, or typed."""
    return make(f"the predictor '{name}'", PREDICTORS[name], settings)


def refuse_unfit(predictor: Predictor, task: Task, protocol: Protocol) -> None:
    """Raises where the predictor cannot do the task, or wants scores that are hidden."""
    if task not in predictor.tasks:
        raise RealtalkError(
            f"the predictor {predictor.name} does not do {task}",
            fix=f"it does {' and '.join(predictor.tasks)}",
        )
    if predictor.needs_scores(task) and not protocol.shows_scores:
        raise RealtalkError(
            f"the predictor {predictor.name} needs the scores of what is shown, which are hidden",
            fix="show those from before the cutoff with --with-scores",
        )
