"""A corpus → labels of every turn, block by block on any engine; the run that `ei` writes.

    source = TurnSource.of(open_stream("archive"))     # or of a Corpus
    build = partial(EmbeddedLabeller, threads=1)
    with label_blocks(source, build, Processes(4), out=Path("labels")) as run: ...
    → labels/run.json, labels.jsonl, labels.parquet: the bytes of a run without an engine

    labels/.labelling/turns/block-00000.parquet, …     the turns, 256 to a file
    labels/.labelling/labels/block-00000/…             their labels: the parts of a job

The driver reads the corpus a part at a time and cuts its turns into blocks of one size, so that
a long chat is shared by all workers and a killed one loses seconds of work. Text lies in blocks
only while a run goes on. Ways of measuring that ask a model elsewhere have no part in this.

A turn stands in a block with all that a way of measuring may see of it: what was said right before,
its language and its encoder, which depend on the whole chat; not the history that a judge reads.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import polars as pl

from realtalk.chat import Corpus
from realtalk.ei.encoder_choice import EncoderName
from realtalk.ei.label_files import TABLE, turn_count
from realtalk.ei.labelling import (
    STORED,
    keyed,
    label_settings,
    learned_lines,
    open_run,
    with_time,
    write_table,
)
from realtalk.ei.labels import Labeller, TurnInput, label_row, turn_inputs, version_for, versions_of
from realtalk.ei.protocols import rules_of
from realtalk.engine.jobs import Engine, Job
from realtalk.engine.running import run_job
from realtalk.errors import RealtalkError
from realtalk.evals.corpus_records import ContentHash
from realtalk.evals.folder import RunFolder, refuse_other_folder
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import (
    atomic_path,
    being_written,
    private_folder,
    write_bytes,
    write_parquet,
)
from realtalk.formats.store import CorpusStream
from realtalk.formats.tables import to_corpus
from realtalk.text.languages import turn_languages

WORK, _TURNS = ".labelling", "turns"
# Of a block, where a way of measuring does not say how many turns it takes at once.
_SIZE = 16_384
_SHARE = 4  # blocks of what it takes at once: few turns are shared by several workers, too
JOB = "labelling"


@dataclass(frozen=True)
class TurnSource:
    """A corpus whose chats come some at a time."""

    name: str
    format: str
    corpora: Callable[[], Iterator[Corpus]]

    @classmethod
    def of(cls, source: Corpus | CorpusStream) -> TurnSource:
        if isinstance(source, Corpus):
            return cls(source.name, source.format, partial(iter, [source]))
        return cls(source.name, source.format, partial(_streamed, source))


def _streamed(stream: CorpusStream) -> Iterator[Corpus]:
    for piece in stream.pieces:
        yield to_corpus(piece.tables())


@dataclass(frozen=True)
class BlockLabeller:
    """The function of a worker: builds the way of measuring once, and labels blocks."""

    labeller: Labeller
    protocol: str

    def __call__(self, source: Path, place: Path) -> Mapping[str, Any]:
        turns = pl.read_parquet(source)
        return {"turns": write_labels(turns, self.labeller, self.protocol, place)}


def make_worker(build: Callable[[], Labeller], protocol: str) -> BlockLabeller:
    """A worker's function; `build` travels, what it builds does not."""
    return BlockLabeller(build(), protocol)


@dataclass(frozen=True)
class LabelledBlocks:
    """A run of labels that is finished, in its folder."""

    folder: Path
    settings: Mapping[str, Any]
    learned: tuple[str, ...]  # what is to be said of chats that the encoder learned from


