"""A reading on disk: three Parquet files and a small JSON of where they came from.

    store(reading, Path("my-corpus"), source)
    → my-corpus/messages.parquet, events.parquet, questions.parquet, corpus.json
    load(Path("my-corpus"))                    → the Reading
    for piece in open_stream("archive").pieces:
        piece.tables()                         → Tables of the next chats, in their order

More messages than fit into a part are messages/part-*.parquet, cut between chats; then memory need
hold only a part. The folder is written beside its place and then moved there, so a reader never
sees half a corpus. DuckDB, Spark, pandas and polars read the Parquet files as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import polars as pl

from realtalk import __version__
from realtalk.chat import Alias, Chat, Corpus, Question
from realtalk.errors import RealtalkError
from realtalk.files.json_objects import read_whole
from realtalk.files.stores import local_copy
from realtalk.files.writing import whole_folder, write_parquet
from realtalk.formats.json_input import Fields
from realtalk.formats.reading import Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import Source
from realtalk.formats.tables import (
    EVENTS,
    MESSAGES,
    QUESTIONS,
    ChatRow,
    Tables,
    from_corpus,
    join_tables,
    rename_chats,
    to_corpus,
)

# The files of a stored corpus' messages: one where it is small, a folder of parts beyond that.
#
#     message_files(Path("mara"))       → (mara/messages.parquet,)
#     message_files(Path("archive"))    → (archive/messages/part-00000.parquet, …)
#     cut_parts(messages, ["a", "b", "c"], 250_000)
#     → [PartSpan(240_112, 0, 2), PartSpan(90_004, 2, 3)]
#
# Parts are cut between chats, in the order of corpus.json. Only a chat that is larger than a part
# is torn: its parts are of one size and hold nothing else. Most corpora fit into one file, which
# keeps the name that people have in their queries; nothing but the number of messages decides.

MESSAGES_PER_PART = 250_000  # some 150 MB in memory for messages of a dozen words
_FOLDER, _FILE = "messages", "messages.parquet"
_PLACES = pl.Schema({"chat": pl.String, "place": pl.Int64})


class PartSpan(NamedTuple):
    """One part: its rows, and the chats that they belong to, by their places in corpus.json."""

    messages: int
    first: int
    end: int  # the place after the last


def _damage_error(what: str, where: Path) -> RealtalkError:
    return RealtalkError(what, where=str(where), fix="read the source again")


def message_files(folder: Path) -> tuple[Path, ...]:
    """The files of messages in their order; none where the folder holds no stored corpus."""
    single = folder / _FILE
    if single.is_file():
        return (single,)
    return tuple(sorted((folder / _FOLDER).glob("part-*.parquet")))


def _part_file(folder: Path, number: int | None) -> Path:
    """Where a part is, or the only file where there are no parts."""
    return folder / _FILE if number is None else folder / _FOLDER / f"part-{number:05}.parquet"


def in_chat_order(messages: pl.DataFrame, chats: Sequence[str]) -> pl.DataFrame | None:
    """The messages chat by chat, in the order of the chats; None where one is in no chat."""
    places = pl.DataFrame({"chat": chats, "place": range(len(chats))}, schema=_PLACES)
    placed = messages.join(places, on="chat", how="left", maintain_order="left")
    if placed["place"].null_count():
        return None
    if placed["place"].is_sorted():
        return messages
    return placed.sort("place", maintain_order=True).drop("place")


def cut_parts(messages: pl.DataFrame, chats: Sequence[str], most: int) -> list[PartSpan]:
    """Parts of at most so many messages, which are in the order of their chats."""
    sizes = dict(messages.group_by("chat").len().iter_rows())
    spans: list[PartSpan] = []
    size = first = 0
    for place, chat in enumerate(chats):
        own = int(sizes.get(chat, 0))
        if size and size + own > most:
            spans.append(PartSpan(size, first, place))
            size = 0
        if own > most:
            count = -(-own // most)
            ends = [own * part // count for part in range(count + 1)]
            spans += [PartSpan(end - start, place, place + 1) for start, end in pairwise(ends)]
            continue
        if own and not size:
            first = place
        size += own
    if size or not spans:
        spans.append(PartSpan(size, first, len(chats)))
    return spans


def _groups(spans: Sequence[PartSpan], chats: int) -> Iterator[tuple[tuple[int, ...], slice]]:
    """Parts that can be worked on alone, and the chats that they hold: those of one torn chat
    together, the others one by one. Together they have every chat once, those without a message
    too.
    """
    by_chats = groupby(range(len(spans)), key=lambda number: spans[number][1:])
    parts = [tuple(numbers) for _, numbers in by_chats]
    starts = [0, *(spans[numbers[0]].first for numbers in parts[1:]), chats]
    for numbers, (first, end) in zip(parts, pairwise(starts), strict=True):
        yield numbers, slice(first, end)


LAYOUT = 1  # of the folder; a reader of another layout says so instead of guessing
_ABOUT = "corpus.json"
_FILES: Mapping[str, pl.Schema] = {"events": EVENTS, "questions": QUESTIONS}
_KEPT_LEFTOVERS = 1000
_NO_RECORD = "is not the record of a stored corpus"


def store(
    reading: ReadCorpus,
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
            raise RealtalkError("is a file", where=str(folder), fix="name a folder with `out=`")
        if any(folder.iterdir()):
            raise RealtalkError(
                "the folder is not empty and holds no corpus",
                where=str(folder),
                fix="name a new folder with `out=`",
            )
    elif more := _others(folder):
        raise RealtalkError(
            f"holds {more[0]} beside its corpus, which would be lost",
            where=str(folder),
            fix="name a new folder with `out=`, or move it away",
        )
    with whole_folder(folder, replace=True) as temporary:
        parts = _write_messages(reading.tables, temporary, most)
        for name in _FILES:
            write_parquet(temporary / f"{name}.parquet", getattr(reading.tables, name))
        about = _provenance(reading, source, options)
        if parts:
            about["parts"] = [
                {"messages": span.messages, "chats": [span.first, span.end]} for span in parts
            ]
        if earlier is not None:
            entries = [*earlier.get("source", []), *about["source"]]
            about["source"] = list({entry["sha256"]: entry for entry in entries}.values())
            about["options"] = earlier.get("options", about["options"])
            about["added"] = earlier.get("added", [])
        text = orjson.dumps(about, option=orjson.OPT_INDENT_2)
        (temporary / _ABOUT).write_bytes(text + b"\n")
    return folder


def put_questions(
    folder: Path, chat: str, questions: Sequence[Question], instead: Callable[[str], bool]
) -> None:
    """Puts questions about a chat of a stored corpus in place of those with such ids."""
    path = folder / "questions.parquet"
    there = _frame(path, _FILES["questions"])
    gone = (pl.col.chat == chat) & pl.col.id.is_in(list(filter(instead, there["id"])))
    asked = Chat(chat, (), (), questions=tuple(questions))
    new = from_corpus(Corpus("", "", (asked,))).questions
    write_parquet(path, pl.concat([there.filter(~gone), new]))


def _write_messages(tables: Tables, folder: Path, most: int) -> list[PartSpan]:
    """The messages as one file, or as the parts that are returned."""
    ids = [row.id for row in tables.chats]
    messages = in_chat_order(tables.messages, ids) if tables.messages.height > most else None
    if messages is None:
        write_parquet(_part_file(folder, None), tables.messages)
        return []
    spans = cut_parts(messages, ids, most)
    start = 0
    for number, span in enumerate(spans):
        write_parquet(_part_file(folder, number), messages.slice(start, span.messages))
        start += span.messages
    return spans


def _provenance(reading: ReadCorpus, source: Source | None, options: ReadOptions | None) -> Fields:
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
            "leftovers": [asdict(leftover) for leftover in ledger.leftovers[:_KEPT_LEFTOVERS]],
        },
        "notes": list(reading.notes),
        "chats": [asdict(row) for row in tables.chats],
    }


def _others(folder: Path) -> list[str]:
    """What lies in a stored corpus' folder and is not part of it."""
    own = {_ABOUT, _FOLDER, _FILE, *(f"{name}.parquet" for name in _FILES)}
    if not folder.is_dir():
        return []
    names = (path.name for path in folder.iterdir())
    return sorted(name for name in names if name not in own and not name.startswith("."))


