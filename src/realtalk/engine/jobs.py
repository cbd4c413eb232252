"""A job of many inputs → one part per input in a folder, and a record of what made each of them.

    job = Job("reading", (Path("a.txt"), Path("b.zip")), make, Path("corpora"), {...})
    tasks(job)               → (Task(a.txt, "a"), Task(b.zip, "b"))   # into corpora/a, corpora/b
    carry_out(work, task)    → PartResult(size, sha256, figures), or PartResult(problem="b.zip: …")

`Job.make` is called once per worker and must survive pickling: what is dear to build (a model)
is built there and not sent. The `Work` that it returns turns one input into one part. A part is
made in corpora/.unfinished and moved to its name when it is whole. A problem names the input and
never what is in it: a fault of our own is told by its type and place alone.

    home = home_of(Path("corpora"))            → FolderHome
    home = home_of("s3://bucket/corpora")      → StoreHome
    with home.scratch() as folder: ...         # where a part is made
    home.put(folder / "a", "a")                # it takes its name, whole
    with home.record() as folder: ...          # a local folder for run.json and the rows of parts
    home.keep(folder)                          # what was written there is to be kept

In a store every part is made on the worker's machine and uploaded. The record grows in a folder
of the driver's and is uploaded every few seconds and at the end: a driver that is killed loses
those seconds, whose parts are then made again to the same bytes.

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

import errno
import hashlib
import os
import secrets
import shutil
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

from realtalk import __version__
from realtalk.errors import RealtalkError
from realtalk.evals.folder import RunFolder, Table, stored_settings
from realtalk.files.naming import UniqueNames
from realtalk.files.progress import Progress, silent
from realtalk.files.stores import (
    Place,
    children,
    fetch,
    kind_of,
    name_of,
    place_of,
    put,
    remove,
    stamp,
)
from realtalk.files.writing import file_stem, for_this_process, private_folder, temporary_folder

Figures: TypeAlias = Mapping[str, Any]  # by name

UNFINISHED = ".unfinished"
_RECORDS = ("run.json", "parts.jsonl", "parts.parquet")
_EVERY = 5.0  # seconds between two uploads of the record


def home_of(out: Place) -> FolderHome | StoreHome:
    """The home of a job's parts."""
    return StoreHome(out) if isinstance(out, str) else FolderHome(out)


def record_of(out: Place) -> Path:
    """The record of a job that is done, in a folder of this machine."""
    if isinstance(out, Path):
        return out
    return _fetch_records(out, for_this_process("realtalk-record-") / "record")


def _fetch_records(out: str, folder: Path) -> Path:
    private_folder(folder)
    for name in {name_of(child) for child in children(out)} & set(_RECORDS):
        fetch(f"{out}/{name}", folder / name)
    return folder


@dataclass(frozen=True)
class FolderHome:
    """A folder of this machine, or one that all machines see under the same path."""

    folder: Path

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        name = f"{os.getpid()}-{secrets.token_hex(4)}"
        folder = private_folder(self.folder / UNFINISHED / name)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def put(self, made: Path, part: str) -> None:
        place = self.folder / part
        if place.is_dir():  # a folder cannot be renamed onto another
            place.rename(made.parent / f"old-{secrets.token_hex(4)}")
        made.replace(place)

    def remove(self, name: str) -> None:
        path = self.folder / name
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def names(self) -> frozenset[str]:
        return frozenset(path.name for path in self.folder.iterdir())

    @contextmanager
    def record(self) -> Iterator[Path]:
        yield self.folder

    def keep(self, folder: Path, *, now: bool = False) -> None:
        """The record lies where the parts lie: every row is on the disk already."""


@dataclass
class StoreHome:
    """A folder in a store."""

    address: str
    _upload_times: dict[str, int] = field(default_factory=dict)  # by name, when it was written
    _last: float = 0.0

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        with temporary_folder("realtalk-part-") as folder:
            yield private_folder(folder / "work")  # a part may be called as the folder's lock is

    def put(self, made: Path, part: str) -> None:
        put(made, f"{self.address}/{part}")

    def remove(self, name: str) -> None:
        remove(f"{self.address}/{name}")

    def names(self) -> frozenset[str]:
        return frozenset(name_of(child) for child in children(self.address))

    @contextmanager
    def record(self) -> Iterator[Path]:
        there = sorted(name for name in self.names() if not name.startswith("."))
        if there and _RECORDS[0] not in there:
            raise RealtalkError(
                f"holds {there[0]} but no {_RECORDS[0]}: not a folder for a run",
                where=self.address,
                fix="name another folder",
            )
        with temporary_folder("realtalk-record-") as temporary:
            folder = _fetch_records(self.address, temporary / "record")
            try:
                yield folder
            finally:
                self.keep(folder, now=True)

    def keep(self, folder: Path, *, now: bool = False) -> None:
        """Uploads what was written since; `now` at once, else when some seconds have passed."""
        if not now and time.monotonic() - self._last < _EVERY:
            return
        for name in _RECORDS:
            file = folder / name
            time_ns = file.stat().st_mtime_ns if file.is_file() else None
            if time_ns is not None and self._upload_times.get(name) != time_ns:
                self.put(file, name)
                self._upload_times[name] = time_ns
        self._last = time.monotonic()


# A worker shares the machine with others: more threads than one would only be in their way.
# Libraries read these when they are imported.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "RAYON_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
TRIES = 3  # of an input whose worker ends without a word
# What a job's folder itself consists of: no part may bear such a name.
_TAKEN = ("run", "parts", "findings")
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Work(Protocol):
    """Writes what becomes of `source` to `place`, where nothing is yet; returns figures of it.

    The same input gives the same bytes. What is wrong with an input is a RealtalkError.
    """

    def __call__(self, source: Path, place: Path) -> Figures: ...


