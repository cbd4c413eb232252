"""`read`: chats into a stored corpus, from one export or several, and again next month."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeVar

import typer

from realtalk.cli.each import EachRequest, read_each
from realtalk.cli.options import (
    Address,
    Columns,
    Dates,
    EngineName,
    EngineOptions,
    FormatName,
    Fresh,
    Gap,
    Json,
    Out,
    Timezone,
    Workers,
    read_options,
)

if TYPE_CHECKING:
    from realtalk.corpora.opening import Added, Opened
    from realtalk.corpora.reading import Reading, ReadOptions

T = TypeVar("T")

Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="A file, folder or zip to read, a stored corpus, - for standard input, or the name "
        "of a sample: sample, sample-simulated, sample-threads. Of several, exports of one chat "
        "are joined.",
        show_default=False,
    ),
]


def read(
    paths: Targets,
    out: Out = None,
    into: Annotated[
        Path | None,
        typer.Option(
            "--into",
            metavar="DIR",
            help="A stored corpus to which what is new is added; what it has keeps its ids.",
        ),
    ] = None,
    chat: Annotated[
        str | None,
        typer.Option(
            "--chat", metavar="ID", help="The chat of --into that the export goes on, by its id."
        ),
    ] = None,
    same: Annotated[
        list[str] | None,
        typer.Option(
            "--same",
            metavar="NAME=NAME",
            help="Two names of one person in two exports: Mum=Anna. The second is kept, or the "
            "one that is stored. May be repeated.",
        ),
    ] = None,
    take_edits: Annotated[
        bool,
        typer.Option(
            "--take-edits",
            help="Take messages as they were edited, deleted or given reactions since; else they "
            "stay.",
        ),
    ] = False,
    each: Annotated[
        bool,
        typer.Option(
            "--each",
            help="Store every export as a corpus of its own in --out. Of a folder, everything in "
            "it is an export; patterns are understood.",
        ),
    ] = False,
    engine: EngineName = None,
    workers: Workers = None,
    address: Address = None,
    fresh: Fresh = False,
    format_name: FormatName = None,
    gap: Gap = "6h",
    dates: Dates = None,
    timezone: Timezone = None,
    column: Columns = None,
    json: Json = False,
) -> None:
    """Read chats from any known format and store them as Parquet.

    The format is found by itself, for files, folders and zips. Every other command takes
    the stored folder, or the raw path directly.

    With --into a newer export is added to a stored corpus: messages that are there keep their
    ids, new ones get the next, and the same file a second time changes nothing.

    With --each many exports become one stored corpus each. One that cannot be read is named, the
    others are stored, and the status is 1; run again, the command does what is missing.

    Examples:

        realtalk read "WhatsApp Chat with Mara.zip" --out mara

        realtalk read "WhatsApp Chat with Mara (1).zip" --into mara    # again next month

        realtalk read mine.txt hers.txt --same "Mum=Anna" --out anna   # exports of both people

        realtalk read exports/ "more/*.zip" --each --out corpora --engine processes --workers 2

        realtalk read export/ --format telegram --gap day

        realtalk read talk.csv --column speaker=author --column time=sent

        unzip -p backup.zip chat.txt | realtalk read - --out mara
    """
    from realtalk.errors import RealtalkError
    from realtalk.surface.sources import checked_places

    options = read_options(gap, dates, timezone, column)
    checked_places(out, into, chat)
    chosen = EngineOptions(engine, workers, address)
    if each:
        if into is not None or same or take_edits:
            raise RealtalkError(
                "--each joins nothing", fix="leave out --into, --same and --take-edits"
            )
        read_each(EachRequest(paths, out, format_name, options, chosen, fresh, json))
        return
    if alone := chosen.given() or ("--fresh" if fresh else None):
        raise RealtalkError(f"{alone} is for many files", fix="give --each too")
    people: dict[str, str] = {}
    for pair in same or ():
        name, equals, other = (part.strip() for part in pair.partition("="))
        if not (name and equals and other):
            raise RealtalkError(f"'{pair}' names no two people", fix='write --same "Mum=Anna"')
        people[name] = other
    request = _Request(paths, format_name, options, people, take_edits, json)
    if into is not None:
        _add(request, into, chat)
    else:
        _store(request, out)


class _Request(NamedTuple):
    """What is read, and how."""

    paths: list[str]
    format_name: str | None
    options: ReadOptions
    people: Mapping[str, str]
    take_edits: bool
    json: bool


def _store(request: _Request, out: Path | None) -> None:
    from realtalk.cli.printing import print_json, say, warn
    from realtalk.corpora.opening import together
    from realtalk.corpora.store import is_stored, provenance, store

    options = request.options
    opened = _opened(request.paths, request.format_name, options)
    found = _asking(
        request.people,
        lambda same: together(opened, options, same=same, take_edits=request.take_edits),
    )
    for note in found.reading.notes:
        warn(note)
    tables = found.reading.tables
    folder = out or Path(f"{tables.name}-corpus")
    is_replaced = is_stored(folder)
    store(found.reading, folder, found.source, options)
    if request.json:
        about = provenance(found.reading, found.source, options)
        print_json({"folder": str(folder), "messages": tables.messages.height} | about)
        return
    _show_chats(found.reading, found.format)
    say(str(found.reading.ledger))
    for leftover in found.reading.ledger.leftovers[:5]:
        say(f"  left over: {leftover.where}: {leftover.reason}")
    if (more := len(found.reading.ledger.leftovers) - 5) > 0:
        say(f"  and {more:,} more; realtalk check lists them all")
    say(f"stored in {folder}")
    if is_replaced:
        say(f"in place of the corpus that was there; --into {folder} adds to one and keeps its ids")


def _add(request: _Request, folder: Path, chat: str | None) -> None:
    from dataclasses import asdict

    from realtalk.cli.printing import print_json, say, warn
    from realtalk.corpora.opening import add, stored_options

    options = stored_options(folder, request.options)
    opened = _opened(request.paths, request.format_name, options)

    def put(same: Mapping[str, str]) -> Added:
        return add(folder, opened, options, chat=chat, same=same, take_edits=request.take_edits)

    added = _asking(request.people, put)
    for note in added.notes:
        warn(note)
    tables = added.reading.tables
    if request.json:
        counts = {**asdict(added.counts), "chats": added.chats, "written": added.written}
        print_json({"folder": str(folder), "messages": tables.messages.height} | counts)
        return
    _show_chats(added.reading, tables.format)
    say(str(added.counts) + (f", new chats {added.chats:,}" if added.chats else ""))
    say(f"stored in {folder}" if added.written else f"nothing new: {folder} is as it was")


def _opened(paths: list[str], format_name: str | None, options: ReadOptions) -> list[Opened]:
    """Every path, read; with a bar."""
    from dataclasses import replace

    from realtalk.cli.printing import progress
    from realtalk.corpora.opening import open_reading

    with progress("reading") as advance:
        bar = replace(options, progress=advance)
        return [open_reading(path, format_name, bar) for path in paths]


def _somebody_there() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def _asking(people: Mapping[str, str], work: Callable[[Mapping[str, str]], T]) -> T:
    """Does the work; where names seem to be one person's and somebody is there, asks."""
    from realtalk.cli.printing import printable
    from realtalk.corpora.merging import SamePersonError

    same = dict(people)
    while True:
        try:
            return work(same)
        except SamePersonError as error:
            if not error.proposed or not _somebody_there():
                raise
            for name, other in error.proposed.items():
                asked = f"Is {printable(name)} the same person as {printable(other)}?"
                if not typer.confirm(asked, err=True):
                    raise
                same[name] = other


def _show_chats(reading: Reading, format_name: str) -> None:
    """One row per chat: who speaks, and how much there is of it."""
    import polars as pl

    from realtalk.cli.printing import show

    tables = reading.tables
    counts = {
        chat: (sessions, messages)
        for chat, sessions, messages in tables.messages.group_by("chat")
        .agg(pl.col("session").n_unique(), pl.len())
        .iter_rows()
    }
    rows = [(row.id, _names(row.speakers), *counts.get(row.id, (0, 0))) for row in tables.chats]
    columns = ("chat", "speakers", "sessions", "messages")
    show(f"{tables.name} ({format_name})", columns, rows, 20)


def _names(speakers: tuple[str, ...]) -> str:
    return ", ".join(speakers[:4]) + (f" +{len(speakers) - 4}" if len(speakers) > 4 else "")
