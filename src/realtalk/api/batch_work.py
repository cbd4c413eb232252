"""Read, check, redact, report or count: what is done to every input, and what is left of it.

    read    → corpora/Mara, …             stored corpora
    check   → checks/Mara.json, …         what `realtalk check --json` prints, and findings.parquet
    redact  → shared/corpus-1, …          stored corpora without their people
    report  → pages/Mara.html, …          one page about each

A redacted part has a number for a name: exports are named after people. Stand-ins are given anew
in each: Person1 of one corpus is nobody in particular in another, so that sharing two tells nobody
who is in both, and a part depends on its own input alone.

    describe_by(open_stream("archive"), Processes(4), Path("counted"))   → CorpusStats
    → counted/part-00000.json, …: what was counted of each part, and the job's record

Workers count, the driver adds up; figures are those of `stats.describe` to the last digit.
Without a folder the counts lie in a temporary one, and a job that was stopped begins anew.
"""

from __future__ import annotations

import glob
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from realtalk.api.chats import FINDING_COLUMNS, check
from realtalk.api.choices import Reading
from realtalk.describe.counting import StatsPart, combine
from realtalk.describe.values import CorpusStats
from realtalk.engine.jobs import (
    PARTS,
    PARTS_KEY,
    Backend,
    Figures,
    Job,
    JobReport,
    home_of,
    record_of,
    run_job,
)
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.files.stores import Place, child, children, kind_of, name_of, place_of, read_bytes
from realtalk.files.writing import private_folder, write_json, write_parquet
from realtalk.formats.store import CorpusPiece, CorpusStream, store

if TYPE_CHECKING:
    import polars as pl

    from realtalk.formats.opening import OpenedSource
    from realtalk.pages.chat_page import PortraitOptions

_FINDINGS = "findings.parquet"


class BatchResult(JobReport):
    """What became of every input. `folder` holds the parts, and parts.parquet about them."""

    @property
    def folder(self) -> Place:
        """Where the parts are."""
        return self.out

    @property
    def report(self) -> JobReport:
        """What the engine said of every part."""
        return self

    @property
    def frame(self) -> pl.DataFrame:
        """One row per input, in their order: part, input, bytes, sha256, figures, problem."""
        import polars as pl

        return pl.DataFrame(list(self.rows), infer_schema_length=None)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The parts that are there."""
        return tuple(Path(self.out, row["part"]) for row in self.rows if not row["problem"])

    def __len__(self) -> int:
        return len(self.paths)

    def __repr__(self) -> str:
        return f"<BatchResult in {self.out}: {len(self):,} of {len(self.rows):,} inputs>"

    def to_json(self) -> dict[str, Any]:
        """One row per input, and how many were done, now and before."""
        counts = {"done": len(self), "failed": len(self.problems), "worked": self.worked}
        return {"folder": str(self.out), **counts, "parts": list(self.rows)}


def work_each(
    name: str,
    paths: Sequence[str],
    out: str,
    way: Reading,
    engine: Backend,
    *,
    fresh: bool,
    progress: Progress,
    **options: Any,
) -> BatchResult:
    """The work of that name on every input that the paths name, one part each in `out`."""
    place, given = place_of(out), way.read_options()
    work = _work_of(name, way, place, **options)
    settings = {
        "format": way.format,
        "gap": given.gap.total_seconds() if isinstance(given.gap, timedelta) else given.gap,
        "dates": way.dates,
        "timezone": way.timezone,
        "columns": dict(way.columns),
        **work.settings,
    }
    inputs = gather_inputs(paths, place)
    job = Job(work.kind, inputs, lambda: work, place, settings, work.suffix, work.numbered)
    report = run_job(job, engine, fresh=fresh, progress=progress)
    work.finish(report)
    return BatchResult(report.out, report.rows, report.worked)


@dataclass(frozen=True)
class InputWork(ABC):
    """What is done to every input; it travels to the workers as it is."""

    way: Reading
    kind: ClassVar[str]
    suffix: ClassVar[str] = ""
    numbered: ClassVar[str] = ""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the parts depend on, beside how inputs are read."""
        return {}

    def open(self, source: Path) -> OpenedSource:
        """A stored corpus, or whatever a reader knows."""
        from realtalk.formats.opening import open_reading

        return open_reading(source, self.way.format, self.way.read_options())

    @abstractmethod
    def __call__(self, source: Path, place: Path) -> Figures:
        """Writes the part of one input to `place`; returns figures of it."""

    def finish(self, report: JobReport) -> None:  # noqa: B027  most works have nothing left
        """What is left to do when every input was worked on."""


def figures_of(opened: OpenedSource) -> dict[str, Any]:
    """What a job's table says of every input."""
    tables = opened.reading.tables
    return {
        "format": opened.format,
        "chats": len(tables.chats),
        "messages": tables.messages.height,
        "notes": list(opened.reading.notes),
    }


