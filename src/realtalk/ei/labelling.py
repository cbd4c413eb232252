"""A corpus → labels of every turn. Whoever needs labels asks here; a chat is labelled once.

    labels_for(corpus, EmbeddedLabeller())               → Labels
    labels_for(corpus, labeller, out=Path("labels"))     the same, also as a run in a folder
    CachedLabels(turns, labeller).label(turns[:64])      → labels of some turns, one after another

labels/run.json  labels/labels.jsonl, .parquet: one row per turn

Labels are kept in the user's cache, a file per chat, under a hash of the labeller and of what it is
shown of the chat: no text, no ids, no times. A file is replaced whole after every block of turns,
so that a killed call loses one block. A labeller that `asks` is asked again for what it failed to
answer.

A corpus → labels of every turn, block by block on any engine; the run that `ei` writes.

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

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from realtalk.ei.labels import (
    ANSWERS,
    LABELS,
    LASTING,
    Label,
    Labeller,
    TurnInput,
    answers,
    input_languages,
    label_of,
    label_row,
    turn_inputs,
    version_for,
    versions_of,
)
from realtalk.ei.languages import chat_languages, language_notes
from realtalk.ei.protocols import rules_of
from realtalk.ei.results import (
    KIND,
    STORED,
    TABLE,
    Labels,
    add_key,
    finish_labels,
    is_open,
    label_key,
    read_labels,
    turn_count,
    with_time,
    write_table,
)
from realtalk.engine.jobs import Backend, Job, Work, run_job
from realtalk.errors import RealtalkError
from realtalk.evals.folder import ContentHash, RunFolder, corpus_record, refuse_other_folder
from realtalk.evals.values import KEY
from realtalk.files.caches import KINDS, cache_limit, keep_within
from realtalk.files.download import cache_folder
from realtalk.files.progress import Progress, silent, within
from realtalk.files.writing import (
    atomic_path,
    being_written,
    private_folder,
    write_bytes,
    write_parquet,
)
from realtalk.formats.store import CorpusStream
from realtalk.formats.tables import to_corpus
from realtalk.grouping import grouped

_IN_A_ROW = 4
# What is kept of a chat, to the last bit of what a labeller said.
KEPT = pl.Schema(
    {
        "turn": pl.Int32(),
        **{
            name: pl.Float64() if LABELS[name] == pl.Float32 else LABELS[name]
            for name in (*ANSWERS, "unscored")
        },
    }
)
_LAYOUT = 1


def settings_for(
    labeller: Labeller, encoders: Iterable[EncoderName], corpus: Mapping[str, str], protocol: str
) -> dict[str, Any]:
    """What run.json says of labels; the version names every encoder of the turns."""
    solver = {
        "name": labeller.name,
        "version": versions_of(labeller, encoders),
        "settings": dict(getattr(labeller, "settings", None) or {}),
    }
    return {"corpus": dict(corpus), "protocol": protocol, "solver": solver}


class CachedLabels:
    """Labels of whole chats: those that are in the cache, and others as they are asked for.

    `turns` are all turns of the chats, for a label may depend on any turn before; labels are made
    of those that `label` names. `fresh` makes them again.
    """

    def __init__(
        self,
        turns: Iterable[TurnInput],
        labeller: Labeller,
        cache: Path | None = None,
        *,
        fresh: bool = False,
    ) -> None:
        self._labeller = labeller
        self._asks = bool(getattr(labeller, "asks", False))
        cache_limit()  # before the slow part: what is set wrong is said at once
        folder = cache_folder(cache) / "labels"
        chats = grouped((turn.chat, turn) for turn in turns)
        self.places = {
            chat: folder / f"{_content_key(labeller, some)}.parquet" for chat, some in chats.items()
        }
        self._labels = {
            chat: {} if fresh else _read_kept(place) for chat, place in self.places.items()
        }

    def label(self, wanted: Sequence[TurnInput], progress: Progress = silent) -> Iterator[Label]:
        """Labels of these turns, in order, as they are there."""
        total = len(wanted)
        step = getattr(self._labeller, "at_once", None) or max(1, total)
        for start in range(0, total, step):
            block = wanted[start : start + step]
            if missing := [turn for turn in block if self.find(turn) is None]:
                # Progress within a block is progress of the whole; who takes all counts alone.
                advance = progress if step >= total else within(progress, start, total)
                labels = self._labeller.label(missing, advance)
                for turn, label in zip(missing, labels, strict=True):
                    self._labels[turn.chat][turn.turn] = label
                keep_labels(
                    (
                        self.places[chat],
                        [{"turn": at, **answers(own)} for at, own in self._labels[chat].items()],
                    )
                    for chat in {turn.chat for turn in missing}
                )
            yield from (self._labels[turn.chat][turn.turn] for turn in block)

    def find(self, turn: TurnInput) -> Label | None:
        """The label of a turn that needs no work."""
        label = self._labels[turn.chat].get(turn.turn)
        lasting = label is None or LASTING.issuperset(label.unscored.values())
        return label if lasting or not self._asks else None


def keep_labels(chats: Iterable[tuple[Path, Sequence[Mapping[str, Any]]]]) -> None:
    """Writes rows of chats at their places. Who may not write a cache labels all the same."""
    with suppress(OSError, RealtalkError):
        for place, rows in chats:
            write_parquet(place, pl.DataFrame(rows, schema=KEPT))
        keep_within(KINDS["labels"], place.parent, cache_limit(), place)


def _content_key(labeller: Labeller, turns: Sequence[TurnInput]) -> str:
    """A hash of who labels and of all that is shown of a chat."""
    contents = [(turn.session, turn.speaker, turn.text) for turn in turns]
    version = version_for(labeller, turns[0].encoder)
    who = (labeller.name, version, getattr(labeller, "settings", None) or {})
    content = json.dumps([_LAYOUT, who, contents], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def _read_kept(place: Path) -> dict[int, Label]:
    """Labels of a chat by turn; none of a file that is not there or is no longer whole."""
    try:
        frame = pl.read_parquet(place)
    except (OSError, pl.exceptions.PolarsError):
        return {}
    rows = frame.iter_rows(named=True) if frame.schema == KEPT else ()
    return {row["turn"]: label_of(row) for row in rows}


def labels_for(
    corpus: Corpus,
    labeller: Labeller | None = None,
    cache: Path | None = None,
    *,
    protocol: str = "turns",
    most: int | None = None,
    out: Path | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> Labels:
    """Labels of a corpus: from the cache or the folder `out` where they are there, else made now.

    Args:
        corpus: What is labelled.
        labeller: Who labels; the encoders in this package unless another is named.
        cache: Cache folder, the user's own by default.
        protocol: Whether turns or single messages are labelled (see `protocols`).
        most: About so many turns are labelled, spread evenly; by default all.
        out: A folder for the labels as a run.
        fresh: Labels all again, and starts anew in `out`.
        progress: Hears of every turn that is labelled now.
    """
    if labeller is None:
        from realtalk.ei.embedded import EmbeddedLabeller

        labeller = EmbeddedLabeller()
    turns = turn_inputs(corpus, rules_of(protocol).joined)
    sample = turns if most is None or len(turns) <= most else spread(turns, most)
    encoders = (turn.encoder for turn in sample)
    settings = settings_for(labeller, encoders, corpus_record(corpus), protocol)
    keys = [label_key(turn.chat, turn.turn, protocol) for turn in sample]
    asks = bool(getattr(labeller, "asks", False))
    with RunFolder.open(out, KIND, settings, fresh=fresh) as run:
        table = run.table(TABLE, KEY)
        spoken = zip(keys, sample, input_languages(sample), strict=True)
        if missing := [(turn, code) for key, turn, code in spoken if is_open(table.get(key), asks)]:
            cached = CachedLabels(turns, labeller, cache, fresh=fresh)
            labels = cached.label([turn for turn, _ in missing], progress)
            for (turn, language), label in zip(missing, labels, strict=True):
                table.add(add_key(label_row(turn, label, language, labeller), protocol))
        return Labels(finish_labels(table, keys, settings), run.settings)


def spread(inputs: Sequence[TurnInput], most: int) -> list[TurnInput]:
    """About `most` turns, four in a row at a time, evenly over all of them.

    Turns in a row are needed to tell how somebody answers.
    """
    runs = max(1, most // _IN_A_ROW)
    step = len(inputs) / runs
    places = {int(run * step) + at for run in range(runs) for at in range(_IN_A_ROW)}
    return [inputs[at] for at in sorted(places) if at < len(inputs)]


def label_cautions(frame: pl.DataFrame, corpus: Corpus) -> tuple[str, ...]:
    """What has to be said beside every figure that is made from labels.

    Chats in another language than the labels are for, and chats that the shipped encoder learned
    from.
    """
    learned = learned_lines(corpus) if "embedded" in frame["measure"].unique().to_list() else ()
    return (*language_notes(chat_languages(frame)), *learned)


def learned_lines(corpus: Corpus) -> tuple[str, ...]:
    """Which chats the shipped encoders learned from: their labels of others are worse.

    The multilingual one learned from the English one's sets, and from conversations of its own,
    none of which is in English: a chat that is known by either was learned from by its encoder.
    """
    return tuple(
        f"{chat}: in-sample, the encoder learned from {name}; expect less on other chats"
        for chat, name in learned_chats(corpus)
    )


def learned_chats(corpus: Corpus) -> list[tuple[str, str]]:
    """The chats that the shipped encoders learned from, and the name by which each was known."""
    from realtalk.encoders.shipped import LearnedTexts

    both = (LearnedTexts.of("ei"), LearnedTexts.of("ei_multilingual"))
    found = []
    for chat in corpus.chats:
        texts = [message.text for message in chat.messages]
        if name := next(filter(None, (learned.chat(texts) for learned in both)), None):
            found.append((chat.id, name))
    return found


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
