"""A corpus → labels of every turn, block by block on any engine; the run that `ei` writes.

    build = partial(EmbeddedLabeller, threads=1)
    label_blocks(open_stream("archive"), build, Processes(4), out=Path("labels"))   → Labels
    → labels/run.json, labels.jsonl, labels.parquet: the bytes of a run without an engine

    labels/.labelling/turns/block-00000.parquet, …     the turns, 256 to a file
    labels/.labelling/labels/block-00000/…             their labels: the parts of a job

The driver reads the corpus a part at a time and cuts its turns into blocks of one size, so that
a long chat is shared by all workers and a killed one loses seconds of work. Text lies in blocks
only while a run goes on. Ways of measuring that ask a model elsewhere have no part in this.

A turn stands in a block with all that a way of measuring may see of it: what was said right before,
its language and its encoder, which depend on the whole chat; not the history that a judge reads.
Labels that are in the cache travel with their turns and are not made again; new ones are kept there
once all are made.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from functools import partial
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import polars as pl

from realtalk.chat import Corpus
from realtalk.ei.encoder_choice import EncoderName
from realtalk.ei.label_files import (
    KIND,
    STORED,
    TABLE,
    add_key,
    read_labels,
    turn_count,
    with_time,
    write_table,
)
from realtalk.ei.labelling import KEPT, CachedLabels, keep_labels, learned_lines, settings_for
from realtalk.ei.labels import (
    Labeller,
    TurnInput,
    answers,
    input_languages,
    label_of,
    label_row,
    turn_inputs,
)
from realtalk.ei.protocols import rules_of
from realtalk.ei.results import Labels
from realtalk.engine.jobs import Backend, Job, Work, run_job
from realtalk.errors import RealtalkError
from realtalk.evals.folder import RunFolder, refuse_other_folder
from realtalk.evals.provenance import ContentHash
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

WORK, _TURNS = ".labelling", "turns"
# Of a block, where a way of measuring does not say how many turns it takes at once.
_SIZE = 16_384
_SHARE = 4  # blocks of what it takes at once: few turns are shared by several workers, too
JOB = "labelling"


def make_worker(build: Callable[[], Labeller], protocol: str) -> Work:
    """The function of a worker, which labels blocks; `build` travels, what it builds does not."""
    labeller = build()

    def work(source: Path, place: Path) -> Mapping[str, Any]:
        return {"turns": write_labels(pl.read_parquet(source), labeller, protocol, place)}

    return work


def label_blocks(
    source: Corpus | CorpusStream,
    build: Callable[[], Labeller],
    engine: Backend,
    protocol: str = "turns",
    out: Path | None = None,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> Labels:
    """Labels what the folder does not have; without one the run lies in a temporary folder."""
    labeller = build()
    with nullcontext(out) if out else TemporaryDirectory(prefix="realtalk-labels-") as place:
        folder = Path(place)
        _refuse(folder)
        work = private_folder(folder / WORK)
        content, learned = ContentHash(), list[str]()
        files: list[Path] = []
        turns, encoders, places = 0, set[EncoderName](), dict[str, Path]()

        def corpora() -> Iterator[Corpus]:
            pieces = (
                [source]
                if isinstance(source, Corpus)
                else (to_corpus(piece.tables()) for piece in source.pieces)
            )
            for corpus in pieces:
                content.add(corpus)
                if labeller.name == "embedded":
                    learned.extend(learned_lines(corpus))
                yield corpus

        for frame in _block_frames(corpora(), labeller, protocol, fresh, places):
            block = work / _TURNS / f"block-{len(files):05}.parquet"
            files.append(write_parquet(block, frame))
            turns += frame.height
            encoders |= set(frame["encoder"])
        record = {"name": source.name, "format": source.format, "sha256": str(content)}
        settings = settings_for(labeller, encoders, record, protocol)
        with _open_folder(folder, settings, fresh) as run:
            if fresh or turn_count(folder) != turns:
                make = partial(make_worker, build, protocol)
                solver = {"protocol": protocol, **settings["solver"]}
                job = Job(JOB, files, make, work / "labels", solver)
                report = run_job(job, engine, fresh=fresh, progress=progress)
                report.refuse_problems("labels of the others are kept: run it again")
                _join(folder, [report.out / row["part"] for row in report.rows], run.settings)
                if places:
                    _keep(folder, places)
        shutil.rmtree(work, ignore_errors=True)
        labels = Labels(folder if out else read_labels(folder), run.settings)
        labels.caution(learned)
        return labels


def _refuse(folder: Path) -> None:
    """Raises where the folder is not for us, before the corpus is read."""
    refuse_other_folder(folder)
    if being_written(folder / f"{TABLE}.jsonl"):
        raise RealtalkError(
            "another run is writing here",
            where=str(folder),
            fix="wait for it or stop it",
            code="busy",
        )


def _open_folder(folder: Path, settings: Mapping[str, Any], fresh: bool) -> RunFolder:
    """The run's folder; one that is of another run keeps nothing of ours."""
    try:
        return RunFolder.open(folder, KIND, settings, fresh=fresh)
    except RealtalkError:
        shutil.rmtree(folder / WORK / _TURNS, ignore_errors=True)
        with suppress(OSError):  # labels of the other run, which was stopped
            (folder / WORK).rmdir()
        raise


