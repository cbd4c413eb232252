"""Whatever a user points at, as a Reading; several exports as one corpus.

open_reading("sample")             a corpus that ships with the package
open_reading("my-corpus/")         a stored corpus
open_reading("corpora/")           a folder of stored corpora, as one
open_reading("WhatsApp Chat.zip")  a raw export or published file, format found by itself
open_reading("-")                  the same from standard input
open_reading("s3://bucket/corpus") any of these in a store, from a copy that goes with the process
together([opened, opened], options)    → OpenedSource: both, what they share taken once
add(Path("mara"), [opened], options)   → Addition(joined 12,034, new 311, …)
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, NamedTuple

from realtalk.errors import RealtalkError
from realtalk.files.stores import local_copy
from realtalk.formats.joining import JoinCounts, span
from realtalk.formats.merging import MergeResult, Merging, check_names, merge
from realtalk.formats.reading import Ledger, ReadCorpus, ReadOptions
from realtalk.formats.registry import FORMATS, detect, find_format
from realtalk.formats.source import Source
from realtalk.formats.store import is_stored, load, load_stored, record, store
from realtalk.formats.tables import Tables

SAMPLES = ("sample", "sample-simulated", "sample-threads")


class OpenedSource(NamedTuple):
    """A reading and, where it was read just now, the source and format it came from."""

    reading: ReadCorpus
    source: Source | None
    format: str


def open_reading(
    path: str | Path, format_name: str | None = None, options: ReadOptions | None = None
) -> OpenedSource:
    """A stored corpus, a sample's name, or anything that a reader knows."""
    options = options or ReadOptions()
    place = local_copy(path) if str(path) else Path()
    # A file of the user's own wins over a sample of the same name.
    if str(path) in SAMPLES and not place.exists():
        with as_file(files("realtalk.formats") / "samples" / str(path)) as folder:
            return _read(Source.open(folder), format_name, options)
    if str(path) and place.is_dir() and (stored := load_stored(place)):
        return OpenedSource(stored, None, stored.tables.format)
    return _read(Source.open(place if str(path) else ""), format_name, options)


def _read(source: Source, format_name: str | None, options: ReadOptions) -> OpenedSource:
    name = format_name or detect(source)
    with _without_collecting():
        if len(source.members) > 1:
            return _read_every(source, name, options, alone=format_name is not None)
        return OpenedSource(FORMATS[name].read(source, options), source, name)


