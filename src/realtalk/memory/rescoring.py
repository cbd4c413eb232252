"""Runs of memory probing → the same runs judged, or scored by the present formulas.

probe_and_judge(plan, judge=judge)
judge_run(probed, judge)          → the run with a judge's verdicts; the reader is not asked
rescore_run(Path("out"))          → (the run by the present formulas, what changed)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from realtalk.chat import Corpus, Question
from realtalk.errors import RealtalkError
from realtalk.evals.folder import RunFolder
from realtalk.evals.rescoring import RescoringReport, rescore
from realtalk.evals.rows import JUDGED_KEY, schema_of
from realtalk.evals.run import Run
from realtalk.evals.values import Answer, Benchmark, Row, Sample, Stage
from realtalk.files.progress import Progress, silent
from realtalk.formats.audit import Audit, question_key
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import KIND, answering, golds_of, run_probe
from realtalk.memory.golds import PUBLISHED
from realtalk.memory.judging import JUDGEMENT, Judge, current_judgements, judgement_key
from realtalk.memory.rows import (
    AUDIT_COLUMNS,
    COLUMNS,
    SCORES,
    SCORING_VERSION,
    audit_columns,
    rescored_columns,
)


def probe_and_judge(
    plan: Plan,
    folder: Path | None = None,
    *,
    judge: Judge | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> Run:
    """Runs a plan and has its answers judged. A judge who cannot is refused before it costs."""
    if judge is None:
        return run_probe(plan, folder, fresh=fresh, progress=progress)
    judge.refuse_own(plan.reader.settings.get("model"))
    if folder is not None and not fresh and (folder / "run.json").is_file():
        judgements = RunFolder.load(folder, KIND).rows("judgements", JUDGED_KEY)
        judge.refuse_other_server(judgements, str(folder))
    return judge_run(run_probe(plan, folder, fresh=fresh, progress=progress), judge, progress)


def judge_run(probed: Run, judge: Judge, progress: Progress = silent) -> Run:
    """Judges a run's answers without asking for them again; earlier judgements stay."""
    judge.refuse_own(answering(probed).get("model"))
    if all(row["answer"] is None for row in probed.rows):
        raise RealtalkError(
            "the run has no answers to judge", where=probed.place, fix="run it with a reader"
        )
    with (
        RunFolder.open(None, KIND, probed.settings)
        if probed.folder is None
        else RunFolder.load(probed.folder, KIND)
    ) as run:
        table = run.table("judgements", JUDGED_KEY)
        judge.refuse_other_server(table.rows, probed.place)
        current = current_judgements(table.rows, probed.rows)
        keys = {judgement_key(row) for row in current if row["unscored"] is None}
        judge.judge(probed.rows, table.add, keys.__contains__, progress)
        earlier = map(judgement_key, probed.judgements)
        order = list(dict.fromkeys((*earlier, *judge.keys(probed.rows))))
        judgements = table.finish(order, schema_of(JUDGEMENT))
    return replace(probed, judgements=current_judgements(judgements, probed.rows))


class _StoredQuestions(Benchmark[None, Row, str]):
    """The questions of a run as its rows have them: what was retrieved stays, answers are scored.

    The rows hold all that the formulas need, so no corpus is asked for.
    """

    scores = SCORES
    columns = COLUMNS
    settings: Mapping[str, Any] = MappingProxyType({"scoring": SCORING_VERSION})

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows

    def stages(
        self,
        corpus: Corpus | None = None,  # noqa: ARG002
        progress: Progress = silent,  # noqa: ARG002
    ) -> list[Stage[None, Row]]:
        samples = [
            Sample(row["sample"], row["group"], row["variant"], None, row) for row in self._rows
        ]
        return [Stage("answers", samples)]

    def score(
        self,
        samples: Sequence[Sample[None, Row]],
        answers: Sequence[Answer[str]],
        progress: Progress = silent,  # noqa: ARG002
    ) -> list[Row]:
        return [
            {
                **{name: sample.truth[name] for name in AUDIT_COLUMNS if name in sample.truth},
                **rescored_columns(sample.truth, answer.value),
            }
            for sample, answer in zip(samples, answers, strict=True)
        ]


def rescore_run(folder: Path, audit: Audit | None = None) -> tuple[Run, RescoringReport]:
    """Scores a run's answers by the present formulas; nobody is asked. And what changed.

    A corrected `audit` takes the place of the one that the run's questions were held against.
    """
    run = Run.load(folder, KIND)
    rows = run.rows if audit is None else _audited_anew(run, audit)
    questions = _StoredQuestions(rows)
    changes = rescore(run, questions, questions.stages())
    return Run.load(folder, KIND), changes


def _audited_anew(probed: Run, audit: Audit) -> list[Row]:
    """The rows with what a corrected audit says of those questions that were audited before."""
    if golds_of(probed) != PUBLISHED:
        raise RealtalkError(
            f"the run is scored by {golds_of(probed)} golds",
            where=probed.place,
            fix="a corrected audit stands beside published golds; probe anew with `golds=FILE`",
        )
    by_key = {
        key: judgement for questions in audit.chats.values() for key, judgement in questions.items()
    }
    changed = []
    for row in probed.rows:
        question = Question(row["sample"], row["question"], row["gold"], row["category"])
        entry = by_key.get(question_key(question))
        # The chat was recognised when the run was made: without that, a question alone is none.
        changed.append(row if row["verdict"] is None else row | audit_columns(entry))
    if not any(row["verdict"] for row in changed):
        raise RealtalkError("the audit is not of this run's chats", where=probed.place)
    return changed
