"""Two exports of one chat: which messages of the one are in the other, and both as one.

    known   D1:1 "hi"   D1:2 "you?"                        (session 1, 18:03 to 18:04)
    new          "hi"        "you?"   "later" 18:09        "morning" 8:15 the next day
    join  → D1:1, D1:2 as they were, D1:3 "later", D2:1 "morning"; joined 2, new 2

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

What is known keeps its id, its session and its place; what is new gets the next free ids. A new
message goes into the session beside it where no pause lies between them, else into a session of
its own, numbered after the last one: a session never changes its number. `recut` numbers
everything anew, for chats that nothing points to yet.

Chats are one where they agree on most of the time that both cover: a greeting sent to two people
in one minute makes no one chat of two. Clocks differ by time zones, that is by quarter hours;
long texts that each side has once show by how many.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from operator import add
from typing import Any, NamedTuple

import polars as pl

from realtalk.files.naming import UniqueNames
from realtalk.formats.sessions import Gap, cut_frame, is_pause
from realtalk.formats.tables import MESSAGES
from realtalk.text.folding import STRAY_SIGNS

_OWN_ID = re.compile(r"D(\d{1,9}):(\d{1,9})", re.ASCII)
_LAST = 2**62  # after every time and place
_EDITABLE = ("text", "attachments", "edited", "deleted", "extra")
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
# What may become of a message from one export to the next. What the older file has as edited is
# the newer of the two.
_CHANGES = (("", "edited"), ("", "deleted"), ("edited", ""), ("edited", "deleted"))

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


_Key = Callable[[_Line], tuple[Any, ...]]
_Lines = Sequence[_Line]


def match(old_frame: pl.DataFrame, new_frame: pl.DataFrame) -> tuple[list[Pair], int]:
    """The pairs in the order of the new file, and how many messages it lacks of its own time.

    Names and clock of the new messages are those of the old ones by now.
    """
    old, new = _lines(old_frame, new_frame)
    by_id, pairs = list(_by_id(old, new)), list(_by_text(old, new))
    # Ids of two accounts may agree by chance: they count where they say as much as the texts do.
    if by_id and 2 * len(by_id) >= len(pairs):
        nameless = ([line for line in side if line.id is None] for side in (old, new))
        pairs = [*by_id, *_by_text(*nameless)]
    elif (first := _span(old)) and (second := _span(new)):
        for further in (_near, _find_changed):
            pairs += further(*_find_unpaired(old, new, pairs), first, second)
    covered = _span(new)
    gone = sum(_is_inside(line, covered) for line in _find_unpaired(old, new, pairs)[0])
    return sorted(pairs, key=lambda pair: pair[1]), gone


def _lines(old: pl.DataFrame, new: pl.DataFrame) -> tuple[list[_Line], list[_Line]]:
    stated = (side["time"].drop_nulls() for side in (old, new))
    coarse = any(
        len(times) >= _WHOLE_MINUTES and not (times.dt.second() != 0).any() for times in stated
    )
    time, text, id_, extra = (pl.col(name) for name in ("time", "text", "id", "extra"))
    columns = (
        "speaker",
        "time",
        "edited",
        "deleted",
        (time.dt.truncate("1m") if coarse else time).alias("minute"),
        text.str.replace_all(STRAY_SIGNS.pattern, "").str.strip_chars().str.normalize("NFC"),
        pl.coalesce(
            pl.when(extra.str.contains('"id"', literal=True))
            .then(extra)
            .str.json_path_match("$.id"),
            pl.when(~id_.str.contains(r"^D\d+:\d+$")).then(id_),
        ).alias("id"),
    )
    first, second = (
        [_Line(place, *row) for place, row in enumerate(side.select(columns).iter_rows())]
        for side in (old, new)
    )
    return first, second


def span(times: Iterable[datetime | None]) -> Span | None:
    """The time that a file covers."""
    stated = [time for time in times if time is not None]
    return (min(stated), max(stated)) if stated else None


def _span(lines: _Lines) -> Span | None:
    return span(line.time for line in lines)


def _is_inside(line: _Line, covered: Span | None) -> bool:
    """Between the ends: at an end, what is missing may have been said after the export."""
    return covered is not None and line.time is not None and covered[0] < line.time < covered[1]


def _find_unpaired(
    old: _Lines, new: _Lines, pairs: Sequence[Pair]
) -> tuple[list[_Line], list[_Line]]:
    olds, news = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    return (
        [line for line in old if line.place not in olds],
        [line for line in new if line.place not in news],
    )


def _group(lines: Iterable[_Line], key: _Key) -> dict[tuple[Any, ...], list[_Line]]:
    groups: dict[tuple[Any, ...], list[_Line]] = {}
    for line in lines:
        groups.setdefault(key(line), []).append(line)
    return groups


def _in_both(
    old: Iterable[_Line], new: Iterable[_Line], key: _Key
) -> Iterator[tuple[list[_Line], list[_Line]]]:
    """The messages of each side that have one key, in the order of the old ones."""
    theirs = _group(new, key)
    for name, ours in _group(old, key).items():
        if name in theirs:
            yield ours, theirs[name]


def _by_id(old: _Lines, new: _Lines) -> Iterator[Pair]:
    """Messages of one id, speaker and moment; an id that a file has twice says nothing."""
    for ours, theirs in _in_both(old, new, lambda line: (line.id, line.speaker, line.minute)):
        our, their = ours[0], theirs[0]
        if our.id is None or len(ours) > 1 or len(theirs) > 1:
            continue
        is_edited = our.text != their.text or (their.edited and not our.edited)
        kind = "edited" if is_edited else "same"
        yield our.place, their.place, "deleted" if their.deleted > our.deleted else kind


def _by_text(old: _Lines, new: _Lines) -> Iterator[Pair]:
    """The nth message of a speaker, moment and text is the nth of the other file.

    Where the counts differ, the earlier file has its last ones in common with the later one.
    """
    first, second = _span(old), _span(new)
    new_is_earlier = first and second and second < first
    for ours, theirs in _in_both(
        old, new, lambda line: (line.speaker, line.minute, line.text, line.deleted)
    ):
        count = min(len(ours), len(theirs))
        pairs = (
            zip(ours[:count], theirs[-count:], strict=True)
            if new_is_earlier
            else zip(ours[-count:], theirs[:count], strict=True)
        )
        yield from ((our.place, their.place, "same") for our, their in pairs)


def _near(old: _Lines, new: _Lines, first: Span, second: Span) -> list[Pair]:
    """Equal texts within a minute, where enough of them show that the clocks are two."""
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
            our, their = ours[at], theirs[other_at]
            assert our.minute is not None and their.minute is not None
            if abs(our.minute - their.minute) <= _NEAR:
                pairs.append((our.place, their.place, "same"))
                # Of one phone's exports nothing is left between the ends that both have.
                proven += start < our.minute < end and start < their.minute < end
            at += our.minute <= their.minute + _NEAR
            other_at += their.minute <= our.minute + _NEAR
    return pairs if proven >= _NEAR_AT_LEAST else []


def _find_changed(old: _Lines, new: _Lines, first: Span, second: Span) -> list[Pair]:
    """Messages that one file has as edited or deleted and the other does not.

    They are one speaker's of one moment that both files cover.
    """
    before = [line for line in old if _is_inside(line, second)]
    after = [line for line in new if line.time and first[0] <= line.time <= first[1]]
    moments = _in_both(before, after, lambda line: (line.speaker, line.minute))
    return [pair for moment in moments for pair in _states(*moment)]


def _states(ours: _Lines, theirs: _Lines) -> Iterator[Pair]:
    """Pairs among the messages of one moment, where it is clear which became which."""
    for state, new_state in _CHANGES:
        olds = [line.place for line in ours if line.state == state]
        news = [line.place for line in theirs if line.state == new_state]
        if len(olds) == len(news):
            yield from ((*places, new_state or "same") for places in zip(olds, news, strict=True))
            ours = [line for line in ours if line.state != state]
            theirs = [line for line in theirs if line.state != new_state]


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
        others: dict[str, str | None] = {}
        for new, counts in new_names.items():
            total = counts.total()
            if total < _CLEAR_AT_LEAST or 2 * counts[new] >= total:
                continue
            best, most = counts.most_common(1)[0]
            clear = most >= max(_CLEAR_AT_LEAST, _CLEAR * max(total, old_names[best]))
            others[new] = best if clear else None
        return others


def align(old_frame: pl.DataFrame, new_frame: pl.DataFrame) -> Alignment | None:
    """How the new chat lies on the old one; None where they do not show to be one."""
    old, new = _lines(old_frame, new_frame)
    return _at_once(old, new) or _find_offset(old, new)


def common(old: Sequence[datetime | None], new: Sequence[datetime | None]) -> int:
    """How many messages lie in the time that both cover, in the file that has fewer of them."""
    return min(_within(old, span(new)), _within(new, span(old)))


def _within(times: Iterable[datetime | None], covered: Span | None) -> int:
    if covered is None:
        return sum(time is None for time in times)
    return sum(time is not None and covered[0] <= time <= covered[1] for time in times)


def _at_once(old: _Lines, new: _Lines) -> Alignment | None:
    """By equal texts of one moment, whoever is said to have written them."""
    pairs = [
        pair
        for groups in _in_both(old, new, lambda line: (line.minute, line.text, line.deleted))
        for pair in zip(*groups, strict=False)
    ]
    shared = common([line.time for line in old], [line.time for line in new])
    if not pairs or len(pairs) < _ENOUGH * shared:
        return None
    return Alignment(timedelta(0), len(pairs), _people(pairs))


def _find_offset(old: _Lines, new: _Lines) -> Alignment | None:
    """By texts that each side has once, where they are one and the same span apart."""
    first, second = _telling(old), _telling(new)
    apart = {text: first[text][0] - second[text][0] for text in first if text in second}
    apart = {text: gap for text, gap in apart.items() if abs(gap) <= _FARTHEST + _JITTER}
    if len(apart) < _SHOWN:
        return None
    zones = Counter(round(gap / _ZONE) for gap in apart.values())
    offset = _ZONE * min(zones, key=lambda zone: (-zones[zone], abs(zone), zone))
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


def _telling(lines: _Lines) -> dict[str, tuple[datetime, _Line]]:
    """Long texts that a file has once, and when."""
    uses = Counter(line.text for line in lines if line.time)
    return {
        line.text: (line.time, line)
        for line in lines
        if line.time and uses[line.text] == 1 and len(line.text) >= _LONG
    }


def _people(pairs: Sequence[tuple[_Line, _Line]]) -> dict[tuple[str, str], int]:
    """New and old names of the same messages; those of a moment's only text say it best."""
    times = Counter((our.minute, our.text) for our, _ in pairs)
    once = [(our, their) for our, their in pairs if times[our.minute, our.text] == 1 and our.text]
    counts = Counter((their.speaker, our.speaker) for our, their in once or pairs)
    return dict(sorted(counts.items()))


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
    def changes(self) -> int:
        """How many known messages the export has otherwise."""
        return self.edited + self.deleted + self.reacted

    def __add__(self, other: JoinCounts) -> JoinCounts:
        return JoinCounts(*map(add, astuple(self), astuple(other)))

    def __str__(self) -> str:
        counts = asdict(self)
        rare = ("reacted", "gone")  # said where there are any
        return ", ".join(
            f"{name} {count:,}" for name, count in counts.items() if count or name not in rare
        )