@contextmanager
def _without_collecting() -> Iterator[None]:
    """A reader makes millions of values that all stay: looking for garbage among them is in vain.

    It takes a sixth of the time of a large file.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# A folder or archive of several files: what lies beside the chats that were read.
#
#     _read_every(source, options)   # talk.txt of WhatsApp, result.json of Telegram, notes.txt
#     → OpenedSource: both chats, and the notes
#       "read as telegram, beside whatsapp: result.json"
#       "not read, though it could be a chat: notes.txt (not recognised); read it alone to see why"
#
# Files of other apps are read too. A table, a mailbox or a published corpus beside an export is
# named with its format instead: nobody has asked for it. Pictures, settings and the other pages of
# a download are only counted. Which file was read is known from its reader, who opens it; a look at
# its head does not count.

# Endings of files that could hold a chat; all others are media, styles and the like.
_ENDINGS = tuple(
    ".txt .json .jsonl .ndjson .csv .tsv .xlsx .html .htm .md .db .sqlite .mbox .eml .zip".split()  # noqa: SIM905
)
# Of somebody's own chats, told by marks that nothing else has.
_EXPORTS = frozenset(
    """
    whatsapp whatsapp-database whatsapp-exporter telegram signal discord slack instagram messenger
    imessage line kakaotalk viber chatlab teams google-chat chatgpt claude
    """.split()  # noqa: SIM905 - words read better than quotes
)
_MOST_NAMED = 10
_MOST_TRIED = 50  # of those that could be chats, to name the format


def _read_every(
    source: Source, format_name: str, options: ReadOptions, *, alone: bool
) -> OpenedSource:
    """The chats of the named format and, unless it is to stand `alone`, those of other exports."""
    read_names: set[str] = set()
    source = source.noting(read_names)
    first = OpenedSource(FORMATS[format_name].read(source, options), source, format_name)
    readings, notes = [first], []
    rest = _rest(source, read_names)
    failed: dict[str, str] = {}
    others = set() if alone or format_name not in _EXPORTS else _EXPORTS - {format_name}
    for name in FORMATS:
        if name not in others or not _find_format(rest, [name], read_names):
            continue
        before = set(read_names)
        try:
            reading = FORMATS[name].read(rest, options)
        except RealtalkError as error:
            failed |= dict.fromkeys(read_names - before, error.what)
            read_names &= before
            continue
        readings.append(OpenedSource(reading, rest, name))
        files = _list_names(sorted(read_names - before))
        notes.append(f"read as {name}, beside {format_name}: {files}")
        rest = _rest(rest, read_names)
    if remark := _describe_rest(source, rest, read_names, failed):
        notes.append(remark)
    first.reading.notes += tuple(notes)
    if len(readings) == 1:
        return first
    reading = together(readings, options).reading
    tables = replace(reading.tables, format=first.reading.tables.format)
    reading = ReadCorpus(tables=tables, ledger=reading.ledger, notes=reading.notes)
    return OpenedSource(reading, source, format_name)


def _find_format(source: Source, names: Iterable[str], read_names: set[str]) -> str | None:
    """The format of what lies there; to find it out is no reading."""
    before = set(read_names)
    name = find_format(source, names)
    read_names &= before
    return name


def _rest(source: Source, read_names: set[str]) -> Source:
    """What could be a chat and was not read."""
    members = (member for member in source.having(*_ENDINGS) if member.name not in read_names)
    return replace(source, members=tuple(members))


def _describe_rest(
    source: Source, rest: Source, read_names: set[str], failed: dict[str, str]
) -> str:
    """One line about what was not read; "" where nothing of it could be a chat.

    A download has hundreds of other files in folders of their own. What lies beside a chat, or is
    called like one, or is recognised by a reader, could be one.
    """
    folders = {name.rpartition("/")[0] for name in read_names}
    names = {name.rpartition("/")[2] for name in read_names}
    likely: dict[str, str] = dict(failed)
    for tried, member in enumerate(rest.members):
        beside = member.folder in folders or member.name.rpartition("/")[2] in names
        if member.name in likely or not (beside or tried < _MOST_TRIED):
            continue
        is_packed = member.suffix == ".zip"
        alone = replace(source, members=(member,))
        is_tried = tried < _MOST_TRIED and not is_packed
        if is_tried and (kind := _find_format(alone, FORMATS, read_names)):
            likely[member.name] = f"format {kind}"
        elif beside:
            likely[member.name] = "an archive" if is_packed else "not recognised"
    if not likely:
        return ""
    others = len(source.members) - len(read_names) - len(likely)
    listing = _list_names([f"{name} ({why})" for name, why in likely.items()])
    more = f"; other files here: {others:,}" if others > 0 else ""
    return f"not read, though it could be a chat: {listing}; read it alone to see why{more}"


def _list_names(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _MOST_NAMED:,} more" if len(every) > _MOST_NAMED else ""
    return ", ".join(every[:_MOST_NAMED]) + more


# Several exports as one corpus, and new exports into a corpus that is stored already.
#
# Which file is named first makes no difference to the messages: the one that ends first is the one
# that the others are put into. What is stored keeps its ids, and is written anew only where
# something was added; half a corpus is never seen.


class Addition(NamedTuple):
    """A stored corpus after new exports; `notes` are what happened this time."""

    reading: ReadCorpus
    counts: JoinCounts
    chats: int  # new ones
    written: bool
    notes: tuple[str, ...]


def together(
    opened: Sequence[OpenedSource],
    options: ReadOptions,
    *,
    same: Mapping[str, str] | None = None,
    take_edits: bool = False,
) -> OpenedSource:
    """Readings of several files as one; chats that are one are joined, others stand beside it."""
    if len(opened) == 1:
        if same:
            raise RealtalkError(
                "`same=` names people of two exports", fix="name both files, or give `into=`"
            )
        return opened[0]
    check_names(same or {}, (export.reading.tables for export in opened))
    first, *others = in_order(opened)
    way = Merging(options.gap, same=dict(same or {}), take_edits=take_edits, fresh=True)
    merged = _merge_all(first.reading.tables, others, way)
    reading = ReadCorpus(
        tables=replace(merged.tables, name=opened[0].reading.tables.name),
        ledger=Ledger.sum([export.reading.ledger for export in opened]),
        notes=tuple(dict.fromkeys((*first.reading.notes, *merged.notes))),
    )
    return OpenedSource(reading, _source(opened), first.format)


def _merge_all(tables: Tables, opened: Iterable[OpenedSource], way: Merging) -> MergeResult:
    """What is known with all that was opened; the notes are those of the readers too."""
    whole = MergeResult(tables, JoinCounts())
    for export in opened:
        step = merge(whole.tables, export.reading.tables, way)
        notes = dict.fromkeys((*whole.notes, *export.reading.notes, *step.notes))
        whole = MergeResult(
            step.tables, whole.counts + step.counts, whole.chats + step.chats, tuple(notes)
        )
    return whole


def add(
    folder: Path,
    opened: Sequence[OpenedSource],
    options: ReadOptions,
    *,
    chat: str | None = None,
    same: Mapping[str, str] | None = None,
    take_edits: bool = False,
) -> Addition:
    """Puts into a stored corpus what is new in exports that were read with `stored_options`."""
    earlier = _record(folder)
    stored = load(folder)
    check_names(same or {}, (stored.tables, *(export.reading.tables for export in opened)))
    way = Merging(options.gap, chat, dict(same or {}), take_edits)
    merged = _merge_all(stored.tables, in_order(opened), way)
    counts = merged.counts
    # A name that was said to be somebody's is news too.
    is_learned = merged.tables.chats != stored.tables.chats
    is_changed = bool(counts.new or is_learned or (take_edits and counts.changes))
    reading = stored
    if is_changed:
        ledger = Ledger.sum([stored.ledger, *(export.reading.ledger for export in opened)])
        notes = tuple(dict.fromkeys((*stored.notes, *merged.notes)))
        reading = ReadCorpus(tables=merged.tables, ledger=ledger, notes=notes)
        if _record(folder) != earlier:
            raise RealtalkError(
                "changed while the export was read", where=str(folder), fix="run it again"
            )
        names = [export.reading.tables.name for export in opened]
        added = [*earlier.get("added", []), {"names": names, **asdict(counts)}]
        store(reading, folder, _source(opened), options, {**earlier, "added": added})
    return Addition(reading, counts, merged.chats, is_changed, merged.notes)


def stored_options(folder: Path, options: ReadOptions) -> ReadOptions:
    """Options to read a new export with: those that the stored corpus was read with.

    Sessions go on by the pause that they were cut at; another one is refused.
    """
    earlier: Mapping[str, Any] = _record(folder).get("options") or {}
    stated = earlier.get("gap")
    gap = timedelta(seconds=stated) if isinstance(stated, int | float) else stated
    if gap not in (None, options.gap) and options.gap != ReadOptions().gap:
        raise RealtalkError(
            "was cut into sessions at another pause", where=str(folder), fix="leave `gap=` away"
        )
    return replace(
        options,
        gap=gap or options.gap,
        dates=options.dates or earlier.get("dates"),
        timezone=options.timezone or earlier.get("timezone"),
    )


def _record(folder: Path) -> dict[str, Any]:
    if not is_stored(folder):
        raise RealtalkError(
            "holds no stored corpus to add to",
            where=str(folder),
            fix="make one by reading with `out=DIR`",
        )
    return record(folder)


def in_order(opened: Sequence[OpenedSource]) -> list[OpenedSource]:
    """The one that ends first before the others, whatever the order that they are given in."""
    if len(opened) < 2:
        return list(opened)

    def key(export: OpenedSource) -> tuple[Any, ...]:
        messages = export.reading.tables.messages
        start, end = span(messages["time"]) or (datetime.min, datetime.min)
        rows = messages.select("speaker", "time", "text").hash_rows()
        return end, start, messages.height, int(rows.sum() or 0)

    return sorted(opened, key=key)


def _source(opened: Sequence[OpenedSource]) -> Source | None:
    sources = [export.source for export in opened if export.source is not None]
    if not sources:
        return None
    return Source(sources[0].path, tuple(member for source in sources for member in source.members))
