"""Memory probing as a run: a plan and a folder → rows, judgements and figures, resumable.

run_probe(plan, Path("out"))                       → Probed(rows, timings, judgements, …)
judge_run(Path("out"), Judge(asked, wording))      → the same run with a judge's scores
rescore_run(Path("out"))                           → the same run by the present formulas
load_probe(Path("out"))                            → what is there

out/run.json  out/rows.jsonl, .parquet  out/timings.…  out/judgements.…  out/memories.jsonl
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from realtalk.errors import RealtalkError
from realtalk.evals.corpus_records import corpus_record
from realtalk.evals.folder import RunFolder, Table, versions
from realtalk.local.progress import Progress, silent
from realtalk.local.writing import write_json
from realtalk.memory.asking import Plan, is_done, probe
from realtalk.memory.budgets import label, parse_budgets
from realtalk.memory.judging import (
    JUDGED_KEY,
    Judge,
    is_current,
    judgement_schema,
    refuse_own_judge,
)
from realtalk.memory.learned import in_sample, learned_lines, with_learned
from realtalk.memory.rows import (
    ANSWER_SCORES,
    BUDGET_SCORES,
    KEY,
    RANK_SCORES,
    SCORING_VERSION,
    Row,
    rescored,
    row_schema,
    timing_schema,
)
from realtalk.memory.scoring import RunScores, score_run

__all__ = [
    "KIND",
    "Probed",
    "judge_run",
    "load_probe",
    "refuse_earlier_formulas",
    "refuse_other_formulas",
    "rescore_run",
    "run_probe",
    "same_formulas",
]

KIND = "memory probing"
_MEMORY_KEY = ("chat", "messages")
# What every version has written; `unresolved` came later.
_COLUMNS = frozenset(
    {
        *(*KEY, "category", "question", "gold", "answer", "unscored", "tokens", "words"),
        *("message_ids", "evidence", *RANK_SCORES, *BUDGET_SCORES, *ANSWER_SCORES),
    }
)


@dataclass(frozen=True)
class Probed:
    """A run as it is on disk."""

    folder: Path
    settings: Mapping[str, Any]
    rows: Sequence[Row]
    timings: Sequence[Row]
    judgements: Sequence[Row]
    memories: Sequence[Row] = ()

    @property
    def scores(self) -> RunScores:
        return score_run(self.rows, self.timings, self.judgements, self.memories)

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
        return learned_lines(self.rows, self.settings)

    @property
    def model(self) -> str | None:
        """The model that answered; None where none did."""
        found = self.settings["reader"].get("settings", {}).get("model")
        return None if found is None else str(found)

    def one_budget(self, wanted: str | None = None) -> str:
        """The label of the budget that is wanted, or of the only one; raises where neither is."""
        known = list(dict.fromkeys(str(row["budget"]) for row in self.rows))
        if wanted is None and len(known) == 1:
            return known[0]
        name = None if wanted is None else label(parse_budgets(wanted)[0])
        if name is None or name not in known:
            raise RealtalkError(
                "several budgets" if name is None else f"no rows with the budget {name}",
                where=str(self.folder),
                fix=f"choose one with --budget: {', '.join(known)}",
            )
        return name


def run_probe(
    plan: Plan,
    folder: Path,
    *,
    fresh: bool = False,
    judge: Judge | None = None,
    progress: Progress = silent,
) -> Probed:
    """Asks what the folder has no row of yet. What failed in an earlier run is asked again.

    So are all questions about a chat of which a memory could not take in every session: what
    they were shown lacked it.
    """
    settings = {"corpus": corpus_record(plan.corpus), **plan.settings()}
    if judge is not None:
        refuse_own_judge(plan.reader.settings.get("model"), judge.asked.model)
    if not fresh:
        refuse_earlier_formulas(folder)
    with RunFolder.open(folder, KIND, settings, fresh=fresh) as run:
        if judge is not None:  # before anything is spent on answers
            judge.refuse_other_server(run.rows("judgements", JUDGED_KEY), str(folder))
        rows = run.table("rows", KEY)
        timings = run.table("timings", KEY)
        partly = {row["chat"] for row in run.rows("memories", _MEMORY_KEY) if row["unscored"]}

        def keep(row: Row, timing: Row) -> None:
            key = tuple(row[name] for name in KEY)
            if key[0] in partly and rows.get(key) == orjson.loads(orjson.dumps(row)):
                return  # asked again with nothing new
            # The row last: it is what says that the question is done.
            timings.add(timing)
            rows.add(row)

        def done(key: tuple[Any, ...]) -> bool:
            row = rows.get(key)
            return row is not None and key[0] not in partly and is_done(row)

        memories: list[Table] = []  # only models cost anything: other runs have no such file
        later: list[Row] = []

        def remembered(row: Row) -> None:
            if not memories:
                memories.append(run.table("memories", _MEMORY_KEY))
            if row["chat"] in partly:
                # Not before its questions are asked again: a run killed now would not.
                later.append(row)
            else:
                memories[0].add(row)

        probe(plan, keep, done, progress, remembered)
        for row in later:
            memories[0].add(row)
        order = plan.keys()
        rows.finish(order, row_schema())
        timings.finish(order, timing_schema())
    if judge is not None:
        return judge_run(folder, judge, progress)
    return load_probe(folder)


def load_probe(folder: Path) -> Probed:
    """A run's rows in their order; those of one that was stopped, as far as it got."""
    run = RunFolder.load(folder, KIND)
    _refuse_other_shape(run)
    found = {
        name: _ordered(run, name, key)
        for name, key in (
            *(("rows", KEY), ("timings", KEY)),
            *(("judgements", JUDGED_KEY), ("memories", _MEMORY_KEY)),
        )
    }
    if not found["rows"]:
        raise RealtalkError(
            "the run has no row yet", where=str(folder), fix="start it again: it goes on"
        )
    lacking = {name for row in found["rows"] for name in _COLUMNS.difference(row)}
    if lacking:
        raise RealtalkError(
            f"its rows lack '{min(lacking)}'", where=str(folder), fix="start anew with --fresh"
        )
    found["rows"] = with_learned(found["rows"], run.settings)
    by_key = {tuple(row[name] for name in KEY): row for row in found["rows"]}
    found["judgements"] = [
        each
        for each in found["judgements"]
        if is_current(each, by_key.get(tuple(each[name] for name in KEY)))
    ]
    return Probed(folder, run.settings, **found)


