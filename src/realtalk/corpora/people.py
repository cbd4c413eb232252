"""Who is who in two exports of one chat: names differ between phones.

    same_people(known, new, alignment, {"Mum": "Anna"})   → {"Mum": "Anna"}
    same_people(known, new, alignment, {})
    → SamePersonError: 'Mum' is called 'Anna' in the corpus; say so with --same "Mum=Anna"

A name is taken for another only where the user said so, now or when an earlier export was joined,
or where the app's own ids say so. What the messages suggest is proposed, never done.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

from realtalk.chat import Alias
from realtalk.corpora.matching import Alignment
from realtalk.corpora.tables import ChatRow, Tables
from realtalk.errors import RealtalkError
from realtalk.registry import suggest

_LISTED = 20  # names in an error
JOINED = "another export"  # the source of an alias that was learned by joining


class SamePersonError(RealtalkError):
    """Two exports call somebody differently; `proposed` has the new names and the known ones."""

    def __init__(self, chat: str, proposed: Mapping[str, str], unclear: tuple[str, ...]) -> None:
        self.proposed = dict(proposed)
        self.unclear = unclear
        if proposed:
            told = ", ".join(f"'{new}' is called '{known}'" for new, known in proposed.items())
            what = f"{told} in the other file"
            said = " ".join(f'--same "{new}={known}"' for new, known in proposed.items())
            fix = f"if that is so, say {said}"
        else:
            what = f"'{unclear[0]}' has another name in the other file"
            fix = f'say who it is: --same "{unclear[0]}=NAME"'
        super().__init__(what, where=f"chat '{chat}'", fix=fix)


def same_people(
    known: ChatRow, new: ChatRow, alignment: Alignment | None, same: Mapping[str, str]
) -> dict[str, str]:
    """New names → known ones, where they differ; an error where the messages suggest more."""
    names = known_names(known, new, same)
    proposed: dict[str, str] = {}
    unclear: list[str] = []
    for name, suggested in (alignment.others() if alignment else {}).items():
        if name in names and (name in same or name in same.values() or names[name] == suggested):
            continue
        if suggested is None:
            unclear.append(name)
        elif suggested != names.get(name, name):
            proposed[name] = suggested
    if proposed or unclear:
        raise SamePersonError(known.id, proposed, tuple(unclear))
    return names


def known_names(known: ChatRow, new: ChatRow, same: Mapping[str, str]) -> dict[str, str]:
    """What was said, is remembered or follows from ids: new names → known ones, if they differ."""
    authors = {number: name for name, number in authors_of(known).items()}
    numbers = authors_of(new)
    remembered = {alias.name: alias.speaker for alias in known.aliases if alias.source == JOINED}
    said_back = {theirs: ours for ours, theirs in same.items()}
    names: dict[str, str] = {}
    for name in new.speakers:
        there = known.speakers
        if name in same and (same[name] in there or said_back.get(name) not in there):
            names[name] = same[name]
        elif said_back.get(name) in there and name not in there:
            names[name] = said_back[name]
        elif numbers.get(name) in authors:
            names[name] = authors[numbers[name]]
        elif name in remembered:
            names[name] = remembered[name]
    return {name: other for name, other in names.items() if name != other}


def authors_of(row: ChatRow) -> dict[str, str]:
    """Speakers and the app's ids of them, where the reader kept them."""
    try:
        fields: Any = orjson.loads(row.extra or b"{}")
    except orjson.JSONDecodeError:
        return {}
    authors = fields.get("authors") if isinstance(fields, dict) else None
    if not isinstance(authors, dict):
        return {}
    return {name: number for name, number in authors.items() if isinstance(number, str)}


def check_names(same: Mapping[str, str], parts: Iterable[Tables]) -> None:
    """Refuses a name that nobody has in any of the files: most likely it is misspelt."""
    people = {
        name: None
        for part in parts
        for row in part.chats
        for name in (*row.speakers, *(alias.name for alias in row.aliases))
    }
    for name in (name for pair in same.items() for name in pair):
        if name not in people:
            near = difflib.get_close_matches(name, people, n=3)
            raise suggest("name", name, list(dict.fromkeys((*near, *people)))[:_LISTED])


def aliases_with(known: ChatRow, names: Mapping[str, str]) -> tuple[Alias, ...]:
    """The aliases of a chat, and those that were learned; no speaker's name becomes one."""
    learned = [
        Alias(name, speaker, JOINED)
        for name, speaker in names.items()
        if name not in known.speakers
    ]
    return tuple(dict.fromkeys((*known.aliases, *learned)))
