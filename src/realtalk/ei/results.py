"""Labels of every turn → eleven facets of every speaker; and two labellings compared.

labels = label("sample")
labels.frame                 one row per turn: reflective, grounding, sentiment, emotion, …
labels.facets()              one row per chat and speaker, each facet with its interval
labels.compare(label("sample-simulated"))   two corpora, facet by facet
labels.compare(label("sample", "hub"))      two labellings of the same turns: agreement
labels.cautions              what has to be said beside every figure made from them

A folder that `realtalk ei PATH --out` wrote → its labels, checked.

    read_labels(Path("labels"))     → one row per turn, with the columns of `labels.LABELS`
    labels_about(Path("labels"))    → {"corpus": "my-chat", "format": "whatsapp", …}
    unscored_reasons([frame])       → [("emotion", "timeout", 3), …]

The folder or the Parquet file itself may be named. What the labels are about also stands in the
file's own metadata, so that it cannot be parted from them. How labels are written is in
`labelling`. A row of a run has the key of every run (`sample` is the turn's number in its chat,
`group` the chat, `variant` the protocol), then the columns of `labels.LABELS`.

    for frame in chat_frames(Path("labels")): ...       # some chats' labels, each chat once
    store_labels(frame, settings, Path("copy"))         # labels that are there already, as a run

Facets, languages and reasons belong to a chat, so nobody needs all labels at once.

Stored labels → a run as `realtalk runs` reads one: shares and means, and what is unscored.

    run = Run.load("labels")        what `realtalk ei PATH --out labels` wrote
    run.summary()                   reflective .31, joy .22, empathy 1.4, … each with its interval
    run.failures()                  turns without a label, or without one that was asked for

A sample is a turn, a group its chat, a slice its speaker. Labels have no truth: nothing is wrong,
and of two labellings none is better. They are made in a loop of their own (`labelling`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pyarrow.parquet as pq

from realtalk import __version__
from realtalk.chat import Corpus
from realtalk.ei.agreement import agreement
from realtalk.ei.comparison import compare
from realtalk.ei.labels import (
    ANSWERS,
    LABELS,
    LASTING,
    MEASURED,
    MEASURES,
    NOT_ASKED,
    Label,
    TurnInput,
    TurnMeasure,
)
from realtalk.ei.languages import Languages, chat_languages, language_notes
from realtalk.ei.protocols import rules_of
from realtalk.ei.speakers import speakers
from realtalk.ei.values import (
    FACETS,
    People,
    SpeakerFacets,
    facet_text,
    speakers_frame,
    speakers_json,
)
from realtalk.errors import RealtalkError
from realtalk.evals.folder import Key, RunFolder, Table
from realtalk.evals.run import Run
from realtalk.evals.tables import ResultTable, frame_of
from realtalk.evals.values import COUNTS, KEY, Benchmark, Lines, Parts, Row, Score, column
from realtalk.files.writing import write_parquet
from realtalk.metrics.statistics import Array
from realtalk.notebook import counted, table_html

KIND = "emotional intelligence"  # of the run, in run.json
TABLE = "labels"
LABEL_FILE, SPEAKER_FILE = f"{TABLE}.parquet", "speakers.parquet"
_LAYOUT = 3
_FIX = "label a corpus with `out=DIR`"
_KEY = "realtalk"  # in the file's metadata
_ABOUT = frozenset({"corpus", "format", "protocol", "realtalk"})
_ROWS = 122_880  # of a group in the Parquet file
STORED = pl.Schema({**dict.fromkeys(KEY, pl.String()), **LABELS})


def is_labels(path: Path) -> bool:
    """Whether a path is a folder of labels, finished or not, or the file of labels itself."""
    names = (LABEL_FILE, f"{TABLE}.jsonl")
    return path.suffix == ".parquet" or any((path / name).is_file() for name in names)


def labels_about(path: Path) -> dict[str, Any] | None:
    """What labels were made of, how, and by which version; None where the file does not say."""
    try:
        about = orjson.loads(pl.read_parquet_metadata(_file(path))[_KEY])
    except (pl.exceptions.PolarsError, OSError, ValueError, KeyError):
        return None
    return about if isinstance(about, dict) and about.keys() >= _ABOUT else None


def _file(path: Path) -> Path:
    return path / LABEL_FILE if path.is_dir() else path


def read_labels(path: Path) -> pl.DataFrame:
    """The labels of a folder, or of the file itself."""
    file = _file(path)
    if not file.is_file() and file.with_suffix(".jsonl").is_file():
        raise RealtalkError(
            "the labels are not finished", where=str(path), fix="start it again: it goes on"
        )
    if not file.is_file():
        raise RealtalkError("no labels here", where=str(file), fix=_FIX)
    try:
        frame = pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RealtalkError("not a readable Parquet file", where=str(file), fix=_FIX) from error
    # Beside them stands the key of every run.
    if any(frame.schema.get(name) != kind for name, kind in LABELS.items()):
        raise RealtalkError("has other columns than labels", where=str(file), fix=_FIX)
    return frame.select(LABELS.names())


def refuse_other_units(frame: pl.DataFrame, protocol: str, where: str) -> None:
    """Raises where a protocol is of joined turns and the labels of messages, or the reverse."""
    if not rules_of(protocol).joined:
        if (frame["message_ids"].list.len() > 1).any():
            raise RealtalkError(
                f"these labels are of joined turns, '{protocol}' wants them of messages",
                where=where,
                fix=f"make them with: realtalk ei PATH `protocol={protocol}` `out=DIR`",
            )
        return
    # Where a speaker follows themselves within a session, turns were not joined.
    who = pl.struct("chat", "session", "speaker")
    if frame.sort("chat", "turn").select((who == who.shift(1)).any()).item():
        raise RealtalkError(
            f"these labels are of single messages, '{protocol}' wants them of joined turns",
            where=where,
            fix="add `protocol=released`, or label again without it",
        )


def why_unscored(row: Row) -> str | None:
    """The first reason why a turn has no label at all; None where it has one."""
    if any(row[name] is not None for name in MEASURES):
        return None
    own = (entry["reason"] for entry in row["unscored"] if entry["reason"] != NOT_ASKED)
    return next(own, "no measure was asked for")


def unscored_reasons(frames: Iterable[pl.DataFrame]) -> list[tuple[str, str, int]]:
    """What could not be measured: measure, reason, and how many turns."""
    entries = (entry for frame in frames for entry in frame["unscored"].explode().drop_nulls())
    counts = Counter((entry["measure"], entry["reason"]) for entry in entries)
    return [(*which, count) for which, count in sorted(counts.items())]


_AT_ONCE = 65_536


def chat_frames(folder: Path) -> Iterator[pl.DataFrame]:
    """The labels of a finished run in their order; every frame has whole chats."""
    file = folder / LABEL_FILE
    stored = pl.scan_parquet(file).select(LABELS.names())
    start = size = 0
    try:
        lengths = stored.select(pl.col("chat").rle().struct.field("len")).collect().to_series()
        for last, length in enumerate(lengths, 1 - len(lengths)):
            size += length
            if size >= _AT_ONCE or not last:
                yield stored.slice(start, size).collect()
                start, size = start + size, 0
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RealtalkError("not a readable Parquet file", where=str(file)) from error


def turn_count(folder: Path) -> int | None:
    """How many labels a finished run has; None where it is not finished."""
    try:
        return int(pq.read_metadata(folder / LABEL_FILE).num_rows)
    except (OSError, ValueError):
        return None


def stored_settings(folder: Path) -> Mapping[str, Any] | None:
    """The settings of a run of labels; None of a file alone."""
    if not (folder / "run.json").is_file():
        return None
    settings = RunFolder.load(folder, KIND).settings
    return settings if {"corpus", "protocol", "solver"} <= settings.keys() else None


def label_key(chat: str, turn: int, protocol: str) -> Key:
    """What a turn's row is found by."""
    return (str(turn), chat, protocol)


