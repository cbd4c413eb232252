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

A stored run and its benchmark → the same run by today's formulas. Nobody is asked again.

    rescore(record, benchmark, benchmark.stages(corpus))
    → Rescored(rows=200, changed={"rouge_l": 12}, changed_rows=12, missing=3)

A row's answer is scored again where its sample is still there, by key (sample, group, variant);
other rows stay as they are and are counted. So do columns that the benchmark does not score.
The settings are written last: killed before, it is done again with the same result.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from realtalk.chat import Corpus
from realtalk.errors import RealtalkError
from realtalk.evals.folder import RunFolder, corpus_record, versions
from realtalk.evals.run import Run
from realtalk.evals.values import (
    FACTS_KEY,
    JUDGED_KEY,
    KEY,
    STAGE_KEY,
    Answer,
    AnyBenchmark,
    AnySample,
    AnyStage,
    NamedPart,
    Row,
    RowKey,
    Score,
    Solver,
    by_column,
    row_key,
    row_of,
    run_schema,
    sample_key,
)
from realtalk.files.progress import Progress, silent, within
from realtalk.files.writing import write_json

_SCORED_AT_ONCE = 1024  # samples
# A batch of other texts moves the last digits of a vector: no formula changed.
_ALIKE = 1e-5


@dataclass(frozen=True, slots=True)
class RescoringReport:
    """What scoring again did to a run."""

    rows: int
    changed_rows: int
    changed: Mapping[str, int]  # how many rows changed, column by column
    missing: int  # rows whose sample is no longer there, kept as they were
    stored: bool = True  # whether rows keep scores at all

    @property
    def lines(self) -> list[str]:
        """What to tell whoever asked for it."""
        if not self.stored:
            return [
                "its figures are always made from its rows by today's formulas: nothing is stored "
                "to be rescored"
            ]
        lines = [f"scored again: {self.changed_rows:,} of {self.rows:,} rows changed"]
        if self.changed:
            changes = (f"{name} in {count:,}" for name, count in self.changed.items())
            lines.append(f"changed: {', '.join(changes)}")
        if self.missing:
            lines.append(
                f"{self.missing:,} rows are of samples that are not in the corpus: "
                "kept as they were"
            )
        return lines


def keeps_scores(scores: Iterable[Score], columns: Mapping[str, Any]) -> bool:
    """Whether rows keep scores; others are made from the rows whenever they are looked at."""
    return any(score.name in columns for score in scores)


def rescore(
    record: Run,
    benchmark: AnyBenchmark,
    stages: Iterable[AnyStage],
    progress: Progress = silent,
) -> RescoringReport:
    """Scores the answers of a stored run again and writes it."""
    stored = {row_key(row): row for row in record.rows}
    by_title = {stage.title: stage for stage in stages}
    tell: Callable[[AnyStage, Sequence[Row]], Row] | None = getattr(benchmark, "facts", None)

    def facts_of(known: Row, rows: Sequence[Row]) -> Row:
        stage = by_title.get(known["group"])
        if stage is None or tell is None:
            return known
        facts = _as_stored(tell(stage, rows))
        return known | {name: facts[name] for name in _differing(known, facts)}

    return store_rescored(
        record,
        (
            pair
            for stage in by_title.values()
            for pair in _score_stage(stage, benchmark, stored, progress)
        ),
        benchmark.columns,
        benchmark.settings["scoring"],
        facts_of,
    )


def store_rescored(
    record: Run,
    scored: Iterable[tuple[RowKey, Row]],
    columns: Mapping[str, Any],
    scoring: Any,
    facts_of: Callable[[Row, Sequence[Row]], Row] | None = None,
) -> RescoringReport:
    """Writes rows with the columns that were scored anew, by key; says what changed.

    `facts_of` tells the facts of a group again, from its rows.
    """
    assert record.folder is not None  # it is a stored one
    place = str(record.folder)
    if any("answer" not in row for row in record.rows):
        raise RealtalkError(
            "its rows have no answers", where=place, fix="rescore the run that was shared"
        )
    rows: dict[RowKey, Row] = {row_key(row): row for row in record.rows}
    changes = {}
    for key, own in scored:
        names = _differing(rows[key], own)
        changes[key] = names
        rows[key] = {**rows[key], **{name: own[name] for name in names}}
    if not changes:
        raise RealtalkError(
            "none of its samples is in this corpus", where=place, fix="name the corpus it was of"
        )
    facts = list(record.facts)
    if facts_of is not None:
        groups = by_column(rows.values(), "group")
        facts = [facts_of(fact, groups.get(fact["group"], [])) for fact in facts]
    stored = RunFolder.load(record.folder, record.kind)
    stored.rewrite("rows", list(rows.values()), run_schema(columns))
    stored.rewrite("groups", facts)
    settings = {**record.settings, "scoring": scoring}
    used = [*record.versions, *(own for own in (versions(),) if own not in record.versions)]
    write_json(
        record.folder / "run.json", {"kind": record.kind, "settings": settings, "versions": used}
    )
    changed = Counter(name for names in changes.values() for name in names)
    changed_rows = sum(map(bool, changes.values()))
    return RescoringReport(
        len(rows), changed_rows, dict(changed.most_common()), len(rows) - len(changes)
    )


def _as_stored(value: Any) -> Any:
    """A value as it reads when it comes back from the disk."""
    return orjson.loads(orjson.dumps(value))


def _differing(known: Row, anew: Row) -> list[str]:
    return [
        name for name, value in anew.items() if name not in known or not _alike(known[name], value)
    ]


def _score_stage(
    stage: AnyStage,
    benchmark: AnyBenchmark,
    rows: Mapping[RowKey, Row],
    progress: Progress,
) -> Iterable[tuple[RowKey, Row]]:
    """The keys of a stage's stored answers, and their columns as they are scored today."""
    pairs: list[tuple[AnySample, Answer[Any]]] = []
    for sample in stage.samples:
        row = rows.get(sample_key(sample))
        answer = None if row is None else benchmark.stored_answer(sample, row)
        if answer is not None:
            pairs.append((sample, answer))
    for start in range(0, len(pairs), _SCORED_AT_ONCE):
        progress(start, len(pairs), f"scoring {stage.title}")
        block = pairs[start : start + _SCORED_AT_ONCE]
        samples = [sample for sample, _ in block]
        columns = benchmark.score(samples, [answer for _, answer in block], progress)
        yield from zip(map(sample_key, samples), _as_stored(columns), strict=True)


def _alike(one: Any, other: Any) -> bool:
    """Whether two values are the same but for the last digits of numbers."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=_ALIKE, abs_tol=_ALIKE)
    return bool(one == other)


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
            rows = [row for key in self.order[before:] if (row := self._rows.get(key))]
            self._titles.append((stage.title,))
            # A row that has its scores is never made again. So facts are up to date where they
            # were made from as many scored rows as there are.
            scored = sum(row["unscored"] is None is row["untold"] for row in rows)
            stored = self._facts.get((stage.title,))
            if stored is None or stored["scored"] != scored:
                facts = self._tell(stage, rows)
                self._facts.add({"group": stage.title, "scored": scored, **facts})

    def _is_open(self, key: RowKey, partly: bool) -> bool:
        row = self._rows.get(key)
        if key in self._taken:
            return False  # asked just now
        return row is None or partly or (row["unscored"] is not None and self._asks)

    def _keep_preparation(self, stage: AnyStage) -> None:
        preparation = getattr(self._solver, "preparation", None)
        if preparation is not None:
            self._preparations.add({"stage": stage.title, **preparation})

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
