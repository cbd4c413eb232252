"""Two exports → whether they are one chat, and which messages of the one are in the other.

    old  10:01 Mara "ok"   10:01 Mara "ok"   10:02 Theo "helo"
    new  10:01 Mara "ok"                     10:02 Theo "hello", edited      10:09 Mara "bye"
    match → pairs (0, 0, same), (2, 1, edited); the second "ok" and "bye" stand in one file only

    old  10:01 Anna "did you water the plants"     11:40 Theo "twice"
    new   9:01 Mum  "did you water the plants"     10:40 Theo "twice"      ...
    align → Alignment(1 h, agreeing=412, people={("Mum", "Anna"): 201, ("Theo", "Theo"): 211})

The app's own ids decide where both files have them. Else a message is the same where speaker,
time and text are, and two equal messages of one minute stay two: the nth of one file is the nth
of the other. Phones stamp one message some seconds apart: where many messages say so, equal texts
within a minute are the same too. Everything else stays apart, so that nothing is lost.

Chats are one where they agree on most of the time that both cover: a greeting sent to two people
in one minute makes no one chat of two. Clocks differ by time zones, that is by quarter hours;
long texts that each side has once show by how many.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import polars as pl

from realtalk.text.folding import STRAY_SIGNS

_WHOLE_MINUTES = 4  # messages without seconds, from which on the file has none
_NEAR = timedelta(minutes=1)
_NEAR_AT_LEAST = 5  # pairs some seconds apart, before two clocks are held to be two
_ENOUGH = 0.5  # of the messages in the time that both files cover
_LONG = 12  # letters of a text that nobody writes twice by chance
_SHOWN = 5  # such texts, before a clock is moved
_ZONE = timedelta(minutes=15)
_FARTHEST = timedelta(hours=26)  # between any two clocks on earth
_JITTER = timedelta(seconds=90)
_CLEAR = 0.95
_CLEAR_AT_LEAST = 3  # messages: two people say "ok" in one minute too

Span = tuple[datetime, datetime]
Pair = tuple[int, int, str]  # places in the old and the new file; same, edited or deleted


class _Line(NamedTuple):
    """What can be compared of a message, and its place in its file."""

    place: int
    speaker: str
    time: datetime | None
    edited: bool
    deleted: bool
    minute: datetime | None  # its time as exactly as both files tell it
    text: str
    id: str | None

    @property
    def state(self) -> str:
        return "deleted" if self.deleted else "edited" if self.edited else ""

    @property
    def said(self) -> tuple[Any, ...]:
        return self.minute, self.text, self.deleted

    @property
    def moment(self) -> tuple[Any, ...]:
        return self.speaker, self.minute


@dataclass(frozen=True, slots=True)
class Matches:
    """The pairs in the order of the new file, and how many are only in the old one."""

    pairs: list[Pair]
    gone: int  # of the old ones, inside the time that the new file covers


def match(old_frame: pl.DataFrame, new_frame: pl.DataFrame) -> Matches:
    """The pairs; names and clock of the new messages are those of the old ones by now."""
    old, new = _lines(old_frame, new_frame)
    by_id, by_text = list(_by_id(old, new)), list(_by_text(old, new))
    # Ids of two accounts may agree by chance: they count where they say as much as the texts do.
    if by_id and 2 * len(by_id) >= len(by_text):
        nameless = ([line for line in side if line.id is None] for side in (old, new))
        pairs = [*by_id, *_by_text(*nameless)]
    else:
        pairs = by_text
        for further in (_near, _changed):
            pairs += further(*_unpaired(old, new, pairs), _span(old), _span(new))
    covered = _span(new)
    left, _ = _unpaired(old, new, pairs)
    gone = sum(_is_inside(line, covered) for line in left)
    return Matches(sorted(pairs, key=lambda pair: pair[1]), gone)


def _lines(old: pl.DataFrame, new: pl.DataFrame) -> tuple[list[_Line], list[_Line]]:
    coarse = any(_in_minutes(side["time"].drop_nulls()) for side in (old, new))
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
        time.alias("minute"),
        text,
        pl.coalesce(number.str.json_path_match("$.id"), given).alias("id"),
    )
    first, second = (
        [
            _Line(place, *row)
            for place, row in enumerate(
                side.select("speaker", "time", "edited", "deleted", *keys).iter_rows()
            )
        ]
        for side in (old, new)
    )
    return first, second


def _in_minutes(times: pl.Series) -> bool:
    return len(times) >= _WHOLE_MINUTES and not (times.dt.second() != 0).any()


def span(times: Iterable[datetime | None]) -> Span | None:
    """The time that a file covers."""
    known = [time for time in times if time is not None]
    return (min(known), max(known)) if known else None


def _span(lines: Iterable[_Line]) -> Span | None:
    return span(line.time for line in lines)


def _is_inside(line: _Line, covered: Span | None) -> bool:
    """Between the ends: at an end, what is missing may have been said after the export."""
    return covered is not None and line.time is not None and covered[0] < line.time < covered[1]


def _unpaired(
    old: Sequence[_Line], new: Sequence[_Line], pairs: Sequence[Pair]
) -> tuple[list[_Line], list[_Line]]:
    olds, news = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    return (
        [line for line in old if line.place not in olds],
        [line for line in new if line.place not in news],
    )


def _grouped(
    lines: Iterable[_Line], key: Callable[[_Line], tuple[Any, ...]]
) -> dict[tuple[Any, ...], list[_Line]]:
    groups: dict[tuple[Any, ...], list[_Line]] = {}
    for line in lines:
        groups.setdefault(key(line), []).append(line)
    return groups


def _in_both(
    old: Iterable[_Line], new: Iterable[_Line], key: Callable[[_Line], tuple[Any, ...]]
) -> Iterator[tuple[list[_Line], list[_Line]]]:
    """The messages of each side that have one key, in the order of the old ones."""
    theirs = _grouped(new, key)
    for name, ours in _grouped(old, key).items():
        if name in theirs:
            yield ours, theirs[name]


def _by_id(old: Sequence[_Line], new: Sequence[_Line]) -> Iterator[Pair]:
    """Messages of one id, speaker and moment; an id that a file has twice says nothing."""
    known, given = ([line for line in side if line.id is not None] for side in (old, new))
    for ours, theirs in _in_both(known, given, lambda line: (line.id, *line.moment)):
        if len(ours) == len(theirs) == 1:
            one, other = ours[0], theirs[0]
            is_edited = one.text != other.text or (other.edited and not one.edited)
            kind = "edited" if is_edited else "same"
            yield one.place, other.place, "deleted" if other.deleted > one.deleted else kind


def _by_text(old: Sequence[_Line], new: Sequence[_Line]) -> Iterator[Pair]:
    """The nth message of a speaker, moment and text is the nth of the other file.

    Where the counts differ, the earlier file has its last ones in common with the later one.
    """
    spans = _span(old), _span(new)
    new_is_earlier = spans[0] and spans[1] and spans[1] < spans[0]
    for ours, theirs in _in_both(old, new, lambda line: (line.speaker, *line.said)):
        count = min(len(ours), len(theirs))
        if new_is_earlier:
            pairs = zip(ours[:count], theirs[-count:], strict=True)
        else:
            pairs = zip(ours[-count:], theirs[:count], strict=True)
        yield from ((one.place, other.place, "same") for one, other in pairs)


def _near(
    old: Sequence[_Line], new: Sequence[_Line], first: Span | None, second: Span | None
) -> list[Pair]:
    """Equal texts within a minute, where enough of them show that the clocks are two."""
    if first is None or second is None:
        return []
    start, end = max(first[0], second[0]), min(first[1], second[1])
    before, after = (
        sorted(
            (
                line
                for line in side
                if line.text and line.time and start - _NEAR <= line.time <= end + _NEAR
            ),
            key=lambda line: line.time or start,
        )
        for side in (old, new)
    )
    pairs: list[Pair] = []
    proven = 0
    for ours, theirs in _in_both(
        before, after, lambda line: (line.speaker, line.text, line.deleted)
    ):
        at = other_at = 0
        while at < len(ours) and other_at < len(theirs):
            one, other = ours[at], theirs[other_at]
            assert one.minute is not None and other.minute is not None
            if abs(one.minute - other.minute) <= _NEAR:
                pairs.append((one.place, other.place, "same"))
                # Of one phone's exports nothing is left between the ends that both have.
                proven += start < one.minute < end and start < other.minute < end
            at, other_at = (
                at + (one.minute <= other.minute + _NEAR),
                other_at + (other.minute <= one.minute + _NEAR),
            )
    return pairs if proven >= _NEAR_AT_LEAST else []


def _changed(
    old: Sequence[_Line], new: Sequence[_Line], first: Span | None, second: Span | None
) -> list[Pair]:
    """Messages that one file has as edited or deleted and the other does not.

    They are one speaker's of one moment, and both files cover that moment.
    """
    if first is None:
        return []
    before = [line for line in old if _is_inside(line, second)]
    after = [line for line in new if line.time and first[0] <= line.time <= first[1]]
    moments = _in_both(before, after, lambda line: line.moment)
    return [pair for ours, theirs in moments for pair in _states(ours, theirs)]


def _states(mine: Sequence[_Line], others: Sequence[_Line]) -> Iterator[Pair]:
    """Pairs among the messages of one moment, where it is clear which became which."""
    for one, other in (("", "edited"), ("", "deleted"), ("edited", ""), ("edited", "deleted")):
        before = [line for line in mine if line.state == one]
        after = [line for line in others if line.state == other]
        if len(before) == len(after) > 0:
            for line, new_line in zip(before, after, strict=True):
                # What the older file has as edited is the newer of the two.
                yield line.place, new_line.place, other or "same"
            mine = [line for line in mine if line.state != one]
            others = [line for line in others if line.state != other]


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
        new_names: dict[str, Counter[str]] = {}
        old_names: Counter[str] = Counter()
        for (new, old), count in self.people.items():
            new_names.setdefault(new, Counter())[old] = count
            old_names[old] += count
        found: dict[str, str | None] = {}
        for new, counts in new_names.items():
            total = counts.total()
            if total < _CLEAR_AT_LEAST or 2 * counts[new] >= total:
                continue
            best, most = counts.most_common(1)[0]
            clear = most >= max(_CLEAR_AT_LEAST, _CLEAR * max(total, old_names[best]))
            found[new] = best if clear else None
        return found


def align(old_frame: pl.DataFrame, new_frame: pl.DataFrame) -> Alignment | None:
    """How the new chat lies on the old one; None where they do not show to be one."""
    old, new = _lines(old_frame, new_frame)
    return _at_once(old, new) or _moved(old, new)


def common(old: Sequence[datetime | None], new: Sequence[datetime | None]) -> int:
    """How many messages lie in the time that both cover, in the file that has fewer of them."""
    return min(_within(old, span(new)), _within(new, span(old)))


def _within(times: Iterable[datetime | None], covered: Span | None) -> int:
    if covered is None:
        return sum(time is None for time in times)
    return sum(time is not None and covered[0] <= time <= covered[1] for time in times)


def _at_once(old: Sequence[_Line], new: Sequence[_Line]) -> Alignment | None:
    """By equal texts of one moment, whoever is said to have written them."""
    pairs = [
        pair
        for ours, theirs in _in_both(old, new, lambda line: line.said)
        for pair in zip(ours, theirs, strict=False)
    ]
    shared = common([line.time for line in old], [line.time for line in new])
    if not pairs or len(pairs) < _ENOUGH * shared:
        return None
    return Alignment(timedelta(0), len(pairs), _people(pairs))


def _moved(old: Sequence[_Line], new: Sequence[_Line]) -> Alignment | None:
    """By texts that each side has once, where they are one and the same span apart."""
    first, second = _telling(old), _telling(new)
    apart = {text: first[text][0] - second[text][0] for text in first if text in second}
    apart = {text: gap for text, gap in apart.items() if abs(gap) <= _FARTHEST + _JITTER}
    if len(apart) < _SHOWN:
        return None
    zones = Counter(round(gap / _ZONE) for gap in apart.values())
    zone = min(zones, key=lambda zone: (-zones[zone], abs(zone), zone))
    offset = zone * _ZONE
    pairs = [
        (first[text][1], second[text][1])
        for text, gap in apart.items()
        if abs(gap - offset) <= _JITTER
    ]
    shared = common(
        [time for time, _ in first.values()], [time + offset for time, _ in second.values()]
    )
    if len(pairs) < max(_SHOWN, _ENOUGH * shared):
        return None
    return Alignment(offset, len(pairs), _people(pairs))


def _telling(lines: Iterable[_Line]) -> dict[str, tuple[datetime, _Line]]:
    """Long texts that a file has once, and when."""
    timed = _grouped((line for line in lines if line.time), lambda line: (line.text,))
    return {
        text: (alike[0].time, alike[0])
        for (text,), alike in timed.items()
        if len(alike) == 1 and len(text) >= _LONG and alike[0].time is not None
    }


def _people(pairs: Sequence[tuple[_Line, _Line]]) -> dict[tuple[str, str], int]:
    """New and old names of the same messages; those of a moment's only text say it best."""
    times = Counter((one.minute, one.text) for one, _ in pairs)
    once = [(one, other) for one, other in pairs if times[one.minute, one.text] == 1 and one.text]
    counts = Counter((other.speaker, one.speaker) for one, other in once or pairs)
    return dict(sorted(counts.items()))
