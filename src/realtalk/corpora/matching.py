"""Two exports of one chat → which messages of the one are messages of the other.

    old  10:01 Mara "ok"   10:01 Mara "ok"   10:02 Theo "helo"
    new  10:01 Mara "ok"                     10:02 Theo "hello", edited      10:09 Mara "bye"
    → pairs (0, 0, same), (2, 1, edited); the second "ok" and "bye" stand in one file only

The app's own ids decide where both files have them. Else a message is the same where speaker,
time and text are, and two equal messages of one minute stay two: the nth of one file is the nth
of the other. Phones stamp one message some seconds apart: where many messages say so, equal texts
within a minute are the same too. Everything else stays apart, so that nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import polars as pl

from realtalk.text.folding import STRAY_SIGNS

_WHOLE_MINUTES = 4  # messages without seconds, from which on the file has none
_NEAR = timedelta(minutes=1)
_NEAR_AT_LEAST = 5  # pairs some seconds apart, before two clocks are held to be two
_SAME = ("speaker", "key_time", "key_text", "deleted")
_PAIRS = pl.Schema({"old": pl.UInt32, "new": pl.UInt32, "kind": pl.String})

Span = tuple[datetime, datetime]


@dataclass(frozen=True, slots=True)
class Matches:
    """`pairs` of places (old, new, kind: same, edited, deleted), and how many are only in old."""

    pairs: pl.DataFrame
    gone: int  # of the old ones, inside the time that the new file covers

    def count(self, kind: str) -> int:
        return self.pairs.filter(pl.col("kind") == kind).height


def match(old: pl.DataFrame, new: pl.DataFrame) -> Matches:
    """The pairs; names and clock of the new messages are those of the old ones by now."""
    first, second = keyed(old, new)
    by_id, by_text = _by_id(first, second), _by_text(first, second)
    # Ids of two accounts may agree by chance: they count where they say as much as the texts do.
    found = by_text
    if by_id.height and 2 * by_id.height >= by_text.height:
        nameless = pl.col("key_id").is_null()
        by_text = _by_text(first.filter(nameless), second.filter(nameless))
        found = pl.concat([by_id, by_text])
    left, right = _without(first, found, "old"), _without(second, found, "new")
    covered, spanned = span(first), span(second)
    if found is by_text and covered and spanned and left.height and right.height:
        near = _near(left, right, covered, spanned)
        left, right = _without(left, near, "old"), _without(right, near, "new")
        changed = _changed(left, right, covered, spanned)
        left = _without(left, changed, "old")
        found = pl.concat([found, near, changed])
    gone = left.filter(_strictly(spanned)).height if spanned else 0
    return Matches(found.sort("new"), gone)


def keyed(old: pl.DataFrame, new: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Both with `place`, `key_time`, `key_text` and `key_id`: what can be compared of them."""
    coarse = any(_in_minutes(side) for side in (old, new))
    time = pl.col("time").dt.truncate("1m") if coarse else pl.col("time")
    text = (
        pl.col("text")
        .str.replace_all(STRAY_SIGNS.pattern, "")
        .str.strip_chars()
        .str.normalize("NFC")
    )
    given = pl.when(~pl.col("id").str.contains(r"^D\d+:\d+$")).then(pl.col("id"))
    number = pl.when(pl.col("extra").str.contains('"id"', literal=True)).then(pl.col("extra"))
    keys = (
        time.alias("key_time"),
        text.alias("key_text"),
        pl.coalesce(number.str.json_path_match("$.id"), given).alias("key_id"),
    )
    columns = ("speaker", "time", "edited", "deleted")
    first, second = (
        side.select(pl.int_range(pl.len(), dtype=pl.UInt32).alias("place"), *columns, *keys)
        for side in (old, new)
    )
    return first, second


def _in_minutes(side: pl.DataFrame) -> bool:
    times = side["time"].drop_nulls()
    return len(times) >= _WHOLE_MINUTES and not (times.dt.second() != 0).any()


def span(side: pl.DataFrame) -> Span | None:
    """The time that a file covers."""
    first, last = side["time"].min(), side["time"].max()
    return (first, last) if isinstance(first, datetime) and isinstance(last, datetime) else None


def _strictly(covered: Span) -> pl.Expr:
    """Between the ends: at an end, what is missing may have been said after the export."""
    return pl.col("time").is_between(covered[0], covered[1], closed="none")


def _without(side: pl.DataFrame, found: pl.DataFrame, name: str) -> pl.DataFrame:
    return side.join(found.select(place=name), on="place", how="anti", maintain_order="left")


