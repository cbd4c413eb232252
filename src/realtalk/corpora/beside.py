"""A folder or archive of several files: what lies beside the chats that were read.

    read_every(source, options)    # talk.txt of WhatsApp, result.json of Telegram, notes.txt
    → Opened: both chats, and the notes
      "read as telegram, beside whatsapp: result.json"
      "not read, though it could be a chat: notes.txt (not recognised); read it alone to see why"

Files of other apps are read too. A table, a mailbox or a published corpus beside an export is
named with its format instead: nobody has asked for it. Pictures, settings and the other pages of a
download are only counted. Which file was read is known from its reader, who opens it; a look at
its head does not count.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from realtalk.corpora.formats import FORMATS, recognised
from realtalk.corpora.opening import Opened
from realtalk.corpora.reading import Reading, ReadOptions
from realtalk.corpora.several import together
from realtalk.corpora.source import Source
from realtalk.errors import RealtalkError

# Endings of files that could hold a chat; all others are media, styles and the like.
_ENDINGS = tuple(
    ".txt .json .jsonl .ndjson .csv .tsv .xlsx .html .htm .md .db .sqlite .mbox .eml .zip".split()  # noqa: SIM905
)
# Of somebody's own chats, told by marks that nothing else has.
_EXPORTS = frozenset(
    """
    whatsapp telegram signal discord slack instagram messenger imessage line kakaotalk viber chatlab
    teams google-chat
    """.split()  # noqa: SIM905 - words read better than quotes
)
_MOST_NAMED = 10
_MOST_TRIED = 50  # of those that could be chats, to name the format


def read_every(source: Source, format_name: str, options: ReadOptions, *, alone: bool) -> Opened:
    """The chats of the named format and, unless it is to stand `alone`, those of other exports."""
    read: set[str] = set()
    source = source.noting(read)
    first = Opened(FORMATS[format_name].read(source, options), source, format_name)
    readings, notes = [first], []
    rest = _rest(source, read)
    failed: dict[str, str] = {}
    done = {format_name}
    while rest.members and not alone and format_name in _EXPORTS:
        name = _recognised(rest, [each for each in FORMATS if each in _EXPORTS - done], read)
        if name is None:
            break
        done.add(name)
        before = set(read)
        try:
            reading = FORMATS[name].read(rest, options)
        except RealtalkError as error:
            failed |= dict.fromkeys(read - before, error.what)
            read &= before
            continue
        readings.append(Opened(reading, rest, name))
        files = _listed(sorted(read - before))
        notes.append(f"read as {name}, beside {format_name}: {files}")
        rest = _rest(rest, read)
    if left := _left(source, rest, read, failed):
        notes.append(left)
    first.reading.notes += tuple(notes)
    if len(readings) == 1:
        return first
    reading = together(readings, options).reading
    own = first.reading.tables
    tables = replace(reading.tables, name=own.name, format=own.format)
    reading = Reading(tables=tables, ledger=reading.ledger, notes=reading.notes)
    return Opened(reading, source, format_name)


def _recognised(source: Source, names: Iterable[str], read: set[str]) -> str | None:
    """The format of what lies there; to find it out is no reading."""
    before = set(read)
    name = recognised(source, names)
    read &= before
    return name


def _rest(source: Source, read: set[str]) -> Source:
    """What could be a chat and was not read."""
    members = (member for member in source.having(*_ENDINGS) if member.name not in read)
    return replace(source, members=tuple(members))


def _left(source: Source, rest: Source, read: set[str], failed: dict[str, str]) -> str:
    """One line about what was not read; "" where nothing of it could be a chat.

    A download has hundreds of other files in folders of their own. What lies beside a chat, or is
    called like one, or is recognised by a reader, could be one.
    """
    folders = {name.rpartition("/")[0] for name in read}
    names = {name.rpartition("/")[2] for name in read}
    likely: dict[str, str] = dict(failed)
    for tried, member in enumerate(rest.members):
        beside = member.folder in folders or member.name.rpartition("/")[2] in names
        if member.name in likely or not (beside or tried < _MOST_TRIED):
            continue
        is_packed = member.suffix == ".zip"
        one = replace(source, members=(member,))
        is_tried = tried < _MOST_TRIED and not is_packed
        if is_tried and (kind := _recognised(one, FORMATS, read)):
            likely[member.name] = f"format {kind}"
        elif beside:
            likely[member.name] = "an archive" if is_packed else "not recognised"
    if not likely:
        return ""
    others = len(source.members) - len(read) - len(likely)
    told = _listed([f"{name} ({why})" for name, why in likely.items()])
    more = f"; other files here: {others:,}" if others > 0 else ""
    return f"not read, though it could be a chat: {told}; read it alone to see why{more}"


def _listed(names: Iterable[str]) -> str:
    every = list(names)
    more = f" and {len(every) - _MOST_NAMED:,} more" if len(every) > _MOST_NAMED else ""
    return ", ".join(every[:_MOST_NAMED]) + more
