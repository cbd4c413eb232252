"""A stored corpus, or a folder of many, as whole chats at a time: memory holds a part, not all.

    stream = open_stream("archive")            # messages/part-*.parquet
    stream = open_stream("corpora")            # what `read --each` wrote: one corpus of them all
    for piece in stream.pieces:
        piece.tables()                         → Tables of the next chats, in their order
    chats_in(tables)                           → Chat, Chat, … of what was read already

A piece is a part, or the parts of a chat that is larger than one. Pieces are small values that
can be sent to another process, which loads them there. In a folder of corpora chats are called
"folder/chat": two exports may well call theirs alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import orjson
import polars as pl

from realtalk.chat import Chat
from realtalk.corpora.parts import ChatSpan, cut, groups, in_chat_order, part_file
from realtalk.corpora.reading import Ledger, Reading
from realtalk.corpora.store import StoredAbout, is_stored, load, load_about, load_chats
from realtalk.corpora.tables import Tables, to_corpus
from realtalk.errors import RealtalkError
from realtalk.local.stores import local_copy

_FRAMES = ("messages", "events", "questions")
_AT_ONCE = 50_000  # messages that are values at the same time
_MIXED = "several"  # the format of a folder whose corpora have more than one
_RECORDS = frozenset({"run.json", "parts.jsonl", "parts.parquet"})  # of the job that wrote it


@dataclass(frozen=True, slots=True)
class CorpusPiece:
    """Whole chats of a stored corpus."""

    folder: Path
    span: ChatSpan | None = None  # None: the whole corpus
    prefix: str = ""  # of the names of its chats

    @property
    def source(self) -> Path:
        """What is read for it: its first part, or the folder of a corpus that has none."""
        return self.folder if self.span is None else part_file(self.folder, self.span.parts[0])

    def tables(self) -> Tables:
        """The chats and all that belongs to them."""
        if self.span is None:
            tables = load(self.folder).tables
        else:
            tables = load_chats(self.folder, _about(self.folder), self.span)
        return _prefixed(tables, self.prefix) if self.prefix else tables


@dataclass(frozen=True)
class CorpusStream:
    """A corpus in pieces, in the order of its chats."""

    name: str
    format: str
    pieces: tuple[CorpusPiece, ...]
    notes: tuple[str, ...] = ()


def open_stream(path: str | Path) -> CorpusStream | None:
    """The corpus in pieces; None of what is not stored."""
    folder = local_copy(path)
    if not str(path) or not folder.is_dir():
        return None
    if is_stored(folder):
        about = load_about(folder)
        return CorpusStream(about.name, about.format, _pieces(folder, about), about.notes)
    return _collection(folder) if is_collection(folder) else None


def opened_stream(path: str | Path, option: str) -> CorpusStream:
    """The corpus in pieces, as an option needs it; raises of what is not stored."""
    stream = open_stream(path)
    if stream is None:
        raise RealtalkError(
            f"{option} works on stored corpora, part by part",
            where=str(path),
            fix="store it first: realtalk read PATH --out DIR",
        )
    return stream


def is_collection(folder: Path) -> bool:
    """Whether a folder holds stored corpora and nothing else, but the record of their reading."""
    try:
        inside = [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError:
        return False
    others = [path for path in inside if path.name not in _RECORDS]
    return bool(others) and all(is_stored(path) for path in others)


def load_collection(folder: Path) -> Reading:
    """A folder of stored corpora as one that is in memory."""
    stream = _collection(folder)
    every = [piece.tables() for piece in stream.pieces]
    tables = Tables(
        stream.name,
        stream.format,
        tuple(row for each in every for row in each.chats),
        *(pl.concat([getattr(each, name) for each in every]) for name in _FRAMES),
    )
    total = tables.messages.height
    return Reading(tables=tables, ledger=Ledger("messages", total, total), notes=stream.notes)


def chats_in(tables: Tables, at_once: int | None = None) -> Iterator[Chat]:
    """The chats of `to_corpus`, of which only some are values at a time.

    A message as values takes several times the memory that it takes as columns.
    """
    ids = [row.id for row in tables.chats]
    messages = in_chat_order(tables.messages, ids) if len(set(ids)) == len(ids) else None
    if messages is None:
        yield from to_corpus(tables).chats  # which says what is wrong, where it is
        return
    spans = cut(messages, ids, at_once or _AT_ONCE)
    for group in groups(spans, len(ids)):
        start = spans[group.parts[0]].start
        length = sum(spans[part].messages for part in group.parts)
        own = pl.col("chat").is_in(ids[group.first : group.end])
        some = replace(
            tables,
            chats=tables.chats[group.first : group.end],
            messages=messages.slice(start, length),
            events=tables.events.filter(own),
            questions=tables.questions.filter(own),
        )
        yield from to_corpus(some).chats


def _collection(folder: Path) -> CorpusStream:
    formats: dict[str, None] = {}
    pieces: list[CorpusPiece] = []
    for place in sorted(folder.iterdir()):
        if place.name.startswith(".") or place.name in _RECORDS:
            continue
        about = load_about(place)
        formats[about.format] = None
        pieces += [replace(each, prefix=f"{place.name}/") for each in _pieces(place, about)]
    kind = next(iter(formats)) if len(formats) == 1 else _MIXED
    return CorpusStream(folder.resolve().name, kind, tuple(pieces), tuple(_missing(folder)))


def _pieces(folder: Path, about: StoredAbout) -> tuple[CorpusPiece, ...]:
    if not about.parts:
        return (CorpusPiece(folder.absolute()),)
    spans = groups(about.parts, len(about.chats))
    return tuple(CorpusPiece(folder.absolute(), span) for span in spans)


def _missing(folder: Path) -> Iterator[str]:
    """A note where the job that reads the folder full has not come to its end."""
    record = folder / "parts.jsonl"
    if not record.is_file():
        return
    try:
        rows = [orjson.loads(line) for line in record.read_bytes().splitlines()]
        latest = {row["part"]: row["problem"] for row in rows}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RealtalkError(
            "is not the record of a job", where=str(record), fix="run it again to mend it"
        ) from error
    failed = sum(problem is not None for problem in latest.values())
    if failed:
        yield f"{failed:,} of {len(latest):,} files could not be read and are not among the chats"


def _about(folder: Path) -> StoredAbout:
    known = (folder / "corpus.json").stat()
    return _known(folder, (known.st_mtime_ns, known.st_ino))


@lru_cache(maxsize=1)
def _known(folder: Path, _stamp: tuple[int, int]) -> StoredAbout:
    # The next piece is most often of the same corpus, whose record lists every chat.
    return load_about(folder)


def _prefixed(tables: Tables, prefix: str) -> Tables:
    chat = (pl.lit(prefix) + pl.col("chat")).alias("chat")
    return replace(
        tables,
        chats=tuple(replace(row, id=prefix + row.id) for row in tables.chats),
        messages=tables.messages.with_columns(chat),
        events=tables.events.with_columns(chat),
        questions=tables.questions.with_columns(chat),
    )