def add_key(row: Row, protocol: str) -> Row:
    """A label's row as it is stored, with the key of a run before it."""
    key = label_key(row["chat"], row["turn"], protocol)
    return {**dict(zip(KEY, key, strict=True)), **row}


def is_open(row: Row | None, asks: bool = True) -> bool:
    """Whether a row lacks a label that is to be asked for again, or is not there."""
    return row is None or (asks and not LASTING.issuperset(e["reason"] for e in row["unscored"]))


def store_labels(
    frame: pl.DataFrame, settings: Mapping[str, Any], folder: Path, *, fresh: bool = False
) -> None:
    """Labels that are there already, as a run in a folder."""
    with RunFolder.open(folder, KIND, settings, fresh=fresh) as run:
        table = run.table(TABLE, KEY)
        keys = []
        for row in frame.select(LABELS.names()).iter_rows(named=True):
            keys.append(label_key(row["chat"], row["turn"], settings["protocol"]))
            if is_open(table.get(keys[-1])):
                table.add(add_key(row, settings["protocol"]))
        finish_labels(table, keys, settings)


def finish_labels(table: Table, keys: Sequence[Key], settings: Mapping[str, Any]) -> pl.DataFrame:
    """The rows in the order of the turns, also as Parquet, and without their key as a value."""
    table.sync()
    rows = list(map(with_time, table.in_order(keys)))
    starts = range(0, max(1, len(rows)), _ROWS)
    # In pieces of a group each: so the file has the bytes of one that is put together from parts.
    frame = pl.concat([pl.DataFrame(rows[at : at + _ROWS], schema=STORED) for at in starts])
    if table.path is not None:
        write_table(table.path.with_suffix(".parquet"), frame, settings)
    return frame.select(LABELS.names())


