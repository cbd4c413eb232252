"""What is kept of a prediction, and which scores there are.

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

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from realtalk.evals.values import Parts, Row, Score, column
from realtalk.metrics.statistics import Array
from realtalk.metrics.sums import CLASSIFICATION, REGRESSION, confusion, residuals
from realtalk.threads.values import Task

_ENDS = (0.01, 0.99)

READING = (
    "figure [95 % interval, drawing whole users]; strict: what is unscored counts as wrong. The "
    "paper's rows are of other data, without intervals; its GPT rows are the best of ten answers "
    "a score, and its F1 is not the same in all rows: compare our rows with each other"
)
# The score of a task that chance and a skewed share of answers flatter least.
HEADLINE: Mapping[Task, str] = MappingProxyType(
    {"sentiment": "mcc", "impact": "mae_log", "next_text": "cosine"}
)
# What to look at first: no score that a constant does well on.
HEADLINES: Mapping[Task, tuple[str, ...]] = MappingProxyType(
    {
        "sentiment": ("balanced_accuracy", "mcc"),
        "impact": ("mae_log", "spearman"),
        "next_text": ("rouge_l", "cosine"),
    }
)


def _placed(rows: Sequence[Row], kept: Sequence[bool], lines: Array) -> Array:
    """Lines at the places of the rows that have them, NaN elsewhere."""
    placed = np.full((len(rows), lines.shape[1]), np.nan)
    placed[np.asarray(kept, dtype=bool)] = lines
    return placed


def _answered(row: Row) -> bool:
    return row["unscored"] is None and row["untold"] is None


def _classes(rows: Sequence[Row]) -> Array:
    kept = [_answered(row) for row in rows]
    pairs = [(row["truth"] > 0, row["predicted"] > 0) for row in rows if _answered(row)]
    return _placed(rows, kept, confusion([real for real, _ in pairs], [said for _, said in pairs]))


def _classes_strictly(rows: Sequence[Row]) -> Array:
    told = [row for row in rows if row["untold"] is None]
    real = [row["truth"] > 0 for row in told]
    said = [
        not positive if row["predicted"] is None else row["predicted"] > 0
        for row, positive in zip(told, real, strict=True)
    ]
    return _placed(rows, [row["untold"] is None for row in rows], confusion(real, said))


def _numbers(rows: Sequence[Row]) -> Array:
    kept = [row for row in rows if _answered(row)]
    lines = residuals([row["truth"] for row in kept], [row["predicted"] for row in kept])
    return _placed(rows, [_answered(row) for row in rows], lines)


def _numbers_strictly(rows: Sequence[Row]) -> Array:
    told = [row for row in rows if row["untold"] is None]
    truth = [float(row["truth"]) for row in told]
    numbers = [row["predicted"] for row in told]
    if None in numbers:
        low, high = np.quantile(truth, _ENDS)
        numbers = [
            (low if value - low > high - value else high) if said is None else said
            for said, value in zip(numbers, truth, strict=True)
        ]
    return _placed(rows, [row["untold"] is None for row in rows], residuals(truth, numbers))


def _text_strictly(name: str) -> Parts:
    """A text that is missing is 0, unless no text has the score at all (METEOR without WordNet)."""
    plain = column(name)

    def parts(rows: Sequence[Row]) -> Array:
        lines = plain(rows)
        said = [row for row in rows if row["unscored"] is None]
        if not said or any(row[name] is not None for row in said):
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
    if task == "sentiment":
        return Score(
            name,
            title,
            parts=_classes,
            figure=CLASSIFICATION[name],
            strict=_classes_strictly,
            proportion=name == "accuracy",
            published=published,
        )
    if task == "impact":
        return Score(
            name,
            title,
            better=1 if name == "spearman" else -1,
            parts=_numbers,
            figure=REGRESSION[name],
            strict=_numbers_strictly,
            digits=_DIGITS.get(name, 3),
            published=published,
        )
    return Score(name, title, parts=column(name), strict=_text_strictly(name), published=published)


_OF_TASK: Mapping[Task, tuple[Score, ...]] = {
    task: tuple(_score(task, *described) for described in scores) for task, scores in _TASKS.items()
}
SCORES: Mapping[str, Score] = MappingProxyType(
    {score.name: score for scores in _OF_TASK.values() for score in scores}
)
TEXT_SCORES = tuple(score.name for score in _OF_TASK["next_text"])


def scores_of(task: Task) -> tuple[Score, ...]:
    """A task's scores, in the order of tables."""
    return _OF_TASK[task]


# The columns of a prediction beyond those of every run.
COLUMNS: Mapping[str, Any] = MappingProxyType(
    {
        "thread": str,
        "domain": str,
        "time": str,
        "truth": float,  # the score
        "predicted": float,  # sentiment: 1 or 0; impact: a score
        "truth_text": str,  # next_text only
        **dict.fromkeys(TEXT_SCORES, float),
    }
)
