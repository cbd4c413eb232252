"""Replies and what was predicted of them → the columns of their rows.

    ReplyScorer("next_text").rows(cases, answers)[0]["rouge_1"]    → 0.12
    ReplyScorer("sentiment").rows(cases, answers)[0]["predicted"]  → 1.0

A prediction that is missing or malformed is unscored with its reason: it is left out of the
plain scores and counts as wrong in the strict ones. A reply whose truth is not known
(no score, no words) is no fault of the predictor and counts in neither.

What is kept of a prediction, and which scores there are.

    SCORES["mcc"]          → Score("mcc", "MCC", better=1, published="mcc", …)
    scores_of("impact")    → the Scores rmse, mae, rmse_log, mae_log, spearman
    COLUMNS                → thread | domain | time | truth | predicted | truth_text | rouge_1 | …

A row is one prediction of one reply in one setting: its sample is the reply, its group the user,
its variant the setting. Scores of `next_text` are per row; those of the other tasks are figures
over many rows, made from `truth` and `predicted`. Wrong means, in the strict scores: the other
class; for a number the 1st or the 99th percentile of the true scores, whichever is farther off;
for a text 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np

from realtalk.evals.values import Answer, Parts, Row, Score, column
from realtalk.metrics.statistics import Array
from realtalk.metrics.sums import CLASSIFICATION, REGRESSION, confusion, residuals
from realtalk.metrics.texts import Meteor, bleu, overlap
from realtalk.threads.predictors import Value
from realtalk.threads.values import Target, Task
from realtalk.threads.vectors import Vectors

_ENDS = (0.01, 0.99)

READING = (
    "figure [95 % interval, drawing whole users]; strict: what is unscored counts as wrong. The "
    "paper's rows are of other data, without intervals; its GPT rows are the best of ten answers "
    "a score, and its F1 is not the same in all rows: compare our rows with each other"
)
# The score of a task that chance and a skewed share of answers flatter least.
HEADLINE: Mapping[Task, str] = {"sentiment": "mcc", "impact": "mae_log", "next_text": "cosine"}
# What to look at first: no score that a constant does well on.
HEADLINES: Mapping[Task, tuple[str, ...]] = {
    "sentiment": ("balanced_accuracy", "mcc"),
    "impact": ("mae_log", "spearman"),
    "next_text": ("rouge_l", "cosine"),
}


def _place_lines(
    rows: Sequence[Row], make: Callable[[Sequence[Row]], Array], strict: bool
) -> Array:
    """Lines of the rows that have them, NaN elsewhere; strictly, unscored rows have them, too."""
    complete = [row["untold"] is None and (strict or row["unscored"] is None) for row in rows]
    lines = make([row for row, keep in zip(rows, complete, strict=True) if keep])
    placed = np.full((len(rows), lines.shape[1]), np.nan)
    placed[np.asarray(complete, dtype=bool)] = lines
    return placed


def _classes(rows: Sequence[Row]) -> Array:
    real = [row["truth"] > 0 for row in rows]
    answers = [
        not positive if row["predicted"] is None else row["predicted"] > 0
        for row, positive in zip(rows, real, strict=True)
    ]
    return confusion(real, answers)


def _numbers(rows: Sequence[Row]) -> Array:
    truth = [float(row["truth"]) for row in rows]
    numbers = [row["predicted"] for row in rows]
    if None in numbers:
        low, high = np.quantile(truth, _ENDS)
        numbers = [
            (low if value - low > high - value else high) if number is None else number
            for number, value in zip(numbers, truth, strict=True)
        ]
    return residuals(truth, numbers)


def _text_strictly(name: str) -> Parts:
    """A text that is missing is 0, unless no text has the score at all (METEOR without WordNet)."""
    plain = column(name)

    def parts(rows: Sequence[Row]) -> Array:
        lines = plain(rows)
        answered_rows = [row for row in rows if row["unscored"] is None]
        if not answered_rows or any(row[name] is not None for row in answered_rows):
            missing = [row["unscored"] is not None and row["untold"] is None for row in rows]
            lines[np.asarray(missing, dtype=bool), 0] = 0.0
        return lines

    return parts


_TASKS: Mapping[Task, tuple[tuple[str, ...], ...]] = {
    "sentiment": (
        ("accuracy", "accuracy", "accuracy"),
        ("balanced_accuracy", "balanced accuracy"),
        ("positive_f1", "positive F1", "f1"),
        ("macro_f1", "macro F1"),
        ("mcc", "MCC", "mcc"),
    ),
    "impact": (
        ("rmse", "RMSE", "rmse"),
        ("mae", "MAE", "mae"),
        ("rmse_log", "RMSE (log)"),
        ("mae_log", "MAE (log)"),
        ("spearman", "Spearman"),
    ),
    "next_text": (
        ("rouge_1", "ROUGE-1", "rouge1"),
        ("rouge_l", "ROUGE-L", "rougeL"),
        ("meteor", "METEOR", "meteor"),
        ("bleu", "BLEU", "bleu"),
        ("cosine", "cosine", "sbert"),
    ),
}
_DIGITS = {"rmse": 1, "mae": 2}


def _score(task: Task, name: str, title: str, published: str = "") -> Score:
    if task == "next_text":
        strict = _text_strictly(name)
        return Score(name, title, parts=column(name), strict=strict, published=published)
    lines, figures = (_classes, CLASSIFICATION) if task == "sentiment" else (_numbers, REGRESSION)
    return Score(
        name,
        title,
        better=-1 if task == "impact" and name != "spearman" else 1,
        parts=partial(_place_lines, make=lines, strict=False),
        figure=figures[name],
        strict=partial(_place_lines, make=lines, strict=True),
        proportion=name == "accuracy",
        digits=_DIGITS.get(name, 3),
        published=published,
    )


_OF_TASK: Mapping[Task, tuple[Score, ...]] = {
    task: tuple(_score(task, *described) for described in scores) for task, scores in _TASKS.items()
}
SCORES: Mapping[str, Score] = {
    score.name: score for scores in _OF_TASK.values() for score in scores
}
TEXT_SCORES = tuple(score.name for score in _OF_TASK["next_text"])


def scores_of(task: Task) -> tuple[Score, ...]:
    """A task's scores, in the order of tables."""
    return _OF_TASK[task]


