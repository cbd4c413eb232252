"""Replies and what was predicted of them → the columns of their rows.

    ReplyScorer("next_text").rows(cases, answers)[0]["rouge_1"]    → 0.12
    ReplyScorer("sentiment").rows(cases, answers)[0]["predicted"]  → 1.0

A prediction that is missing or malformed is unscored with its reason: it is left out of the
plain scores and counts as wrong in the strict ones (rows.py). A reply whose truth is not known
(no score, no words) is no fault of the predictor and counts in neither.
"""

from __future__ import annotations

from collections.abc import Sequence

from realtalk.evals.values import Answer, Row
from realtalk.metrics.similarity import encoder_shipped
from realtalk.metrics.texts import Meteor, bleu, overlap
from realtalk.threads.predictors import Value
from realtalk.threads.rows import TEXT_SCORES
from realtalk.threads.values import Target, Task
from realtalk.threads.vectors import Vectors

SCORING_VERSION = "1"


class ReplyScorer:
    """Scores predictions of one task. Keeps vectors of true texts, which all settings share."""

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

    def rows(self, targets: Sequence[Target], answers: Sequence[Answer[Value]]) -> list[Row]:
        """The columns of each prediction, in order."""
        made = [
            _columns(self.task, target, answer)
            for target, answer in zip(targets, answers, strict=True)
        ]
        if self.task == "next_text":
            self._compare([row for row in made if row["unscored"] is None is row["untold"]])
        return made

    def _compare(self, rows: Sequence[Row]) -> None:
        assert self._meteor is not None
        for row in rows:
            said, real = row["answer"], row["truth_text"]
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
        said, real = ([row[name] for row in rows] for name in ("answer", "truth_text"))
        self._vectors.add([*said, *real])
        near = (self._vectors.of(said) * self._vectors.of(real)).sum(axis=1)
        for row, value in zip(rows, near, strict=True):
            row["cosine"] = float(value)


def _columns(task: Task, target: Target, answer: Answer[Value]) -> Row:
    words = task == "next_text"
    row: Row = {
        "answer": None,
        "unscored": None,
        "untold": None,
        "left_out": [],
        "thread": target.thread,
        "domain": target.domain,
        "time": target.time.isoformat(),
        "truth": target.score,
        "predicted": None,
        "truth_text": target.text if words else None,
        **dict.fromkeys(TEXT_SCORES),
    }
    value = answer.value
    if value is None or (isinstance(value, str) and not value.strip()):
        row["unscored"] = answer.unscored or "nothing was predicted"
    elif words:
        row["answer"] = str(value)
    else:
        row |= {"predicted": float(value), "answer": _written(value)}
    if words and not target.text.strip():
        row["untold"] = "the reply has no words"
    elif not words and target.score is None:
        row["untold"] = "the reply has no score"
    return row


def _written(value: Value) -> str:
    if isinstance(value, bool):
        return "positive" if value else "negative"
    return str(value)