@contextmanager
def label_blocks(
    source: TurnSource,
    build: Callable[[], Labeller],
    engine: Engine,
    protocol: str = "turns",
    out: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> Iterator[LabelledBlocks]:
    """Labels what the folder does not have; without one the run lies in a temporary folder."""
    rules = rules_of(protocol)
    labeller = build()
    with _place(out) as folder:
        _refuse(folder)
        work = private_folder(folder / WORK)
        size = max(1, (getattr(labeller, "at_once", None) or _SIZE * _SHARE) // _SHARE)
        prepared = _Prepared(work / _TURNS, labeller.name == "embedded")
        prepared.write(source, rules.joined, size)
        record = {"name": source.name, "format": source.format, "sha256": prepared.sha256}
        own = getattr(labeller, "settings", None)
        version = versions_of(labeller, prepared.encoders)
        settings = label_settings(record, protocol, labeller.name, version, own)
        with _opened(folder, settings, fresh) as run:
            if fresh or turn_count(folder) != prepared.turns:
                make = partial(make_worker, build, protocol)
                solver = {"protocol": protocol, **settings["solver"]}
                job = Job(JOB, prepared.files, make, work / "labels", solver)
                report = run_job(job, engine, fresh=fresh, progress=progress)
                report.refuse_problems("labels of the others are kept: run it again")
                _join(folder, [report.out / row["part"] for row in report.rows], run.settings)
        shutil.rmtree(work, ignore_errors=True)
        yield LabelledBlocks(folder, run.settings, tuple(prepared.learned))


def _refuse(folder: Path) -> None:
    """Raises where the folder is not for us, before the corpus is read."""
    refuse_other_folder(folder)
    if being_written(folder / f"{TABLE}.jsonl"):
        raise RealtalkError(
            "another run is writing here", where=str(folder), fix="wait for it or stop it"
        )


def _opened(folder: Path, settings: Mapping[str, Any], fresh: bool) -> RunFolder:
    """The run's folder; one that is of another run keeps nothing of ours."""
    try:
        return open_run(folder, settings, fresh)
    except RealtalkError:
        shutil.rmtree(folder / WORK / _TURNS, ignore_errors=True)
        with suppress(OSError):  # labels of the other run, which was stopped
            (folder / WORK).rmdir()
        raise


class _Prepared:
    """The blocks of a corpus, written in one pass, and what else is learned on the way."""

    def __init__(self, folder: Path, is_embedded: bool) -> None:
        self._folder = folder
        self._is_embedded = is_embedded
        self._hash = ContentHash()
        self.learned: list[str] = []
        self.turns = 0
        self.encoders: set[EncoderName] = set()
        self.files: tuple[Path, ...] = ()

    @property
    def sha256(self) -> str:
        return str(self._hash)

    def write(self, source: TurnSource, joined: bool, size: int) -> None:
        files: list[Path] = []
        for frame in block_frames(self._seen(source), joined, size):
            place = self._folder / f"block-{len(files):05}.parquet"
            files.append(write_parquet(place, frame))
            self.turns += frame.height
            self.encoders |= set(frame["encoder"])
        self.files = tuple(files)

    def _seen(self, source: TurnSource) -> Iterator[Corpus]:
        for corpus in source.corpora():
            self._hash.add(corpus)
            if self._is_embedded:
                self.learned += learned_lines(corpus)
            yield corpus


def _join(folder: Path, parts: list[Path], settings: Mapping[str, Any]) -> None:
    """The labels of all blocks as one run; the table last, for it says that all is there."""
    with atomic_path(folder / f"{TABLE}.jsonl") as temporary, temporary.open("wb") as whole:
        for part in parts:
            with (part / f"{TABLE}.jsonl").open("rb") as lines:
                shutil.copyfileobj(lines, whole)
    tables = [part / f"{TABLE}.parquet" for part in parts]
    rows = pl.scan_parquet(tables) if tables else pl.LazyFrame(schema=STORED)
    write_table(folder / f"{TABLE}.parquet", rows, settings)


@contextmanager
def _place(out: Path | None) -> Iterator[Path]:
    if out is not None:
        yield out
        return
    with TemporaryDirectory(prefix="realtalk-labels-") as folder:
        yield Path(folder)


_TURN_COLUMNS = pl.Schema(
    {
        "chat": pl.String(),
        "session": pl.Int32(),
        "turn": pl.Int32(),
        "speaker": pl.String(),
        "time": pl.Datetime("us"),
        "message_ids": pl.List(pl.String),
        "text": pl.String(),
        "previous": pl.String(),
        "language": pl.String(),
        "encoder": pl.String(),
    }
)


def block_frames(corpora: Iterable[Corpus], joined: bool, size: int) -> Iterator[pl.DataFrame]:
    """The turns of whole chats, `size` at a time; a block may end one chat and begin another."""
    waiting: list[tuple[object, ...]] = []
    for corpus in corpora:
        inputs = turn_inputs(corpus, joined)
        languages = turn_languages((given.chat, given.speaker, given.text) for given in inputs)
        for given, language in zip(inputs, languages, strict=True):
            waiting.append(_row(given, language))
            if len(waiting) == size:
                yield _frame(waiting)
                waiting = []
    if waiting:
        yield _frame(waiting)


def _row(given: TurnInput, language: str) -> tuple[object, ...]:
    return (
        given.chat,
        given.session,
        given.turn,
        given.speaker,
        given.time,
        list(given.ids),
        given.text,
        given.previous,
        language,
        given.encoder,
    )


def _frame(rows: Sequence[tuple[object, ...]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=_TURN_COLUMNS, orient="row")


def write_labels(turns: pl.DataFrame, labeller: Labeller, protocol: str, place: Path) -> int:
    """Labels a block; its rows as lines and as a table, exactly as those of the whole."""
    inputs = [
        TurnInput(chat, session, turn, speaker, tuple(ids), time, text, previous, encoder=encoder)
        for chat, session, turn, speaker, time, ids, text, previous, _, encoder in turns.iter_rows()
    ]
    labels = labeller.label(inputs)
    rows = [
        keyed(label_row(given, label, language, labeller.name, version), protocol)
        for given, label, language, version in zip(
            inputs,
            labels,
            turns["language"],
            (version_for(labeller, given.encoder) for given in inputs),
            strict=True,
        )
    ]
    lines = [orjson.dumps(row) for row in rows]
    write_bytes(place / f"{TABLE}.jsonl", b"".join(line + b"\n" for line in lines))
    stored = [with_time(orjson.loads(line)) for line in lines]
    write_parquet(place / f"{TABLE}.parquet", pl.DataFrame(stored, schema=STORED))
    return len(rows)
