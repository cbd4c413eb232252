"""A job of many inputs → one task per input, and what becomes of a task inside a worker.

    job = Job("reading", (Path("a.txt"), Path("b.zip")), make, Path("corpora"), {...})
    tasks(job)               → (Task(a.txt, "a"), Task(b.zip, "b"))   # into corpora/a, corpora/b
    carry_out(work, task)    → PartResult(size, sha256, figures), or PartResult(problem="b.zip: …")

`Job.make` is called once per worker and must survive pickling: what is dear to build (a model)
is built there and not sent. The `Work` that it returns turns one input into one part. A part is
made in corpora/.unfinished and moved to its name when it is whole. A problem names the input and
never what is in it: a fault of our own is told by its type and place alone.
"""

from __future__ import annotations

import errno
import hashlib
import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from realtalk.engine.homes import home_of
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.files.stores import Place, fetch, kind_of, name_of, place_of, stamp
from realtalk.files.writing import file_stem, private_folder

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

    def __call__(self, source: Path, place: Path) -> Mapping[str, Any]: ...


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


@dataclass(frozen=True, slots=True)
class Task:
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
    figures: Mapping[str, Any] = field(default_factory=dict)
    problem: str | None = None
    stops_all: bool = False  # a full disk: the next task would fare no better


@dataclass(frozen=True, slots=True)
class JobReport:
    """Where a job stands at its end; `rows` has one row per input, in their order."""

    out: Place
    rows: tuple[Mapping[str, Any], ...]
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
