"""Who predicts, from what: the protocol of every predictor, and what came out.

    predictor.fit(samples.of("p-conv", "train"))               # with the truth
    predictor.predict([blinded(sample), …])   → [Prediction("post-000001/D1:3", True), …]

A predictor is fitted once a setting, on the train part as that setting shows it. What it then
predicts comes blinded: the outcome, the reply's own words (but for `Sample.text`, where the task
gives them) and the parent's score are taken out, so no predictor can use them by mistake.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from realtalk.local.progress import Progress, silent
from realtalk.threads.histories import History
from realtalk.threads.values import Sample, Task

__all__ = ["Prediction", "Predictor", "Settings", "Value", "blinded", "person_shown"]

Settings: TypeAlias = dict[str, str | int | float | bool]
Value: TypeAlias = bool | float | str  # sentiment, impact, next_text


@dataclass(frozen=True, slots=True)
class Prediction:
    """What was predicted of a reply; None with a reason where nothing could be."""

    key: str
    value: Value | None
    unscored: str = ""
    tokens_in: int = 0
    tokens_out: int = 0


class Predictor(Protocol):
    """A way to predict. `tasks` are those it can do; `needs_scores` says whether shown scores."""

    name: str
    version: str
    tasks: tuple[Task, ...]

    @property
    def settings(self) -> Settings: ...

    def needs_scores(self, task: Task) -> bool:
        """Whether it works from scores shown beside the conversation."""

    def fit(self, samples: Sequence[Sample], progress: Progress = silent) -> None:
        """Learn from solved samples of one task and setting."""

    def predict(self, samples: Sequence[Sample], progress: Progress = silent) -> list[Prediction]:
        """One prediction a sample, in order; the samples are blinded."""


def blinded(sample: Sample) -> Sample:
    """The sample without the truth about its target."""
    target = replace(sample.target, text="", score=None, parent_score=None)
    return replace(sample, target=target)


def person_shown(sample: Sample) -> str | None:
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
