"""Who predicts, from what: the protocol of every predictor.

    predictor.prepare(samples.of("p-conv", "train"))      # with the truth
    predictor.solve([blinded(case), …])                   → [Answer(True), …]

A predictor is prepared once per setting, on the train part as that setting shows it. What it then
predicts comes blinded: the outcome and the reply's own words (but for `Case.text`, where the task
gives them) are taken out, so no predictor can use them by mistake.

Names of predictors → predictors, with settings as the command line gives them.

    make_predictor("mean", {"scale": "raw"})
    make_predictor("llm", {"model": "openai/gpt-4o-mini", "budget": "2000"})

What is no value of a setting's type is refused by name.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from realtalk.evals.values import Solver
from realtalk.registry import Registry, make, within
from realtalk.threads.histories import History
from realtalk.threads.values import Case, Task

Value: TypeAlias = bool | float | str  # sentiment, impact, next_text


class Predictor(Solver[Case, Value], typing.Protocol):
    """Learns from solved cases of one task and setting; those to be solved are blinded.

    `tasks` are those it can do.
    """

    tasks: tuple[Task, ...]

    def needs_scores(self, task: Task) -> bool:
        """Whether it works from scores shown beside the conversation."""


def hide_truth(sample: Case) -> Case:
    """The sample without the truth about its target."""
    target = replace(sample.target, text="", score=None)
    return replace(sample, target=target)


def person_shown(sample: Case) -> str | None:
    """Whose history the sample shows: the writer's, another's, or nobody's.

    Without an entry of history the personal settings still name the writer, the others nobody.
    """
    history = sample.history
    if isinstance(history, History):
        # It knows its person without choosing what is shown of them, which costs an encoder.
        if history.person is not None:
            return history.person
    elif history:
        return history[0].author
    return sample.target.user if sample.setting.startswith("p-") else None


BASELINES = ("majority", "parent", "mean", "nearest", "regression")  # need no language model
_PLACES = {
    **within("realtalk.threads.baselines", {name: name.title() for name in BASELINES}),
    "llm": "realtalk.threads.asking:LlmPredictor",
}
PREDICTORS: Registry[Callable[..., Predictor]] = Registry("predictor", _PLACES)


def make_predictor(name: str, settings: Mapping[str, Any] | None = None) -> Predictor:
    """The predictor of that name. Values may be text, as from the command line, or typed."""
    return make(f"the predictor '{name}'", PREDICTORS[name], settings)
