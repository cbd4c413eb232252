"""Predictions as a table to be shared, replies and people by number and without a text.

    key = PredictionKey("reddit", "clean", 0, "recent", "sentiment", "regression")
    write_shared([shared_frame(key, rows)], Path("shared.parquet"))
    load_predictions([Path("shared.parquet")])[key]      → rows as of a run, texts apart
    load_predictions([Path("run")])                      → a folder that `threads run` wrote

    corpus | rules | shots | history | task | predictor | setting | reply | user | domain | truth
    | predicted | positive | taken | rouge_1 | … | unscored | untold | tokens_in | tokens_out

Beside what every run has, two columns of those who score a language model elsewhere: `positive`,
how likely it found the first word of its answer to be that, and `taken`, how much its text looks
like the person's by who-wrote-it (above .5 it is taken for theirs). Both have a score here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.evals.run import Run
from realtalk.evals.values import Row, Score
from realtalk.files.writing import write_parquet
from realtalk.metrics.statistics import Array
from realtalk.threads.benchmark import KIND, task_of
from realtalk.threads.scoring import TEXT_SCORES, scores_of
from realtalk.threads.values import TASKS, Task
from research.papers.auc import auc, placements

if TYPE_CHECKING:
    import polars as pl

_DIGITS = 4  # of a score in the table: more tell nothing and take room


@dataclass(frozen=True, slots=True)
class PredictionKey:
    """Whose predictions of what. `rules` is a protocol's name, or a leak that is on alone."""

    corpus: str
    rules: str
    shots: int
    history: str
    task: str
    predictor: str


Predictions: TypeAlias = Mapping[PredictionKey, Sequence[Row]]
_KEY = tuple(each.name for each in fields(PredictionKey))
_SCORES = ("positive", "taken", *TEXT_SCORES)
_NUMBERS = ("truth", "predicted")
_COUNTS = ("tokens_in", "tokens_out")
_REASONS = ("unscored", "untold")
_NEEDED = frozenset({"rules", "task", "predictor", "setting", "reply", "user", "truth"})
# What a table that does not have a column means by that.
_ABSENT: Mapping[str, Any] = MappingProxyType(
    {"corpus": "", "shots": 0, "history": "recent", "domain": "", "predicted": None}
    | dict.fromkeys((*_SCORES, *_REASONS))
    | dict.fromkeys(_COUNTS, 0)
)


def _likely(rows: Sequence[Row]) -> Array:
    """What AUC sums, of answers that could be read."""
    lines = np.full((len(rows), 4), np.nan)
    kept = [
        at
        for at, row in enumerate(rows)
        if row["unscored"] is None is row["untold"] and row.get("positive") is not None
    ]
    truths, likely = [rows[at]["truth"] > 0 for at in kept], [rows[at]["positive"] for at in kept]
    lines[kept] = placements(truths, likely)
    return lines


def _taken(rows: Sequence[Row]) -> Array:
    values = [row.get("taken") for row in rows]
    hits = [np.nan if value is None else float(value > 0.5) for value in values]
    return np.array([hits, np.ones(len(rows))], dtype=np.float64).T.reshape(-1, 2)


_MORE: Mapping[Task, tuple[Score, ...]] = {
    "sentiment": (Score("auc", "AUC", parts=_likely, figure=auc),),
    "impact": (),
    "next_text": (Score("taken", "taken for them", parts=_taken, proportion=True),),
}
SHARED_SCORES: Mapping[Task, tuple[Score, ...]] = MappingProxyType(
    {task: (*scores_of(task), *_MORE[task]) for task in TASKS}
)


