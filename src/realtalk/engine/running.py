"""A job → one part per input in a folder, and a record of what made each of them.

    run_job(job, Inline())
    → corpora/run.json          {"kind": "reading", "settings": {...}, "versions": [{...}]}
      corpora/parts.jsonl       one line per input: part, input, bytes, sha256, figures, problem
      corpora/parts.parquet     the same; at the end both are in the order of the inputs
      corpora/a, corpora/b      the parts

Run again, it does what is missing: an input whose part is there and whose bytes are the same is
not touched. Other settings are refused by what differs; `fresh` starts anew. Whatever ends a
sitting (a killed driver, a lost worker, a full disk), the next one comes to the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from realtalk import __version__
from realtalk.engine.inputs import PARTS, PARTS_KEY, fingerprint
from realtalk.engine.jobs import Engine, Errand, Job, JobReport, PartResult, errands
from realtalk.engine.places import UNFINISHED, FolderHome, JobRecord, StoreHome, home_of
from realtalk.errors import RealtalkError
from realtalk.evals.folder import RunFolder, Table, stored_settings
from realtalk.local.progress import Progress, silent


def run_job(
    job: Job, engine: Engine, *, fresh: bool = False, progress: Progress = silent
) -> JobReport:
    """Carries a job out, or goes on with it; problems of inputs are reported, not raised."""
    listed = errands(job)
    home = home_of(job.out)
    with home.record() as record:
        ordered, worked = _carry_out(job, engine, listed, home, record, fresh, progress)
    return JobReport(job.out, tuple(ordered[: len(listed)]), worked)


def _carry_out(
    job: Job,
    engine: Engine,
    listed: tuple[Errand, ...],
    home: FolderHome | StoreHome,
    record: JobRecord,
    fresh: bool,
    progress: Progress,
) -> tuple[list[Mapping[str, Any]], int]:
    """The rows of the job in order, and how many inputs were worked on."""
    stale = _parts(job, record.folder) if fresh else []
    with RunFolder.open(record.folder, job.kind, job.settings, fresh=fresh) as run:
        table = run.table(PARTS, PARTS_KEY)  # from here on nobody else writes in this folder
        record.changed(now=True)  # whose folder it is
        for name in (UNFINISHED, *stale):
            home.remove(name)
        there = home.names()
        waiting = [errand for errand in listed if not _is_done(errand, table, there)]
        done = len(listed) - len(waiting)
        progress(done, len(listed), "files")
        try:
            with closing(_closable(engine.results(job.make, waiting))) as results:
                for result in results:
                    if result.stops_all:
                        raise _no_room(job.out)
                    _note(table, result, home)
                    record.changed()
                    done += 1
                    progress(done, len(listed), "files")
        finally:
            home.remove(UNFINISHED)  # what workers had begun that were ended with the job
        ordered = table.in_order([(errand.part,) for errand in listed])
        run.close()  # the rows as they came are put in order: every way here ends in one file
        run.rewrite(PARTS, ordered)
    return list(ordered), len(waiting)


def _closable(results: Any) -> Any:
    """Results of an engine; one that is a plain iterator has nothing to end."""
    return results if hasattr(results, "close") else (result for result in results)


def _note(table: Table, result: PartResult, home: FolderHome | StoreHome) -> None:
    """One row per input. It says nothing of where or when: every engine writes the same."""
    errand = result.errand
    if result.problem is not None:
        home.remove(errand.part)  # of an earlier input of that name
    row: Mapping[str, Any] = {
        "part": errand.part,
        "input": errand.source.name,
        "bytes": result.size,
        "sha256": result.sha256,
        "realtalk": __version__,
        "figures": dict(result.figures) or None,
        "problem": result.problem,
    }
    try:
        table.add(row)
    except OSError as error:
        raise _no_room(errand.out) from error


def _is_done(errand: Errand, table: Table, there: frozenset[str]) -> bool:
    row = table.get((errand.part,))
    if row is None or row["problem"] is not None or errand.part not in there:
        return False
    try:
        return fingerprint(errand.source) == (row["bytes"], row["sha256"])
    except (OSError, RealtalkError):
        return False  # the worker says what is wrong with it


def _parts(job: Job, folder: Path) -> list[str]:
    """The parts of an earlier job of this kind, to be removed; names only, never a way out."""
    if stored_settings(folder, job.kind) is None:
        return []
    names = [row["part"] for row in RunFolder.load(folder, job.kind).rows(PARTS, PARTS_KEY)]
    return [name for name in names if Path(name).name == name]


def _no_room(out: Path) -> RealtalkError:
    return RealtalkError(
        "the disk is full", where=str(out), fix="make room and run it again: it goes on from there"
    )
