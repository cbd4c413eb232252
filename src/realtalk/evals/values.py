"""The words of every benchmark: what is asked, who answers, and what comes of it.

    Sample("Chat_1/Q3", group="Chat_1", variant="1000t", shown=question, truth="in March")
    Answer("3 March", cost=Cost(calls=1, tokens_in=812, tokens_out=4))
    Answer(None, unscored="timeout")
    Score("f1", "F1")                     # the mean of the column `f1` over the rows that have it

A Benchmark makes samples of a corpus, hands a Solver what it may learn and what is shown of each
sample, and scores the answers. The truth is never handed to a solver. Samples of one `group` are
alike (a chat, a speaker, a user): intervals draw whole groups, tests swap whole groups. A
`variant` is the same sample under another condition: a budget, a setting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar

import numpy as np

from realtalk.local.progress import Progress, silent
from realtalk.metrics.grouped import Figure, ratio
from realtalk.metrics.statistics import Array

if TYPE_CHECKING:
    import polars as pl

    from realtalk.chat import Corpus

ShownT = TypeVar("ShownT")
SeenT_contra = TypeVar("SeenT_contra", contravariant=True)
TruthT = TypeVar("TruthT")
ValueT = TypeVar("ValueT")

Row: TypeAlias = dict[str, Any]
Parts: TypeAlias = Callable[[Sequence[Row]], Array]


@dataclass(frozen=True, slots=True)
class Cost:
    """What an answer took."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


_FREE = Cost()


@dataclass(frozen=True, slots=True)
class Sample(Generic[ShownT, TruthT]):
    """One thing to answer. `id`, `group` and `variant` together are its key in a run."""

    id: str
    group: str
    variant: str
    shown: ShownT  # all that a solver may see
    truth: TruthT


@dataclass(frozen=True, slots=True)
class Answer(Generic[ValueT]):
    """What a solver answers; without a value it says why.

    `times` depend on the machine: they are kept in the table `timings`, apart from the rows.
    """

    value: ValueT | None
    unscored: str = ""
    cost: Cost = _FREE
    times: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Stage(Generic[ShownT, TruthT]):
    """Samples that are solved after the same preparation, and what may be learned for them.

    `learning` is called only where a sample is still open. The samples may be made one by one.
    """

    title: str
    samples: Sequence[Sample[ShownT, TruthT]]
    learning: Callable[[], Any] = lambda: None


class Recorded(Protocol):
    """What a run's settings name: a solver, or a part of one."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, Any]: ...


class Solver(Recorded, Protocol[SeenT_contra, ValueT]):
    """A way to answer.

    Three optional attributes. `at_once` is how many samples are handed over together. `asks` says
    that samples are answered one by one by something that may fail: those are then asked again
    by the next run. `preparation` is what the last preparation took (calls, tokens_in,
    tokens_out) and which parts it had to leave `unscored`, each with its reason; None where it
    took nothing. It is kept in the table `preparations`. A stage of which a part was left out is
    prepared and solved again by the next run.
    """

    def prepare(self, learning: Any, progress: Progress = silent) -> None:
        """Learn what the stage offers; called once per stage."""

    def solve(
        self, shown: Sequence[SeenT_contra], progress: Progress = silent
    ) -> Sequence[Answer[ValueT]]:
        """One answer per sample, in order."""


class PlainSolver:
    """A solver without settings that learns nothing; a subclass may have or do either."""

    version = "1"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {}

    def prepare(self, learning: Any, progress: Progress = silent) -> None:
        """Nothing is learned."""


@dataclass(frozen=True, slots=True)
class Score:
    """One figure of a run, made from sums over its rows.

    `parts` gives one line of numbers per row, NaN where the row has none; `figure` turns their
    sums into the figure. Without `parts` it is the mean of the column of this name. `strict` is
    the same with unscored rows taken as wrong; None where there is no such reading. A
    `proportion` has a true interval also where all rows agree. A `whole` figure is one of groups:
    rows are never drawn or swapped singly, however few groups there are.
    """

    name: str
    title: str
    better: Literal[-1, 0, 1] = 1
    parts: Parts | None = None
    figure: Figure = ratio
    strict: Parts | None = None
    proportion: bool = False
    whole: bool = False
    digits: int = 3
    family: str = ""  # Holm's correction is within a family
    published: str = ""  # its column in a paper's table


class Benchmark(Protocol[ShownT, TruthT, ValueT]):
    """A corpus with settings as samples, and how their answers are scored.

    An optional attribute `slices` names a column whose values are also looked at apart. An
    optional method `facts(stage, rows)` tells what only all rows of a stage together show. It
    is called when a stage is complete; what it returns is kept in the table `groups`.
    """

    name: str
    version: str
    group: str  # what a group is called: chat, speaker, user

    @property
    def scores(self) -> tuple[Score, ...]: ...

    @property
    def columns(self) -> Mapping[str, pl.DataType | type[pl.DataType]]:
        """The columns of a row beyond those that every run has, scores included."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the rows depend on, for the record."""

    def stages(
        self, corpus: Corpus, progress: Progress = silent
    ) -> Iterable[Stage[ShownT, TruthT]]: ...

    def score(
        self,
        samples: Sequence[Sample[ShownT, TruthT]],
        answers: Sequence[Answer[ValueT]],
        progress: Progress = silent,
    ) -> list[Row]:
        """The columns of each answer, in order. What has no score is None."""

    def target(self, sample: Sample[ShownT, TruthT]) -> str:
        """The truth in words, for those who read a log."""

    def about(self, sample: Sample[ShownT, TruthT]) -> Mapping[str, Any]:
        """What a log says of a sample beside its group and variant."""


def column(name: str) -> Parts:
    """The column of a row and 1: their ratio is the mean over the rows that have it."""

    def parts(rows: Sequence[Row]) -> Array:
        values = [np.nan if row[name] is None else float(row[name]) for row in rows]
        return np.array([values, np.ones(len(rows))], dtype=np.float64).T.reshape(-1, 2)

    return parts


def evenly(name: str, by: str = "group") -> Parts:
    """The column with every group weighing the same: their ratio is the mean of groups' means.

    `by` may name another column whose values weigh the same.
    """
    plain = column(name)

    def parts(rows: Sequence[Row]) -> Array:
        known = Counter(row[by] for row in rows if row[name] is not None)
        weights = [1 / max(1, known[row[by]]) for row in rows]
        found: Array = plain(rows) * np.array(weights, dtype=np.float64).reshape(-1, 1)
        return found

    return parts


def of_groups(
    figure: Callable[[Sequence[Row]], float | None], applies: Callable[[Row], bool]
) -> Parts:
    """A figure that only the rows of a group together have; the ratio is its mean over groups.

    Rows that it does not apply to are left out.
    """

    def parts(rows: Sequence[Row]) -> Array:
        places: dict[str, list[int]] = {}
        for place, row in enumerate(rows):
            if applies(row):
                places.setdefault(row["group"], []).append(place)
        lines = np.full((len(rows), 2), np.nan)
        for own in places.values():
            value = figure([rows[place] for place in own])
            if value is not None:
                lines[own] = value / len(own), 1 / len(own)
        return lines

    return parts