def shared_frame(key: PredictionKey, rows: Sequence[Row]) -> pl.DataFrame:
    """The rows of one run, without texts; replies and people are numbered by `write_shared`."""
    import polars as pl

    columns = {name: [row.get(name, _ABSENT[name]) for row in rows] for name in _ABSENT}
    number, count, word = pl.Float32, pl.Int32, pl.String
    kinds: dict[str, Any] = {
        **dict.fromkeys(_KEY, word),
        "shots": count,
        **dict.fromkeys(("setting", "reply", "user", "domain"), word),
        **dict.fromkeys((*_NUMBERS, *_SCORES), number),
        **dict.fromkeys(_REASONS, word),
        **dict.fromkeys(_COUNTS, count),
    }
    columns |= {name: [value] * len(rows) for name, value in zip(_KEY, astuple(key), strict=True)}
    columns |= {
        ours: [row[theirs] for row in rows]
        for ours, theirs in (("setting", "variant"), ("reply", "sample"), ("user", "group"))
    }
    columns["truth"] = [row["truth"] for row in rows]
    frame = pl.DataFrame({name: columns[name] for name in kinds}, schema=kinds, strict=False)
    return frame.with_columns(pl.col(_SCORES).round(_DIGITS))


def write_shared(frames: Iterable[pl.DataFrame], path: Path) -> int:
    """All of them as one table; how many rows it has. Columns that nobody filled are left out."""
    import polars as pl

    table = pl.concat(frames)
    # Numbers pair and draw as well as names do. Two corpora may use the same names.
    told = [pl.concat_str("corpus", pl.lit("\t"), name).alias(name) for name in ("reply", "user")]
    table = table.with_columns(told)
    table = table.with_columns((pl.col("reply", "user").rank("dense") - 1).cast(pl.Int32))
    empty = [name for name in _ABSENT if table[name].null_count() == table.height]
    words = [name for name, kind in table.schema.items() if kind == pl.String]
    table = table.drop(empty).with_columns(
        pl.col([name for name in words if name not in empty]).cast(pl.Categorical)
    )
    write_parquet(path, table, level=19)
    return table.height


class StoredPredictions(Mapping[PredictionKey, Sequence[Row]]):
    """Rows by key; those of a table are made when they are asked for."""

    def __init__(self, parts: Mapping[PredictionKey, Callable[[], Sequence[Row]]]) -> None:
        self._parts = parts

    def __getitem__(self, key: PredictionKey) -> Sequence[Row]:
        return self._parts[key]()

    def __iter__(self) -> Iterator[PredictionKey]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def load_predictions(paths: Iterable[Path]) -> StoredPredictions:
    """Everything that these tables and run folders hold; of two with one key the first counts."""
    parts: dict[PredictionKey, Callable[[], Sequence[Row]]] = {}
    for path in paths:
        for key, rows in _of_run(path) if path.is_dir() else _of_table(path):
            parts.setdefault(key, rows)
    return StoredPredictions(parts)


def _of_run(folder: Path) -> Iterator[tuple[PredictionKey, Callable[[], Sequence[Row]]]]:
    run = Run.load(folder, KIND)
    rules, solver = run.settings["protocol"], run.settings["solver"]
    model = (solver.get("settings") or {}).get("model")
    key = PredictionKey(
        corpus=str((run.settings.get("corpus") or {}).get("name", "")),
        rules=str(rules["protocol"]),
        shots=int(rules.get("shots", 0)),
        history=str(rules.get("chosen", "recent")),
        task=task_of(run),
        predictor=str(model or run.name.partition(" [")[0]),
    )
    yield key, lambda: run.rows


def _of_table(path: Path) -> Iterator[tuple[PredictionKey, Callable[[], Sequence[Row]]]]:
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise RealtalkError(
            "is no folder of a run and cannot be read as Parquet", where=str(path)
        ) from error
    if missing := _NEEDED - set(frame.columns):
        raise RealtalkError(
            f"is no table of predictions: it has no column '{min(missing)}'",
            where=str(path),
            fix="name what `realtalk threads run` wrote, or a table of shared rows",
        )
    frame = frame.with_columns(
        pl.lit(value).alias(name) for name, value in _ABSENT.items() if name not in frame.columns
    )
    for key, part in frame.partition_by(_KEY, as_dict=True, maintain_order=True).items():
        yield PredictionKey(*key), partial(_rows, part.drop(_KEY))


def _rows(part: pl.DataFrame) -> list[Row]:
    return [
        {
            **row,
            "sample": str(row["reply"]),
            "group": str(row["user"]),
            "variant": row["setting"],
            "left_out": (),
            "calls": int(row["tokens_in"] > 0),
        }
        for row in part.iter_rows(named=True)
    ]
