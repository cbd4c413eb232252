"""A folder that `realtalk ei PATH --out` wrote → its labels, checked.

    read_labels(Path("labels"))     → one row per turn, with the columns of `labels.LABELS`
    labels_about(Path("labels"))    → LabelsAbout("my-chat", "whatsapp", "turns", "0.2.0", 3)
    unscored_reasons(frame)         → [("emotion", "timeout", 3), …]

The folder or the Parquet file itself may be named. What the labels are about also stands in the
file's own metadata, so that it cannot be parted from them. How labels are written is in
`labelling`.

    for frame in chat_frames(Path("labels")): ...       # some chats' labels, each chat once
    reasons_in(chat_frames(Path("labels")))             → [("emotion", "timeout", 3), …]

Facets, languages and reasons belong to a chat, so nobody needs all labels at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pyarrow.parquet as pq

from realtalk import __version__
from realtalk.ei.labels import LABELS, MEASURES, NOT_ASKED
from realtalk.ei.protocols import rules_of
from realtalk.errors import RealtalkError

KIND = "emotional intelligence"  # of the run, in run.json
TABLE = "labels"
LABEL_FILE, SPEAKER_FILE = f"{TABLE}.parquet", "speakers.parquet"
_LAYOUT = 3
_FIX = "label a corpus with `out=DIR`"
_KEY = "realtalk"  # in the file's metadata


@dataclass(frozen=True, slots=True)
class LabelsAbout:
    """What labels were made of, how, and by which version."""

    corpus: str
    format: str
    protocol: str
    realtalk: str
    layout: int = _LAYOUT  # of the columns


def about_metadata(settings: Mapping[str, Any]) -> dict[str, str]:
    """What labels are about, by a run's settings, for the metadata of their file."""
    corpus = settings["corpus"]
    about = LabelsAbout(
        corpus["name"], corpus["format"], settings["protocol"], __version__, _LAYOUT
    )
    return {_KEY: orjson.dumps(asdict(about)).decode()}


def is_labels(path: Path) -> bool:
    """Whether a path is a folder of labels, finished or not, or the file of labels itself."""
    names = (LABEL_FILE, f"{TABLE}.jsonl")
    return path.suffix == ".parquet" or any((path / name).is_file() for name in names)


def labels_about(path: Path) -> LabelsAbout | None:
    """What labels were made of; None where the file does not say."""
    try:
        stored = pl.read_parquet_metadata(_file(path)).get(_KEY)
        about = None if stored is None else LabelsAbout(**orjson.loads(stored))
    except (pl.exceptions.PolarsError, OSError, ValueError, TypeError):
        return None
    return about


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


def of_messages(frame: pl.DataFrame) -> bool:
    """Whether a speaker follows themselves within a session, so that turns were not joined."""
    who = ("chat", "session", "speaker")
    again = [pl.col(name) == pl.col(name).shift(1) for name in who]
    return bool(frame.sort("chat", "turn").select(pl.all_horizontal(again).any()).item())


def refuse_other_units(frame: pl.DataFrame, protocol: str, where: str) -> None:
    """Raises where a protocol is of joined turns and the labels of messages, or the reverse."""
    joined = rules_of(protocol).joined
    if not joined and (frame["message_ids"].list.len() > 1).any():
        raise RealtalkError(
            f"these labels are of joined turns, '{protocol}' wants them of messages",
            where=where,
            fix=f"make them with: realtalk ei PATH `protocol={protocol}` `out=DIR`",
        )
    if joined and of_messages(frame):
        raise RealtalkError(
            f"these labels are of single messages, '{protocol}' wants them of joined turns",
            where=where,
            fix="add `protocol=released`, or label again without it",
        )


def why_unscored(frame: pl.DataFrame) -> list[str | None]:
    """For every turn the first reason why it has no label at all; None where it has one."""
    reasons_found: list[str | None] = []
    for row in frame.select(*MEASURES, "unscored").iter_rows(named=True):
        reasons = [each["reason"] for each in row["unscored"] if each["reason"] != NOT_ASKED]
        scored = any(row[measure] is not None for measure in MEASURES)
        reasons_found.append(None if scored else (reasons or ["no measure was asked for"])[0])
    return reasons_found


def unscored_reasons(frame: pl.DataFrame) -> list[tuple[str, str, int]]:
    """What could not be measured: measure, reason, and how many turns."""
    return (
        frame.explode("unscored")
        .unnest("unscored", separator="_")
        .drop_nulls("unscored_measure")
        .group_by("unscored_measure", "unscored_reason")
        .agg(pl.len().alias("n"))
        .sort("unscored_measure", "unscored_reason")
        .rows()
    )


_AT_ONCE = 65_536


def chat_frames(folder: Path) -> Iterator[pl.DataFrame]:
    """The labels of a finished run in their order; every frame has whole chats."""
    file = folder / LABEL_FILE
    waiting: list[pl.DataFrame] = []
    try:
        with pq.ParquetFile(file) as stored:
            for batch in stored.iter_batches(_AT_ONCE, columns=LABELS.names()):
                frame = pl.from_arrow(batch)
                assert isinstance(frame, pl.DataFrame)
                last = frame["chat"] == frame["chat"][-1]
                begun = int(last.arg_max() or 0)  # where the last chat of the batch begins
                if begun or (waiting and waiting[-1]["chat"][-1] != frame["chat"][0]):
                    whole = pl.concat([*waiting, frame[:begun]])
                    waiting = []
                    if whole.height:
                        yield whole.cast(LABELS)
                waiting.append(frame[begun:])
    except (OSError, ValueError) as error:
        raise RealtalkError("not a readable Parquet file", where=str(file)) from error
    if waiting:
        yield pl.concat(waiting).cast(LABELS)


def turn_count(folder: Path) -> int | None:
    """How many labels a finished run has; None where it is not finished."""
    try:
        return int(pq.read_metadata(folder / LABEL_FILE).num_rows)
    except (OSError, ValueError):
        return None


def reasons_in(frames: Iterable[pl.DataFrame]) -> list[tuple[str, str, int]]:
    """What could not be measured: measure, reason, and how many turns."""
    counts: Counter[tuple[str, str]] = Counter()
    for frame in frames:
        for measure, reason, count in unscored_reasons(frame):
            counts[measure, reason] += count
    return [(measure, reason, count) for (measure, reason), count in sorted(counts.items())]
