"""A benchmark, a corpus and a solver → rows, in a folder or in memory. Killed, it goes on.

    run(benchmark, corpus, solver, Path("out"))     → Run
    run(benchmark, corpus, solver)                  → the same, and nothing is written

out/run.json  out/rows.jsonl, .parquet: one row per sample and variant
out/groups.jsonl, .parquet: one row per stage, of benchmarks that tell facts of a stage
out/timings.…: one row per sample and variant, of solvers that give times
out/preparations.…: one row per stage, of solvers whose preparation takes something

Rows are kept as they come. Samples are handed over in the same blocks whatever is there already:
after a kill the rows come out equal to the last bit. A solver that `asks` is asked again for what
it failed to answer. The solver sees what is shown of a sample, never its truth. What was `solved`
elsewhere in this sitting is taken over, as if it had been solved here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.evals.corpus_records import corpus_record
from realtalk.evals.folder import RunFolder, Table
from realtalk.evals.rows import (
    FACTS_KEY,
    JUDGED_KEY,
    KEY,
    STAGE_KEY,
    row_of,
    run_schema,
    sample_key,
)
from realtalk.evals.run import Run
from realtalk.evals.values import Answer, Benchmark, Recorded, Row, Sample, Solver, Stage
from realtalk.files.progress import Progress, silent, within

_AT_ONCE = 1024  # samples handed to a solver that does not say otherwise


def solver_record(solver: Recorded) -> dict[str, Any]:
    """A solver, or a part of one, among a run's settings."""
    return {"name": solver.name, "version": solver.version, "settings": dict(solver.settings)}


def settings_of(
    benchmark: Benchmark[Any, Any, Any], corpus: Corpus, solver: Recorded
) -> dict[str, Any]:
    """Everything that the rows of a run depend on."""
    return {
        "corpus": corpus_record(corpus),
        **benchmark.settings,
        "solver": solver_record(solver),
    }


def claim(
    benchmark: Benchmark[Any, Any, Any],
    corpus: Corpus,
    solver: Recorded,
    out: Path | None,
    *,
    fresh: bool = False,
) -> dict[str, Any]:
    """Makes a folder this run's, or raises where it is another's, before work that comes first."""
    settings = settings_of(benchmark, corpus, solver)
    if out is not None:
        RunFolder.open(out, benchmark.name, settings, fresh=fresh).close()
    return settings


def run(
    benchmark: Benchmark[Any, Any, Any],
    corpus: Corpus,
    solver: Solver[Any, Any],
    out: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
    solved: Iterable[Run] = (),
) -> Run:
    """Solves and scores what the folder does not have yet.

    `solved` are runs of this sitting, each of some stages alone and in their order.
    """
    settings = settings_of(benchmark, corpus, solver)
    order: list[tuple[str, str, str]] = []
    with RunFolder.open(out, benchmark.name, settings, fresh=fresh) as folder:
        rows = folder.table("rows", KEY)
        timings = LateTable(folder, "timings", KEY)
        preparations = LateTable(folder, "preparations", STAGE_KEY)
        partly = {row["stage"] for row in preparations.stored if row["unscored"]}
        facts = StageFacts.open(benchmark, folder)
        taken: set[tuple[Any, ...]] = set()
        for part in solved:
            taken |= _take_over(part, rows, timings, preparations)
            partly -= {row["stage"] for row in part.preparations}
        for stage in benchmark.stages(corpus, progress):
            before = len(order)
            work = _Work(
                benchmark=benchmark,
                solver=solver,
                stage=stage,
                rows=rows,
                timings=timings,
                preparations=preparations,
                progress=progress,
                partly=stage.title in partly,
                taken=taken,
            )
            work.carry_out(order)
            if facts is not None:
                facts.tell(stage, [row for key in order[before:] if (row := rows.get(key))])
        if not order:
            raise RealtalkError("there is nothing to solve", where=corpus.name)
        rows.finish(order, run_schema(benchmark.columns))
        record = Run(
            benchmark=type(benchmark),
            settings=folder.settings,
            rows=rows.in_order(order),
            versions=folder.versions,
            folder=out,
            facts=[] if facts is None else facts.finish(),
            timings=timings.finish(order),
            preparations=preparations.finish([]),
            judgements=folder.rows("judgements", JUDGED_KEY),
        )
        return benchmark.check(record)


def _at_once(solver: Solver[Any, Any]) -> int:
    return int(getattr(solver, "at_once", _AT_ONCE))


def _take_over(
    part: Run, rows: Table, timings: LateTable, preparations: LateTable
) -> set[tuple[Any, ...]]:
    """Adds what a part of the run has come to; the keys of its rows."""
    for preparation in part.preparations:
        preparations.add(preparation)
    spent = {tuple(row[name] for name in KEY): row for row in part.timings}
    taken: set[tuple[Any, ...]] = set()
    for row in part.rows:
        key = tuple(row[name] for name in KEY)
        taken.add(key)
        if rows.get(key) != row:
            if key in spent:
                timings.add(spent[key])
            rows.add(row)
    return taken


