"""Turns → labels by the paper's own classifiers, or any others, through `transformers`.

    labeller = HubLabeller()                                   # the paper's three
    labeller = HubLabeller({"sentiment": "my-folder"})         # one of your own, nothing else
    labeller.label(inputs)  → [Label(sentiment="positive", sentiment_p=0.91, emotion="joy", ...)]

Needs the extra `train`. Sentiment and emotion are the label with the highest probability;
that holds for an emotion model with several labels per text, too, as in the paper. Intimacy is
brought to 0-1: the paper's model was trained through a sigmoid, and its card reads its score as
the sigmoid of its one output. (transformers gives that sigmoid up to 4.45 and the bare output
from 4.46 on, so it is applied here; on which scale the paper printed its Table 7 is another
question, which `research.papers.intimacy` leaves open.) Other regressors are taken to answer on the
1-5 scale of the intimacy data, (x - 1) / 4, unless told otherwise. Reflectiveness, grounding and
empathy have no such classifier: the paper asks an LLM (see the judge).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from realtalk.ei.hub_labels import outputs
from realtalk.ei.hub_models import (
    DEFAULTS,
    Device,
    HubClassifier,
    WeightPrecision,
    find,
    load,
    settle,
    tweet,
)
from realtalk.ei.labels import MEASURES, NO_TEXT, Label, TurnInput
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.registry import suggest

Scale = Literal["auto", "sigmoid", "0-1", "1-5"]
_Answer: TypeAlias = "tuple[str | float, float | None] | None"  # the label and its probability

# The hub's two intimacy models (base and large) and their copies in folders.
_THROUGH_SIGMOID = "intimacy-latest"
# A regressor may miss the ends of its scale by so much of it; further off, the scale is wrong.
_OVERSHOOT = 0.1

_NO_CLASSIFIER = "no hub classifier"
_NO_NUMBER = "the model gave no number"
_OFF_SCALE = "the score is off the model's scale"


class HubLabeller:
    """Classifiers from the hub or from folders, one per measure; the rest is unscored.

    `models` maps sentiment, emotion and intimacy to a hub name, `name@revision`, or a folder;
    a measure that it leaves out is not scored. `version` names every model with its revision
    (a folder with a hash of its files), the scale of intimacy and the precision.
    """

    name = "hub"

    def __init__(
        self,
        models: Mapping[str, str] | None = None,
        *,
        device: Device = "auto",
        precision: WeightPrecision = "auto",
        scale: Scale = "auto",
        local_files_only: bool = False,
    ) -> None:
        self._device, self._precision = settle(device, precision)
        self._found: dict[str, HubClassifier] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._scale: Scale = scale
        for measure, name in (DEFAULTS if models is None else models).items():
            if measure not in DEFAULTS:
                raise suggest("hub measure", measure, list(DEFAULTS))
            self._found[measure] = classifier = find(measure, name, local_files_only)
            if measure == "intimacy":
                if scale == "auto":
                    self._scale = "sigmoid" if _THROUGH_SIGMOID in name else "1-5"
                _check_regressor(classifier)
            else:
                self._names[measure] = outputs(
                    measure, classifier.config.id2label, classifier.title
                )
        titles = {measure: classifier.title for measure, classifier in self._found.items()}
        if "intimacy" in titles:
            titles["intimacy"] += f" ({self._scale})"
        parts = [f"{measure}={titles[measure]}" for measure in MEASURES if measure in titles]
        self.version = "; ".join([*parts, self._precision])

    def label(self, inputs: Sequence[TurnInput], progress: Progress = silent) -> list[Label]:
        """One label per turn, in order. The same text is only read once."""
        texts = [tweet(given.text) for given in inputs]
        unique = list(dict.fromkeys(text for text in texts if text))
        answers: dict[str, dict[str, _Answer]] = {}
        done, total = 0, len(unique) * len(self._found)
        for measure, found in self._found.items():
            progress(done, total, f"measuring {measure}")

            def advance(count: int, what: str = measure) -> None:
                nonlocal done
                done += count
                progress(done, total, f"measuring {what}")

            with load(found, self._device, self._precision) as classifier:
                rows = classifier.logits(unique, advance)
            answers[measure] = {
                text: self._answer(measure, row) for text, row in zip(unique, rows, strict=True)
            }
        return [self._label(text, answers) for text in texts]

    def _answer(self, measure: str, row: Sequence[float]) -> _Answer:
        if not all(math.isfinite(value) for value in row):
            return None
        if measure == "intimacy":
            return row[0], None
        several = self._found[measure].config.problem_type == "multi_label_classification"
        chances = [_sigmoid(value) for value in row] if several else _softmax(row)
        by_name: dict[str, float] = {}
        for name, chance in zip(self._names[measure], chances, strict=True):
            before = by_name.get(name, 0.0)
            by_name[name] = max(before, chance) if several else before + chance
        best = max(by_name, key=lambda name: by_name[name])
        return best, by_name[best]

    def _label(self, text: str, answers: Mapping[str, Mapping[str, _Answer]]) -> Label:
        values: dict[str, Any] = {}
        unscored: dict[str, str] = {}
        for measure in MEASURES:
            if measure not in answers:
                unscored[measure] = _NO_CLASSIFIER
            elif not text:
                unscored[measure] = NO_TEXT
            elif (answer := answers[measure][text]) is None:
                unscored[measure] = _NO_NUMBER
            elif measure != "intimacy":
                values[measure], values[f"{measure}_p"] = answer
            elif (level := _level(float(answer[0]), self._scale)) is None:
                unscored[measure] = _OFF_SCALE
            else:
                values[measure] = level
        return Label(**values, unscored=unscored)


def _check_regressor(classifier: HubClassifier) -> None:
    count = int(classifier.config.num_labels)
    if count != 1:
        raise RealtalkError(
            f"it has {count} outputs where intimacy needs one score",
            where=f"intimacy model {classifier.title}",
            fix="give a regression model",
        )


def _level(raw: float, scale: Scale) -> float | None:
    """A regressor's output as 0-1, or None where it cannot be on that scale."""
    if scale == "sigmoid":
        return _sigmoid(raw)
    level = raw if scale == "0-1" else (raw - 1) / 4
    return None if not -_OVERSHOOT <= level <= 1 + _OVERSHOOT else min(max(level, 0.0), 1.0)


def _sigmoid(value: float) -> float:
    # Both forms are the same function; each is safe from overflow on its side of zero.
    return 1 / (1 + math.exp(-value)) if value >= 0 else math.exp(value) / (1 + math.exp(value))


def _softmax(row: Sequence[float]) -> list[float]:
    top = max(row)
    powers = [math.exp(value - top) for value in row]
    return [power / sum(powers) for power in powers]