def _pairs(rows: Iterable[tuple[int, int, str]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=_PAIRS, orient="row")


def _by_id(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """Messages of one id, speaker and moment; an id that a file has twice says nothing."""
    on = ["key_id", "speaker", "key_time"]
    known = [
        side.filter(pl.col("key_id").is_not_null() & ~pl.struct(on).is_duplicated())
        for side in (old, new)
    ]
    both = known[0].join(known[1], on=on, nulls_equal=True, suffix="_new")
    edited = (pl.col("key_text") != pl.col("key_text_new")) | (
        pl.col("edited_new") & ~pl.col("edited")
    )
    kind = (
        pl.when(pl.col("deleted_new") & ~pl.col("deleted"))
        .then(pl.lit("deleted"))
        .when(edited)
        .then(pl.lit("edited"))
        .otherwise(pl.lit("same"))
    )
    return both.select(old="place", new="place_new", kind=kind).cast(_PAIRS)


def _by_text(old: pl.DataFrame, new: pl.DataFrame) -> pl.DataFrame:
    """The nth message of a speaker, moment and text is the nth of the other file.

    Where the counts differ, the earlier file has its last ones in common with the later one.
    """
    nth = pl.int_range(pl.len()).over(_SAME).cast(pl.Int64).alias("nth")
    first, second = old.with_columns(nth), new.with_columns(nth)
    starts = span(old), span(new)
    if starts[0] and starts[1] and starts[1] < starts[0]:
        second = _from_the_end(second, old)
    else:
        first = _from_the_end(first, new)
    both = first.join(second, on=[*_SAME, "nth"], nulls_equal=True, suffix="_new")
    return both.select(old="place", new="place_new", kind=pl.lit("same")).cast(_PAIRS)


def _from_the_end(side: pl.DataFrame, other: pl.DataFrame) -> pl.DataFrame:
    """`nth` counted so that the last of a group is the last that the other file has of it."""
    repeated = side.filter(pl.col("nth") > 0).select(_SAME).unique()
    if not repeated.height:
        return side
    there = other.join(repeated, on=_SAME, how="semi", nulls_equal=True).group_by(_SAME)
    side = side.join(
        there.agg(pl.len().cast(pl.Int64).alias("there")),
        on=_SAME,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    over = (pl.len().over(_SAME).cast(pl.Int64) - pl.col("there")).clip(lower_bound=0)
    return side.with_columns(nth=pl.col("nth") - over.fill_null(0)).drop("there")


def _near(old: pl.DataFrame, new: pl.DataFrame, first: Span, second: Span) -> pl.DataFrame:
    """Equal texts within a minute, where enough of them show that the clocks are two."""
    start, end = max(first[0], second[0]), min(first[1], second[1])
    inside = pl.col("time").is_between(start - _NEAR, end + _NEAR) & (pl.col("key_text") != "")
    found = list(_nearest(old.filter(inside), new.filter(inside)))
    # Of one phone's exports nothing is left between the ends that both have.
    proven = sum(start < times[0] < end and start < times[1] < end for _, times in found)
    return _pairs(pair for pair, _ in found) if proven >= _NEAR_AT_LEAST else _pairs(())


def _nearest(
    old: pl.DataFrame, new: pl.DataFrame
) -> Iterator[tuple[tuple[int, int, str], tuple[datetime, datetime]]]:
    """Pairs of one speaker and text in the order of time, and when each was sent."""
    ours, theirs = (_grouped(side, ("speaker", "key_text", "deleted")) for side in (old, new))
    for key, mine in ours.items():
        others = theirs.get(key, [])
        at = other = 0
        while at < len(mine) and other < len(others):
            (place, time, _), (new_place, new_time, _) = mine[at], others[other]
            if abs(time - new_time) <= _NEAR:
                yield (place, new_place, "same"), (time, new_time)
            at += time <= new_time + _NEAR
            other += new_time <= time + _NEAR


def _changed(old: pl.DataFrame, new: pl.DataFrame, first: Span, second: Span) -> pl.DataFrame:
    """Messages that one file has as edited or deleted and the other does not.

    They are one speaker's of one moment, and both files cover that moment.
    """
    on = ("speaker", "key_time")
    ours = _grouped(old.filter(_strictly(second)), on)
    theirs = _grouped(new.filter(pl.col("time").is_between(first[0], first[1])), on)
    rows = [row for key in ours.keys() & theirs.keys() for row in _states(ours[key], theirs[key])]
    return _pairs(sorted(rows))


def _states(
    mine: Sequence[tuple[int, datetime, str]], others: Sequence[tuple[int, datetime, str]]
) -> Iterator[tuple[int, int, str]]:
    """Pairs among the messages of one moment, where it is clear which became which."""
    for one, other in (("", "edited"), ("", "deleted"), ("edited", ""), ("edited", "deleted")):
        before = [place for place, _, state in mine if state == one]
        after = [place for place, _, state in others if state == other]
        if len(before) == len(after) > 0:
            for place, new_place in zip(before, after, strict=True):
                # What the older file has as edited is the newer of the two.
                yield place, new_place, other or "same"
            mine = [entry for entry in mine if entry[2] != one]
            others = [entry for entry in others if entry[2] != other]


def _grouped(
    side: pl.DataFrame, on: Sequence[str]
) -> dict[tuple[Any, ...], list[tuple[int, datetime, str]]]:
    """(place, time, state) of each group, oldest first; what has no time is in none."""
    state = (
        pl.when("deleted").then(pl.lit("deleted")).when("edited").then(pl.lit("edited"))
    ).otherwise(pl.lit(""))
    groups: dict[tuple[Any, ...], list[tuple[int, datetime, str]]] = {}
    rows = side.drop_nulls("time").sort("time", maintain_order=True)
    when = pl.col("key_time").alias("when")
    for place, time, marked, *key in rows.select("place", when, state.alias("state"), *on).rows():
        groups.setdefault(tuple(key), []).append((place, time, marked))
    return groups
