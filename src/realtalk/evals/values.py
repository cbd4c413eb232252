"""The words of every benchmark: what is asked, who answers, and what comes of it.

    Sample("Chat_1/Q3", group="Chat_1", variant="1000t", shown=question, truth="in March")
    Answer("3 March", cost=Cost(calls=1, tokens_in=812, tokens_out=4))
    Answer(None, unscored="timeout")
    Score("f1", "F1")                     # the mean of the column `f1` over the rows that have it

A Benchmark makes samples of a corpus, hands a Solver what it may learn and what is shown of each
sample, and scores the answers. The truth is never handed to a solver. Samples of one `group` are
alike (a chat, a speaker, a user): intervals draw whole groups, tests swap whole groups. A
`variant` is the same sample under another condition: a budget, a setting.

A sample and its answer → the row that every run has of it.

row_of(Sample("Q3", "Chat_1", "500w", …), Answer("in March"), {"f1": 0.8})
→ {"sample": "Q3", "group": "Chat_1", "variant": "500w", "answer": "in March", …, "f1": 0.8}
run_schema({"f1": float})       → the columns of rows.parquet
"""

# What a benchmark may say of a run has defaults that need not look at it.
# ruff: noqa: ARG002, ARG003

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Protocol, TypeAlias, TypeVar

import numpy as np

from realtalk.files.progress import Progress, silent
from realtalk.grouping import grouped
from realtalk.metrics.statistics import Array, Estimate, Figure, ratio

if TYPE_CHECKING:
    import polars as pl

    from realtalk.chat import Corpus
    from realtalk.evals.folder import RunFolder
    from realtalk.evals.run import Run


ShownT = TypeVar("ShownT")
SeenT_contra = TypeVar("SeenT_contra", contravariant=True)
TruthT = TypeVar("TruthT")
ValueT = TypeVar("ValueT")

Row: TypeAlias = dict[str, Any]
Settings: TypeAlias = dict[str, str | int | float | bool]
Parts: TypeAlias = Callable[[Sequence[Row]], Array]
Fact: TypeAlias = Estimate | float | None
Lines: TypeAlias = tuple[tuple[str, ...], list[tuple[Any, ...]]]  # headings and rows of a table

Pairs: TypeAlias = Sequence[tuple[Row, Row]]  # of one sample on two sides
Runs: TypeAlias = "Mapping[str, Run]"  # by name
_HALF = 0.5  # of a score: what is below is worth reading


@dataclass(frozen=True, slots=True)
class Cost:
    """What an answer took."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.calls + other.calls,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            self.seconds + other.seconds,
        )


_FREE = Cost()
COUNTS = ("calls", "tokens_in", "tokens_out")  # what a provider counts of an answer


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


class NamedPart(Protocol):
    """What a run's settings name: a solver, or a part of one."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, Any]: ...


