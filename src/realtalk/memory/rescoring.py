"""Runs of memory probing → the same runs judged, scored by the present formulas, or compared.

    probe_and_judge(plan, judge=judge)
    judge_run(probed, judge)          → the run with a judge's verdicts; the reader is not asked
    compared_runs(first, second)      → (Compared(…), the scores that both have)
    rescore_run(Path("out"))          → (the run by the present formulas, what changed)

A run of version 0.1.0 that is scored again is written as one of today, and can be gone on with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from realtalk.chat import Question
from realtalk.corpora.audit import Audit, question_key
from realtalk.errors import RealtalkError
from realtalk.evals.comparing import Compared
from realtalk.evals.folder import RunFolder
from realtalk.evals.rescoring import Rescored, rescore
from realtalk.evals.rows import KEY
from realtalk.evals.values import Answer, Row, Sample, Score, Stage
from realtalk.local.progress import Progress, silent
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import KIND, ProbedRun, load_probe, run_probe
from realtalk.memory.golds import PUBLISHED
from realtalk.memory.judging import JUDGED_KEY, Judge, is_current, judgement_schema
from realtalk.memory.rows import (
    AUDIT_COLUMNS,
    SCORES,
    SCORING_VERSION,
    audit_columns,
    columns,
    earlier_key,
    rescored_columns,
)
from realtalk.memory.scoring import compare_runs

if TYPE_CHECKING:
    import polars as pl


def probe_and_judge(
    plan: Plan,
    folder: Path | None = None,
    *,
    judge: Judge | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> ProbedRun:
    """Runs a plan and has its answers judged. A judge who cannot is refused before it costs."""
    if judge is None:
        return run_probe(plan, folder, fresh=fresh, progress=progress)
    judge.refuse_own(plan.reader.settings.get("model"))
    if folder is not None and not fresh and (folder / "run.json").is_file():
        known = RunFolder.load(folder, KIND).rows("judgements", JUDGED_KEY, earlier_key)
        judge.refuse_other_server(known, str(folder))
    return judge_run(run_probe(plan, folder, fresh=fresh, progress=progress), judge, progress)


def judge_run(probed: ProbedRun, judge: Judge, progress: Progress = silent) -> ProbedRun:
    """Judges a run's answers without asking for them again; earlier judgements stay."""
    judge.refuse_own(probed.model)
    if all(row["answer"] is None for row in probed.rows):
        raise RealtalkError(
            "the run has no answers to judge", where=probed.place, fix="run it with a reader"
        )
    with _folder(probed) as run:
        table = run.table("judgements", JUDGED_KEY)
        judge.refuse_other_server(table.rows, probed.place)
        by_key = {tuple(row[name] for name in KEY): row for row in probed.rows}

        def done(key: tuple[Any, ...]) -> bool:
            row = table.get(key)
            if row is None or row["unscored"] is not None:
                return False
            return is_current(row, by_key.get(key[: len(KEY)]))

        earlier = [tuple(row[name] for name in JUDGED_KEY) for row in probed.judgements]
        judge.judge(probed.rows, table.add, done, progress)
        order = list(dict.fromkeys((*earlier, *judge.keys(probed.rows))))
        table.finish(order, judgement_schema())
        judgements = [
            row
            for row in table.in_order(order)
            if is_current(row, by_key.get(tuple(row[name] for name in KEY)))
        ]
    return replace(probed, judgements=judgements)


def _folder(probed: ProbedRun) -> RunFolder:
    if probed.folder is None:
        return RunFolder.open(None, KIND, probed.settings)
    return RunFolder.load(probed.folder, KIND)


_Stored: TypeAlias = Sample[None, Row]
_Answers: TypeAlias = Sequence[Answer[str]]


