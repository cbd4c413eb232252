"""A folder that `realtalk ei --out` wrote → its labels, checked.

    read_labels(Path("labels"))     → a row a turn, with the columns of `labels.LABELS`
    unscored_reasons(frame)         → [("emotion", "timeout", 3), …]

The folder or the file itself may be named.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from realtalk.errors import RealtalkError
from realtalk.measures.labels import LABELS

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LABEL_FILE", "read_labels", "unscored_reasons"]

LABEL_FILE = "labels.parquet"
_FIX = "make them with: realtalk ei PATH --out DIR"


def read_labels(path: Path) -> pl.DataFrame:
    """The labels of a folder, or of the file itself."""
    import polars as pl

    file = path / LABEL_FILE if path.is_dir() else path
    if not file.is_file():
        raise RealtalkError("no labels here", where=str(file), fix=_FIX)
    try:
        frame = pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RealtalkError("not a readable Parquet file", where=str(file), fix=_FIX) from error
    if frame.schema != LABELS:
        raise RealtalkError("has other columns than labels", where=str(file), fix=_FIX)
    return frame


def unscored_reasons(frame: pl.DataFrame) -> list[tuple[str, str, int]]:
    """What could not be measured: measure, reason, and how many turns."""
    import polars as pl

    return (
        frame.explode("unscored")
        .unnest("unscored", separator="_")
        .drop_nulls("unscored_measure")
        .group_by("unscored_measure", "unscored_reason")
        .agg(pl.len().alias("n"))
        .sort("unscored_measure", "unscored_reason")
        .rows()
    )
