"""Four ways to predict without a language model: what any model has to beat.

    majority    the commonest class; the median score; the commonest reply
    parent      the sign, the score or the words of what is answered
    mean        what became of the shown person's earlier replies, on average
    nearest     what became of, or the words of, their nearest earlier reply

Where 19 replies in 20 have a positive score, the majority is right 19 times in 20 and knows
nothing: read MCC and balanced accuracy before accuracy and F1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.evals.values import Answer, PlainSolver
from realtalk.files.progress import Progress, silent
from realtalk.metrics.similarity import cosines
from realtalk.metrics.sums import signed_exp, signed_log
from realtalk.registry import suggest
from realtalk.threads.outcomes import Outcome, Outcomes
from realtalk.threads.predictors import Value, person_shown
from realtalk.threads.values import TASKS, Case, Part, Task
from realtalk.threads.vectors import Vectors

_SCALES = ("log", "raw", "median")


class _Baseline(PlainSolver):
    """What the baselines have in common; a subclass may have settings or learn."""

    tasks: tuple[Task, ...] = TASKS

    def needs_scores(self, task: Task) -> bool:  # noqa: ARG002
        return False


class _FromOutcomes(_Baseline):
    """Learns what became of the replies of the train part."""

    _learned: Outcomes | None = None

    def prepare(self, learning: Sequence[Case], progress: Progress = silent) -> None:  # noqa: ARG002
        self._learned = Outcomes(learning)

    @property
    def _known(self) -> Outcomes:
        if self._learned is None:
            raise ValueError("prepare comes first")
        return self._learned


class Majority(_FromOutcomes):
    """One answer for all, the best there is without looking."""

    name = "majority"

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Value]]:  # noqa: ARG002
        known = self._known
        return [Answer(_overall(known, sample.task)) for sample in shown]


class Parent(_Baseline):
    """What is answered, taken for the answer. Knows nothing without the conversation."""

    name = "parent"

    def needs_scores(self, task: Task) -> bool:
        return task != "next_text"

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Value]]:  # noqa: ARG002
        return [_of_parent(sample) for sample in shown]


def _of_parent(sample: Case) -> Answer[Value]:
    if not sample.conversation:
        return Answer(None, "the parent is not shown")
    parent = sample.conversation[-1]
    if sample.task == "next_text":
        words = parent.text.strip() or parent.title.strip()
        return Answer(words or None, "" if words else "the parent has no words")
    if parent.score is None:
        return Answer(None, "the parent's score is hidden or unknown")
    value: Value = parent.score > 0 if sample.task == "sentiment" else float(parent.score)
    return Answer(value)


class Mean(_FromOutcomes):
    """The mean outcome of the shown person's earlier replies; of everybody's where there is none.

    `scale` is where scores are averaged: log (the signed log), raw, or median for the median.
    """

    name = "mean"
    tasks: tuple[Task, ...] = ("sentiment", "impact")

    def __init__(self, *, scale: str = "log") -> None:
        if scale not in _SCALES:
            raise suggest("scale", scale, list(_SCALES))
        self._scale = scale

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"scale": self._scale}

    def prepare(self, learning: Sequence[Case], progress: Progress = silent) -> None:
        super().prepare(learning, progress)
        self._known.need_scores()

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Value]]:  # noqa: ARG002
        known = self._known
        return [Answer(self._value(known, sample)) for sample in shown]

    def _value(self, known: Outcomes, sample: Case) -> Value:
        earlier = known.before(person_shown(sample), sample.target.time)
        scores = np.array([each.score for each in earlier]) if earlier else known.scores
        if sample.task == "sentiment":
            return bool((scores > 0).mean() > 0.5)
        if self._scale == "log":
            return float(signed_exp(signed_log(scores).mean()))
        return float(scores.mean() if self._scale == "raw" else np.median(scores))


class Nearest(_FromOutcomes):
    """Copies the shown person's reply that is nearest in meaning.

    For an outcome: nearest to the reply itself, among those of the train part. For words: the one
    of their history nearest to what is answered, or the latest where nothing is shown.
    """

    name = "nearest"

    def __init__(self) -> None:
        self._vectors = Vectors()

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"encoder": self._vectors.version}

    def encodes(self, cases: Iterable[Case], part: Part) -> Iterator[str]:
        """The texts that it will encode; of words to be written, what is shown before them."""
        for case in cases:
            if case.task != "next_text":
                yield case.text or ""
            elif part == "test":
                if case.conversation:
                    yield case.conversation[-1].text
                yield from (each.text for each in case.history)

    def solve(self, shown: Sequence[Case], progress: Progress = silent) -> list[Answer[Value]]:
        known = self._known
        words = [self._texts(known, sample) for sample in shown]
        self._vectors.add((text for asked, found in words for text in (asked, *found)), progress)
        return [
            self._copied(known, sample, asked, found)
            for sample, (asked, found) in zip(shown, words, strict=True)
        ]

    def _texts(self, known: Outcomes, sample: Case) -> tuple[str, list[str]]:
        """What to be near to, and what is to choose from."""
        if sample.task == "next_text":
            asked = sample.conversation[-1].text if sample.conversation else ""
            return asked, [each.text for each in sample.history]
        return sample.text or "", [each.text for each in _earlier(known, sample)]

    def _copied(
        self, known: Outcomes, sample: Case, asked: str, found: Sequence[str]
    ) -> Answer[Value]:
        if not found:
            if sample.task == "next_text":
                return Answer(None, "no history is shown")
            return Answer(_overall(known, sample.task))
        place = len(found) - 1
        if asked.strip():
            near = cosines(self._vectors.of(found), self._vectors.of([asked])[0])
            # Of equals the latest.
            place = len(found) - 1 - int(np.argmax(near[::-1]))
        if sample.task == "next_text":
            words = found[place].strip()
            return Answer(words or None, "" if words else "nothing to copy")
        score = _earlier(known, sample)[place].score
        return Answer(score > 0 if sample.task == "sentiment" else score)


def _earlier(known: Outcomes, sample: Case) -> Sequence[Outcome]:
    return known.before(person_shown(sample), sample.target.time)


def _overall(known: Outcomes, task: Task) -> Value:
    if task == "next_text":
        if known.commonest is None:
            raise RealtalkError("no reply of the train part has words")
        return known.commonest
    known.need_scores()
    return known.positive > 0.5 if task == "sentiment" else known.median
