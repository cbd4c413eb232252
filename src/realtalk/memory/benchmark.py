"""Memory probing as a benchmark: one group per chat, one sample per question and budget.

    run_probe(plan, Path("out"))    → ProbedRun(settings, rows, timings, judgements, …)
    run_probe(plan)                 → the same, and nothing is written
    load_probe(Path("out"))         → what is there, also of version 0.1.0

out/run.json  out/rows.jsonl, .parquet  out/timings.…  out/preparations.…: what memories took
out/judgements.…: what a judge said of the answers (rescoring.py)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.chat import Corpus, Question
from realtalk.errors import RealtalkError
from realtalk.evals import running
from realtalk.evals.folder import RunFolder, stored_settings
from realtalk.evals.rows import KEY
from realtalk.evals.values import Answer, Row, Sample, Score, Stage
from realtalk.local.progress import Progress, silent
from realtalk.memory.asking import Plan
from realtalk.memory.budgets import label, parse_budgets
from realtalk.memory.failing import failed
from realtalk.memory.golds import AUDITED, LMEB, PUBLISHED, Gold, names_in
from realtalk.memory.judging import JUDGED_KEY, is_current, told_right
from realtalk.memory.learned import (
    InSample,
    in_sample,
    learned_lines,
    learning_parts,
    with_learned,
)
from realtalk.memory.remembering import NO_CONTEXT
from realtalk.memory.rows import (
    LATER,
    SCORES,
    SCORING_VERSION,
    by_audit,
    category_of,
    columns,
    earlier_key,
    earlier_row,
    row_columns,
)
from realtalk.memory.scoring import RunScores, score_run
from realtalk.memory.values import RecalledAnswer, ShownQuestion

if TYPE_CHECKING:
    import polars as pl

KIND = "memory probing"


class MemoryBenchmark:
    """The questions of a plan."""

    name = KIND
    version = SCORING_VERSION
    group = "chat"
    slices = "category"
    scores: tuple[Score, ...] = SCORES

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._chats = {chat.id: chat for chat in plan.corpus.chats}
        memory = plan.memory
        self._in_sample = InSample(
            learning_parts(memory.name, memory.settings, plan.reader.name, memory.version)
        )

    @property
    def columns(self) -> Mapping[str, pl.DataType | type[pl.DataType]]:
        return columns()

    @property
    def settings(self) -> dict[str, Any]:
        plan = self._plan
        other = {} if plan.golds.name == PUBLISHED else {"golds": plan.golds.name}
        return {
            "budgets": [label(budget) for budget in plan.budgets],
            "categories": list(plan.categories) if plan.categories else None,
            "limit": plan.limit,
            "scoring": SCORING_VERSION,
            **other,
        }

    def stages(
        self,
        corpus: Corpus,  # noqa: ARG002  the plan chose from it already
        progress: Progress = silent,  # noqa: ARG002
    ) -> Iterator[Stage[ShownQuestion, Question]]:
        return self._plan.stages()

    def score(
        self,
        samples: Sequence[Sample[ShownQuestion, Question]],
        answers: Sequence[Answer[RecalledAnswer]],
        progress: Progress = silent,  # noqa: ARG002
    ) -> list[Row]:
        return [self._row(sample, answer) for sample, answer in zip(samples, answers, strict=True)]

    def _row(self, sample: Sample[ShownQuestion, Question], answer: Answer[RecalledAnswer]) -> Row:
        chat, question = self._chats[sample.group], sample.truth
        recalled = answer.value or RecalledAnswer(NO_CONTEXT)
        gold = self._gold(sample)
        audited = self._plan.audited(chat).get(question.id)
        beside = () if audited is None else (audited.answer, *audited.accept)
        said = (question.text, gold.answer or "", recalled.text or "", *gold.accept, *beside)
        return row_columns(
            question,
            recalled,
            answer.unscored,
            learned=self._in_sample.of(chat, question),
            gold=gold,
            audited=audited,
            names=names_in(chat, *said),
        )

    def target(self, sample: Sample[ShownQuestion, Question]) -> str:
        gold = self._gold(sample)
        return told_right(gold.answer, gold.accept, category_of(sample.truth))

    def about(self, sample: Sample[ShownQuestion, Question]) -> dict[str, str]:
        left_out = self._gold(sample).left_out
        return {
            "question": sample.truth.text,
            "category": category_of(sample.truth),
            **({"left_out": left_out} if left_out else {}),
        }

    def _gold(self, sample: Sample[ShownQuestion, Question]) -> Gold:
        return self._plan.gold(self._chats[sample.group], sample.truth)


@dataclass(frozen=True)
class ProbedRun(running.RunRecord):
    """A run of memory probing, with what judges said of its answers."""

    judgements: Sequence[Row] = ()

    @property
    def tables(self) -> dict[str, Sequence[Row]]:
        return {**super().tables, "judgements": self.judgements}

    @property
    def place(self) -> str:
        """Where the run is, for errors."""
        return self.name if self.folder is None else str(self.folder)

    @property
    def name(self) -> str:
        golds = "" if self.golds == PUBLISHED else f", {self.golds} golds"
        return f"{self.memory}, read by {self.model or self.reader}{golds}"

    @property
    def memory(self) -> str:
        return str(self._part("memory")["name"])

    @property
    def reader(self) -> str:
        return str(self._part("reader")["name"])

    @property
    def model(self) -> str | None:
        """The model that answered; None where none did."""
        model = self.answering.get("model")
        return None if model is None else str(model)

    @property
    def answering(self) -> Mapping[str, Any]:
        """The settings of the reader."""
        settings: Mapping[str, Any] = self._part("reader").get("settings") or {}
        return settings

    def _part(self, name: str) -> Mapping[str, Any]:
        part: Mapping[str, Any] = self.settings["solver"]["settings"][name]
        return part

    @property
    def golds(self) -> str:
        """What the rows are scored by: published, audited, lmeb, or a corrected audit."""
        return str(self.settings.get("golds", PUBLISHED))

    @property
    def failed(self) -> list[Row]:
        """The rows that went wrong with `why`, worst first."""
        return failed(self.rows, published=self.golds == PUBLISHED)

    @cached_property
    def audited(self) -> ProbedRun | None:
        """The same answers and rankings as the audit's golds score them; None where it cannot.

        What a judge said was said of the published golds, so it is left out.
        """
        if self.golds != PUBLISHED or all(row["verdict"] is None for row in self.rows):
            return None
        rows = [by_audit(row) for row in self.rows]
        return replace(self, rows=rows, judgements=(), settings={**self.settings, "golds": AUDITED})

    @cached_property
    def scores(self) -> RunScores:
        return score_run(
            self.rows,
            self.timings,
            self.judgements,
            self.preparations,
            self.model,
            audited=() if self.audited is None else self.audited.rows,
            board=self.golds == LMEB,
        )

    def to_json(self) -> dict[str, Any]:
        """The settings, every figure, and what of it is in-sample."""
        return {
            "settings": dict(self.settings),
            "in_sample": in_sample(self.rows, self.settings),
            **self.scores.to_json(),
        }

    @property
    def cautions(self) -> list[str]:
        """What has to be said beside every table of the run."""
        own = any(judge == self.model for _, judge, _ in self.scores.judged)
        judged = f"judged by the model that answered, {self.model}: models favour their own answers"
        return [*learned_lines(self.rows, self.settings), *([judged] if own else [])]

    def one_budget(self, wanted: str | None = None) -> str:
        """The label of the budget that is wanted, or of the only one; raises where neither is."""
        known = list(self.scores.costs)
        if wanted is None and len(known) == 1:
            return known[0]
        name = None if wanted is None else label(parse_budgets(wanted)[0])
        if name is None or name not in known:
            raise RealtalkError(
                "several budgets" if name is None else f"no rows with the budget {name}",
                where=self.place,
                fix=f"choose one with --budget: {', '.join(known)}",
            )
        return name


def run_probe(
    plan: Plan,
    folder: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
    solved: Sequence[running.RunRecord] = (),
) -> ProbedRun:
    """Asks what the folder has no row of yet. What failed in an earlier run is asked again.

    So are all questions about a chat of which a memory could not take in every session: what
    they were shown lacked it. `solved` are runs of single chats, made in this sitting.
    """
    solver = plan.solver
    if folder is not None and not fresh:
        refuse_earlier_formulas(folder)
        solver.proven = bool(_size(folder / "rows.jsonl"))  # what failed is asked again, alone
    record = running.run(
        MemoryBenchmark(plan),
        plan.corpus,
        solver,
        folder,
        fresh=fresh,
        progress=progress,
        solved=solved,
    )
    return _with_judgements(record)


def _size(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


def load_probe(folder: Path) -> ProbedRun:
    """A run's rows in their order; those of one that was stopped, as far as it got."""
    record = running.load(folder, KIND, earlier_row, solver=_earlier_solver, needed=("corpus",))
    solver = record.settings["solver"]
    parts = solver.get("settings") if isinstance(solver, dict) else None
    for name in ("memory", "reader"):
        part = parts.get(name) if isinstance(parts, dict) else None
        if not isinstance(part, dict) or "name" not in part:
            raise RealtalkError(
                f"its settings lack '{name}'",
                where=str(folder / "run.json"),
                fix="start anew with --fresh",
            )
    later = {*LATER, "learned"}
    needed = {name for name in columns() if name not in later and not name.startswith("memory_")}
    lacking = {name for row in record.rows for name in needed.difference(row)}
    if lacking:
        raise RealtalkError(
            f"its rows lack '{min(lacking)}'", where=str(folder), fix="start anew with --fresh"
        )
    if "memory" in record.settings:
        record = _with_earlier_tables(record, folder)
    rows = with_learned(record.rows, record.settings)
    return _with_judgements(replace(record, rows=[{**LATER, **row} for row in rows]))


