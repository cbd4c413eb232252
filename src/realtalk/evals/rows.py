"""A sample and its answer → the row that every run has of it.

row_of(Sample("Q3", "Chat_1", "500w", …), Answer("in March"), {"f1": 0.8})
→ {"sample": "Q3", "group": "Chat_1", "variant": "500w", "answer": "in March", …, "f1": 0.8}
run_schema({"f1": pl.Float64})       → the columns of rows.parquet
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from realtalk.evals.values import Answer, Row, Sample

if TYPE_CHECKING:
    import polars as pl

KEY = ("sample", "group", "variant")
STAGE_KEY = ("stage",)
_COSTS = ("calls", "tokens_in", "tokens_out")


def run_schema(columns: Mapping[str, pl.DataType | type[pl.DataType]]) -> pl.Schema:
    """The columns of rows.parquet: those that every run has, then a benchmark's own."""
    import polars as pl

    return pl.Schema(
        {
            **dict.fromkeys((*KEY, "answer", "unscored", "untold"), pl.String),
            "left_out": pl.List(pl.String),
            **dict.fromkeys(_COSTS, pl.Int64),
            **columns,
        }
    )


def sample_key(sample: Sample[Any, Any]) -> tuple[str, str, str]:
    """A sample's key in a run."""
    return (sample.id, sample.group, sample.variant)


def row_of(sample: Sample[Any, Any], answer: Answer[Any], columns: Row) -> Row:
    """One row: the columns of every run, then the benchmark's; the latter win."""
    reason = answer.unscored or ("no reason" if answer.value is None else "")
    return {
        **dict(zip(KEY, sample_key(sample), strict=True)),
        "answer": None if answer.value is None else str(answer.value),
        "unscored": reason or None,
        "untold": None,
        "left_out": [],
        **{name: getattr(answer.cost, name) for name in _COSTS},
        **columns,
    }