@dataclass(frozen=True)
class _Work:
    """One stage of a run."""

    benchmark: Benchmark[Any, Any, Any]
    solver: Solver[Any, Any]
    stage: Stage[Any, Any]
    rows: Table
    timings: LateTable
    preparations: LateTable
    progress: Progress
    partly: bool  # what an earlier run prepared lacks something
    taken: Set[tuple[Any, ...]]  # keys of what was solved elsewhere

    def carry_out(self, order: list[tuple[str, str, str]]) -> None:
        """Solves the stage block by block, and adds its keys to the order of the rows."""
        total = len(self.stage.samples)
        what = f"{self.solver.name}, {self.stage.title}" if self.stage.title else self.solver.name
        step = _at_once(self.solver)
        prepared = False
        for start in range(0, total, step):
            block = list(self.stage.samples[start : start + step])
            keys = [sample_key(sample) for sample in block]
            order += keys
            waiting = {key for key in keys if self._is_open(key)}
            self.progress(start, total, what)
            if not waiting:
                continue
            if not prepared:
                self.progress(start, total, f"{what}: learning")
                self.solver.prepare(self.stage.learning(), self.progress)
                prepared = True
                if not self.partly:
                    self._keep_preparation()
            self._solve(block, waiting, start, total, what)
        if prepared and self.partly:
            # Not before its samples are solved again: a run that is killed now would not do it.
            self._keep_preparation()
        self.progress(total, total, what)

    def _keep_preparation(self) -> None:
        preparation = getattr(self.solver, "preparation", None)
        if preparation is not None:
            self.preparations.add({"stage": self.stage.title, **preparation})

    def _solve(
        self,
        block: Sequence[Sample[Any, Any]],
        waiting: set[tuple[str, str, str]],
        start: int,
        total: int,
        what: str,
    ) -> None:
        if self._asks:
            block = [sample for sample in block if sample_key(sample) in waiting]
        answers = self.solver.solve(
            [sample.shown for sample in block],
            within(self.progress, start, total, what),
        )
        if len(answers) != len(block):
            raise ValueError(f"{self.solver.name} gave {len(answers)} of {len(block)} answers")
        scored = self.benchmark.score(block, answers, self.progress)
        for sample, answer, columns in zip(block, answers, scored, strict=True):
            if sample_key(sample) in waiting:
                self._keep(sample, answer, columns)

    def _keep(self, sample: Sample[Any, Any], answer: Answer[Any], columns: Row) -> None:
        row = row_of(sample, answer, columns)
        known = self.rows.get(sample_key(sample))
        if known is not None and known == orjson.loads(orjson.dumps(row)):
            return  # solved again with nothing new
        if answer.times:
            # Before the row, which says that the sample is done.
            self.timings.add({**dict(zip(KEY, sample_key(sample), strict=True)), **answer.times})
        self.rows.add(row)

    @property
    def _asks(self) -> bool:
        return bool(getattr(self.solver, "asks", False))

    def _is_open(self, key: tuple[str, str, str]) -> bool:
        row = self.rows.get(key)
        if key in self.taken:
            return False  # asked just now
        return row is None or self.partly or (row["unscored"] is not None and self._asks)


class LateTable:
    """A table that is opened when its first row comes: most runs have none of its kind."""

    def __init__(self, folder: RunFolder, name: str, key: Sequence[str]) -> None:
        self._folder = folder
        self._name = name
        self._key = key
        self._table: Table | None = None
        self.stored = folder.rows(name, key)

    def add(self, row: Row) -> None:
        if self._table is None:
            self._table = self._folder.table(self._name, self._key)
        self._table.add(row)

    def finish(self, order: Sequence[tuple[str, ...]]) -> list[Row]:
        """Every row, in the order given, those not named last; a table of its own where new."""
        if self._table is None:
            return self.stored
        self._table.finish(order)
        return self._table.in_order(order)


class StageFacts:
    """The table `groups`: what a benchmark tells of its stages.

    A row that has its scores is never made again. So facts are up to date where they were made
    from as many scored rows as there are.
    """

    def __init__(self, tell: Callable[[Stage[Any, Any], Sequence[Row]], Row], table: Table) -> None:
        self._tell = tell
        self._table = table
        self._order: list[tuple[str]] = []

    @classmethod
    def open(cls, benchmark: Benchmark[Any, Any, Any], folder: RunFolder) -> StageFacts | None:
        tell = getattr(benchmark, "facts", None)
        return None if tell is None else cls(tell, folder.table("groups", FACTS_KEY))

    def tell(self, stage: Stage[Any, Any], rows: Sequence[Row]) -> None:
        self._order.append((stage.title,))
        scored = sum(row["unscored"] is None is row["untold"] for row in rows)
        known = self._table.get((stage.title,))
        if known is None or known["scored"] != scored:
            facts = self._tell(stage, rows)
            self._table.add({"group": stage.title, "scored": scored, **facts})

    def finish(self) -> list[Row]:
        self._table.finish(self._order)
        return self._table.in_order(self._order)
