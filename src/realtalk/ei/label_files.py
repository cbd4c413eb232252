"""A folder that `realtalk ei PATH --out` wrote → its labels, checked.

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
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import polars as pl
import pyarrow.parquet as pq

from realtalk import __version__
from realtalk.ei.labels import LABELS, LASTING, MEASURES, NOT_ASKED
from realtalk.ei.protocols import rules_of
from realtalk.errors import RealtalkError
from realtalk.evals.folder import Key, Row, RunFolder, Table
from realtalk.evals.rows import KEY
from realtalk.files.writing import write_parquet

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
