"""A reading on disk: three Parquet files and a small JSON of where they came from.

    store(reading, Path("my-corpus"), source)
    → my-corpus/messages.parquet, events.parquet, questions.parquet, corpus.json

More messages than fit into a part are messages/part-*.parquet (see `parts`). The folder is
written beside its place and then moved there, so a reader never sees half a corpus. DuckDB,
Spark, pandas and polars read the Parquet files as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import polars as pl

from realtalk import __version__
from realtalk.chat import Alias
from realtalk.corpora.parts import (
    MESSAGES_PER_PART,
    ChatSpan,
    PartSpan,
    cut,
    in_chat_order,
    message_files,
    own_names,
    part_file,
    part_spans,
)
from realtalk.corpora.reading import Ledger, Leftover, Reading, ReadOptions
from realtalk.corpora.source import Source
from realtalk.corpora.tables import EVENTS, MESSAGES, QUESTIONS, ChatRow, Tables
from realtalk.errors import RealtalkError
from realtalk.local.writing import whole_folder, write_parquet

LAYOUT = 1  # of the folder; a reader of another layout says so instead of guessing
_ABOUT = "corpus.json"
_FILES: Mapping[str, pl.Schema] = {"events": EVENTS, "questions": QUESTIONS}
_KEPT_LEFTOVERS = 1000
_NO_RECORD = "is not the record of a stored corpus"


def store(
    reading: Reading,
    folder: Path,
    source: Source | None = None,
    options: ReadOptions | None = None,
    earlier: Mapping[str, Any] | None = None,
    *,
    most: int = MESSAGES_PER_PART,
) -> Path:
    """Writes the corpus; an existing corpus of this layout at the place is replaced.

    `earlier` is the record of the corpus that this one goes on, `most` how many messages a part
    may have.
    """
    if folder.exists() and not is_stored(folder):
        if not folder.is_dir():
            raise RealtalkError("is a file", where=str(folder), fix="name a folder with --out")
        if any(folder.iterdir()):
            raise RealtalkError(
                "the folder is not empty and holds no corpus",
                where=str(folder),
                fix="name a new folder with --out",
            )
    elif more := _others(folder):
        raise RealtalkError(
            f"holds {more[0]} beside its corpus, which would be lost",
            where=str(folder),
            fix="name a new folder with --out, or move it away",
        )
    with whole_folder(folder, replace=True) as temporary:
        parts = _write_messages(reading.tables, temporary, most)
        for name in _FILES:
            write_parquet(temporary / f"{name}.parquet", getattr(reading.tables, name))
        about = provenance(reading, source, options)
        if parts:
            about["parts"] = [span.to_json() for span in parts]
        if earlier is not None:
            about["source"] = _sources(earlier.get("source", []), about["source"])
            about["options"] = earlier.get("options", about["options"])
            about["added"] = earlier.get("added", [])
        text = orjson.dumps(about, option=orjson.OPT_INDENT_2)
        (temporary / _ABOUT).write_bytes(text + b"\n")
    return folder


def _write_messages(tables: Tables, folder: Path, most: int) -> list[PartSpan]:
    """The messages as one file, or as the parts that are returned."""
    ids = [row.id for row in tables.chats]
    messages = in_chat_order(tables.messages, ids) if tables.messages.height > most else None
    if messages is None:
        write_parquet(part_file(folder, None), tables.messages)
        return []
    spans = cut(messages, ids, most)
    for number, span in enumerate(spans):
        rows = messages.slice(span.start, span.messages)
        write_parquet(part_file(folder, number), rows)
    return spans


def provenance(
    reading: Reading, source: Source | None, options: ReadOptions | None
) -> dict[str, Any]:
    """Where the corpus came from and how it was read; file names only, no paths, no text."""
    tables, ledger = reading.tables, reading.ledger
    gap = options.gap if options else None
    return {
        "layout": LAYOUT,
        "realtalk": __version__,
        "name": tables.name,
        "format": tables.format,
        "source": [
            {"name": member.name, "bytes": member.size, "sha256": member.sha256()}
            for member in (source.members if source else ())
            if member.suffix in (".txt", ".json", ".jsonl", ".csv", ".tsv", ".xlsx")
        ],
        "options": {
            "gap": gap.total_seconds() if isinstance(gap, timedelta) else gap,
            "dates": options.dates if options else None,
            "timezone": options.timezone if options else None,
        },
        "ledger": {
            **ledger.to_json(),
            "leftovers": [asdict(left) for left in ledger.leftovers[:_KEPT_LEFTOVERS]],
        },
        "notes": list(reading.notes),
        "chats": [
            {
                "id": row.id,
                "speakers": list(row.speakers),
                "aliases": [asdict(alias) for alias in row.aliases],
                "empty_sessions": [
                    [number, time.isoformat() if time else None]
                    for number, time in row.empty_sessions
                ],
                "extra": row.extra,
            }
            for row in tables.chats
        ],
    }


def _sources(*parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every file that a corpus was made of, once."""
    return list({entry["sha256"]: entry for part in parts for entry in part}.values())