def write_table(
    path: Path, frame: pl.DataFrame | pl.LazyFrame, settings: Mapping[str, Any]
) -> None:
    """All rows as Parquet; the same bytes, whatever pieces they come in."""
    corpus, protocol = settings["corpus"], settings["protocol"]
    about = {"corpus": corpus["name"], "format": corpus["format"], "protocol": protocol}
    about |= {"realtalk": __version__, "layout": _LAYOUT}
    write_parquet(path, frame, about={_KEY: orjson.dumps(about).decode()}, at_once=_ROWS)


def with_time(row: Row) -> Row:
    """JSON has no moments: they come back as text."""
    time = row["time"]
    return row | {"time": None if time is None else datetime.fromisoformat(time)}


_SPEAKERS = 4  # shown side by side


class Facets(ResultTable):
    """Eleven facets of every speaker in every chat, each with its 95 % interval.

    `frame` has one row per chat and speaker: `empathy`, `empathy_low`, `empathy_high`, …
    """

    def __init__(self, speakers: People, cautions: Sequence[str] = ()) -> None:
        hidden = len(speakers) - _SPEAKERS
        more = (f"… and {counted(hidden, 'speaker')} more in .frame",) if hidden > 0 else ()
        super().__init__("facets of speakers", speakers_frame(speakers), (*more, *cautions))
        self.speakers = tuple(speakers)
        self.cautions = tuple(cautions)

    def to_json(self) -> dict[str, Any]:
        """Everything about the speakers, with the settings it was made with."""
        return speakers_json(self.speakers) | {"cautions": list(self.cautions)}

    @property
    def lines(self) -> Lines:
        """One row per facet and one column per speaker: few speakers, eleven facets."""
        several = len({who.chat for who in self.speakers}) > 1
        visible = self.speakers[:_SPEAKERS]
        names = (f"{who.speaker}, {who.chat}" if several else who.speaker for who in visible)
        rows: list[tuple[Any, ...]] = [
            (facet.heading, *(facet_text(facet, who) for who in visible))
            for facet in FACETS.values()
        ]
        if any(who.is_graded for who in visible):
            rows.append(("Language, grade", *(who.grade_text for who in visible)))
        return ("facet", *names), rows


