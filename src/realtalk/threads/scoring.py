"""Samples and what was predicted of them → rows, with the scores that a row has by itself.

    Scorer("next_text").rows(samples, predictions)[0]["rouge_1"]    → 0.12
    Scorer("sentiment").rows(samples, predictions)[0]["predicted"]  → 1.0

A prediction that is missing or malformed is unscored with its reason: it is left out of the
plain scores and counts as wrong in the strict ones (summaries.py). A reply whose truth is not
known (no score, no words) is no fault of the predictor and counts in neither.
"""

from __future__ import annotations

from collections.abc import Sequence

from realtalk.metrics.generation import Meteor, bleu
from realtalk.metrics.overlap import overlap
from realtalk.metrics.similarity import encoder_shipped
from realtalk.threads.predictors import Prediction
from realtalk.threads.rows import TEXT_SCORES, Row
from realtalk.threads.values import Sample, Task
from realtalk.threads.vectors import Vectors

__all__ = ["SCORING_VERSION", "Scorer"]

SCORING_VERSION = "1"


class Scorer:
    """Scores rows of one task. Keeps vectors of the true texts, which every setting shares."""

    def __init__(self, task: Task) -> None:
        self.task = task
        words = task == "next_text"
        self._meteor = Meteor() if words else None
        self._vectors = Vectors() if words and encoder_shipped() else None

    @property
    def settings(self) -> dict[str, str]:
        """What the scores depend on."""
        found = {"version": SCORING_VERSION}
        if self._meteor is not None:
            found["meteor"] = self._meteor.version
            found["cosine"] = "none" if self._vectors is None else self._vectors.version
        return found

    def rows(self, samples: Sequence[Sample], predictions: Sequence[Prediction]) -> list[Row]:
        """A row a sample, in order."""
        made = [_row(*pair) for pair in zip(samples, predictions, strict=True)]
        if self.task == "next_text":
            self._compare([row for row in made if row["unscored"] is None is row["untold"]])
        return made

    def _compare(self, rows: Sequence[Row]) -> None:
        assert self._meteor is not None
        for row in rows:
            said, real = row["text"], row["truth_text"]
            if (shared := overlap(said, real)) is None:
                row["left_out"] += [f"{name}: no word" for name in ("rouge_1", "rouge_l")]
            else:
                row |= {"rouge_1": shared.rouge_1, "rouge_l": shared.rouge_l}
            row |= {"bleu": bleu(said, real), "meteor": self._meteor.score(said, real)}
            if row["meteor"] is None:
                row["left_out"].append(f"meteor: {self._meteor.missing or 'no word'}")
        if self._vectors is None:
            for row in rows:
                row["left_out"].append("cosine: no encoder")
            return
        said, real = ([row[name] for row in rows] for name in ("text", "truth_text"))
        self._vectors.add([*said, *real])
        near = (self._vectors.of(said) * self._vectors.of(real)).sum(axis=1)
        for row, value in zip(rows, near, strict=True):
            row["cosine"] = float(value)


def _row(sample: Sample, prediction: Prediction) -> Row:
    if sample.key != prediction.key:
        raise ValueError("predictions are not in the order of their samples")
    target, value = sample.target, prediction.value
    words = sample.task == "next_text"
    row: Row = {
        "setting": sample.setting,
        "key": sample.key,
        "thread": target.thread,
        "user": target.user,
        "domain": target.domain,
        "time": target.time.isoformat(),
        "truth": target.score,
        "predicted": None,
        "truth_text": target.text if words else None,
        "text": None,
        **dict.fromkeys(TEXT_SCORES),
        "tokens_in": prediction.tokens_in,
        "tokens_out": prediction.tokens_out,
        "unscored": None,
        "untold": None,
        "left_out": [],
    }
    if value is None or (isinstance(value, str) and not value.strip()):
        row["unscored"] = prediction.unscored or "nothing was predicted"
    elif words:
        row["text"] = str(value)
    else:
        row["predicted"] = float(value)
    if words and not target.text.strip():
        row["untold"] = "the reply has no words"
    elif not words and target.score is None:
        row["untold"] = "the reply has no score"
    return row
