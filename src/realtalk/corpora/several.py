"""Several exports as one corpus, and new exports into a corpus that is stored already.

    together([opened, opened], options)                → Opened: both, what they share taken once
    add(Path("mara"), [opened], options)               → Added(joined 12,034, new 311, …)

Which file is named first makes no difference to the messages: the one that ends first is the one
that the others are put into. What is stored keeps its ids, and is written anew only where
something was added; half a corpus is never seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from realtalk.corpora.joining import JoinCounts
from realtalk.corpora.matching import span
from realtalk.corpora.merging import Merging, merge
from realtalk.corpora.opening import Opened
from realtalk.corpora.people import check_names
from realtalk.corpora.reading import Ledger, Reading, ReadOptions
from realtalk.corpora.source import Source
from realtalk.corpora.store import is_stored, load, record, store
from realtalk.errors import RealtalkError


@dataclass(frozen=True, slots=True)
class Added:
    """A stored corpus after new exports; `notes` are what happened this time."""

    reading: Reading
    counts: JoinCounts
    chats: int  # new ones
    written: bool
    notes: tuple[str, ...]


def together(
    opened: Sequence[Opened],
    options: ReadOptions,
    *,
    same: Mapping[str, str] | None = None,
    take_edits: bool = False,
) -> Opened:
    """Readings of several files as one; chats that are one are joined, others stand beside it."""
    if len(opened) == 1:
        if same:
            raise RealtalkError(
                "--same names people of two exports", fix="name both files, or give --into"
            )
        return opened[0]
    check_names(same or {}, (each.reading.tables for each in opened))
    first, *others = in_order(opened)
    way = Merging(options.gap, same=dict(same or {}), take_edits=take_edits, fresh=True)
    tables, notes = first.reading.tables, list(first.reading.notes)
    for each in others:
        merged = merge(tables, each.reading.tables, way)
        tables = merged.tables
        notes += [*each.reading.notes, *merged.notes]
    tables = replace(tables, name=opened[0].reading.tables.name)
    reading = Reading(
        tables=tables,
        ledger=_ledger([each.reading.ledger for each in opened]),
        notes=tuple(dict.fromkeys(notes)),
    )
    return Opened(reading, _source(opened), first.format)


def add(
    folder: Path,
    opened: Sequence[Opened],
    options: ReadOptions,
    *,
    chat: str | None = None,
    same: Mapping[str, str] | None = None,
    take_edits: bool = False,
) -> Added:
    """Puts into a stored corpus what is new in exports that were read with `stored_options`."""
    earlier = _record(folder)
    known = load(folder)
    check_names(same or {}, (known.tables, *(each.reading.tables for each in opened)))
    way = Merging(options.gap, chat, dict(same or {}), take_edits)
    tables, counts, chats = known.tables, JoinCounts(), 0
    notes: list[str] = []
    for each in in_order(opened):
        merged = merge(tables, each.reading.tables, way)
        tables, counts, chats = merged.tables, counts + merged.counts, chats + merged.chats
        notes += [*each.reading.notes, *merged.notes]
    is_learned = tables.chats != known.tables.chats  # a name that was said to be somebody's
    is_changed = bool(counts.new or is_learned or (take_edits and counts.changed))
    reading = known
    if is_changed:
        ledger = _ledger([known.ledger, *(each.reading.ledger for each in opened)])
        told = tuple(dict.fromkeys((*known.notes, *notes)))
        reading = Reading(tables=tables, ledger=ledger, notes=told)
        if _record(folder) != earlier:
            raise RealtalkError(
                "changed while the export was read", where=str(folder), fix="run it again"
            )
        names = [each.reading.tables.name for each in opened]
        added = [*earlier.get("added", []), {"names": names, **asdict(counts)}]
        store(reading, folder, _source(opened), options, {**earlier, "added": added})
    return Added(reading, counts, chats, is_changed, tuple(dict.fromkeys(notes)))


def stored_options(folder: Path, options: ReadOptions) -> ReadOptions:
    """Options to read a new export with: those that the stored corpus was read with.

    Sessions go on by the pause that they were cut at; another one is refused.
    """
    earlier: Mapping[str, Any] = _record(folder).get("options") or {}
    stated = earlier.get("gap")
    gap = timedelta(seconds=stated) if isinstance(stated, int | float) else stated
    if gap not in (None, options.gap) and options.gap != ReadOptions().gap:
        raise RealtalkError(
            "was cut into sessions at another pause", where=str(folder), fix="leave --gap away"
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
            fix="make one with realtalk read FILE --out DIR",
        )
    return record(folder)


def in_order(opened: Sequence[Opened]) -> list[Opened]:
    """The one that ends first before the others, whatever the order that they are given in."""
    if len(opened) < 2:
        return list(opened)

    def key(each: Opened) -> tuple[Any, ...]:
        messages = each.reading.tables.messages
        start, end = span(messages["time"]) or (datetime.min, datetime.min)
        rows = messages.select("speaker", "time", "text").hash_rows()
        return end, start, messages.height, int(rows.sum() or 0)

    return sorted(opened, key=key)


def _ledger(parts: Sequence[Ledger]) -> Ledger:
    return Ledger.sum(parts[0].unit, parts)


def _source(opened: Sequence[Opened]) -> Source | None:
    sources = [each.source for each in opened if each.source is not None]
    if not sources:
        return None
    return Source(sources[0].path, tuple(member for each in sources for member in each.members))
