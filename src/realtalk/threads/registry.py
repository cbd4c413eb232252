"""Names of predictors → predictors, with settings as the command line gives them.

    make_predictor("mean", {"scale": "raw"})
    make_predictor("llm", {"model": "openai/gpt-4o-mini", "budget": "2000"})

What is no value of a setting's type is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.registry import Registry, make, within
from realtalk.threads.predictors import Predictor
from realtalk.threads.values import Protocol, Task

BASELINES = ("majority", "parent", "mean", "nearest", "regression")  # need no language model
_PLACES = {
    **within("realtalk.threads.baselines", {name: name.title() for name in BASELINES[:4]}),
    "regression": "realtalk.threads.regression:Regression",
    "llm": "realtalk.threads.asking:LlmPredictor",
}
PREDICTORS: Registry[Callable[..., Predictor]] = Registry("predictor", _PLACES)


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
            fix="show those from before the cutoff with `with_scores=True`",
        )
