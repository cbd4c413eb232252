"""Memory probing, chat by chat: each chat is indexed, searched and scored by a worker.

    probe_by(plan, partial(make_memory, "retrieved"), Processes(4), Path("out"))
    → Run, with the rows that `run_probe(plan, Path("out"))` writes

A chat is the unit: a memory is built from one chat, and nothing of another has a say in its rows.
The questions are chosen before, from all chats together. A worker writes the run of one chat; the
rows are then taken over in the order of the corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.chat import Chat, Corpus
from realtalk.engine.jobs import Backend, Job, run_job, workplace
from realtalk.errors import RealtalkError
from realtalk.evals import running
from realtalk.evals.folder import RunFolder, stored_settings
from realtalk.evals.run import Run
from realtalk.evals.values import KEY, STAGE_KEY, Row, row_key, sample_key
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import file_stem
from realtalk.formats.reading import Ledger, ReadCorpus
from realtalk.formats.store import load, store
from realtalk.memory.asking import Plan
from realtalk.memory.benchmark import (
    KIND,
    MemoryBenchmark,
    refuse_earlier_formulas,
    run_probe,
)
from realtalk.memory.golds import GOLDS, Golds, golds_named

if TYPE_CHECKING:
    from realtalk.memory.remembering import Reader
    from realtalk.memory.values import Budget, Memory

_PLACE = ".chats"
_JOB = "probing chat by chat"
_ASKING = frozenset({"notes", "mem0"})  # memories that are built by a language model


class ChatProber:
    """The function of a worker: the run of one chat.

    Golds that everybody has go by their name: they are large. `threads` are those of the
    driver's linear algebra.
    """

    def __init__(
        self,
        make: Callable[[], Memory],
        reader: Reader,
        budgets: tuple[Budget, ...],
        golds: str | Golds,
        threads: int,
    ) -> None:
        gold_set = golds_named(golds) if isinstance(golds, str) else golds
        self._plan = partial(
            Plan, memory=make(), reader=reader, budgets=budgets, golds=gold_set, is_part=True
        )
        self._threads = threads

    def __call__(self, source: Path, place: Path) -> Mapping[str, Any]:
        from threadpoolctl import threadpool_limits

        # How linear algebra adds up depends on how many threads it cuts the work for. A worker
        # has one; where its figures are to be the driver's, it cuts as the driver does.
        with threadpool_limits(self._threads, user_api="blas"):
            probed = run_probe(self._plan(load(source).corpus), place)
        return {"rows": len(probed.rows)}


def probe_by(
    plan: Plan,
    make: Callable[[], Memory],
    engine: Backend,
    folder: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> Run:
    """Runs a plan by an engine; rows and settings are those of `run_probe`."""
    if plan.reader.name == "llm" or plan.memory.name in _ASKING:
        raise RealtalkError(
            "an engine splits what needs no language model",
            fix="leave `engine=` out: a server answers many questions at once (`connections=`)",
        )
    if folder is not None and not fresh:
        refuse_earlier_formulas(folder)
    settings = running.claim(MemoryBenchmark(plan), plan.corpus, plan.solver, folder, fresh=fresh)
    with workplace(folder, _PLACE, engine) as place:
        inputs = written_chats(_open_chats(plan, folder), plan.corpus, place / "chats")
        golds = plan.golds.name if plan.golds.name in GOLDS else plan.golds
        work = partial(ChatProber, make, plan.reader, plan.budgets, golds, _blas_threads())
        job = Job(_JOB, inputs, work, place / "runs", settings)
        report = run_job(job, engine, fresh=fresh, progress=progress)
        if report.problems:
            name, problem = report.problems[0]
            raise RealtalkError(
                f"{len(report.problems):,} chats could not be probed, this one: {problem}",
                where=name,
                fix="run it again with the same `out=`: what is done stays",
            )
        solved = [Run.load(Path(report.out) / row["part"], KIND) for row in report.rows]
        return run_probe(plan, folder, progress=progress, solved=solved)


def _blas_threads() -> int:
    import numpy as np  # whose library it is
    from threadpoolctl import threadpool_info

    assert np.__version__
    counts = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max(counts, default=1)


def _open_chats(plan: Plan, folder: Path | None) -> list[Chat]:
    """The chats of which a row is missing or to be asked for again, with what is asked of them."""
    rows: dict[tuple[Any, ...], Row] = {}
    partly: set[str] = set()
    if folder is not None and stored_settings(folder, KIND) is not None:
        run = RunFolder.load(folder, KIND)
        rows = {row_key(row): row for row in run.rows("rows", KEY)}
        stages = run.rows("preparations", STAGE_KEY)
        partly = {row["stage"] for row in stages if row["unscored"]}
    waiting = {
        sample.group
        for stage in plan.stages()
        for sample in stage.samples
        if stage.title in partly
        or (row := rows.get(sample_key(sample))) is None
        or row["unscored"] is not None
    }
    return [
        replace(chat, questions=questions)
        for chat, questions in plan.questions
        if chat.id in waiting
    ]


def written_chats(chats: Sequence[Chat], corpus: Corpus, folder: Path) -> tuple[Path, ...]:
    """Each chat as a stored corpus, which is what a worker reads."""

    paths = []
    for number, chat in enumerate(chats, 1):
        alone = Corpus(corpus.name, corpus.format, (chat,))
        total = len(chat.messages)
        reading = ReadCorpus(corpus=alone, ledger=Ledger("messages", total, total))
        place = folder / f"{number:06}-{file_stem(chat.id)[:80]}"
        paths.append(store(reading, place))
    return tuple(paths)