def _join(folder: Path, parts: list[Path], settings: Mapping[str, Any]) -> None:
    """The labels of all blocks as one run; the table last, for it says that all is there."""
    with atomic_path(folder / f"{TABLE}.jsonl") as temporary, temporary.open("wb") as whole:
        for part in parts:
            with (part / f"{TABLE}.jsonl").open("rb") as lines:
                shutil.copyfileobj(lines, whole)
    tables = [part / f"{TABLE}.parquet" for part in parts]
    rows = pl.scan_parquet(tables) if tables else pl.LazyFrame(schema=STORED)
    write_table(folder / f"{TABLE}.parquet", rows, settings)


def _keep(folder: Path, places: Mapping[str, Path]) -> None:
    """The labels of these chats in the cache, to the last bit: so the lines are read."""
    with (folder / f"{TABLE}.jsonl").open("rb") as lines:
        chats = groupby(map(orjson.loads, lines), itemgetter("chat"))
        keep_labels((places[chat], list(rows)) for chat, rows in chats if chat in places)


_TURN_FIELDS = {
    "chat": pl.String(),
    "session": pl.Int32(),
    "turn": pl.Int32(),
    "speaker": pl.String(),
    "time": pl.Datetime("us"),
    "ids": pl.List(pl.String),
    "text": pl.String(),
    "previous": pl.String(),
    "encoder": pl.String(),
}
_KNOWN = pl.Struct(KEPT)  # the label of a turn that is in the cache
_BLOCK = pl.Schema({**_TURN_FIELDS, "language": pl.String(), "known": _KNOWN})


def _block_frames(
    corpora: Iterable[Corpus],
    labeller: Labeller,
    protocol: str,
    fresh: bool,
    places: dict[str, Path],
) -> Iterator[pl.DataFrame]:
    """The turns of whole chats in blocks; a block may end one chat and begin another.

    `places` is told where the cache keeps chats of which a turn is not there.
    """
    size = max(1, (getattr(labeller, "at_once", None) or _SIZE * _SHARE) // _SHARE)
    waiting: list[dict[str, Any]] = []
    for corpus in corpora:
        inputs = turn_inputs(corpus, rules_of(protocol).joined)
        cached = CachedLabels(inputs, labeller, fresh=fresh)
        for turn, language in zip(inputs, input_languages(inputs), strict=True):
            label = cached.find(turn)
            if label is None:
                places[turn.chat] = cached.places[turn.chat]
            stored = None if label is None else {"turn": turn.turn, **answers(label)}
            own = {name: getattr(turn, name) for name in _TURN_FIELDS}
            waiting.append({**own, "language": language, "known": stored})
            if len(waiting) == size:
                yield pl.DataFrame(waiting, schema=_BLOCK)
                waiting = []
    if waiting:
        yield pl.DataFrame(waiting, schema=_BLOCK)


def write_labels(turns: pl.DataFrame, labeller: Labeller, protocol: str, place: Path) -> int:
    """Labels a block; its rows as lines and as a table, exactly as those of the whole."""
    inputs = [
        TurnInput(**{**row, "ids": tuple(row["ids"])})
        for row in turns.select(*_TURN_FIELDS).iter_rows(named=True)
    ]
    labels = [None if row is None else label_of(row) for row in turns["known"]]
    open_turns = [turn for turn, label in zip(inputs, labels, strict=True) if label is None]
    new = iter(labeller.label(open_turns) if open_turns else ())
    lines = []
    for turn, label, language in zip(inputs, labels, turns["language"], strict=True):
        row = label_row(turn, label or next(new), language, labeller)
        lines.append(orjson.dumps(add_key(row, protocol)))
    write_bytes(place / f"{TABLE}.jsonl", b"".join(line + b"\n" for line in lines))
    stored = [with_time(orjson.loads(line)) for line in lines]
    write_parquet(place / f"{TABLE}.parquet", pl.DataFrame(stored, schema=STORED))
    return len(lines)
