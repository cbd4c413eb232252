"""A job → one part per input in a folder, and a record of what made each of them.

    run_job(job, Inline())
    → corpora/run.json          {"kind": "reading", "settings": {...}, "versions": [{...}]}
      corpora/parts.jsonl       one line per input: part, input, bytes, sha256, figures, problem
      corpora/parts.parquet     the same; at the end both are in the order of the inputs
      corpora/a, corpora/b      the parts

Run again, it does what is missing: an input whose part is there and whose bytes are the same is
not touched. Other settings are refused by what differs; `fresh` starts anew. Whatever ends a
sitting (a killed driver, a lost worker, a full disk), the next one comes to the same bytes.

    with workplace(Path("out"), ".chats", engine) as place:    # out/.chats, of the owner alone
        …                                                      # gone at the end, unless it failed
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from realtalk import __version__
from realtalk.engine.homes import UNFINISHED, FolderHome, StoreHome, home_of
from realtalk.engine.jobs import Backend, Job, JobReport, PartResult, Task, fingerprint, tasks
from realtalk.errors import RealtalkError
from realtalk.evals.folder import RunFolder, Table, stored_settings
from realtalk.files.progress import Progress, silent
from realtalk.files.stores import Place, name_of
from realtalk.files.temporary import temporary_folder
from realtalk.files.writing import private_folder

PARTS, PARTS_KEY = "parts", ("part",)  # the table of a job, and what its rows are known by


def run_job(
    job: Job, engine: Backend, *, fresh: bool = False, progress: Progress = silent
) -> JobReport:
    """Carries a job out, or goes on with it; problems of inputs are reported, not raised."""
    listed = tasks(job)
    home = home_of(job.out)
    with home.record() as folder:
        stale = _parts(job, folder) if fresh else []
        with RunFolder.open(folder, job.kind, job.settings, fresh=fresh) as run:
            table = run.table(PARTS, PARTS_KEY)  # from here on nobody else writes in this folder
            home.keep(folder, now=True)  # whose folder it is
            for name in (UNFINISHED, *stale):
                home.remove(name)
            there = home.names()
            waiting = [task for task in listed if not _is_done(task, table, there)]
            done = len(listed) - len(waiting)
            progress(done, len(listed), "files")
            try:
                with closing(engine.results(job.make, waiting)) as results:  # type: ignore[type-var]
                    for result in results:
                        if result.stops_all:
                            raise _no_room(job.out)
                        _note(table, result, home)
                        home.keep(folder)
                        done += 1
                        progress(done, len(listed), "files")
            finally:
                home.remove(UNFINISHED)  # what workers had begun that were ended with the job
            ordered = table.in_order([(task.part,) for task in listed])
            run.close()  # the rows as they came are put in order: every way here ends in one file
            run.rewrite(PARTS, ordered)
    return JobReport(job.out, tuple(ordered[: len(listed)]), len(waiting))


@contextmanager
def workplace(folder: Path | None, name: str, engine: Backend) -> Iterator[Path]:
    """Where a run in `folder` keeps its pieces: below it, or in a temporary folder without one.

    Whatever ends a sitting leaves what is done there, and the next one goes on from it. Without a
    folder for the run nothing can be gone on with, so nothing stays.
    """
    if folder is None:
        if getattr(engine, "address", None) is not None:
            raise RealtalkError(
                "the nodes of a cluster see no folder of this run",
                fix="name one that all of them see with `out=`",
            )
        with temporary_folder("realtalk-run-") as temporary:
            yield private_folder(temporary / "work")
        return
    place = folder / name
    try:
        private_folder(place)
    except OSError as error:
        raise RealtalkError(
            f"cannot hold the pieces of a run ({error.strerror})", where=str(folder)
        ) from error
    yield place
    shutil.rmtree(place, ignore_errors=True)


def _note(table: Table, result: PartResult, home: FolderHome | StoreHome) -> None:
    """One row per input. It says nothing of where or when: every engine writes the same."""
    task = result.task
    if result.problem is not None:
        home.remove(task.part)  # of an earlier input of that name
    row: Mapping[str, Any] = {
        "part": task.part,
        "input": name_of(task.source),
        "bytes": result.size,
        "sha256": result.sha256,
        "realtalk": __version__,
        "figures": dict(result.figures) or None,
        "problem": result.problem,
    }
    try:
        table.add(row)
    except OSError as error:
        raise _no_room(task.out) from error


def _is_done(task: Task, table: Table, there: frozenset[str]) -> bool:
    row = table.get((task.part,))
    if row is None or row["problem"] is not None or task.part not in there:
        return False
    try:
        return fingerprint(task.source) == (row["bytes"], row["sha256"])
    except (OSError, RealtalkError):
        return False  # the worker says what is wrong with it


def _parts(job: Job, folder: Path) -> list[str]:
    """The parts of an earlier job of this kind, to be removed; names only, never a way out."""
    if stored_settings(folder, job.kind) is None:
        return []
    names = [row["part"] for row in RunFolder.load(folder, job.kind).rows(PARTS, PARTS_KEY)]
    return [name for name in names if Path(name).name == name]


def _no_room(out: Place) -> RealtalkError:
    return RealtalkError(
        "the disk is full", where=str(out), fix="make room and run it again: it goes on from there"
    )
