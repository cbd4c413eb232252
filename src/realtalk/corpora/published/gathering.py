"""Chats from several files → one reading.

for member in in_turn(source.having(".json"), options):    # reports progress
    chats.append(…); ledgers.append(…)
gathered(source, "realtalk", chats, ledgers)
→ Reading: chats "Chat_1", "Chat_1-2"; the ledgers added up
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from realtalk.chat import Chat, Corpus
from realtalk.corpora.reading import Ledger, Reading, ReadOptions
from realtalk.corpora.source import Member, Source
from realtalk.errors import RealtalkError
from realtalk.local.naming import UniqueNames


def members_of(
    source: Source, suffixes: tuple[str, ...], is_ours: Callable[[Member], bool], missing: str
) -> list[Member]:
    """The files of a format; a file that stands alone is taken at the user's word."""
    members = [member for member in source.having(*suffixes) if is_ours(member)]
    if not members and len(source.members) == 1:
        members = list(source.members)
    if not members:
        raise RealtalkError(missing, where=str(source.path))
    return members


def members_ending(source: Source, suffixes: tuple[str, ...], missing: str) -> Sequence[Member]:
    """The files with one of these endings; a file that stands alone may have any."""
    members = source.having(*suffixes) or source.members
    if len(members) > 1 and members is source.members:
        raise RealtalkError(missing, where=str(source.path))
    return members


def by_number(member: Member) -> list[int]:
    """Sorts Chat_2 before Chat_10: people number their chats, and tables follow this order."""
    return [int(part) if part.isdecimal() else 0 for part in re.split(r"(\d+)", member.name)]


def in_turn(members: Sequence[Member], options: ReadOptions) -> Iterator[Member]:
    """The files one after the other, with progress."""
    for done, member in enumerate(members):
        options.progress(done, len(members), member.stem)
        yield member
    options.progress(len(members), len(members), "")


def gathered(
    source: Source,
    format_name: str,
    chats: Iterable[Chat],
    ledgers: Sequence[Ledger],
    notes: Iterable[str] = (),
    *,
    unit: str = "entries",
    name: str | None = None,
) -> Reading:
    """One corpus of all chats, with unique ids: two folders may hold files of one name."""
    ledger = Ledger.sum(unit, ledgers)
    if not ledger.in_messages:
        raise RealtalkError("holds no message that can be read", where=str(source.path))
    ids = UniqueNames("{}-{}")
    unique = tuple(replace(chat, id=ids.free(chat.id)) for chat in chats)
    corpus = Corpus(source.name if name is None else name, format_name, unique)
    return Reading(corpus=corpus, ledger=ledger, notes=tuple(notes))