def join(
    old: pl.DataFrame,
    new: pl.DataFrame,
    gap: Gap,
    *,
    numbers: Sequence[int] = (),
    take_edits: bool = False,
) -> tuple[pl.DataFrame, JoinCounts]:
    """The messages of one chat with those of another export of it; the columns are MESSAGES'.

    `numbers` are those of sessions without a message, which are taken too.
    """
    pairs, gone = match(old, new)
    kinds = Counter(kind for *_, kind in pairs)
    extras, new_extras = old["extra"].to_list(), new["extra"].to_list()
    reacted = {
        place: at
        for place, at, kind in pairs
        if kind == "same" and _is_reacted(extras[place], new_extras[at])
    }
    counts = JoinCounts(
        joined=len(pairs),
        new=new.height - len(pairs),
        edited=kinds["edited"],
        deleted=kinds["deleted"],
        reacted=len(reacted),
        gone=gone,
    )
    if take_edits:
        changed = {place: at for place, at, kind in pairs if kind != "same"}
        old = _update(old, new, changed, _EDITABLE)
        old = _update(old, new, reacted, ("extra",))
    if not counts.new:
        return old, counts
    known_at = {at: place for place, at, _ in pairs}
    order = _order(old["time"], new["time"], known_at)
    merged = pl.concat([old, new])[order]
    places = [at - old.height if at >= old.height else None for at in order]
    merged = _in_sessions(merged, places, gap, numbers)
    return _assign_ids(merged, places, old["id"].to_list(), new["id"].to_list(), known_at), counts


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