@dataclass(frozen=True)
class ExportReader(InputWork):
    """Reads one export and stores it."""

    kind: ClassVar[str] = "reading"

    def __call__(self, source: Path, place: Path) -> Figures:

        opened = self.open(source)
        store(opened.reading, place, opened.source, self.way.read_options())
        figures = figures_of(opened)
        notes = figures.pop("notes")
        return {**figures, "left_over": len(opened.reading.ledger.leftovers), "notes": notes}


@dataclass(frozen=True)
class CorpusChecker(InputWork):
    """Writes the report of one input; at the end all findings as one table."""

    kind: ClassVar[str] = "checking"
    suffix: ClassVar[str] = ".json"

    def __call__(self, source: Path, place: Path) -> Figures:
        opened = self.open(source)
        findings = check(opened.reading).to_json()
        write_json(place, findings)
        levels = {name: findings[name] for name in ("severity", "errors", "warnings")}
        # "notes" are what the reader assumed, in every job's table.
        return {**figures_of(opened), **levels, "remarks": findings["notes"]}

    def finish(self, report: JobReport) -> None:
        """All findings in the order of the inputs: the same by every engine."""
        import polars as pl

        schema = pl.Schema(dict.fromkeys(("part", "input", *FINDING_COLUMNS), pl.String))
        home = home_of(report.out)
        frame = pl.DataFrame(list(_findings(report)), schema)
        if frame.is_empty():
            home.remove(_FINDINGS)
            return
        with home.scratch() as folder:
            home.put(write_parquet(folder / "table", frame), _FINDINGS)


def _findings(report: JobReport) -> Iterator[dict[str, Any]]:
    for row in report.rows:
        if row["problem"]:
            continue
        part = read_bytes(child(report.out, row["part"]))
        for finding in orjson.loads(part)["findings"]:
            place = {"part": row["part"], "input": row["input"]}
            yield place | {name: finding[name] for name in FINDING_COLUMNS}


@dataclass(frozen=True)
class CorpusRedactor(InputWork):
    """Stores one input redacted, and writes its key into the folder `keys`."""

    names: tuple[str, ...] = ()
    keep: frozenset[str] = frozenset()
    keys: Path | None = None
    kind: ClassVar[str] = "redacting"
    numbered: ClassVar[str] = "corpus"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "names": sorted(self.names),
            "keep": sorted(self.keep),
            "keys": self.keys is not None,
        }

    def __call__(self, source: Path, place: Path) -> Figures:
        from realtalk.redaction.redact import redact
        from realtalk.redaction.rewriting import store_redacted
        from realtalk.redaction.sources import name_sources
        from realtalk.redaction.standins import SORTS

        opened = self.open(source)
        corpus, key = redact(
            opened.reading.corpus, names=self.names, keep=self.keep, sources=name_sources()
        )
        messages = store_redacted(corpus, place)
        if self.keys is not None:
            write_json(self.keys / f"{place.name}.json", key.to_file())
        figures = {**figures_of(opened), "messages": messages}
        counts = key.counts()
        return {**figures, "found": {sort: counts.get(sort, 0) for sort in SORTS}, "left": key.left}

    def finish(self, report: JobReport) -> None:
        """Raises where a part of an earlier sitting has no key there."""
        if self.keys is None:
            return
        parts = [row["part"] for row in report.rows if not row["problem"]]
        lost = [part for part in parts if not (self.keys / f"{part}.json").is_file()]
        if lost:
            raise RealtalkError(
                f"has no key of {lost[0]}" + (f" and {len(lost) - 1:,} more" if lost[1:] else ""),
                where=str(self.keys),
                fix="name the earlier folder, or start over with `fresh=True`",
            )


@dataclass(frozen=True)
class PageWriter(InputWork):
    """Writes the page of one input."""

    options: PortraitOptions
    kind: ClassVar[str] = "pages"
    suffix: ClassVar[str] = ".html"

    @property
    def settings(self) -> Mapping[str, Any]:
        return asdict(self.options)

    def __call__(self, source: Path, place: Path) -> Figures:
        from realtalk.pages.chat_page import make_portrait, write_portrait

        opened = self.open(source)
        portrait = make_portrait(opened.reading, self.options)
        write_portrait(portrait, place)
        figures = figures_of(opened)
        return {**figures, "notes": [*figures["notes"], *portrait.notes]}


def _work_of(
    name: str,
    way: Reading,
    out: Place,
    names: Sequence[str] = (),
    keep: Sequence[str] = (),
    key: str | None = None,
    **page: Any,
) -> InputWork:
    """The work of that name; what is wrong with its options is refused now, not input by input."""
    if name == "read":
        return ExportReader(way)
    if name == "check":
        return CorpusChecker(way)
    if name == "report":
        from realtalk.pages.chat_page import PortraitOptions
        from realtalk.pages.wording import page_language

        page_language((), page.get("language"))
        return PageWriter(way, PortraitOptions(**page))
    from realtalk.redaction.redact import refuse_unknown_kinds

    for option, value in (("names", names), ("keep", keep)):
        if isinstance(value, str):
            raise RealtalkError(f"{option} is one text", fix=f"give a list: {option}=[…]")
    refuse_unknown_kinds(frozenset(keep))
    keys = None if key is None else _key_folder(Path(key), out)
    return CorpusRedactor(way, tuple(names), frozenset(keep), keys)