class Labels:
    """Labels of every turn of a corpus; what could not be made is null with its reason."""

    def __init__(self, labels: pl.DataFrame | Path, settings: Mapping[str, Any]) -> None:
        self._labels = labels  # or the folder of a finished run, which is read when it is needed
        self.settings = settings  # what they depend on: corpus, protocol, and who labelled

    @property
    def corpus(self) -> str:
        """The name of what was labelled."""
        return str(self.settings["corpus"]["name"])

    @property
    def protocol(self) -> str:
        """How turns were joined."""
        return str(self.settings["protocol"])

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per turn."""
        return read_labels(self._labels) if isinstance(self._labels, Path) else self._labels

    def frames(self) -> Iterator[pl.DataFrame]:
        """The same some whole chats at a time; of a run by an engine, not more is held."""
        if isinstance(self._labels, Path) and "frame" not in self.__dict__:
            yield from chat_frames(self._labels)
        else:
            yield self.frame

    @classmethod
    def load(cls, folder: str | PathLike[str], protocol: str | None = None) -> Labels:
        """Labels that `realtalk ei PATH --out`, `label(out=…)` or `save` wrote.

        `protocol` reads them by another one than theirs, where their turns allow it.
        """
        place = Path(folder)
        frame, settings = read_labels(place), stored_settings(place)
        if protocol is not None:
            refuse_other_units(frame, protocol, str(folder))
        if settings is None:
            about = labels_about(place) or {"corpus": place.resolve().name, "format": ""}
            corpus = {"name": about["corpus"], "format": about["format"]}
            ways = frame.select("measure", "version").unique(maintain_order=True).rows()
            measure, version = ways[0] if ways else ("", "")
            solver = {"name": measure, "version": version, "settings": {}}
            protocol = protocol or about.get("protocol", "turns")
            settings = {"corpus": corpus, "protocol": protocol, "solver": solver}
        return cls(frame, {**settings, "protocol": protocol or settings["protocol"]})

    @property
    def measure(self) -> str:
        """How the turns were measured: embedded, hub or judge."""
        return ", ".join(self.frame["measure"].unique(maintain_order=True).to_list())

    @cached_property
    def languages(self) -> tuple[Languages, ...]:
        """What every chat is written in, its encoder, and that encoder's `.grade()` there."""
        return tuple(language for part in self.frames() for language in chat_languages(part))

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Chats in other languages than English, with their grades, and chats learned from."""
        return tuple(language_notes(self.languages))

    def caution(self, lines: Sequence[str]) -> None:
        """Adds what only the corpus tells: which chats were learned from."""
        self.cautions = (*self.cautions, *lines)

    @cached_property
    def _speakers(self) -> tuple[SpeakerFacets, ...]:
        return tuple(speaker for part in self.frames() for speaker in speakers(part, self.protocol))

    def facets(self) -> Facets:
        """Eleven facets of every speaker in every chat."""
        return Facets(self._speakers, self.cautions)

    def compare(self, other: Labels) -> ResultTable:
        """Two labellings of the same turns → their agreement; of others → facet by facet.

        Agreement is kappa, quadratic weighted kappa and Pearson per measure. Two corpora are
        compared by chats, each the mean of its speakers: Cliff's delta with its interval and
        Mann-Whitney's p, corrected by Holm; positive means that the first has more.
        """
        if not isinstance(other, Labels):
            raise RealtalkError(
                f"labels and {type(other).__name__} cannot be compared",
                fix="compare two Labels",
            )
        turns = ("chat", "message_ids")
        shared = self.frame.select(turns).join(other.frame.select(turns), on=turns, how="semi")
        cautions = tuple(dict.fromkeys((*self.cautions, *other.cautions)))
        if not shared.height:
            return self._comparison(other, cautions)
        comparison = agreement(self.frame, other.frame)
        rows = [
            {
                "measure": measure.measure,
                "score": name,
                "estimate": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "n": measure.n,
                "unscored": max(measure.unscored_first, measure.unscored_second),
            }
            for measure in comparison.measures
            for name, estimate in measure.estimates()
        ]
        title = f"agreement: {comparison.first} against {comparison.second}"
        notes = (comparison.coverage, *cautions)
        return ResultTable(title, frame_of(list(rows[0]), rows), notes, comparison.to_json())

    def _comparison(self, other: Labels, cautions: Sequence[str]) -> ResultTable:
        if self.protocol != other.protocol:
            raise RealtalkError(
                f"{self.corpus} was labelled by the protocol '{self.protocol}', "
                f"{other.corpus} by '{other.protocol}'",
                fix="label both by one",
            )
        comparison = compare(self._speakers, other._speakers, (self.corpus, other.corpus))
        rows = [
            {
                "facet": facet.facet,
                "first": facet.first.mean,
                "second": facet.second.mean,
                "delta": facet.delta.value,
                "low": facet.delta.low,
                "high": facet.delta.high,
                "p": facet.p_shift,
                "p_holm": facet.p_shift_holm,
                "n": facet.first.n + facet.second.n,
            }
            for facet in comparison.facets
        ]
        title = f"facets: {self.corpus} (first) beside {other.corpus} (second)"
        findings = (
            f"what holds: {finding.claim} {finding.verdict} {finding.because}"
            for finding in comparison.findings
        )
        notes = (*comparison.doubts, *findings, *cautions)
        return ResultTable(title, frame_of(list(rows[0]), rows), notes, comparison.to_json())

    def figures(self, folder: str | PathLike[str] | None = None) -> dict[str, Any]:
        """Altair charts by name: emotions and intimacy over time, per chat; also files."""
        from realtalk.describe.figures import save_figures
        from realtalk.ei.figures import draw_timelines

        charts = dict(draw_timelines(self.frame, self._speakers).charts)
        if folder is not None:
            save_figures(charts, Path(folder))
        return charts

    def save(self, folder: str | PathLike[str]) -> Path:
        """Writes the folder that `realtalk ei PATH --out` does: a run and speakers.parquet."""
        place = Path(folder)
        store_labels(self.frame, self.settings, place)
        self.save_speakers(place)
        return place

    def save_speakers(self, folder: Path) -> None:
        """Writes speakers.parquet beside labels that are there."""
        write_parquet(folder / SPEAKER_FILE, self.facets().frame)

    def to_json(self) -> dict[str, Any]:
        """The speakers' facets with the settings they were made with."""
        return self.facets().to_json()

    def __len__(self) -> int:
        return sum(part.height for part in self.frames())

    def __repr__(self) -> str:
        chats = counted(self.frame["chat"].n_unique(), "chat")
        turns = counted(self.frame.height, "turn")
        return f"<Labels of {self.corpus}: {turns} in {chats}, by {self.measure}>"

    def _repr_html_(self) -> str:
        missing = {name: self.frame[name].null_count() for name in MEASURES}
        rows = [(name, self.frame.height - count, count) for name, count in missing.items()]
        reasons = (
            f"unscored: {measure} for {counted(count, 'turn')} ({reason})"
            for measure, reason, count in unscored_reasons([self.frame])
        )
        title = f"labels of {self.corpus}, by {self.measure}"
        headings = ("measure", "turns", "unscored")
        return table_html(title, headings, rows, (*self.cautions, *reasons))