# The columns of a prediction beyond those of every run.
COLUMNS: Mapping[str, Any] = {
    "thread": str,
    "domain": str,
    "time": str,
    "truth": float,  # the score
    "predicted": float,  # sentiment: 1 or 0; impact: a score
    "truth_text": str,  # next_text only
    **dict.fromkeys(TEXT_SCORES, float),
}

SCORING_VERSION = "1"


class ReplyScorer:
    """Scores predictions of one task. Keeps vectors of true texts, which all settings share."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._vectors = Vectors()

    @cached_property
    def _meteor(self) -> Meteor:
        return Meteor()

    @property
    def settings(self) -> dict[str, str]:
        """What the scores depend on."""
        if self.task != "next_text":
            return {"version": SCORING_VERSION}
        meteor, cosine = self._meteor.version, self._vectors.version
        return {"version": SCORING_VERSION, "meteor": meteor, "cosine": cosine}

    def rows(self, targets: Sequence[Target], answers: Sequence[Answer[Value]]) -> list[Row]:
        """The columns of each prediction, in order."""
        rows = [
            _columns(self.task, target, answer)
            for target, answer in zip(targets, answers, strict=True)
        ]
        if self.task == "next_text":
            self._compare([row for row in rows if row["unscored"] is None is row["untold"]])
        return rows

    def _compare(self, rows: Sequence[Row]) -> None:
        answers, real = ([row[name] for row in rows] for name in ("answer", "truth_text"))
        self._vectors.add([*answers, *real])
        near = (self._vectors.of(answers) * self._vectors.of(real)).sum(axis=1)
        for row, *pair, cosine in zip(rows, answers, real, near, strict=True):
            if (shared := overlap(*pair)) is None:
                row["left_out"] += [f"{name}: no word" for name in ("rouge_1", "rouge_l")]
            else:
                row |= {"rouge_1": shared.rouge_1, "rouge_l": shared.rouge_l}
            meteor = self._meteor.score(*pair)
            row |= {"bleu": bleu(*pair), "meteor": meteor, "cosine": float(cosine)}
            if meteor is None:
                row["left_out"].append(f"meteor: {self._meteor.missing or 'no word'}")


def _columns(task: Task, target: Target, answer: Answer[Value]) -> Row:
    words = task == "next_text"
    row: Row = {
        **dict.fromkeys(("answer", "unscored", "untold", *COLUMNS)),
        "left_out": [],
        "thread": target.thread,
        "domain": target.domain,
        "time": target.time.isoformat(),
        "truth": target.score,
        "truth_text": target.text if words else None,
    }
    value = answer.value
    if value is None or (isinstance(value, str) and not value.strip()):
        row["unscored"] = answer.unscored or "nothing was predicted"
    elif words:
        row["answer"] = str(value)
    else:
        label = "positive" if value else "negative"
        answered = label if isinstance(value, bool) else str(value)
        row |= {"predicted": float(value), "answer": answered}
    if words and not target.text.strip():
        row["untold"] = "the reply has no words"
    elif not words and target.score is None:
        row["untold"] = "the reply has no score"
    return row