def _with_judgements(record: running.RunRecord) -> ProbedRun:
    """The run with the judgements that are of the answers it has now."""
    judgements: list[Row] = []
    if record.folder is not None:
        stored = RunFolder.load(record.folder, KIND)
        by_key = {tuple(row[name] for name in KEY): row for row in record.rows}
        judgements = [
            judgement
            for judgement in stored.rows("judgements", JUDGED_KEY, earlier_key)
            if is_current(judgement, by_key.get(tuple(judgement[name] for name in KEY)))
        ]
    return ProbedRun(**vars(record), judgements=judgements)


def _earlier_solver(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Memory and reader of a run of version 0.1.0 as one solver, as today's is recorded."""
    parts = {name: settings.get(name) for name in ("memory", "reader")}
    told = [part if isinstance(part, dict) else {} for part in parts.values()]
    return {
        "name": ", read by ".join(str(part.get("name")) for part in told),
        "version": ", ".join(str(part.get("version")) for part in told),
        "settings": parts,
    }


def _with_earlier_tables(record: running.RunRecord, folder: Path) -> running.RunRecord:
    """With the times of a run of version 0.1.0, and what its memories took."""
    run = RunFolder.load(folder, KIND)
    memories = run.rows("memories", ("chat", "messages"))
    return replace(
        record,
        timings=run.rows("timings", KEY, earlier_key),
        preparations=[{"stage": row["chat"], **row} for row in memories],
    )


def refuse_earlier_formulas(folder: Path) -> None:
    """A run cannot go on by other formulas: half of its rows would mean something else."""
    settings = stored_settings(folder, KIND)
    if settings is None:
        return
    other = settings.get("scoring") != SCORING_VERSION
    if other or "solver" not in settings:
        raise RealtalkError(
            "its answers were scored by earlier formulas" if other else "made by version 0.1.0",
            where=str(folder),
            fix=f"bring it up to date: realtalk probe rescore {folder}",
        )