class Solver(NamedPart, Protocol[SeenT_contra, ValueT]):
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

    `alone` is the figure of the rows of one group, where it is no function of sums (a median, a
    kappa): the figure of a run is then the average over its groups, each counting the same.
    """

    name: str
    title: str
    better: Literal[-1, 0, 1] = 1
    parts: Parts | None = None
    figure: Figure = ratio
    strict: Parts | None = None
    alone: Callable[[Sequence[Row]], Estimate] | None = None
    proportion: bool = False
    whole: bool = False
    digits: int = 3
    family: str = ""  # Holm's correction is within a family
    table: str = ""  # the title of the table that it stands in
    shown: bool = True  # whether tables have it; `Run.summary` has every score
    tested: bool = True  # whether runs are compared by it, if it has a better side
    published: str = ""  # its column in a paper's table

    def evenly(self, by: str) -> Score:
        """The same with every value of a column weighing the same."""
        return replace(self, parts=evenly(self.name, by))


@dataclass(frozen=True, slots=True)
class Reference:
    """A line of a paper, or of chance, below the runs of a table: texts by score.

    `part` is the value of the slice that it belongs to; "" stands below the whole. What is
    `published` elsewhere can be left out.
    """

    name: str
    cells: Mapping[str, str | None]
    variant: str = ""
    part: str = ""
    published: bool = True


class Benchmark(ABC, Generic[ShownT, TruthT, ValueT]):
    """A corpus with settings as samples, how their answers are scored, and how a run is read.

    A subclass says the first eight, `stages` and `score`; everything else has a default. What is
    asked about a run that is there (the class methods) needs no corpus: `Run.load` finds the class
    by its name. An optional method `facts(stage, rows)` tells what only all rows of a stage
    together show. It is called when a stage is complete; what it returns is kept in `groups`.
    """

    name: ClassVar[str] = ""  # as run.json has it
    version: ClassVar[str] = "1"
    group: ClassVar[str] = "group"  # what is drawn and swapped whole: chat, speaker, user
    sample: ClassVar[str] = "sample"  # what a row is about: question, turn, reply
    solver: ClassVar[str] = "solver"  # who is tested: memory, simulator, predictor
    variant: ClassVar[str] = "variant"  # what a variant is: budget, setting, judge
    scores: tuple[Score, ...] = ()
    # The columns of a row beyond those that every run has, scores included, by Python type.
    columns: ClassVar[Mapping[str, Any]] = {}
    # Columns that a copy without texts may lack.
    texts: ClassVar[tuple[str, ...]] = ("answer",)
    later: ClassVar[tuple[str, ...]] = ()  # columns that a run of an earlier version may lack
    slices: ClassVar[str] = ""  # a column whose values are also looked at apart
    order: ClassVar[tuple[str, ...]] = ()  # variants that come first
    group_facts: ClassVar[tuple[str, ...]] = ()  # facts that stand beside a group's figures
    failing: ClassVar[tuple[str, ...]] = ("group", "sample", "variant", "answer", "unscored")
    title: ClassVar[str] = ""  # of its section on a page; its name where it has none
    lead: ClassVar[str] = ""  # what it asks, below that title
    reading: ClassVar[str] = ""  # how its tables are to be read
    price: ClassVar[str] = ""  # the fact that says what a solver costs
    chance: ClassVar[Mapping[str, float]] = {}  # of scores that have one
    joins: ClassVar[bool] = False  # runs of one solver over different groups are one

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            KNOWN[cls.name] = cls

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the rows depend on, for the record."""
        return {}

    @abstractmethod
    def stages(
        self, corpus: Corpus, progress: Progress = silent
    ) -> Iterable[Stage[ShownT, TruthT]]:
        """The samples, stage by stage, each with what may be learned from."""

    @abstractmethod
    def score(
        self,
        samples: Sequence[Sample[ShownT, TruthT]],
        answers: Sequence[Answer[ValueT]],
        progress: Progress = silent,
    ) -> list[Row]:
        """The columns of each answer, in order. What has no score is None."""

    def target(self, sample: Sample[ShownT, TruthT]) -> str:
        """The truth in words, for those who read a log."""
        return str(sample.truth)

    def about(self, sample: Sample[ShownT, TruthT]) -> Mapping[str, Any]:
        """What a log says of a sample beside its group and variant."""
        return {}

    def stored_answer(self, sample: Sample[ShownT, TruthT], row: Row) -> Answer[Any] | None:
        """The answer that a row was made from; None where the row is of another sample."""
        return Answer(row["answer"], row["unscored"] or "")

    @classmethod
    def rows_in(cls, stored: RunFolder) -> Sequence[Row]:
        """The rows of a folder whose own are in another table."""
        return ()

    @classmethod
    def check(cls, run: Run) -> Run:
        """A run as it was loaded, or made; raises where its settings lack what is read of them."""
        return run

    @classmethod
    def name_of(cls, settings: Mapping[str, Any]) -> str:
        """Whom a run tested, as tables call it."""
        solver = settings["solver"]
        model = solver["settings"].get("model")
        return f"{solver['name']} {model}" if model else str(solver["name"])

    @classmethod
    def part_of(cls, settings: Mapping[str, Any]) -> str:
        """What runs must share to stand in one table, beside the corpus: a task."""
        return ""

    @classmethod
    def scored_rows(cls, run: Run) -> Sequence[Row]:
        """The rows with what is made of them whenever they are looked at."""
        return run.rows

    @classmethod
    def scores_of(cls, run: Run) -> tuple[Score, ...]:
        """The scores that a run has."""
        return cls.scores

    @classmethod
    def variants_of(cls, run: Run) -> Mapping[str, tuple[Sequence[Row], Sequence[Score]]]:
        """The rows of each variant and the scores that they are looked at by."""
        variants = by_column(run.scored_rows, "variant", cls.order)
        return {name: (rows, run.scores) for name, rows in variants.items()}

    @classmethod
    def averages_of(cls, run: Run, scores: Sequence[Score]) -> Mapping[str, Sequence[Score]]:
        """Other readings of the scores over all rows, which stand among the slices."""
        return {}

    @classmethod
    def facts_of(cls, run: Run, variant: str, rows: Sequence[Row]) -> Mapping[str, Fact]:
        """What a table says of a variant beside its scores: chance, a cost."""
        return {}

    @classmethod
    def variant_named(cls, text: str) -> str:
        """A variant as rows have it, from what a person writes."""
        return text

    @classmethod
    def reason(cls, row: Row, run: Run) -> str:
        """Why a row failed; "" where it did not."""
        if row["unscored"] is not None:
            return "no answer"
        score = run.scores[0]
        value = row.get(score.name)
        return "wrong" if value is not None and score.better * value < _HALF * score.better else ""

    @classmethod
    def severity(cls, row: Row, run: Run) -> float:
        """How bad a row that failed is: the lowest is shown first."""
        return -1.0 if row["unscored"] is not None else 0.0

    @classmethod
    def cautions(cls, run: Run) -> Sequence[str]:
        """What has to be said beside every figure: in-sample parts, languages, leaks."""
        return ()

    @classmethod
    def references(cls, runs: Runs) -> Iterable[Reference]:
        """Lines below the runs of a table: a paper's, chance."""
        return ()

    @classmethod
    def tables(cls, runs: Runs) -> Mapping[str, Lines]:
        """Tables of its own, beside those that every benchmark has."""
        return {}

    @classmethod
    def charts(cls, runs: Runs) -> Mapping[str, Any]:
        """Altair charts of its own, beside the one of estimates."""
        return {}

    @classmethod
    def headline(cls, run: Run) -> str:
        """The score that chance flatters least; "" where a run is no candidate for it."""
        return run.scores[0].name

    @classmethod
    def details(cls, run: Run) -> Mapping[str, Any]:
        """What the JSON of a run has beside its figures."""
        return {}

    @classmethod
    def refuse(cls, first: Run, second: Run) -> None:
        """Raises where two runs cannot be compared though they share samples."""

    @classmethod
    def comparison_facts(cls, first: Run, second: Run, pairs: Pairs) -> Mapping[str, Any]:
        """What is known of a comparison beside the change of every score."""
        return {}

    @classmethod
    def evidence(cls, row: Row, corpus: Corpus | None) -> list[str]:
        """What a row, and the corpus where it is at hand, say about why it failed."""
        return []


