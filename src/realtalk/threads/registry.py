"""Names of predictors → predictors, with settings as the command line gives them.

    make_predictor("mean", {"scale": "raw"})
    make_predictor("llm", {"model": "openai/gpt-4o-mini", "budget": "2000"})

An entry is a factory with named settings, each with its type and mostly a default. Text is read
by that type; what is no such value is refused by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from realtalk.errors import RealtalkError
from realtalk.registry import Registry, read_value, suggest
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
    factory = PREDICTORS[name]
    known = inspect.signature(factory, eval_str=True).parameters
    given: dict[str, Any] = {}
    for key, value in (settings or {}).items():
        if key not in known:
            if not known:
                raise RealtalkError(f"the predictor '{name}' has no setting '{key}'")
            raise suggest(f"setting of the predictor '{name}'", key, list(known))
        where = f"{name}, setting {key}"
        text = isinstance(value, str)
        given[key] = read_value(value, known[key].annotation, where) if text else value
    for key, each in known.items():
        if each.default is each.empty and key not in given:
            raise RealtalkError(
                f"the predictor '{name}' needs the setting '{key}'",
                fix=f"give it as --{key} or --set {key}=VALUE",
            )
    return factory(**given)


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