def _key_folder(keys: Path, out: Place) -> Path:
    """The folder of keys, made; keys beside what they open would be shared with it."""
    place = keys.absolute()
    if isinstance(out, Path) and place.resolve().is_relative_to(out.resolve()):
        raise RealtalkError(
            "keys would lie among what is to be shared",
            where=str(keys),
            fix="name a folder outside of `out=`",
        )
    try:
        return private_folder(place)
    except OSError as error:
        raise RealtalkError(
            f"cannot be a folder of keys ({error.strerror})", where=str(keys)
        ) from error


def gather_inputs(paths: Sequence[str], out: Place) -> tuple[Place, ...]:
    """Every input that the paths name, once, in their order; the job's own folder holds none.

    A folder stands for what lies in it: each file and each folder in it is one input. A stored
    corpus is one input itself, and the folder of a job stands for the job's parts. Two paths to
    one place are one input.
    """
    inputs: dict[Place, Place] = {}
    own = _resolve(out)
    for path in paths:
        for match in _match_names(path):
            if _resolve(match) != own:
                for part in _parts(match) or [match]:
                    inputs.setdefault(_resolve(part), part)
    if not inputs:
        raise RealtalkError("nothing to read", where=", ".join(paths[:3]), fix="check the path")
    return tuple(inputs.values())


def _resolve(place: Place) -> Place:
    return place.resolve() if isinstance(place, Path) else place


def _match_names(path: str) -> Sequence[Place]:
    place = place_of(path)
    try:
        kind = kind_of(place)
        if kind == "directory":
            return _inside(place)
    except OSError as error:
        raise RealtalkError(f"cannot be opened ({error.strerror})", where=path) from error
    if kind:  # a file of that very name wins: exports have brackets in theirs
        return [place]
    matches: Sequence[Place]
    if isinstance(place, Path):
        matches = sorted(map(Path, glob.glob(path, recursive=True)))  # noqa: PTH207  (absolute patterns)
    else:
        folder, _, pattern = place.rpartition("/")
        matches = [entry for entry in children(folder) if fnmatchcase(name_of(entry), pattern)]
    if not matches:
        what, fix = "no such file or folder", "check the path"
        raise RealtalkError(what, where=path, fix=fix, code="missing-file")
    return matches


def _inside(folder: Place) -> Sequence[Place]:
    places = children(folder)
    if child(folder, "corpus.json") in places or _parts(folder) is not None:
        return [folder]
    return [place for place in places if not name_of(place).startswith(".")]


def _parts(folder: Place) -> list[Place] | None:
    """The parts of a job that wrote into the folder, in their order; None where no job did."""
    from realtalk.evals.folder import RunFolder

    if kind_of(folder) != "directory":
        return None
    record = record_of(folder)
    if not (record / "run.json").is_file() or not (record / f"{PARTS}.jsonl").is_file():
        return None
    rows = RunFolder.load(record, None).rows(PARTS, PARTS_KEY)
    # Names only, never a way out of the folder.
    names = [row["part"] for row in rows if not row["problem"]]
    return [child(folder, name) for name in names if Path(name).name == name]


@dataclass(frozen=True)
class ChatCounter:
    """The function of a worker: counts the chats of one piece."""

    pieces: Mapping[Path, CorpusPiece]

    def __call__(self, source: Path, place: Path) -> Figures:
        from realtalk.describe.counting import count_chats

        part = count_chats(self.pieces[source].tables())
        write_json(place, part.to_json())
        return {"chats": len(part.chats), "messages": sum(chat.messages for chat in part.chats)}


def describe_by(
    stream: CorpusStream,
    engine: Backend,
    out: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> CorpusStats:
    """Every figure of the corpus; a part that cannot be read leaves none."""
    pieces = {piece.source: piece for piece in stream.pieces}
    place = TemporaryDirectory(prefix="realtalk-stats-") if out is None else nullcontext(str(out))
    with place as folder:
        settings = {"name": stream.name, "format": stream.format, "corpus": _record(stream)}
        make = partial(ChatCounter, pieces)
        job = Job("statistics", tuple(pieces), make, folder, settings, suffix=".json")
        report = run_job(job, engine, fresh=fresh, progress=progress)
        report.refuse_problems("statistics of the others would not be those of the corpus")
        read = (orjson.loads((Path(folder) / row["part"]).read_bytes()) for row in report.rows)
        return combine(stream.name, stream.format, map(StatsPart.from_json, read))


def _record(stream: CorpusStream) -> str:
    """What the corpora's own records say, in short: another corpus is another job."""
    digest = hashlib.sha256()
    for folder in dict.fromkeys(piece.folder for piece in stream.pieces):
        digest.update(folder.name.encode() + b"\0")
        digest.update(hashlib.sha256((folder / "corpus.json").read_bytes()).digest())
    return digest.hexdigest()[:16]
