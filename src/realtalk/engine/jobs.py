"""The words of the engine: a job of many inputs, one errand per input, one part per errand.

    job = Job("reading", (Path("a.txt"), Path("b.zip")), make, Path("corpora"), {...})
    errands(job) → (Errand(a.txt, "a"), Errand(b.zip, "b"))      # parts: corpora/a and corpora/b

`Job.make` is called once per worker and must survive pickling: what is dear to build (a model)
is built there and not sent. The `Work` that it returns turns one input into one part.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from realtalk.local.naming import UniqueNames
from realtalk.local.stores import place_of
from realtalk.local.writing import file_stem

# What a job's folder itself consists of: no part may bear such a name.
_TAKEN = ("run", "parts", "findings")
_TRIES = 3


class Work(Protocol):
    """Writes what becomes of `source` to `place`, where nothing is yet; returns figures of it.

    The same input gives the same bytes. What is wrong with an input is a RealtalkError.
    """

    def __call__(self, source: Path, place: Path) -> Mapping[str, Any]: ...


@dataclass(frozen=True)
class Job:
    """Inputs, how they are worked on, and the folder that gets one part per input."""

    kind: str
    inputs: tuple[Path, ...]
    make: Callable[[], Work]
    out: Path
    settings: Mapping[str, Any]  # whatever decides the bytes of a part
    suffix: str = ""  # of a part: ".parquet", or none where a part is a folder
    numbered: str = ""  # parts are called so with a number, where an input's name is private

    def __post_init__(self) -> None:
        object.__setattr__(self, "out", place_of(self.out))


@dataclass(frozen=True, slots=True)
class Errand:
    """One input and its part; paths are absolute, for workers may stand elsewhere."""

    source: Path
    part: str
    out: Path


@dataclass(frozen=True, slots=True)
class PartResult:
    """What became of an errand: a part, or a problem in one line."""

    errand: Errand
    size: int = 0
    sha256: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    problem: str | None = None
    stops_all: bool = False  # a full disk: the next errand would fare no better


@dataclass(frozen=True, slots=True)
class JobReport:
    """Where a job stands at its end; `rows` has one row per input, in their order."""

    out: Path
    rows: tuple[Mapping[str, Any], ...]
    worked: int  # inputs of this sitting; the others were done before

    @property
    def problems(self) -> tuple[tuple[str, str], ...]:
        """The inputs that have no part, by name, each with its reason."""
        return tuple((row["input"], row["problem"]) for row in self.rows if row["problem"])


class Engine(Protocol):
    """Where errands are run. Results come as they are ready, in any order."""

    @property
    def threads(self) -> int | None:
        """How many a worker may use: one where it shares the machine, else as it likes (None)."""
        ...

    def results(
        self, make: Callable[[], Work], errands: Sequence[Errand]
    ) -> Iterator[PartResult]: ...


class Waiting:
    """Errands that nobody has taken; one that lost its worker comes back, at most twice."""

    def __init__(self, errands: Sequence[Errand]) -> None:
        self._errands = deque(errands)
        self._losses: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._errands)

    def take(self) -> Errand | None:
        return self._errands.popleft() if self._errands else None

    def lost(self, errand: Errand, how: str) -> PartResult | None:
        """The worker ended without a word: to be tried again, or the result where that is over."""
        losses = self._losses[errand.part] = self._losses.get(errand.part, 0) + 1
        if losses < _TRIES:
            self._errands.append(errand)
            return None
        return PartResult(errand, problem=f"its worker ended {losses} times ({how})")


def errands(job: Job) -> tuple[Errand, ...]:
    """One errand per input; no two parts are one file, on any file system."""
    names = UniqueNames("{}-{}", _TAKEN, is_file=True)
    out = job.out.absolute()
    stems = (
        f"{job.numbered}-{number}" if job.numbered else file_stem(_stem(source))
        for number, source in enumerate(job.inputs, 1)
    )
    return tuple(
        Errand(source.absolute(), names.free(stem) + job.suffix, out)
        for source, stem in zip(job.inputs, stems, strict=True)
    )


def _stem(source: Path) -> str:
    """The name without the ending of a file: "chat.v2" of chat.v2.zip, the whole of a folder."""
    return source.name if source.is_dir() else source.stem