@dataclass(frozen=True)
class Job:
    """Inputs, how they are worked on, and the folder that gets one part per input."""

    kind: str
    inputs: Sequence[Place]
    make: Callable[[], Work]
    out: Place
    settings: Mapping[str, Any]  # whatever decides the bytes of a part
    suffix: str = ""  # of a part: ".parquet", or none where a part is a folder
    numbered: str = ""  # parts are called so with a number, where an input's name is private

    def __post_init__(self) -> None:
        object.__setattr__(self, "out", place_of(self.out))


class Task(NamedTuple):
    """One input and its part; paths are absolute, for workers may stand elsewhere."""

    source: Place
    part: str
    out: Place


@dataclass(frozen=True, slots=True)
class PartResult:
    """What became of a task: a part, or a problem in one line."""

    task: Task
    size: int = 0
    sha256: str = ""
    figures: Figures = field(default_factory=dict)
    problem: str | None = None
    stops_all: bool = False  # a full disk: the next task would fare no better


@dataclass(frozen=True, slots=True)
class JobReport:
    """Where a job stands at its end; `rows` has one row per input, in their order."""

    out: Place
    rows: tuple[Figures, ...]
    worked: int  # inputs of this sitting; the others were done before

    @property
    def problems(self) -> tuple[tuple[str, str], ...]:
        """The inputs that have no part, by name, each with its reason."""
        return tuple((row["input"], row["problem"]) for row in self.rows if row["problem"])

    def refuse_problems(self, why: str) -> None:
        """Raises where an input has no part, with the first of the reasons."""
        if not self.problems:
            return
        name, problem = self.problems[0]
        more = f" (and {len(self.problems) - 1:,} more)" if len(self.problems) > 1 else ""
        raise RealtalkError(f"{problem}{more}; {why}", where=None if name in problem else name)


class Backend(Protocol):
    """Where tasks are run. Results come as they are ready, in any order."""

    @property
    def threads(self) -> int | None:
        """How many a worker may use: one where it shares the machine, else as it likes (None)."""
        ...

    def results(self, make: Callable[[], Work], tasks: Sequence[Task]) -> Iterator[PartResult]: ...


def fail(task: Task, how: str) -> PartResult:
    """The result of a task whose workers ended every time."""
    return PartResult(task, problem=f"its worker ended {TRIES} times ({how})")


def tasks(job: Job) -> tuple[Task, ...]:
    """One task per input; no two parts are one file, on any file system."""
    names = UniqueNames("{}-{}", _TAKEN, is_file=True)
    out = _absolute(job.out)
    stems = (
        f"{job.numbered}-{number}" if job.numbered else file_stem(_stem(source))
        for number, source in enumerate(job.inputs, 1)
    )
    return tuple(
        Task(_absolute(source), names.free(stem) + job.suffix, out)
        for source, stem in zip(job.inputs, stems, strict=True)
    )


def _absolute(place: Place) -> Place:
    return place.absolute() if isinstance(place, Path) else place


def _stem(source: Place) -> str:
    """The name without the ending of a file: "chat.v2" of chat.v2.zip, the whole of a folder."""
    return name_of(source) if kind_of(source) == "directory" else Path(source).stem


def fingerprint(source: Place) -> tuple[int, str]:
    """How many bytes an input has, and their SHA-256; of one in a store its stamp.

    That of a folder covers the names and bytes of its files.
    """
    if isinstance(source, str):
        return stamp(source)
    if not source.is_dir():
        return _file(source)
    size, digest = 0, hashlib.sha256()
    for place, folders, names in os.walk(source):
        folders.sort()
        for name in sorted(names):
            file = Path(place) / name
            if not file.is_file():
                continue  # a socket, or a link that leads nowhere
            more, file_digest = _file(file)
            size += more
            file_name = os.fsencode(file.relative_to(source).as_posix())
            digest.update(file_name + b"\0" + file_digest.encode() + b"\n")
    return size, digest.hexdigest()


def _file(path: Path) -> tuple[int, str]:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return stream.tell(), digest


def carry_out(work: Work, task: Task) -> PartResult:
    """Makes the part. Nothing that an input brings about is raised."""
    home, source = home_of(task.out), task.source
    try:
        size, sha256 = fingerprint(source)
    except RealtalkError as error:  # of a store
        return PartResult(task, problem=_problem(error, task, source))
    except OSError as error:
        return PartResult(task, problem=f"cannot be read ({error.strerror})")
    try:
        with home.scratch() as scratch:
            if isinstance(task.source, str):
                copy = private_folder(scratch / "input") / name_of(task.source)
                source = fetch(task.source, copy)
            place = scratch / task.part
            figures = dict(work(Path(source), place))
            home.put(place, task.part)
    except Exception as error:
        problem = _problem(error, task, source)
        return PartResult(task, size, sha256, problem=problem, stops_all=_is_full(error))
    return PartResult(task, size, sha256, figures)


def _problem(error: Exception, task: Task, source: Place) -> str:
    """One line without the folders of this machine, so that every engine says the same."""
    if isinstance(error, RealtalkError):
        name = name_of(task.source)
        return str(error).replace(str(source), name).replace(str(task.source), name)
    if isinstance(error, OSError) and error.strerror:
        return f"failed ({error.strerror})"
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"failed ({type(error).__name__} at {Path(last.filename).name}, line {last.lineno})"


def _is_full(error: BaseException | None) -> bool:
    """Whether a full disk is at the bottom of it; libraries wrap what the system says."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return True
        if os.strerror(errno.ENOSPC) in str(error):
            return True
        error = error.__cause__ or error.__context__
    return False


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
    row: Figures = {
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