AnyBenchmark: TypeAlias = Benchmark[Any, Any, Any]
AnyStage: TypeAlias = Stage[Any, Any]
AnySample: TypeAlias = Sample[Any, Any]
# Every benchmark of this process by its name.
KNOWN: dict[str, type[AnyBenchmark]] = {}


def by_column(rows: Iterable[Row], name: str, order: Sequence[str] = ()) -> dict[str, list[Row]]:
    """Rows by the value of a column; values of `order` first, the others as they come."""
    groups = grouped((row[name], row) for row in rows)
    return {value: groups[value] for value in (*order, *groups) if value in groups}


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
        counts = Counter(row[by] for row in rows if row[name] is not None)
        weights = [1 / max(1, counts[row[by]]) for row in rows]
        return np.asarray(plain(rows) * np.array(weights, dtype=np.float64).reshape(-1, 1))

    return parts


def of_groups(
    figure: Callable[[Sequence[Row]], float | None], applies: Callable[[Row], bool]
) -> Parts:
    """A figure that only the rows of a group together have; the ratio is its mean over groups.

    Rows that it does not apply to are left out.
    """

    def parts(rows: Sequence[Row]) -> Array:
        places = grouped((row["group"], at) for at, row in enumerate(rows) if applies(row))
        lines = np.full((len(rows), 2), np.nan)
        for own in places.values():
            value = figure([rows[place] for place in own])
            if value is not None:
                lines[own] = value / len(own), 1 / len(own)
        return lines

    return parts


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