def _refuse_other_shape(run: RunFolder) -> None:
    """Settings that somebody wrote or cut by hand are refused before anything is read of them."""
    assert run.folder is not None  # it was loaded from one
    for name in ("corpus", "memory", "reader"):
        told = run.settings.get(name)
        if not isinstance(told, dict) or "name" not in told:
            raise RealtalkError(
                f"its settings lack '{name}'",
                where=str(run.folder / "run.json"),
                fix="start anew with --fresh",
            )


def _ordered(run: RunFolder, name: str, key: Sequence[str]) -> list[Row]:
    """The latest rows, in the order of the table where it is written.

    The table alone would not do: a run that went on and was stopped has later rows.
    """
    import polars as pl

    assert run.folder is not None  # it was loaded from one
    try:
        rows = run.rows(name, key)
    except (KeyError, TypeError) as error:
        raise RealtalkError(
            "a line is no row of a probe",
            where=str(run.folder / f"{name}.jsonl"),
            fix="start anew with --fresh",
        ) from error
    path = run.folder / f"{name}.parquet"
    if not path.is_file():
        return rows
    try:
        known = pl.read_parquet(path, columns=list(key)).rows()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RealtalkError(
            "not a readable Parquet file", where=str(path), fix="start the run again to mend it"
        ) from error
    place = {each: at for at, each in enumerate(known)}
    return sorted(rows, key=lambda row: place.get(tuple(row[part] for part in key), len(place)))


def judge_run(folder: Path, judge: Judge, progress: Progress = silent) -> Probed:
    """Judges a run's answers without asking for them again; earlier judgements stay."""
    known = load_probe(folder)
    refuse_own_judge(known.model, judge.asked.model)
    if all(row["answer"] is None for row in known.rows):
        raise RealtalkError(
            "the run has no answers to judge", where=str(folder), fix="run it with a reader"
        )
    with RunFolder.load(folder, KIND) as run:
        table = run.table("judgements", JUDGED_KEY)

        judge.refuse_other_server(table.rows, str(folder))
        by_key = {tuple(row[name] for name in KEY): row for row in known.rows}

        def done(key: tuple[Any, ...]) -> bool:
            row = table.get(key)
            if row is None or row["unscored"] is not None:
                return False
            return is_current(row, by_key.get(key[: len(KEY)]))

        earlier = [tuple(row[name] for name in JUDGED_KEY) for row in known.judgements]
        judge.judge(known.rows, table.add, done, progress)
        order = dict.fromkeys((*earlier, *judge.keys(known.rows)))
        table.finish(list(order), judgement_schema())
    return load_probe(folder)


def rescore_run(folder: Path) -> tuple[Probed, int]:
    """Scores a run's answers by the present formulas; nobody is asked. And how many rows changed.

    The settings are written last: killed before, it is done again with the same result.
    """
    known = load_probe(folder)
    with RunFolder.load(folder, KIND) as run:
        table = run.table("rows", KEY)
        changed = 0
        for row in known.rows:
            made = rescored(row)
            changed += made != row
            if table.get(tuple(row[name] for name in KEY)) != made:
                table.add(made)
        table.finish([tuple(row[name] for name in KEY) for row in known.rows], row_schema())
        used = [*run.versions, *(each for each in (versions(),) if each not in run.versions)]
        settings = run.settings | {"scoring": SCORING_VERSION}
        write_json(folder / "run.json", {"kind": KIND, "settings": settings, "versions": used})
    return load_probe(folder), changed


def same_formulas(probed: Probed) -> bool:
    """Whether a run's answers were scored by the present formulas."""
    return probed.settings.get("scoring") == SCORING_VERSION


def refuse_other_formulas(runs: Sequence[Probed]) -> None:
    """Raises where runs that are set side by side were scored by different formulas."""
    told = [probed.settings.get("scoring", "1") for probed in runs]
    if len(set(told)) > 1:
        older = next(one for one in runs if not same_formulas(one))
        raise RealtalkError(
            "the runs were scored by different formulas",
            where=str(older.folder),
            fix=f"bring it up to date: realtalk probe rescore {older.folder}",
        )


def refuse_earlier_formulas(folder: Path) -> None:
    """A run cannot go on by other formulas: half of its rows would mean something else."""
    if not (folder / "run.json").is_file():
        return
    try:
        settings = RunFolder.load(folder, KIND).settings
    except RealtalkError:
        return  # opening it says what it is
    if settings.get("scoring") != SCORING_VERSION:
        raise RealtalkError(
            "its answers were scored by earlier formulas",
            where=str(folder),
            fix=f"bring it up to date: realtalk probe rescore {folder}",
        )
