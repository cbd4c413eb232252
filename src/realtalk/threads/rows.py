"""What is kept of a prediction, and which scores there are.

    SCORES["mcc"]     → ScoreKind("mcc", "MCC", "sentiment", better=1, published="mcc")
    scores_of("impact")    → ("rmse", "mae", "rmse_log", "mae_log", "spearman")
    row_schema()      → setting | key | user | domain | … | truth | predicted | … | unscored

A row is one prediction of one reply in one setting. Scores of `next_text` are per row; those of
the other tasks are figures over many rows, made from `truth` and `predicted`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from realtalk.threads.values import Task

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "HEADLINES",
    "KEY",
    "SCORES",
    "TEXT_SCORES",
    "Row",
    "ScoreKind",
    "row_schema",
    "scores_of",
]

Row: TypeAlias = dict[str, Any]

KEY = ("setting", "key")


@dataclass(frozen=True, slots=True)
class ScoreKind:
    """One score. `published` is its column in the paper's table."""

    name: str
    title: str
    task: Task
    better: Literal[-1, 1]
    published: str = ""


_TABLE = (
    ScoreKind("accuracy", "accuracy", "sentiment", 1, "accuracy"),
    ScoreKind("balanced_accuracy", "balanced accuracy", "sentiment", 1),
    ScoreKind("positive_f1", "positive F1", "sentiment", 1, "f1"),
    ScoreKind("macro_f1", "macro F1", "sentiment", 1),
    ScoreKind("mcc", "MCC", "sentiment", 1, "mcc"),
    ScoreKind("rmse", "RMSE", "impact", -1, "rmse"),
    ScoreKind("mae", "MAE", "impact", -1, "mae"),
    ScoreKind("rmse_log", "RMSE (log)", "impact", -1),
    ScoreKind("mae_log", "MAE (log)", "impact", -1),
    ScoreKind("spearman", "Spearman", "impact", 1),
    ScoreKind("rouge_1", "ROUGE-1", "next_text", 1, "rouge1"),
    ScoreKind("rouge_l", "ROUGE-L", "next_text", 1, "rougeL"),
    ScoreKind("meteor", "METEOR", "next_text", 1, "meteor"),
    ScoreKind("bleu", "BLEU", "next_text", 1, "bleu"),
    ScoreKind("cosine", "cosine", "next_text", 1, "sbert"),
)
SCORES: Mapping[str, ScoreKind] = MappingProxyType({kind.name: kind for kind in _TABLE})
TEXT_SCORES = tuple(kind.name for kind in _TABLE if kind.task == "next_text")

# What to look at first: no score that a constant does well on.
HEADLINES: Mapping[Task, tuple[str, ...]] = MappingProxyType(
    {
        "sentiment": ("balanced_accuracy", "mcc"),
        "impact": ("mae_log", "spearman"),
        "next_text": ("rouge_l", "cosine"),
    }
)


def scores_of(task: Task) -> tuple[str, ...]:
    """The names of a task's scores, in the order of tables."""
    return tuple(kind.name for kind in _TABLE if kind.task == task)


def row_schema() -> pl.Schema:
    """A prediction with what it is scored by; null is unscored, with its reason."""
    import polars as pl

    kinds: dict[str, pl.DataType | type[pl.DataType]] = {
        "setting": pl.String,
        "key": pl.String,
        "thread": pl.String,
        "user": pl.String,
        "domain": pl.String,
        "time": pl.String,
        "truth": pl.Float64,  # the score
        "predicted": pl.Float64,  # sentiment: 1 or 0; impact: a score
        "truth_text": pl.String,  # next_text only
        "text": pl.String,
        **dict.fromkeys(TEXT_SCORES, pl.Float64),
        "tokens_in": pl.Int64,
        "tokens_out": pl.Int64,
        "unscored": pl.String,  # why there is no prediction to score
        "untold": pl.String,  # why there is no truth: such a row counts nowhere
        "left_out": pl.List(pl.String),  # "meteor: no wordnet", for single scores
    }
    return pl.Schema(kinds)