def _others(folder: Path) -> list[str]:
    """What lies in a stored corpus' folder and is not part of it."""
    own = {_ABOUT, *own_names(), *(f"{name}.parquet" for name in _FILES)}
    if not folder.is_dir():
        return []
    names = (path.name for path in folder.iterdir())
    return sorted(name for name in names if name not in own and not name.startswith("."))


def is_stored(path: Path) -> bool:
    """Whether a folder is a stored corpus."""
    return (path / _ABOUT).is_file() and bool(message_files(path))


def record(folder: Path) -> dict[str, Any]:
    """What `provenance` said of a stored corpus."""
    where = str(folder / _ABOUT)
    try:
        about = orjson.loads((folder / _ABOUT).read_bytes())
        if isinstance(about, dict):
            return about
    except OSError as error:
        raise RealtalkError(f"cannot be read ({error.strerror})", where=where) from error
    except orjson.JSONDecodeError:
        pass
    raise RealtalkError(_NO_RECORD, where=where, fix="read the source again")


@dataclass(frozen=True, slots=True)
class StoredAbout:
    """A stored corpus without its columns; `parts` is empty where one file has all messages."""

    name: str
    format: str
    chats: tuple[ChatRow, ...]
    ledger: Ledger
    notes: tuple[str, ...]
    parts: tuple[PartSpan, ...]


def load_about(folder: Path) -> StoredAbout:
    """What corpus.json says, checked."""
    where = str(folder / _ABOUT)
    about = record(folder)
    try:
        layout = about["layout"]
        if layout != LAYOUT:
            raise RealtalkError(
                f"was stored in layout {layout}, this version reads {LAYOUT}",
                where=where,
                fix="read the source again",
            )
        counts = about["ledger"]
        ledger = Ledger(
            counts["unit"],
            counts["total"],
            counts["in_messages"],
            counts["system"],
            _leftovers(counts),
        )
        return StoredAbout(
            about["name"],
            about["format"],
            tuple(_chat_row(entry) for entry in about["chats"]),
            ledger,
            tuple(about["notes"]),
            tuple(part_spans(folder, about.get("parts", []))),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise RealtalkError(_NO_RECORD, where=where, fix="read the source again") from error


def load(folder: Path) -> Reading:
    """A stored corpus, with the ledger of the day it was read."""
    about = load_about(folder)
    frames = {name: _frame(folder / f"{name}.parquet", schema) for name, schema in _FILES.items()}
    messages = load_messages(folder, range(len(about.parts)) or [None])
    tables = Tables(about.name, about.format, about.chats, messages, **frames)
    return Reading(tables=tables, ledger=about.ledger, notes=about.notes)


def load_messages(folder: Path, parts: Iterable[int | None]) -> pl.DataFrame:
    """The messages of some parts; None stands for the only file."""
    return pl.concat([_frame(part_file(folder, part), MESSAGES) for part in parts])


def load_chats(folder: Path, about: StoredAbout, span: ChatSpan) -> Tables:
    """Some chats of a stored corpus, all that belongs to them, and nothing of the others."""
    chats = about.chats[span.first : span.end]
    ids = [row.id for row in chats]
    frames = {
        name: _frame(folder / f"{name}.parquet", schema).filter(pl.col("chat").is_in(ids))
        for name, schema in _FILES.items()
    }
    messages = load_messages(folder, span.parts)
    return Tables(about.name, about.format, chats, messages, **frames)


def _leftovers(counts: Mapping[str, Any]) -> tuple[Leftover, ...]:
    kept = [Leftover(entry["where"], entry["reason"]) for entry in counts["leftovers"]]
    more = counts["left_over"] - len(kept)
    # The count must still add up where only the first thousand were written down.
    kept += [Leftover("(not listed)", "only the first thousand are listed")] * more
    return tuple(kept)


def _chat_row(entry: Mapping[str, Any]) -> ChatRow:
    return ChatRow(
        entry["id"],
        tuple(entry["speakers"]),
        tuple(Alias(**alias) for alias in entry["aliases"]),
        tuple(
            (number, datetime.fromisoformat(time) if time else None)
            for number, time in entry["empty_sessions"]
        ),
        entry["extra"],
    )


def _frame(path: Path, schema: pl.Schema) -> pl.DataFrame:
    try:
        frame = pl.read_parquet(path)
    except FileNotFoundError as error:
        raise RealtalkError("is missing", where=str(path), fix="read the source again") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        raise RealtalkError(
            "is not a readable Parquet file", where=str(path), fix="read the source again"
        ) from error
    if frame.schema != schema:
        raise RealtalkError(
            "has other columns than a stored corpus", where=str(path), fix="read the source again"
        )
    return frame
