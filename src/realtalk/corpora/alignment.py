"""Two chats → whether they are one, how far their clocks are apart, and who is who.

    old  10:01 Anna "did you water the plants"     11:40 Theo "twice"
    new   9:01 Mum  "did you water the plants"     10:40 Theo "twice"      ...
    → Alignment(offset=1 h, agreeing=412, people={("Mum", "Anna"): 201, ("Theo", "Theo"): 211})

Chats are one where they agree on most of the time that both cover: a greeting sent to two people
in one minute makes no one chat of two. Clocks differ by time zones, that is by quarter hours;
long texts that each side has once show by how many.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

import polars as pl

from realtalk.corpora.matching import keyed, span

_ENOUGH = 0.5  # of the messages in the time that both files cover
_LONG = 12  # letters of a text that nobody writes twice by chance
_SHOWN = 5  # such texts, before a clock is moved
_ZONE = timedelta(minutes=15)
_FARTHEST = timedelta(hours=26)  # between any two clocks on earth
_JITTER = timedelta(seconds=90)
_CLEAR = 0.95
_CLEAR_AT_LEAST = 3  # messages: two people say "ok" in one minute too


@dataclass(frozen=True, slots=True)
class Alignment:
    """`offset` brings the new chat's times to the old one's; `people` counts (new, old) names."""

    offset: timedelta
    agreeing: int
    people: Mapping[tuple[str, str], int]

    def others(self) -> dict[str, str | None]:
        """New names whose messages have another name in the old chat; None where it is unclear.

        A pair is clear where nearly all messages of both go to each other.
        """
        new_names: dict[str, dict[str, int]] = {}
        old_names: dict[str, dict[str, int]] = {}
        for (new, old), count in self.people.items():
            new_names.setdefault(new, {})[old] = count
            old_names.setdefault(old, {})[new] = count
        found: dict[str, str | None] = {}
        for new, counts in new_names.items():
            total = sum(counts.values())
            if total < _CLEAR_AT_LEAST or 2 * counts.get(new, 0) >= total:
                continue
            best = max(counts, key=lambda old: counts[old])
            back = old_names[best]
            clear = counts[best] >= max(_CLEAR_AT_LEAST, _CLEAR * total) and back[
                new
            ] >= _CLEAR * sum(back.values())
            found[new] = best if clear else None
        return found


def align(old: pl.DataFrame, new: pl.DataFrame) -> Alignment | None:
    """How the new chat lies on the old one; None where they do not show to be one."""
    first, second = keyed(old, new)
    return _at_once(first, second) or _moved(first, second)


def common(old: pl.DataFrame, new: pl.DataFrame) -> int:
    """How many messages lie in the time that both cover, in the file that has fewer of them."""
    return min(_within(old, new), _within(new, old))


def _within(messages: pl.DataFrame, other: pl.DataFrame) -> int:
    covered = span(other)
    if covered is None:
        return messages.filter(pl.col("time").is_null()).height
    return messages.filter(pl.col("time").is_between(covered[0], covered[1])).height


def _at_once(old: pl.DataFrame, new: pl.DataFrame) -> Alignment | None:
    """By equal texts of one moment, whoever is said to have written them."""
    on = ["key_time", "key_text", "deleted"]
    nth = pl.int_range(pl.len()).over(on).alias("nth")
    both = old.with_columns(nth).join(
        new.with_columns(nth), on=[*on, "nth"], nulls_equal=True, suffix="_new"
    )
    if not both.height or both.height < _ENOUGH * common(old, new):
        return None
    return Alignment(timedelta(0), both.height, _people(both))


def _moved(old: pl.DataFrame, new: pl.DataFrame) -> Alignment | None:
    """By texts that each side has once, where they are one and the same span apart."""
    first, second = _telling(old), _telling(new)
    both = first.join(second, on="key_text", suffix="_new").with_columns(
        apart=pl.col("time") - pl.col("time_new")
    )
    both = both.filter(pl.col("apart").abs() <= _FARTHEST + _JITTER)
    if both.height < _SHOWN:
        return None
    zones = (both["apart"].dt.total_seconds() / _ZONE.total_seconds()).round().cast(pl.Int64)
    counts = zones.value_counts(sort=True)
    most = counts.filter(pl.col("count") == counts["count"].max())
    offset = min(most[zones.name].to_list(), key=lambda zone: (abs(zone), zone)) * _ZONE
    both = both.filter((pl.col("apart") - offset).abs() <= _JITTER)
    moved = second.with_columns(time=pl.col("time") + offset)
    if both.height < max(_SHOWN, _ENOUGH * common(first, moved)):
        return None
    return Alignment(offset, both.height, _people(both))


def _telling(side: pl.DataFrame) -> pl.DataFrame:
    long = side.filter(pl.col("time").is_not_null() & (pl.col("key_text").str.len_chars() >= _LONG))
    return long.filter(~pl.col("key_text").is_duplicated())


def _people(both: pl.DataFrame) -> dict[tuple[str, str], int]:
    on = ["key_time", "key_text"] if "nth" in both.columns else ["key_text"]
    once = both.filter(~pl.struct(on).is_duplicated() & (pl.col("key_text") != ""))
    counts = (once if once.height else both).group_by("speaker_new", "speaker").len()
    return {(new, old): count for new, old, count in sorted(counts.rows())}