def is_stored(path: Path) -> bool:
    """Whether a folder is a stored corpus."""
    return (path / _ABOUT).is_file() and bool(message_files(path))


def record(folder: Path) -> Fields:
    """What `store` said of a stored corpus."""
    where = folder / _ABOUT
    with suppress(orjson.JSONDecodeError):
        about = orjson.loads(read_whole(where))
        if isinstance(about, dict):
            return about
    raise _damage_error(_NO_RECORD, where)


class StoredAbout(NamedTuple):
    """A stored corpus without its columns; `parts` is empty where one file has all messages."""

    name: str
    format: str
    chats: tuple[ChatRow, ...]
    ledger: Ledger
    notes: tuple[str, ...]
    parts: tuple[PartSpan, ...]


def load_about(folder: Path) -> StoredAbout:
    """What corpus.json says, checked."""
    where = folder / _ABOUT
    about = record(folder)
    try:
        layout = about["layout"]
        if layout != LAYOUT:
            raise _damage_error(
                f"was stored in layout {layout}, this version reads {LAYOUT}", where
            )
        parts = [
            PartSpan(int(part["messages"]), *map(int, part["chats"]))
            for part in about.get("parts", [])
        ]
        for number in range(len(parts)):
            if not _part_file(folder, number).is_file():
                raise _damage_error("is missing", _part_file(folder, number))
        return StoredAbout(
            about["name"],
            about["format"],
            tuple(map(_chat_row, about["chats"])),
            _ledger(about["ledger"]),
            tuple(about["notes"]),
            tuple(parts),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _damage_error(_NO_RECORD, where) from error


def load(folder: Path) -> ReadCorpus:
    """A stored corpus, with the ledger of the day it was read."""
    about = load_about(folder)
    parts = tuple(range(len(about.parts))) or (None,)
    tables = CorpusPiece(folder, about.name, about.format, about.chats, parts).tables()
    return ReadCorpus(tables=tables, ledger=about.ledger, notes=about.notes)


def _ledger(counts: Mapping[str, Any]) -> Ledger:
    leftovers = [Leftover(**entry) for entry in counts["leftovers"]]
    more = counts["left_over"] - len(leftovers)
    # The count must still add up where only the first thousand were written down.
    leftovers += [Leftover("(not listed)", "only the first thousand are listed")] * more
    numbers = {name: counts[name] for name in ("unit", "total", "in_messages", "system")}
    return Ledger(**numbers, leftovers=tuple(leftovers))


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
        raise _damage_error("is missing", path) from error
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _damage_error("is not a readable Parquet file", path) from error
    if frame.schema != schema:
        raise _damage_error("has other columns than a stored corpus", path)
    return frame


# A stored corpus, or a folder of many, as whole chats at a time: memory holds a part, not all.
#
# A piece is a part, or the parts of a chat that is larger than one. Pieces are small values that
# can be sent to another process, which loads them there. In a folder of corpora chats are called
# "folder/chat": two exports may well call theirs alike.

_AT_ONCE = 50_000  # messages that are values at the same time
_MIXED = "several"  # the format of a folder whose corpora have more than one
_RECORDS = frozenset({"run.json", "parts.jsonl", "parts.parquet"})  # of the job that wrote it


class CorpusPiece(NamedTuple):
    """Whole chats of a stored corpus, and the parts that hold their messages."""

    folder: Path
    name: str
    format: str
    chats: tuple[ChatRow, ...]
    parts: tuple[int | None, ...]  # None stands for the only file
    prefix: str = ""  # of the names of its chats

    @property
    def source(self) -> Path:
        """What is read for it: its first part, or the folder of a corpus that has none."""
        first = self.parts[0]
        return self.folder if first is None else _part_file(self.folder, first)

    def tables(self) -> Tables:
        """The chats and all that belongs to them."""
        own = pl.col.chat.is_in([row.id for row in self.chats])
        frames = {
            name: _frame(self.folder / f"{name}.parquet", schema).filter(own)
            for name, schema in _FILES.items()
        }
        parts = (_part_file(self.folder, part) for part in self.parts)
        messages = pl.concat([_frame(path, MESSAGES) for path in parts])
        tables = Tables(self.name, self.format, self.chats, messages, **frames)
        if not self.prefix:
            return tables
        return rename_chats(tables, {row.id: self.prefix + row.id for row in self.chats})


class CorpusStream(NamedTuple):
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
        return CorpusStream(about.name, about.format, tuple(_pieces(folder, about)), about.notes)
    return _collection(folder) if is_collection(folder) else None


def opened_stream(path: str | Path, option: str) -> CorpusStream:
    """The corpus in pieces, as an option needs it; raises of what is not stored."""
    stream = open_stream(path)
    if stream is None:
        raise RealtalkError(
            f"{option} works on stored corpora, part by part",
            where=str(path),
            fix="store it first: read it with `out=DIR`",
        )
    return stream


def is_collection(folder: Path) -> bool:
    """Whether a folder holds stored corpora and nothing else, but the record of their reading."""
    try:
        places = _corpora(folder)
    except OSError:
        return False
    return bool(places) and all(map(is_stored, places))


def _corpora(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.iterdir()
        if not path.name.startswith(".") and path.name not in _RECORDS
    )


def load_stored(folder: Path) -> ReadCorpus | None:
    """A stored corpus, or a folder of them as one; None of any other folder."""
    if is_stored(folder):
        return load(folder)
    if not is_collection(folder):
        return None
    stream = _collection(folder)
    tables = join_tables(stream.name, stream.format, [piece.tables() for piece in stream.pieces])
    total = tables.messages.height
    return ReadCorpus(tables=tables, ledger=Ledger("messages", total, total), notes=stream.notes)


def chats_in(tables: Tables, at_once: int = _AT_ONCE) -> Iterator[Chat]:
    """The chats of `to_corpus`, of which only some are values at a time.

    A message as values takes several times the memory that it takes as columns.
    """
    ids = [row.id for row in tables.chats]
    messages = in_chat_order(tables.messages, ids) if len(set(ids)) == len(ids) else None
    if messages is None:
        yield from to_corpus(tables).chats  # which says what is wrong, where it is
        return
    spans = cut_parts(messages, ids, at_once)
    start = 0
    for parts, chats in _groups(spans, len(ids)):
        length = sum(spans[part].messages for part in parts)
        own = pl.col.chat.is_in(ids[chats])
        some = replace(
            tables,
            chats=tables.chats[chats],
            messages=messages.slice(start, length),
            events=tables.events.filter(own),
            questions=tables.questions.filter(own),
        )
        start += length
        yield from to_corpus(some).chats


def _collection(folder: Path) -> CorpusStream:
    abouts = {place: load_about(place) for place in _corpora(folder)}
    formats = {about.format for about in abouts.values()}
    pieces = (
        piece
        for place, about in abouts.items()
        for piece in _pieces(place, about, f"{place.name}/")
    )
    kind = formats.pop() if len(formats) == 1 else _MIXED
    return CorpusStream(folder.resolve().name, kind, tuple(pieces), _missing(folder))


def _pieces(folder: Path, about: StoredAbout, prefix: str = "") -> Iterator[CorpusPiece]:
    parts = _groups(about.parts, len(about.chats)) if about.parts else [((None,), slice(None))]
    for numbers, chats in parts:
        yield CorpusPiece(
            folder.absolute(), about.name, about.format, about.chats[chats], numbers, prefix
        )


def _missing(folder: Path) -> tuple[str, ...]:
    """A note where the job that reads the folder full has not come to its end."""
    record = folder / "parts.jsonl"
    if not record.is_file():
        return ()
    try:
        rows = [orjson.loads(line) for line in record.read_bytes().splitlines()]
        latest = {row["part"]: row["problem"] for row in rows}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise RealtalkError(
            "is not the record of a job", where=str(record), fix="run it again to mend it"
        ) from error
    failed = sum(problem is not None for problem in latest.values())
    note = f"{failed:,} of {len(latest):,} files could not be read and are not among the chats"
    return (note,) if failed else ()
