"""A finished run of any benchmark: rows, figures with intervals, comparisons, tables, files.

    run = Run.load("out")        the benchmark is found by the name in run.json
    run                     → <Run memory probing: retrieved, read by llm; 51 rows, 0 unscored>
    run.summary()           one row per score and variant: estimate, low, high, n, unscored
    run.table(other)        runs side by side, a table per kind of score
    run.compare(other)      paired differences with intervals that draw whole groups
    run.failures()          the rows that are worth reading, worst first, each with its reason
    run.charts()            Altair charts by name
    run.cautions            what has to be said beside every figure
    run.save("out")         the folder that the command would have written

The seam: a `Benchmark` (values.py) says which columns, scores, slices, reasons, cautions and
charts there are; nothing here, on the page or in the commands asks which benchmark it is. What is
true of one run only (who was tested, which scores it has, what its rows are shown with) are class
methods that are given the run, so that a stored run needs no corpus to be read:

    class NextSpeaker(Benchmark[Shown, str, str]):
        name, group, sample = "next speaker", "chat", "message"
        scores = (Score("accuracy", "accuracy", proportion=True),)
        columns = {"speaker": str, "accuracy": float}
        def stages(self, corpus, progress=silent): …        # samples, and what may be learned
        def score(self, samples, answers, progress=silent): …    # the columns of each row

A figure that is not the mean of a column is a `Score` with other parts: F1, MCC and RMSE are
figures of sums, a score by other golds or by a judge is a column that `scored_rows` adds, the
average over categories is `Score.evenly`, and what only a whole group has (a median, a kappa, a
distance of distributions) is `Score.alone`, averaged over groups. Without a folder a run lives in
memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.errors import RealtalkError
from realtalk.evals.comparing import (
    RunComparison,
    VariantScores,
    compare,
    comparison_notes,
    match_rows,
    summarise,
)
from realtalk.evals.folder import RunFolder, refuse_other_folder
from realtalk.evals.prices import Usage, cost_json, read_prices, usage_of
from realtalk.evals.tables import (
    ResultTable,
    compared_table,
    estimate_figure,
    frame_of,
    run_tables,
)
from realtalk.evals.values import (
    COUNTS,
    FACTS_KEY,
    JUDGED_KEY,
    KEY,
    KNOWN,
    STAGE_KEY,
    AnyBenchmark,
    Benchmark,
    Row,
    Score,
    by_column,
    run_schema,
)
from realtalk.files.writing import private_folder, write_json, write_parquet
from realtalk.metrics.statistics import FEWEST_GROUPS
from realtalk.notebook import counted, plain, plural
from realtalk.registry import Registry, known_name

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

# Those that ship, imported when a run of theirs is read. Others are known once they are imported.
SHIPPED: Registry[type[AnyBenchmark]] = Registry(
    "benchmark",
    {
        "emotional intelligence": "realtalk.ei.results:LabelBenchmark",
        "memory probing": "realtalk.memory.benchmark:MemoryBenchmark",
        "persona simulation": "realtalk.persona.benchmark:PersonaBenchmark",
        "thread tasks": "realtalk.threads.benchmark:ThreadTask",
        "who wrote it": "realtalk.persona.guessing:GuessBenchmark",
    },
)
# What a run holds, and the table of its folder with the key that it stands in.
_TABLES = {
    "rows": ("rows", KEY),
    "facts": ("groups", FACTS_KEY),
    "timings": ("timings", KEY),
    "preparations": ("preparations", STAGE_KEY),
    "judgements": ("judgements", JUDGED_KEY),
}
_FILE = "run.json"
_FAILURES = 20  # rows
_EVERY_ROW = frozenset({*KEY, "unscored", "untold", "left_out"})
_FIGURE = ("variant", "group", "score", "estimate", "low", "high", "n", "unscored")
_SIDES = ("first", "second")
_DIFFERENCE = ("difference", "low", "high")
_TEST = ("p", "p_holm", "n", "groups")


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A benchmark's run: made by `probe`, `simulate`, `guess` or `predict`, or one to `load`."""

    benchmark: type[Benchmark[Any, Any, Any]]
    settings: Mapping[str, Any]  # what the rows depend on: corpus, versions, options
    rows: Sequence[Row]  # one per question and budget, per turn, or per reply and setting
    versions: Sequence[Mapping[str, str]] = ()  # of every sitting
    folder: Path | None = None
    facts: Sequence[Row] = ()  # of complete stages
    timings: Sequence[Row] = ()
    preparations: Sequence[Row] = ()
    judgements: Sequence[Row] = ()  # what judges said of the answers
    title: str = ""  # what it is called beside others, instead of its own name

    @classmethod
    def load(cls, folder: str | PathLike[str], kind: str = "") -> Run:
        """A run that a command, `out=` or `save` wrote; of another `kind` it is refused."""
        place = Path(folder)
        stored = RunFolder.load(place, kind or None)
        benchmark = benchmark_named(stored.kind, place)
        try:
            tables: dict[str, Any] = {
                table: stored.rows(*stored_as) for table, stored_as in _TABLES.items()
            }
            tables["rows"] = tables["rows"] or benchmark.rows_in(stored)
            run = cls(
                benchmark=benchmark,
                settings=stored.settings,
                versions=stored.versions,
                folder=place,
                **tables,
            )
            run._refuse_incomplete()
            return benchmark.check(run)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            lacks = f"lacks {error}" if isinstance(error, KeyError) else type(error).__name__
            raise RealtalkError(
                f"does not fit this version of realtalk ({lacks})",
                where=str(place),
                fix="make the run again",
            ) from error

    def _refuse_incomplete(self) -> None:
        if not self.rows:
            fix = "start it again: it goes on"
            raise RealtalkError("the run has no rows yet", where=self.place, fix=fix)
        optional = (*self.benchmark.texts, *self.benchmark.later)
        needed = _EVERY_ROW.union(self.benchmark.columns).difference(optional)
        lacking = {name for row in self.rows for name in needed.difference(row)}
        if lacking or not isinstance(self.settings.get("solver"), dict):
            what = f"its rows lack '{min(lacking)}'" if lacking else "its settings lack 'solver'"
            raise RealtalkError(what, where=self.place, fix="make the run again")

    @property
    def kind(self) -> str:
        """The benchmark's name: memory probing, persona simulation, who wrote it, …"""
        return self.benchmark.name

    @property
    def name(self) -> str:
        """Who was tested: a memory and its reader, a simulator, a predictor."""
        return self.title or self.benchmark.name_of(self.settings)

    @property
    def place(self) -> str:
        """Where the run is, for errors."""
        return self.name if self.folder is None else str(self.folder)

    @property
    def groups(self) -> list[str]:
        """The chats, speakers or users that the rows are of, in their order."""
        return list(dict.fromkeys(row["group"] for row in self.rows))

    @property
    def tables(self) -> dict[str, Sequence[Row]]:
        """Every table of the run's folder by name."""
        return {name: getattr(self, table) for table, (name, _) in _TABLES.items()}

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows as a polars table."""
        import polars as pl

        return pl.DataFrame(list(self.rows), schema=run_schema(self.benchmark.columns))

    @property
    def unscored(self) -> int:
        """Rows without an answer to score; their reason stands in the column `unscored`."""
        return sum(row["unscored"] is not None for row in self.rows)

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """What has to be said beside every figure: in-sample parts, languages, leaks."""
        return tuple(self.benchmark.cautions(self))

    @property
    def in_sample(self) -> bool:
        """Whether a part that ships with us learned from what it is tested on here."""
        return any(line.startswith("in-sample") for line in self.cautions)

    @cached_property
    def scores(self) -> tuple[Score, ...]:
        """The scores that the run has."""
        return self.benchmark.scores_of(self)

    @cached_property
    def headline(self) -> str:
        """The score to look at first; "" where the run is no candidate for the best."""
        name = self.benchmark.headline(self)
        return name if any(score.name == name for score in self.scores) else ""

    def price(self, variant: str) -> float | None:
        """What a sample costs in a variant, where the benchmark counts that."""
        fact = self.variants[variant].facts.get(self.benchmark.price)
        return fact if isinstance(fact, float) else None

    @cached_property
    def scored_rows(self) -> Sequence[Row]:
        """The rows with what is made of them whenever they are looked at."""
        return self.benchmark.scored_rows(self)

    @cached_property
    def variants(self) -> Mapping[str, VariantScores]:
        """Every figure: of each budget, setting or judge, over all rows and slice by slice."""
        if not self.rows:
            raise RealtalkError("no rows to score", where=self.name)
        benchmark = self.benchmark
        return {
            name: summarise(
                rows,
                scores,
                slices=benchmark.slices,
                averages=benchmark.averages_of(self, scores),
                facts=benchmark.facts_of(self, name, rows),
            )
            for name, (rows, scores) in benchmark.variants_of(self).items()
        }

    def summary(self, *, groups: bool = False) -> ResultTable:
        """One row per score and variant: estimate, low, high, n, unscored.

        A variant is a budget, a setting or a simulator. Intervals are of 95 %. With `groups`
        also one row per category of questions, speaker or domain, named in `group`.
        """
        rows = [
            {
                "variant": variant or self.name,
                "group": part,
                "score": score,
                "estimate": figure.value,
                "low": figure.low,
                "high": figure.high,
                "n": figure.n,
                "unscored": figure.left_out,
            }
            for variant, scores in self.variants.items()
            for part, figures in [("", scores.overall), *(scores.slices.items() if groups else ())]
            for score, figure in figures.items()
        ]
        columns = [name for name in _FIGURE if groups or name != "group"]
        return ResultTable(f"{self.kind}: {self.name}", frame_of(columns, rows), self.cautions)

    def table(
        self, *others: Run, groups: bool = False, published: bool = True
    ) -> list[ResultTable]:
        """This run and others side by side: one table per kind of score, a line per variant.

        With `groups` also every category, speaker or domain; `published` figures of papers stand
        below.
        """
        for run in others:
            self._refuse_other_kind(run)
        return run_tables(named_runs((self, *others)), groups=groups, published=published)

    @property
    def usage(self) -> list[Usage]:
        """What every model was asked for, in calls and tokens; empty where none was asked."""
        return usage_of(
            self.settings, self.rows, judgements=self.judgements, preparations=self.preparations
        )

    def costs(self, prices: str | PathLike[str] | Mapping[str, Any]) -> ResultTable:
        """What every model cost: a file of prices, or {"MODEL": {"input": 0.15, "output": 0.6}}.

        Prices are per million tokens, in USD unless they say `currency`. Without a price there
        is no cost, and `unpriced` says why.
        """
        columns = ("part", "model", *COUNTS, "amount", "currency", "unpriced")
        rows = [row | (row["cost"] or {}) for row in cost_json(self.usage, read_prices(prices))]
        return ResultTable(f"{self.kind}: {self.name}, what it cost", frame_of(columns, rows))

    @cached_property
    def failing_rows(self) -> list[Row]:
        """The rows that went wrong with `why`, worst first, in their order where they are alike."""
        failing = [
            (reason, row) for row in self.rows if (reason := self.benchmark.reason(row, self))
        ]
        failing.sort(key=lambda pair: self.benchmark.severity(pair[1], self))
        return [row | {"why": reason} for reason, row in failing]

    def failures(self, most: int = _FAILURES) -> pl.DataFrame:
        """Rows worth reading, worst first: unscored, wrong, or far off. They hold texts."""
        import polars as pl

        # `why` is told of a row, not kept in it.
        schema: dict[str, Any] = {**run_schema(self.benchmark.columns), "why": pl.String}
        here = schema.keys() if not self.rows else {*self.rows[0], "why"}
        names = [name for name in (*self.benchmark.failing, "why") if name in here]
        rows = [{name: row[name] for name in names} for row in self.failing_rows[:most]]
        return pl.DataFrame(rows, schema={name: schema[name] for name in names})

    def find(self, name: str) -> list[Row]:
        """The rows of the sample `Q3`, or `Chat_1:Q3` where several groups have one."""
        group, colon, id_ = name.rpartition(":")
        rows = [row for row in self.rows if row["sample"] == name]
        if colon and not rows:
            rows = [row for row in self.rows if (row["group"], row["sample"]) == (group, id_)]
        what, groups = self.benchmark.sample, list(dict.fromkeys(row["group"] for row in rows))
        if not rows:
            fix = f"name it as Q3 or {self.benchmark.group.upper()}:Q3"
            raise RealtalkError(f"no {what} '{name}'", where=self.place, fix=fix)
        if len(groups) > 1:
            raise RealtalkError(
                f"'{name}' is in {len(groups)} {self.benchmark.group}s",
                where=self.place,
                fix=f"name it too: {groups[0]}:{rows[0]['sample']}",
            )
        return rows

    def compare(self, other: Run | None = None, variant: str | None = None) -> ResultTable:
        """The other run against this one, on the rows that both have.

        Differences are second minus first, with 95 % intervals; p is by whole groups (chats,
        speakers, users), `p_holm` corrected for the other scores; a note says how. `variant`
        chooses a budget or a setting where the runs have several. Without another run it names
        two of this one: "p-nonconv,p-conv".
        """
        if other is None:
            first, _, second = (variant or "").partition(",")
            if not second.strip():
                fix = "name it, or two variants: `variant=A,B`"
                raise RealtalkError("a run is compared with another", fix=fix)
            comparisons = {"": self.compare_variants(first.strip(), second.strip())}
            names, cautions = comparisons[""].names, self.cautions
        else:
            names = (self.name, other.name) if isinstance(other, Run) else ("", "")
            if names[0] == names[1]:
                names = ("the first run", "the second run")
            comparisons = self.changes(other, variant, names)
            cautions = (*self.cautions, *other.cautions)
        family = {score.name: score.family for score in self.scores}
        rows = [
            {
                "variant": name or family[score],
                "score": score,
                **{side: getattr(change, side) for side in (*_SIDES, *_TEST)},
                "difference": change.difference.value,
                "low": change.difference.low,
                "high": change.difference.high,
            }
            for name, compared in comparisons.items()
            for score, change in compared.changes.items()
        ]
        samples, groups = plural(self.benchmark.sample), plural(self.benchmark.group)
        paired = (
            f"paired by {self.benchmark.sample}; 95 % intervals by bootstrap over {groups}, "
            f"p by permutation (needs {FEWEST_GROUPS} {groups})"
        )
        notes = (line for compared in comparisons.values() for line in compared.further["notes"])
        return ResultTable(
            f"{names[1]} (second) against {names[0]} (first)",
            frame_of(("variant", "score", *_SIDES, *_DIFFERENCE, *_TEST), rows),
            tuple(dict.fromkeys((paired, *notes, *cautions))),
            {"details": {name: compared.to_json() for name, compared in comparisons.items()}},
            compared_table(comparisons, self.scores, samples=samples, groups=groups),
        )

    def changes(
        self,
        other: Run,
        variant: str | None = None,
        names: tuple[str, str] = ("first", "second"),
        only: str | None = None,
    ) -> dict[str, RunComparison]:
        """The other run against this one in the variant named, or in each that both have.

        Runs that have no variant in common are compared where each has one alone. `only` one
        score, whether runs are usually compared by it or not.
        """
        self._refuse_other_kind(other)
        self.benchmark.refuse(self, other)
        sides = [self._rows_by_variant(variant), other._rows_by_variant(variant)]
        pairs = {name: (name, name) for name in sides[0] if name in sides[1]}
        if not pairs and all(len(side) == 1 for side in sides):
            first_variant, second_variant = (next(iter(side)) for side in sides)
            pairs = {first_variant or second_variant: (first_variant, second_variant)}
        if not pairs:
            raise RealtalkError(
                f"{names[0]} and {names[1]} have no {self.benchmark.variant} in common",
                fix=f"the first has {', '.join(sides[0])}, the second {', '.join(sides[1])}",
            )
        return {
            name: self._change(
                other, sides[0][first_variant], sides[1][second_variant], names, only
            )
            for name, (first_variant, second_variant) in pairs.items()
        }

    def compare_variants(self, first: str, second: str) -> RunComparison:
        """One budget or setting of this run against another, on the same samples."""
        by_name = self._rows_by_variant(None)
        for name in (first, second):
            known_name(f"{self.benchmark.variant} of the run", name, by_name)
        if first == second:
            raise RealtalkError(f"{first} twice: not two {plural(self.benchmark.variant)} of a run")
        return self._change(self, by_name[first], by_name[second], (first, second))

    def _change(
        self,
        other: Run,
        first: Sequence[Row],
        second: Sequence[Row],
        names: tuple[str, str],
        only: str | None = None,
    ) -> RunComparison:
        shared = {score.name for score in other.scores if only in (None, score.name)}
        scores = [score for score in self.scores if score.better and (only or score.tested)]
        scores = [score for score in scores if score.name in shared]
        if not scores:
            raise RealtalkError("the two runs have no score in common")
        comparison = compare(first, second, scores, names, what=self.benchmark.sample)
        further = self.benchmark.comparison_facts(self, other, match_rows(first, second))
        notes = comparison_notes(comparison, plural(self.benchmark.group))
        return replace(
            comparison, further={**further, "notes": [*notes, *further.get("notes", ())]}
        )

    def _rows_by_variant(self, wanted: str | None) -> dict[str, list[Row]]:
        variants = by_column(self.scored_rows, "variant", self.benchmark.order)
        name = None if wanted is None else self.benchmark.variant_named(wanted)
        if name is None or set(variants) == {""}:
            return variants
        if name not in variants:
            what = f"no rows with the {self.benchmark.variant} {name}"
            raise RealtalkError(what, where=self.place, fix=f"choose one of: {', '.join(variants)}")
        return {name: variants[name]}

    def _refuse_other_kind(self, other: Run) -> None:
        if not isinstance(other, Run) or other.kind != self.kind:
            what = other.kind if isinstance(other, Run) else type(other).__name__
            raise RealtalkError(
                f"{self.kind} and {what} cannot be compared", fix="compare two runs of one kind"
            )

    def charts(self, folder: str | PathLike[str] | None = None) -> dict[str, Any]:
        """Altair charts by name: the summary, and what the benchmark draws; also files."""
        from realtalk.describe.figures import save_figures

        charts = {"summary": estimate_figure(self.summary().frame, self.name)}
        charts |= self.benchmark.charts({self.name: self})
        if folder is not None:
            save_figures(charts, Path(folder))
        return charts

    figures = charts

    def remarks(self) -> list[str]:
        """What is unscored in each variant, with its reasons."""
        lines = []
        for variant, summary in self.variants.items():
            reasons_of: Mapping[str, Mapping[str, int]] = {
                "unscored": summary.unscored,
                "without a truth": summary.untold,
                "left out": summary.left_out,
            }
            for what, reasons in reasons_of.items():
                if reasons:
                    parts = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
                    where = f"{self.name}, {variant}" if variant else self.name
                    lines.append(f"{where}, {what}: {parts}")
        return lines

    def save(self, folder: str | PathLike[str]) -> Path:
        """Writes the run as the command would have; nothing else may lie there."""
        place = Path(folder)
        refuse_other_folder(place)
        if (place / _FILE).exists():
            raise RealtalkError("has a run already", where=str(place), fix="name another folder")
        private_folder(place)
        stored = RunFolder(place, self.kind, self.settings)
        for name, rows in self.tables.items():
            columns = run_schema(self.benchmark.columns) if name == "rows" else None
            stored.rewrite(name, rows, columns)
        write_json(place / _FILE, self._record)
        return place

    def share(self, folder: str | PathLike[str]) -> Run:
        """A copy of the scores without a word of what was written, fit to be given away."""
        import polars as pl

        place = Path(folder)
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise RealtalkError("is not empty", where=str(place), fix="name another folder")
        private_folder(place)
        write_parquet(place / "rows.parquet", self.frame.drop(self.benchmark.texts), level=19)
        if self.facts:
            facts = pl.DataFrame(self.facts, infer_schema_length=None)
            write_parquet(place / "groups.parquet", facts, level=19)
        write_json(place / _FILE, self._record)
        return Run.load(place)

    @property
    def _record(self) -> dict[str, Any]:
        settings, versions = dict(self.settings), list(self.versions)
        return {"kind": self.kind, "settings": settings, "versions": versions}

    def to_json(self) -> dict[str, Any]:
        """Every figure, as the command's --json prints it."""
        return {
            "kind": self.kind,
            "name": self.name,
            "settings": dict(self.settings),
            "cautions": list(self.cautions),
            "variants": {name: summary.to_json() for name, summary in self.variants.items()},
            **self.benchmark.details(self),
        }

    def with_name(self, title: str) -> Run:
        """The same run under another name."""
        return replace(self, title=title)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        rows = counted(len(self), "row")
        return f"<Run {self.kind}: {plain(self.name, None)}; {rows}, {self.unscored:,} unscored>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def benchmark_named(name: str, where: Path) -> type[AnyBenchmark]:
    """The benchmark that run.json names."""
    if name in KNOWN:
        return KNOWN[name]
    if name not in SHIPPED:
        raise RealtalkError(f"a run of '{name}' is not known", where=str(where))
    return SHIPPED[name]


def named_runs(runs: Sequence[Run]) -> dict[str, Run]:
    """Runs by their names; where two have one name, each gets its folder's, or its number."""
    counts = Counter(run.name for run in runs)
    by_name: dict[str, Run] = {}
    for number, run in enumerate(runs, 1):
        name = run.name
        if counts[name] > 1:
            name = f"{name} ({number if run.folder is None else run.folder.name})"
        if name in by_name:
            name = f"{name}, {number}"
        by_name[name] = run if name == run.name else run.with_name(name)
    return by_name


def join_runs(name: str, runs: Sequence[Run]) -> Run:
    """Runs over different groups as one: an adapter is for one speaker."""
    owners: dict[str, Run] = {}
    for run in runs:
        for group in run.groups:
            if group in owners:
                raise RealtalkError(
                    f"{group} is also in {owners[group].place}",
                    where=run.place,
                    fix=f"give runs with different {run.benchmark.group}s, or name them apart",
                )
            owners[group] = run
    tables: dict[str, Any] = {
        table: [row for run in runs for row in getattr(run, table)] for table in _TABLES
    }
    return replace(runs[0], title=name, **tables)
