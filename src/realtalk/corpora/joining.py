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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import polars as pl

from realtalk.corpora.matching import match
from realtalk.corpora.sessions import Gap, cut_frame, is_pause
from realtalk.corpora.tables import MESSAGES
from realtalk.local.naming import UniqueNames

_OWN_ID = r"^D(\d{1,9}):(\d{1,9})$"
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
    reacted = _reacted(known, new, pairs.filter(pl.col("kind") == "same"))
    counts = JoinCounts(
        joined=pairs.height,
        new=new.height - pairs.height,
        edited=matches.count("edited"),
        deleted=matches.count("deleted"),
        reacted=reacted.height,
        gone=matches.gone,
    )
    if take_edits:
        known = _taken(known, new, pairs.filter(pl.col("kind") != "same"), _TAKEN)
        known = _taken(known, new, reacted, ("extra",))
    if not counts.new:
        return known, counts
    merged = _in_order(known, new, pairs)
    merged = _in_sessions(merged, gap, numbers)
    return _named(merged, known, new, pairs), counts


def _reacted(known: pl.DataFrame, new: pl.DataFrame, same: pl.DataFrame) -> pl.DataFrame:
    """Pairs in which nothing but the reactions differs."""
    both = same.with_columns(
        known["extra"].gather(same["old"]).alias("before"),
        new["extra"].gather(same["new"]).alias("after"),
    )
    marked = pl.any_horizontal(pl.col("before", "after").str.contains('"reactions"', literal=True))
    both = both.filter((pl.col("before") != pl.col("after")) & marked)
    alike = [
        _but_reactions(before) == _but_reactions(after)
        for before, after in both.select("before", "after").rows()
    ]
    return both.filter(pl.Series(alike, dtype=pl.Boolean)).select("old", "new")


def _but_reactions(extra: str) -> Any:
    try:
        values = json.loads(extra or "{}")
    except (ValueError, RecursionError):
        return extra
    if isinstance(values, dict):
        values.pop("reactions", None)
    return values


def _taken(
    known: pl.DataFrame, new: pl.DataFrame, changed: pl.DataFrame, columns: Sequence[str]
) -> pl.DataFrame:
    """The known messages with what the new export has in some columns of them."""
    if not changed.height:
        return known
    later = new[changed["new"]].select(columns).with_columns(place=changed["old"], is_later=True)
    frame = known.with_row_index("place").join(
        later, on="place", how="left", suffix="_later", maintain_order="left"
    )
    takes = [
        pl.when("is_later").then(pl.col(f"{name}_later")).otherwise(pl.col(name)).alias(name)
        for name in columns
    ]
    return frame.with_columns(takes).select(MESSAGES.names())


def _in_order(known: pl.DataFrame, new: pl.DataFrame, pairs: pl.DataFrame) -> pl.DataFrame:
    """Both, oldest first, with `place` in the known (or null) and `new_place` in the new ones.

    Known messages keep their order even where their times do not rise. Of one moment, a new
    message stands beside the one that it stands beside in its own file.
    """
    micros = pl.col("time").dt.epoch("us")
    held = known.with_columns(
        when=micros.forward_fill().backward_fill().cum_max(),
        place=pl.int_range(pl.len(), dtype=pl.Int64),
        new_place=pl.lit(None, pl.Int64),
    )
    at = pairs.select(pl.all().exclude("kind").cast(pl.Int64))
    placed = new.with_columns(
        when=micros.forward_fill().backward_fill(), new_place=pl.int_range(pl.len(), dtype=pl.Int64)
    ).join(at.rename({"new": "new_place"}), on="new_place", how="left", maintain_order="left")
    moments = held.select("place", "when")
    for name, anchor in (
        ("before", pl.col("old").forward_fill()),
        ("after", pl.col("old").backward_fill()),
    ):
        placed = placed.with_columns(anchor.alias(name)).join(
            moments.rename({"place": name, "when": f"{name}_when"}),
            on=name,
            how="left",
            maintain_order="left",
        )
    # Beside the one before, else beside the one after, where the moment is theirs.
    after_it = pl.col("before").is_not_null() & _is_at("before_when")
    before_it = pl.col("after").is_not_null() & _is_at("after_when") & ~after_it
    placed = placed.filter(pl.col("old").is_null()).with_columns(
        when=pl.when(after_it)
        .then("before_when")
        .when(before_it)
        .then("after_when")
        .otherwise("when"),
        beside=pl.when(after_it).then("before").when(before_it).then("after"),
        side=pl.when(before_it).then(-1).otherwise(1),
        place=pl.lit(None, pl.Int64),
    )
    held = held.with_columns(beside=pl.col("place"), side=pl.lit(0))
    columns = [*MESSAGES.names(), "when", "beside", "side", "place", "new_place"]
    both = pl.concat([held.select(columns), placed.select(columns)], how="vertical_relaxed")
    order = [pl.col("when").fill_null(_LAST), pl.col("beside").fill_null(_LAST)]
    return both.sort(*order, "side", "new_place").drop("when", "beside", "side")


def _is_at(moment: str) -> pl.Expr:
    return pl.col("when").is_null() | (pl.col("when") == pl.col(moment)).fill_null(False)


def _in_sessions(merged: pl.DataFrame, gap: Gap, numbers: Sequence[int]) -> pl.DataFrame:
    """With a session for the new messages: one beside them, or the next number."""
    is_new = merged["place"].is_null().to_list()
    times: list[datetime | None] = merged["time"].to_list()
    given: list[int] = merged["session"].to_list()
    last = max([*numbers, *(n for n, new in zip(given, is_new, strict=True) if not new)], default=0)
    at = 0
    while at < len(given):
        if not is_new[at]:
            at += 1
            continue
        end = at
        while end < len(given) and is_new[end]:
            end += 1
        last = _number_run(given, times, at, end, gap, last)
        at = end
    dates = dict(
        merged.filter(pl.col("place").is_not_null()).select("session", "session_time").rows()
    )
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
    merged: pl.DataFrame, known: pl.DataFrame, new: pl.DataFrame, pairs: pl.DataFrame
) -> pl.DataFrame:
    """With ids for the new messages, and their replies to what they mean."""
    parts = known["id"].str.extract_groups(_OWN_ID).struct.unnest()
    parts = parts.drop_nulls().cast(pl.Int64)
    position: dict[int, int] = dict(parts.group_by("1").agg(pl.col("2").max()).rows())
    own_names = new["id"].str.contains(_OWN_ID).to_list()
    free = UniqueNames("{}~{}", taken=() if all(own_names) else known["id"])
    given, known_ids, new_ids = (frame["id"].to_list() for frame in (merged, known, new))
    meant: dict[str, str] = {}  # the new export's ids → those that they have now
    for old_place, place, _ in pairs.rows():
        meant.setdefault(new_ids[place], known_ids[old_place])
    places = merged["new_place"].to_list()
    for at, (place, number) in enumerate(zip(places, merged["session"], strict=True)):
        if place is None:
            continue
        if own_names[place]:
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
    ).select(MESSAGES.names())


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