class _StoredQuestions:
    """The questions of a run as its rows have them: what was retrieved stays, answers are scored.

    The rows hold all that the formulas need, so no corpus is asked for.
    """

    name = KIND
    scores: tuple[Score, ...] = SCORES
    settings: Mapping[str, Any] = MappingProxyType({"scoring": SCORING_VERSION})

    @property
    def columns(self) -> Mapping[str, pl.DataType | type[pl.DataType]]:
        return columns()

    def stages(self, rows: Sequence[Row]) -> list[Stage[None, Row]]:
        samples = [
            Sample(row["sample"], row["group"], row["variant"], shown=None, truth=row)
            for row in rows
        ]
        return [Stage("answers", samples)]

    def score(
        self,
        samples: Sequence[_Stored],
        answers: _Answers,
        progress: Progress = silent,  # noqa: ARG002
    ) -> list[Row]:
        return [
            {
                **{name: sample.truth[name] for name in AUDIT_COLUMNS if name in sample.truth},
                **rescored_columns(sample.truth, answer.value),
            }
            for sample, answer in zip(samples, answers, strict=True)
        ]

    def stored_answer(self, sample: Sample[None, Row], row: Row) -> Answer[str]:  # noqa: ARG002
        return Answer(row["answer"], row["unscored"] or "")


def rescore_run(folder: Path, audit: Audit | None = None) -> tuple[ProbedRun, Rescored]:
    """Scores a run's answers by the present formulas; nobody is asked. And what changed.

    A corrected `audit` takes the place of the one that the run's questions were held against.
    """
    known = load_probe(folder)
    rows = known.rows if audit is None else _audited_anew(known, audit)
    questions = _StoredQuestions()
    changes = rescore(
        known,
        questions,
        questions.stages(rows),
        schemas={"judgements": judgement_schema()},
    )
    return load_probe(folder), changes


def _audited_anew(probed: ProbedRun, audit: Audit) -> list[Row]:
    """The rows with what a corrected audit says of those questions that were audited before."""
    if probed.golds != PUBLISHED:
        raise RealtalkError(
            f"the run is scored by {probed.golds} golds",
            where=probed.place,
            fix="a corrected audit stands beside published golds; probe anew with --golds FILE",
        )
    by_key = {key: each for questions in audit.chats.values() for key, each in questions.items()}
    changed = []
    for row in probed.rows:
        asked = Question(row["sample"], row["question"], row["gold"], row["category"])
        found = by_key.get(question_key(asked))
        # The chat was recognised when the run was made: without that, a question alone is none.
        changed.append(row if row["verdict"] is None else row | audit_columns(found))
    if not any(row["verdict"] for row in changed):
        raise RealtalkError("the audit is not of this run's chats", where=probed.place)
    return changed


def same_formulas(probed: ProbedRun) -> bool:
    """Whether a run's answers were scored by the present formulas."""
    return probed.settings.get("scoring") == SCORING_VERSION


def refuse_other_formulas(runs: Sequence[ProbedRun]) -> None:
    """Raises where runs that are set side by side were scored by different formulas."""
    if len({probed.settings.get("scoring", "1") for probed in runs}) > 1:
        older = next(probed for probed in runs if not same_formulas(probed))
        raise RealtalkError(
            "the runs were scored by different formulas",
            where=older.place,
            fix=f"bring it up to date: realtalk probe rescore {older.place}",
        )


def compared_runs(
    first: ProbedRun,
    second: ProbedRun,
    budget: str | None = None,
    names: tuple[str, str] = ("first", "second"),
) -> tuple[Compared, tuple[Score, ...]]:
    """The second run against the first at one budget, and the scores that both have."""
    refuse_other_formulas((first, second))
    if first.golds != second.golds:
        raise RealtalkError(
            f"the runs are scored by different golds ({first.golds} and {second.golds})",
            where=second.place,
            fix="compare runs by the same golds",
        )
    rows: list[list[Row]] = []
    judgements: list[list[Row]] = []
    for run in (first, second):
        chosen = run.one_budget(budget)
        rows.append([row for row in run.rows if row["variant"] == chosen])
        judgements.append([row for row in run.judgements if row["variant"] == chosen])
    return compare_runs(rows[0], rows[1], (judgements[0], judgements[1]), names)


def compared_audited(
    first: ProbedRun,
    second: ProbedRun,
    budget: str | None = None,
    names: tuple[str, str] = ("first", "second"),
) -> tuple[Compared, tuple[Score, ...]] | None:
    """The same by the audited golds; None where either run's chats were not audited."""
    if first.audited is None or second.audited is None:
        return None
    return compared_runs(first.audited, second.audited, budget, names)