def _scores(measure: TurnMeasure) -> Iterator[Score]:
    for word in measure.words:
        parts = _share(measure.name, word)
        yield Score(word, word, 0, parts, proportion=True, table=measure.name)
    if not measure.words:
        for name in (measure.name, *measure.parts):
            yield Score(name, name.replace("_", " "), 0, proportion=not measure.is_score)


def _share(measure: str, word: str) -> Parts:
    def parts(rows: Sequence[Row]) -> Array:
        labels = [row[measure] for row in rows]
        return column(word)([{word: None if said is None else said == word} for said in labels])

    return parts


class LabelBenchmark(Benchmark[TurnInput, None, Label]):
    """What a run of labels says; `labelling` makes it."""

    name, group, sample, solver, variant = KIND, "chat", "turn", "labeller", "protocol"
    scores = tuple(score for measure in MEASURED for score in _scores(measure))
    columns = {  # noqa: RUF012  of the class, as of every benchmark
        **dict.fromkeys(("speaker", "language", "measure", "version"), str),
        "message_ids": list[str],
        **{name: LABELS[name].to_python() for name in ANSWERS},
    }
    slices = "speaker"
    failing = ("group", "sample", "speaker", "message_ids")
    reading = "shares of turns, and means of scores; labels have no truth: no figure is better"

    @classmethod
    def rows_in(cls, stored: RunFolder) -> list[Row]:
        assert stored.folder is not None  # it was loaded from one
        protocol, rows = stored.settings["protocol"], list[Row]()
        for label in read_labels(stored.folder).iter_rows(named=True):
            row = add_key(label, protocol)
            rows.append(
                {
                    **{name: row[name] for name in (*KEY, *cls.columns)},
                    **dict.fromkeys(("answer", "untold")),
                    **dict.fromkeys(COUNTS, 0),
                    "unscored": why_unscored(row),
                    "left_out": [
                        f"{entry['measure']}: {entry['reason']}"
                        for entry in row["unscored"]
                        if entry["reason"] != NOT_ASKED
                    ],
                }
            )
        return rows

    @classmethod
    def reason(cls, row: Row, run: Run) -> str:  # noqa: ARG003
        return row["unscored"] or ", ".join(row["left_out"])

    @classmethod
    def cautions(cls, run: Run) -> list[str]:
        return language_notes(chat_languages(run.frame.rename({"group": "chat"})))

    @classmethod
    def headline(cls, run: Run) -> str:  # noqa: ARG003
        return ""

    @classmethod
    def refuse(cls, first: Run, second: Run) -> None:  # noqa: ARG003
        raise RealtalkError("labels have no truth to be better by", fix="compare their folders")

    @classmethod
    def evidence(cls, row: Row, corpus: Corpus | None) -> list[str]:
        return [
            f"{message.id} {message.speaker}: {message.text}"
            for chat in (corpus.chats if corpus else ())
            for message in chat.messages
            if chat.id == row["group"] and message.id in row["message_ids"]
        ]
