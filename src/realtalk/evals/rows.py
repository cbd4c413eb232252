"""A sample and its answer → the row that every run has of it.

row_of(Sample("Q3", "Chat_1", "500w", …), Answer("in March"), {"f1": 0.8})
→ {"sample": "Q3", "group": "Chat_1", "variant": "500w", "answer": "in March", …, "f1": 0.8}
run_schema({"f1": float})       → the columns of rows.parquet
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from realtalk.evals.values import COUNTS, Answer, AnySample, Row

if TYPE_CHECKING:
    import polars as pl

KEY = ("sample", "group", "variant")
RowKey: TypeAlias = tuple[str, str, str]
STAGE_KEY = ("stage",)
FACTS_KEY = ("group",)
JUDGED_KEY = (*KEY, "judge", "wording", "prompts")


def run_schema(columns: Mapping[str, Any]) -> pl.Schema:
    """The columns of rows.parquet: those that every run has, then a benchmark's own.

    A type is a Python type: str, float, int, bool, or a list of these.
    """
    return schema_of(
        {
            **dict.fromkeys((*KEY, "answer", "unscored", "untold"), str),
            "left_out": list[str],
            **dict.fromkeys(COUNTS, int),
            **columns,
        }
    )


def schema_of(columns: Mapping[str, Any]) -> pl.Schema:
    """Columns by Python type as polars has them."""
    import polars as pl

    return pl.Schema({name: pl.DataType.from_python(kind) for name, kind in columns.items()})


def sample_key(sample: AnySample) -> RowKey:
    """A sample's key in a run."""
    return (sample.id, sample.group, sample.variant)


def row_key(row: Row) -> RowKey:
    """A row's key in a run: that of its sample."""
    return (row["sample"], row["group"], row["variant"])


def row_of(sample: AnySample, answer: Answer[Any], columns: Row) -> Row:
    """One row: the columns of every run, then the benchmark's; the latter win."""
    reason = answer.unscored or ("no reason" if answer.value is None else "")
    return {
        **dict(zip(KEY, sample_key(sample), strict=True)),
        "answer": None if answer.value is None else str(answer.value),
        "unscored": reason or None,
        "untold": None,
        "left_out": [],
        **{name: getattr(answer.cost, name) for name in COUNTS},
        **columns,
    }
