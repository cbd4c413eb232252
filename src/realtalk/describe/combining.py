"""Figures of some chats each → the figures of the whole corpus, equal to the last digit.

    combine("archive", "whatsapp", (count_chats(part) for part in parts))   → CorpusStats
    StatsPart.from_json(part.to_json()) == part                             # what workers write

How many parts there are makes no difference, because nothing is rounded before the end. Counts
are added as whole numbers. A mean is the sum of whole microseconds (or messages) divided once.
A median and the bins come from how often every value occurs: as many numbers as there are
different gaps, some ten thousand where clocks show seconds. Intervals are drawn from the rows of
chats, which are kept: a few hundred bytes each.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np
import polars as pl

from realtalk.cells import WEEKDAYS
from realtalk.describe.values import Bin, ChatStats, CorpusStats, Distribution, SpeakerStats

MINUTE = 60e6  # microseconds
COUNTS = pl.Schema({"value": pl.Int64, "count": pl.Int64})
_BINS_PER_DECADE = 4
_LOOSE = 1 << 17  # values that wait to be added up

Week = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class StatsPart:
    """What is counted of some chats; all chats of a corpus are in one part each."""

    chats: tuple[ChatStats, ...]
    gaps: pl.DataFrame  # microseconds between speakers, and how often
    backwards: int
    runs: pl.DataFrame  # messages in a row, and how often
    week: Week

    def to_json(self) -> dict[str, Any]:
        """What orjson writes: it knows dataclasses and times."""
        return {
            "chats": self.chats,
            "gaps": self.gaps.to_dict(as_series=False),
            "backwards": self.backwards,
            "runs": self.runs.to_dict(as_series=False),
            "week": self.week,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> StatsPart:
        return cls(
            tuple(_chat(entry) for entry in stored["chats"]),
            pl.DataFrame(stored["gaps"], schema=COUNTS),
            stored["backwards"],
            pl.DataFrame(stored["runs"], schema=COUNTS),
            tuple(tuple(day) for day in stored["week"]),
        )


def combine(name: str, format_name: str, parts: Iterable[StatsPart]) -> CorpusStats:
    """The corpus whose chats are in the parts, in their order; one part at a time is held."""
    chats: list[ChatStats] = []
    gaps, runs = _Tally(), _Tally()
    week = np.zeros((len(WEEKDAYS), 24), np.int64)
    backwards = 0
    for part in parts:
        chats += part.chats
        gaps.add(part.gaps)
        runs.add(part.runs)
        backwards += part.backwards
        week += part.week
    lengths = runs.counts()
    return CorpusStats(
        name,
        format_name,
        tuple(chats),
        _distribution(gaps.counts(), MINUTE),
        backwards,
        _bins(gaps.counts()),
        _distribution(lengths),
        tuple((int(length), int(count)) for length, count in lengths.iter_rows()),
        tuple(map(tuple, week.tolist())),
    )


def mean(total: int, n: int, unit: float = 1) -> float | None:
    """The sum of whole numbers divided once, correctly rounded; None of nothing."""
    return total / (n * int(unit)) if n else None


def in_units(value: int, unit: float) -> float:
    """A whole number of messages stays one; microseconds become minutes."""
    return value if unit == 1 else value / unit


class _Tally:
    """How often each value occurs, added up whenever enough values have come."""

    def __init__(self) -> None:
        self._waiting = [pl.DataFrame(schema=COUNTS)]

    def add(self, counts: pl.DataFrame) -> None:
        self._waiting.append(counts)
        if sum(counts.height for counts in self._waiting[1:]) > _LOOSE:
            self.counts()

    def counts(self) -> pl.DataFrame:
        if len(self._waiting) > 1:
            every = pl.concat(self._waiting)
            self._waiting = [every.group_by("value").agg(pl.col("count").sum()).sort("value")]
        return self._waiting[0]


def _distribution(counts: pl.DataFrame, unit: float = 1) -> Distribution:
    n = int(counts["count"].sum())
    if not n:
        return Distribution(0, None, None, None)
    # Whole numbers of Python: a sum of microseconds may be beyond what a float holds exactly.
    total = sum(value * count for value, count in counts.iter_rows())
    last = counts["count"].cum_sum()
    low, high = (
        counts["value"][int(last.search_sorted(rank + 1, side="left"))]
        for rank in ((n - 1) // 2, n // 2)
    )
    most = in_units(counts["value"][-1], unit)
    return Distribution(n, mean(total, n, unit), (low + high) / 2 / unit, most)


def _bins(gaps: pl.DataFrame) -> tuple[Bin, ...]:
    """Equal steps on a log scale from one second on; shorter gaps share the first bin."""
    seconds = gaps["value"] / MINUTE * 60
    # The tiny addend keeps whole powers of ten, which a logarithm may miss, in their own bin.
    step = (seconds.log(10) * _BINS_PER_DECADE + 1e-9).floor()
    step = step.set(seconds < 1 - 1e-9, -1.0).cast(pl.Int64).alias("step")
    binned = gaps.with_columns(step).group_by("step").agg(pl.col("count").sum())
    counts = {int(step): int(count) for step, count in binned.iter_rows()}
    edges = [(0.0, 1 / 60)] + [
        tuple(10 ** ((step + side) / _BINS_PER_DECADE) / 60 for side in (0, 1))
        for step in range(max(counts, default=-1) + 1)
    ]
    return tuple(Bin(low, high, counts.get(step, 0)) for step, (low, high) in enumerate(edges, -1))


def _chat(stored: Mapping[str, Any]) -> ChatStats:
    times = {name: stored[name] for name in ("first", "last")}
    pairs = {name: stored[name] for name in ("attachments", "questions")}
    shares = {name: stored[name] for name in ("response_gaps", "runs")}
    return ChatStats(
        **{
            **stored,
            **{name: time and datetime.fromisoformat(time) for name, time in times.items()},
            **{name: tuple(map(tuple, counts)) for name, counts in pairs.items()},
            **{name: Distribution(**share) for name, share in shares.items()},
            "speakers": tuple(SpeakerStats(**who) for who in stored["speakers"]),
        }
    )
