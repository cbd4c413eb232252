"""Two labellings of the same turns → how far they agree, measure by measure.

    found = agreement(embedded, judge)
    found["grounding"].kappa     → Estimate(value=0.71, low=0.66, high=0.75, n=1204, left_out=3)
    found["empathy"].qwk, found["empathy"].pearson
    found["sentiment"].confusion → rows the first's labels, columns the second's
    found.only_first             → turns that the second does not have

A turn is known by its chat and its messages. Labels in steps are compared as they are;
empathy is taken to the nearest whole number, and intimacy to the nearest of five steps
(0, .25, .5, .75, 1), for QWK, the same-label share and the confusion. Pearson takes the
scores as they are.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from realtalk.cells import is_nothing
from realtalk.ei.labels import MEASURED
from realtalk.ei.languages import Languages, chat_languages, languages_json
from realtalk.ei.values import interval_method
from realtalk.errors import RealtalkError
from realtalk.metrics.statistics import (
    Estimate,
    bootstrap_interval,
    cohen_kappa,
    pearson,
    weighted_kappa,
    wilson,
)

Step: TypeAlias = str | int
# Of a score how many steps a whole has, and what the steps of every column are called.
_PER_WHOLE = {measure.name: measure.steps for measure in MEASURED if measure.is_score}
_STEPS: dict[str, tuple[Step, ...]] = {
    measure.name: measure.words or ("false", "true") for measure in MEASURED if not measure.is_score
}
for _score in MEASURED:
    if _score.most is not None:
        _PER_WHOLE |= {f"{part}_level": 1 for part in _score.parts}
        _STEPS |= {f"{part}_level": (0, 1, 2) for part in _score.parts}
        _STEPS[_score.name] = tuple(range(round(_score.most * _score.steps) + 1))
_KEY = ("chat", "message_ids")


@dataclass(frozen=True, slots=True)
class MeasureAgreement:
    """One measure over the turns in both. What does not apply to the measure is None.

    `n` turns are labelled by both, `unscored_first` and `unscored_second` lack a label of
    that side (a turn may lack both). `steps` are the labels; `confusion` counts turns, its
    rows the first's label and its columns the second's.
    """

    measure: str
    n: int
    unscored_first: int
    unscored_second: int
    same: Estimate  # share of turns with the same label
    kappa: Estimate | None
    qwk: Estimate | None
    pearson: Estimate | None
    steps: tuple[Step, ...]
    confusion: tuple[tuple[int, ...], ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "n": self.n,
            "unscored_first": self.unscored_first,
            "unscored_second": self.unscored_second,
            **{name: estimate.to_json() for name, estimate in self.estimates()},
            "steps": list(self.steps),
            "confusion": [list(row) for row in self.confusion],
        }

    def estimates(self) -> Iterator[tuple[str, Estimate]]:
        for name in ("same", "kappa", "qwk", "pearson"):
            if (estimate := getattr(self, name)) is not None:
                yield name, estimate


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two labellings, each named by how it was measured, and their agreement."""

    first: str
    second: str
    turns: int  # in both
    only_first: int
    only_second: int
    measures: tuple[MeasureAgreement, ...]
    languages: tuple[tuple[Languages, ...], tuple[Languages, ...]] = ((), ())  # of either side

    def __getitem__(self, measure: str) -> MeasureAgreement:
        return next(row for row in self.measures if row.measure == measure)

    @property
    def coverage(self) -> str:
        """Which turns it is about, in words."""
        return (
            f"{self.turns:,} turns are in both, {self.only_first:,} in the first only, "
            f"{self.only_second:,} in the second only"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "first": self.first,
            "second": self.second,
            "turns": self.turns,
            "only_first": self.only_first,
            "only_second": self.only_second,
            "interval_method": interval_method(
                "percentile bootstrap over turns; Fisher's for Pearson, Wilson's where all labels "
                "agree or none"
            ),
            "languages": dict(
                zip(("first", "second"), map(languages_json, self.languages), strict=True)
            ),
            "measures": {row.measure: row.to_json() for row in self.measures},
        }


def agreement(first: pl.DataFrame, second: pl.DataFrame) -> Agreement:
    """How far two tables of labels agree on the turns that both have."""
    sides = [_with_key(frame, which) for frame, which in ((first, "first"), (second, "second"))]
    both = sides[0].join(sides[1], on="key", how="inner", suffix="/2", maintain_order="left")
    if both.is_empty():
        raise RealtalkError(
            "the two tables of labels have no turn in common",
            fix="label the same chats, with the same protocol, in both ways",
        )
    return Agreement(
        _name(first),
        _name(second),
        both.height,
        first.height - both.height,
        second.height - both.height,
        tuple(
            _measure_agreement(name, both[name].to_list(), both[f"{name}/2"].to_list())
            for name in _STEPS
        ),
        (chat_languages(first), chat_languages(second)),
    )


def _with_key(frame: pl.DataFrame, which: str) -> pl.DataFrame:
    missing = [name for name in (*_KEY, *_STEPS, "measure") if name not in frame.columns]
    if missing:
        raise RealtalkError(
            f"not a table of labels: the {which} has no column '{missing[0]}'",
            fix="label a corpus with `out=DIR`",
        )
    keyed = frame.select(
        pl.struct("chat", pl.col("message_ids").list.join("\0")).alias("key"), *_STEPS
    )
    if keyed["key"].is_duplicated().any():
        raise RealtalkError(f"the {which} table of labels holds a turn twice")
    return keyed


def _name(frame: pl.DataFrame) -> str:
    columns = [name for name in ("measure", "version") if name in frame.columns]
    ways = frame.select(columns).unique(maintain_order=True).rows()
    return "; ".join(", ".join(str(part) for part in way if part) for way in ways)


def _measure_agreement(measure: str, first: list[Any], second: list[Any]) -> MeasureAgreement:
    first_steps, second_steps = (
        [_step(measure, value) for value in side] for side in (first, second)
    )
    pairs = [
        (a, b)
        for a, b in zip(first_steps, second_steps, strict=True)
        if a is not None and b is not None
    ]
    steps = _STEPS[measure]
    counts = Counter(pairs)
    if not set(steps).issuperset(step for pair in counts for step in pair):
        raise RealtalkError(f"a label of '{measure}' is not one that the measure has")
    is_stepped = measure in _PER_WHOLE
    return MeasureAgreement(
        measure,
        len(pairs),
        first_steps.count(None),
        second_steps.count(None),
        _same(pairs, len(first_steps) - len(pairs)),
        None if is_stepped else cohen_kappa(first_steps, second_steps),
        weighted_kappa(first_steps, second_steps) if is_stepped else None,
        pearson(first, second) if is_stepped else None,
        steps,
        tuple(tuple(counts[a, b] for b in steps) for a in steps),
    )


def _step(measure: str, value: Any) -> Any:
    """The label that a value is compared as; None where there is none."""
    if is_nothing(value):
        return None
    if measure not in _PER_WHOLE:
        return str(value).lower()
    return math.floor(float(value) * _PER_WHOLE[measure] + 0.5)


def _same(pairs: Sequence[tuple[Step, Step]], left_out: int) -> Estimate:
    if not pairs:
        return Estimate(None, left_out=left_out, unscored="no pair of labels")
    hits = np.array([a == b for a, b in pairs], dtype=np.float64)
    # All the same: nothing else could be drawn.
    interval = bootstrap_interval((hits,), np.mean) if np.ptp(hits) else wilson(hits.tolist())
    return Estimate(float(hits.mean()), *interval, len(pairs), left_out)
