"""Messages of a new export, put among those of a chat that is known already.

    known   D1:1 "hi"   D1:2 "you?"                        (session 1, 18:03 to 18:04)
    new          "hi"        "you?"   "later" 18:09        "morning" 8:15 the next day
    → D1:1, D1:2 as they were, D1:3 "later", D2:1 "morning"; joined 2, new 2

What is known keeps its id, its session and its place; what is new gets the next free ids. A new
message goes into the session beside it where no pause lies between them, else into a session of
its own, numbered after the last one: a session never changes its number. `recut` numbers
everything anew, for chats that nothing points to yet.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import pairwise
from typing import Any

import polars as pl

from realtalk.files.naming import UniqueNames
from realtalk.formats.matching import match
from realtalk.formats.sessions import Gap, cut_frame, is_pause
from realtalk.formats.tables import MESSAGES

_OWN_ID = re.compile(r"D(\d{1,9}):(\d{1,9})", re.ASCII)
_LAST = 2**62  # after every time and place
_TAKEN = ("text", "attachments", "edited", "deleted", "extra")  # of a message that was edited


@dataclass(frozen=True, slots=True)
class JoinCounts:
    """What became of the messages of a new export.

    `reacted` have other reactions by now, and `gone` are known ones that the export lacks.
    """

    joined: int = 0
    new: int = 0
    edited: int = 0
    deleted: int = 0
    reacted: int = 0
    gone: int = 0

    @property
    def changed(self) -> int:
        """How many known messages the export has otherwise."""
        return self.edited + self.deleted + self.reacted

    def __add__(self, other: JoinCounts) -> JoinCounts:
        names = [each.name for each in fields(self)]
        return JoinCounts(*(getattr(self, name) + getattr(other, name) for name in names))

    def __str__(self) -> str:
        counts = {each.name: getattr(self, each.name) for each in fields(self)}
        rare = ("reacted", "gone")  # said where there are any
        told = {name: count for name, count in counts.items() if count or name not in rare}
        return ", ".join(f"{name} {count:,}" for name, count in told.items())


def join(
    known: pl.DataFrame,
    new: pl.DataFrame,
    gap: Gap,
    *,
    numbers: Sequence[int] = (),
    take_edits: bool = False,
) -> tuple[pl.DataFrame, JoinCounts]:
    """The messages of one chat with those of another export of it; the columns are MESSAGES'.

    `numbers` are those of sessions without a message, which are taken too.
    """
    matches = match(known, new)
    pairs = matches.pairs
    kinds = Counter(kind for *_, kind in pairs)
    extras, new_extras = known["extra"].to_list(), new["extra"].to_list()
    reacted = {
        old: at
        for old, at, kind in pairs
        if kind == "same" and _is_reacted(extras[old], new_extras[at])
    }
    counts = JoinCounts(
        joined=len(pairs),
        new=new.height - len(pairs),
        edited=kinds["edited"],
        deleted=kinds["deleted"],
        reacted=len(reacted),
        gone=matches.gone,
    )
    if take_edits:
        changed = {old: at for old, at, kind in pairs if kind != "same"}
        known = _taken(known, new, changed, _TAKEN)
        known = _taken(known, new, reacted, ("extra",))
    if not counts.new:
        return known, counts
    known_at = {at: old for old, at, _ in pairs}
    order = _order(known["time"], new["time"], known_at)
    merged = pl.concat([known, new])[order]
    places = [at - known.height if at >= known.height else None for at in order]
    merged = _in_sessions(merged, places, gap, numbers)
    return _named(merged, places, known, new, known_at), counts


def _is_reacted(before: str, after: str) -> bool:
    """Whether nothing but the reactions differs."""
    marked = before != after and any('"reactions"' in extra for extra in (before, after))
    return marked and _but_reactions(before) == _but_reactions(after)


def _but_reactions(extra: str) -> Any:
    try:
        values = json.loads(extra or "{}")
    except (ValueError, RecursionError):
        return extra
    if isinstance(values, dict):
        values.pop("reactions", None)
    return values


def _taken(
    known: pl.DataFrame, new: pl.DataFrame, changed: Mapping[int, int], columns: Sequence[str]
) -> pl.DataFrame:
    """The known messages with what the new export has in some columns of them."""
    places = [
        known.height + changed[place] if place in changed else place
        for place in range(known.height)
    ]
    return known.with_columns(pl.concat([known, new]).select(columns)[places].get_columns())


def _order(known_times: pl.Series, new_times: pl.Series, known_at: Mapping[int, int]) -> list[int]:
    """Places of both, oldest first; those of the new messages count on from the known ones.

    Known messages keep their order even where their times do not rise. Of one moment, a new
    message stands beside the one that it stands beside in its own file.
    """
    held, stamps = (
        times.to_physical().forward_fill().backward_fill() for times in (known_times, new_times)
    )
    moments: list[int | None] = held.cum_max().to_list()
    keys = [(_at(moment), place, 0) for place, moment in enumerate(moments)]
    after: list[int | None] = []  # the known message that follows each
    for place in range(len(stamps) - 1, -1, -1):
        after.append(known_at.get(place, after[-1] if after else None))
    before: int | None = None
    order = list(range(len(keys)))
    for place, moment in enumerate(stamps):
        before = known_at.get(place, before)
        sides = ((before, 1), (after[-1 - place], -1))
        beside = next(
            (
                (moments[other], other, side)
                for other, side in sides
                if other is not None and moment in (None, moments[other])
            ),
            (moment, _LAST, 1),
        )
        keys.append((_at(beside[0]), *beside[1:]))
        if place not in known_at:
            order.append(len(keys) - 1)
    return sorted(order, key=keys.__getitem__)  # equal ones stay in the order of their file


def _at(moment: int | None) -> int:
    return _LAST if moment is None else moment


def _in_sessions(
    merged: pl.DataFrame, places: Sequence[int | None], gap: Gap, numbers: Sequence[int]
) -> pl.DataFrame:
    """With a session for the new messages: one beside them, or the next number."""
    times: list[datetime | None] = merged["time"].to_list()
    given: list[int] = merged["session"].to_list()
    known = [at for at, place in enumerate(places) if place is None]
    last = max([*numbers, *(given[at] for at in known)], default=0)
    for before, end in pairwise([-1, *known, len(given)]):
        if end - before > 1:
            last = _number_run(given, times, before + 1, end, gap, last)
    stated = merged["session_time"].to_list()
    dates = {given[at]: stated[at] for at in known}
    for number, time in zip(given, times, strict=True):
        dates.setdefault(number, time)
    return merged.with_columns(
        pl.Series("session", given, pl.Int32),
        pl.Series("session_time", [dates[number] for number in given], MESSAGES["session_time"]),
    )


def _number_run(
    given: list[int],
    times: Sequence[datetime | None],
    start: int,
    end: int,
    gap: Gap,
    last: int,
) -> int:
    """Numbers new messages between two known ones; the highest number so far."""
    before = given[start - 1] if start else None
    after = given[end] if end < len(given) else None
    if before is not None and before == after:
        given[start:end] = [before] * (end - start)
        return last
    clock = next((times[at] for at in range(start - 1, -1, -1) if times[at]), None)
    at = start
    while before is not None and at < end and not is_pause(clock, times[at], gap):
        given[at], clock = before, times[at] or clock
        at += 1
    start = at
    clock = next((times[at] for at in range(end, len(times)) if times[at]), None)
    while after is not None and end > start and not is_pause(times[end - 1], clock, gap):
        end -= 1
        given[end], clock = after, times[end] or clock
    clock = None
    for at in range(start, end):
        if at == start or is_pause(clock, times[at], gap):
            last += 1
        given[at], clock = last, times[at] or clock
    return last


def _named(
    merged: pl.DataFrame,
    places: Sequence[int | None],
    known: pl.DataFrame,
    new: pl.DataFrame,
    known_at: Mapping[int, int],
) -> pl.DataFrame:
    """With ids for the new messages, and their replies to what they mean."""
    given, known_ids, new_ids = (frame["id"].to_list() for frame in (merged, known, new))
    position: dict[int, int] = {}
    for id_ in known_ids:
        if own := _OWN_ID.fullmatch(id_):
            number = int(own[1])
            position[number] = max(position.get(number, 0), int(own[2]))
    own_names = all(map(_OWN_ID.fullmatch, new_ids))
    free = UniqueNames("{}~{}", taken=() if own_names else known_ids)
    meant: dict[str, str] = {}  # the new export's ids → those that they have now
    for at, old in known_at.items():
        meant.setdefault(new_ids[at], known_ids[old])
    for at, (place, number) in enumerate(zip(places, merged["session"], strict=True)):
        if place is None:
            continue
        if _OWN_ID.fullmatch(new_ids[place]):
            position[number] = position.get(number, 0) + 1
            given[at] = f"D{number}:{position[number]}"
        else:
            given[at] = free.free(given[at])
        meant.setdefault(new_ids[place], given[at])
    replies = [
        reply if place is None or reply is None else meant.get(reply, reply)
        for place, reply in zip(places, merged["reply_to"], strict=True)
    ]
    return merged.with_columns(
        pl.Series("id", given, pl.String), pl.Series("reply_to", replies, pl.String)
    )


def is_cut(messages: pl.DataFrame, gap: Gap) -> bool:
    """Whether sessions and ids of a chat are those that our rule gives."""
    return _cut(messages, gap).select("session", "id").equals(messages.select("session", "id"))


def recut(messages: pl.DataFrame, gap: Gap) -> pl.DataFrame:
    """The messages of one chat in new sessions with new ids; replies follow."""
    again = _cut(messages, gap)
    renamed: Mapping[Any, Any] = dict(zip(messages["id"], again["id"], strict=True))
    replies = [renamed.get(reply, reply) for reply in messages["reply_to"]]
    return again.with_columns(pl.Series("reply_to", replies, pl.String)).select(MESSAGES.names())


def _cut(messages: pl.DataFrame, gap: Gap) -> pl.DataFrame:
    """A message without time goes with the one before it."""
    filled = messages.with_columns(pl.col("time").forward_fill())
    return cut_frame(filled, gap).with_columns(messages["time"])