def _update(
    old: pl.DataFrame, new: pl.DataFrame, changed: Mapping[int, int], columns: Sequence[str]
) -> pl.DataFrame:
    """The known messages with what the new export has in some columns of them."""
    places = [
        old.height + changed[place] if place in changed else place for place in range(old.height)
    ]
    return old.with_columns(pl.concat([old, new]).select(columns)[places].get_columns())


def _order(known_times: pl.Series, new_times: pl.Series, known_at: Mapping[int, int]) -> list[int]:
    """Places of both, oldest first; those of the new messages count on from the known ones.

    Known messages keep their order even where their times do not rise. Of one moment, a new
    message stands beside the one that it stands beside in its own file.
    """
    times, new_moments = (
        side.to_physical().forward_fill().backward_fill().fill_null(_LAST)
        for side in (known_times, new_times)
    )
    moments = times.cum_max().to_list()
    keys = [(moment, place, 0) for place, moment in enumerate(moments)]
    order = list(range(len(keys)))
    places = range(len(new_moments))
    partners = pl.Series([known_at.get(place) for place in places], dtype=pl.Int64)
    neighbours = zip(partners.forward_fill(), partners.backward_fill(), strict=True)
    for place, moment, (before, after) in zip(places, new_moments, neighbours, strict=True):
        beside = (
            (moments[neighbour], neighbour, side)
            for neighbour, side in ((before, 1), (after, -1))
            if neighbour is not None and moment in (_LAST, moments[neighbour])
        )
        keys.append(next(beside, (moment, _LAST, 1)))
        if place not in known_at:
            order.append(len(keys) - 1)
    return sorted(order, key=keys.__getitem__)  # equal ones stay in the order of their file


