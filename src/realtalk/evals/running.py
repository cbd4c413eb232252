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

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import orjson

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.evals.folder import RunFolder
from realtalk.evals.provenance import corpus_record
from realtalk.evals.rows import (
    FACTS_KEY,
    JUDGED_KEY,
    KEY,
    STAGE_KEY,
    RowKey,
    row_key,
    row_of,
    run_schema,
    sample_key,
)
from realtalk.evals.run import Run
from realtalk.evals.values import AnyBenchmark, AnySample, AnyStage, NamedPart, Row, Solver
from realtalk.files.progress import Progress, silent, within

_AT_ONCE = 1024  # samples handed to a solver that does not say otherwise


def solver_record(solver: NamedPart) -> dict[str, Any]:
    """A solver, or a part of one, among a run's settings."""
    return {"name": solver.name, "version": solver.version, "settings": dict(solver.settings)}


def settings_of(benchmark: AnyBenchmark, corpus: Corpus, solver: NamedPart) -> dict[str, Any]:
    """Everything that the rows of a run depend on."""
    return {
        "corpus": corpus_record(corpus),
        **benchmark.settings,
        "solver": solver_record(solver),
    }


def claim(
    benchmark: AnyBenchmark,
    corpus: Corpus,
    solver: NamedPart,
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
    benchmark: AnyBenchmark,
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
    with RunFolder.open(out, benchmark.name, settings, fresh=fresh) as folder:
        sitting = _Sitting(benchmark, solver, folder, progress)
        for part in solved:
            sitting.take_over(part)
        for stage in benchmark.stages(corpus, progress):
            sitting.solve(stage)
        if not sitting.order:
            raise RealtalkError("there is nothing to solve", where=corpus.name)
        return benchmark.check(sitting.finish())


class _Sitting:
    """A run under way."""

    def __init__(
        self,
        benchmark: AnyBenchmark,
        solver: Solver[Any, Any],
        folder: RunFolder,
        progress: Progress,
    ) -> None:
        self._benchmark = benchmark
        self._solver = solver
        self._folder = folder
        self._progress = progress
        self._asks = bool(getattr(solver, "asks", False))
        self._tell: Callable[[AnyStage, Sequence[Row]], Row] | None = getattr(
            benchmark, "facts", None
        )
        self._rows = folder.table("rows", KEY)
        # Most runs have none of these: their tables are made when a first row comes.
        self._timings = folder.table("timings", KEY, late=True)
        self._preparations = folder.table("preparations", STAGE_KEY, late=True)
        self._facts = folder.table("groups", FACTS_KEY, late=self._tell is None)
        # Stages of whose preparation an earlier run left out a part.
        self._partly = {row["stage"] for row in self._preparations.rows if row["unscored"]}
        self._taken: set[RowKey] = set()  # keys of what was solved elsewhere
        self._titles: list[tuple[str]] = []
        self.order: list[RowKey] = []

    def take_over(self, part: Run) -> None:
        """Adds what a part of the run has come to."""
        for preparation in part.preparations:
            self._preparations.add(preparation)
            self._partly.discard(preparation["stage"])
        times = {row_key(row): row for row in part.timings}
        for row in part.rows:
            key = row_key(row)
            self._taken.add(key)
            if self._rows.get(key) != row:
                if key in times:
                    self._timings.add(times[key])
                self._rows.add(row)

    def solve(self, stage: AnyStage) -> None:
        """Solves a stage block by block."""
        total = len(stage.samples)
        what = f"{self._solver.name}, {stage.title}" if stage.title else self._solver.name
        step = int(getattr(self._solver, "at_once", _AT_ONCE))
        prepared, partly, before = False, stage.title in self._partly, len(self.order)
        for start in range(0, total, step):
            block = list(stage.samples[start : start + step])
            keys = [sample_key(sample) for sample in block]
            self.order += keys
            waiting = {key for key in keys if self._is_open(key, partly)}
            self._progress(start, total, what)
            if not waiting:
                continue
            if not prepared:
                self._progress(start, total, f"{what}: learning")
                self._solver.prepare(stage.learning(), self._progress)
                prepared = True
                if not partly:
                    self._keep_preparation(stage)
            if self._asks:
                block = [sample for sample in block if sample_key(sample) in waiting]
            self._solve(block, waiting, within(self._progress, start, total, what))
        if prepared and partly:
            # Not before its samples are solved again: a run that is killed now would not do it.
            self._keep_preparation(stage)
        self._progress(total, total, what)
        if self._tell is not None:
            keys = self.order[before:]
            self._keep_facts(stage, [row for key in keys if (row := self._rows.get(key))])

    def _is_open(self, key: RowKey, partly: bool) -> bool:
        row = self._rows.get(key)
        if key in self._taken:
            return False  # asked just now
        return row is None or partly or (row["unscored"] is not None and self._asks)

    def _keep_preparation(self, stage: AnyStage) -> None:
        preparation = getattr(self._solver, "preparation", None)
        if preparation is not None:
            self._preparations.add({"stage": stage.title, **preparation})

    def _keep_facts(self, stage: AnyStage, rows: Sequence[Row]) -> None:
        """What the benchmark tells of a stage.

        A row that has its scores is never made again. So facts are up to date where they were made
        from as many scored rows as there are.
        """
        assert self._tell is not None
        self._titles.append((stage.title,))
        scored = sum(row["unscored"] is None is row["untold"] for row in rows)
        stored = self._facts.get((stage.title,))
        if stored is None or stored["scored"] != scored:
            facts = self._tell(stage, rows)
            self._facts.add({"group": stage.title, "scored": scored, **facts})

    def _solve(
        self,
        block: Sequence[AnySample],
        waiting: set[RowKey],
        progress: Progress,
    ) -> None:
        answers = self._solver.solve([sample.shown for sample in block], progress)
        if len(answers) != len(block):
            raise ValueError(f"{self._solver.name} gave {len(answers)} of {len(block)} answers")
        scored = self._benchmark.score(block, answers, self._progress)
        for sample, answer, columns in zip(block, answers, scored, strict=True):
            key, row = sample_key(sample), row_of(sample, answer, columns)
            stored = self._rows.get(key)
            if key not in waiting or (stored and stored == orjson.loads(orjson.dumps(row))):
                continue  # solved again with nothing new
            if answer.times:
                # Before the row, which says that the sample is done.
                self._timings.add({**dict(zip(KEY, key, strict=True)), **answer.times})
            self._rows.add(row)

    def finish(self) -> Run:
        """The run, its tables also written as Parquet."""
        return Run(
            benchmark=type(self._benchmark),
            settings=self._folder.settings,
            rows=self._rows.finish(self.order, run_schema(self._benchmark.columns)),
            versions=self._folder.versions,
            folder=self._folder.folder,
            facts=self._facts.finish(self._titles),
            timings=self._timings.finish(self.order),
            preparations=self._preparations.finish([]),
            judgements=self._folder.rows("judgements", JUDGED_KEY),
        )