def _in_sessions(
    merged: pl.DataFrame, places: Sequence[int | None], gap: Gap, numbers: Sequence[int]
) -> pl.DataFrame:
    """With a session for the new messages: one beside them, or the next number."""
    times, sessions = merged["time"], merged["session"].to_list()
    # Whether a pause lies before a message. One without a time goes with the one that it is held
    # against: the one before it, or the one behind it.
    pauses, pauses_back = (
        [False, *(is_pause(earlier, later, gap) for earlier, later in pairwise(filled))]
        for filled in (times.forward_fill(), times.backward_fill())
    )
    old_places = [at for at, place in enumerate(places) if place is None]
    last = max([*numbers, *(sessions[at] for at in old_places)], default=0)
    for before, after in pairwise([-1, *old_places, len(sessions)]):
        start, end = before + 1, after
        session = sessions[before] if start else None
        next_session = sessions[end] if end < len(sessions) else None
        while start < end and session is not None:
            if pauses[start] and session != next_session:
                break
            sessions[start] = session
            start += 1
        while start < end and next_session is not None and not pauses_back[end]:
            end -= 1
            sessions[end] = next_session
        for at in range(start, end):
            last += at == start or pauses[at]
            sessions[at] = last
    stated = merged["session_time"].to_list()
    dates = {sessions[at]: stated[at] for at in old_places}
    for number, time in zip(sessions, times, strict=True):
        dates.setdefault(number, time)
    return merged.with_columns(
        pl.Series("session", sessions, pl.Int32),
        pl.Series("session_time", [dates[number] for number in sessions], MESSAGES["session_time"]),
    )


def _assign_ids(
    merged: pl.DataFrame,
    places: Sequence[int | None],
    known_ids: Sequence[str],
    new_ids: Sequence[str],
    known_at: Mapping[int, int],
) -> pl.DataFrame:
    """With ids for the new messages, and their replies to what they mean."""
    ids = merged["id"].to_list()
    position: Counter[int] = Counter()  # of the last message of each session
    for own in filter(None, map(_OWN_ID.fullmatch, known_ids)):
        number = int(own[1])
        position[number] = max(position[number], int(own[2]))
    own_names = all(map(_OWN_ID.fullmatch, new_ids))
    names = UniqueNames("{}~{}", taken=() if own_names else known_ids)
    current_ids: dict[str, str] = {}  # the new export's ids → those that they have now
    for at, old in known_at.items():
        current_ids.setdefault(new_ids[at], known_ids[old])
    for at, (place, number) in enumerate(zip(places, merged["session"], strict=True)):
        if place is None:
            continue
        if _OWN_ID.fullmatch(new_ids[place]):
            position[number] += 1
            ids[at] = f"D{number}:{position[number]}"
        else:
            ids[at] = names.free(ids[at])
        current_ids.setdefault(new_ids[place], ids[at])
    replies = [
        reply if place is None else current_ids.get(reply, reply)
        for place, reply in zip(places, merged["reply_to"], strict=True)
    ]
    return merged.with_columns(
        pl.Series("id", ids, pl.String), pl.Series("reply_to", replies, pl.String)
    )


def is_cut(messages: pl.DataFrame, gap: Gap) -> bool:
    """Whether sessions and ids of a chat are those that our rule gives."""
    return (
        _cut_sessions(messages, gap)
        .select("session", "id")
        .equals(messages.select("session", "id"))
    )


def recut(messages: pl.DataFrame, gap: Gap) -> pl.DataFrame:
    """The messages of one chat in new sessions with new ids; replies follow."""
    again = _cut_sessions(messages, gap)
    renamed: Mapping[Any, Any] = dict(zip(messages["id"], again["id"], strict=True))
    replies = [renamed.get(reply, reply) for reply in messages["reply_to"]]
    return again.with_columns(pl.Series("reply_to", replies, pl.String)).select(MESSAGES.names())


def _cut_sessions(messages: pl.DataFrame, gap: Gap) -> pl.DataFrame:
    """A message without time goes with the one before it."""
    filled = messages.with_columns(pl.col.time.forward_fill())
    return cut_frame(filled, gap).with_columns(messages["time"])
