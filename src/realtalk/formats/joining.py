"""Two exports of one chat: which messages of the one are in the other, and both as one.

    known   D1:1 "hi"   D1:2 "you?"                        (session 1, 18:03 to 18:04)
    new          "hi"        "you?"   "later" 18:09        "morning" 8:15 the next day
    join  → D1:1, D1:2 as they were, D1:3 "later", D2:1 "morning"; joined 2, new 2

    old  10:01 Mara "ok"   10:01 Mara "ok"   10:02 Theo "helo"
    new  10:01 Mara "ok"                     10:02 Theo "hello", edited      10:09 Mara "bye"
    match → pairs (0, 0, same), (2, 1, edited); the second "ok" and "bye" stand in one file only

    old  10:01 Anna "did you water the plants"     11:40 Theo "twice"
    new   9:01 Mum  "did you water the plants"     10:40 Theo "twice"      ...
    align → Alignment(1 h, agreeing=412, others={"Mum": "Anna"})

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

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import datetime, timedelta
from operator import add, attrgetter
from typing import Any, NamedTuple

import polars as pl

from realtalk.chat import unpack_extra
from realtalk.files.naming import UniqueNames
from realtalk.formats.sessions import Gap, cut_frame, pauses_before
from realtalk.formats.tables import MESSAGES, first_case
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
Pair = tuple[int, int, str]  # places in the old and the new file; same, edited, deleted, reacted


class _Line(NamedTuple):
    """What can be compared of a message, and its place in its file."""

    place: int
    speaker: str
    time: datetime | None
    minute: datetime | None  # its time as exactly as both files tell it
    text: str
    deleted: bool
    state: str  # deleted, edited or ""
    id: str | None
    extra: str


_Lines = Sequence[_Line]
_Sides = tuple[list[_Line], list[_Line]]


def match(old_frame: pl.DataFrame, new_frame: pl.DataFrame) -> tuple[list[Pair], int]:
    """The pairs in the order of the new file, and how many messages it lacks of its own time.

    Names and clock of the new messages are those of the old ones by now.
    """
    old, new = _lines(old_frame, new_frame)
    first, second = (span(line.time for line in side) for side in (old, new))
    by_id, pairs = list(_by_id(old, new)), list(_by_text(old, new))
    # Ids of two accounts may agree by chance: they count where they say as much as the texts do.
    if by_id and 2 * len(by_id) >= len(pairs):
        nameless = ([line for line in side if line.id is None] for side in (old, new))
        pairs = [*by_id, *_by_text(*nameless)]
    elif first and second:
        pairs += _near(*_find_unpaired(old, new, pairs), first, second)
        pairs += _find_changed(*_find_unpaired(old, new, pairs), first, second)
    gone = sum(_is_inside(line, second) for line in _find_unpaired(old, new, pairs)[0])
    marked = (
        (at, other, "reacted" if kind == "same" and _is_reacted(old[at], new[other]) else kind)
        for at, other, kind in pairs
    )
    return sorted(marked, key=lambda pair: pair[1]), gone


def _lines(old: pl.DataFrame, new: pl.DataFrame) -> _Sides:
    stated = (side["time"].drop_nulls() for side in (old, new))
    coarse = any(
        len(times) >= _WHOLE_MINUTES and not (times.dt.second() != 0).any() for times in stated
    )
    time, text, id_, extra = (pl.col(name) for name in ("time", "text", "id", "extra"))
    columns = (
        "speaker",
        "time",
        (time.dt.truncate("1m") if coarse else time).alias("minute"),
        text.str.replace_all(STRAY_SIGNS.pattern, "").str.strip_chars().str.normalize("NFC"),
        "deleted",
        first_case({"deleted": pl.col.deleted, "edited": pl.col.edited}, pl.lit("")).alias("state"),
        pl.coalesce(
            pl.when(extra.str.contains('"id"', literal=True))
            .then(extra)
            .str.json_path_match("$.id"),
            pl.when(~id_.str.contains(r"^D\d+:\d+$")).then(id_),
        ).alias("id"),
        "extra",
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


def _is_inside(line: _Line, covered: Span | None) -> bool:
    """Between the ends: at an end, what is missing may have been said after the export."""
    return covered is not None and line.time is not None and covered[0] < line.time < covered[1]


def _find_unpaired(old: _Lines, new: _Lines, pairs: Sequence[Pair]) -> _Sides:
    olds, news = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    return (
        [line for line in old if line.place not in olds],
        [line for line in new if line.place not in news],
    )


def _in_both(old: _Lines, new: _Lines, *names: str) -> list[_Sides]:
    """The messages of each side that are alike in these fields, in the order of the old ones."""
    key = attrgetter(*names)
    groups: dict[Any, _Sides] = defaultdict(lambda: ([], []))
    for side, lines in enumerate((old, new)):
        for line in lines:
            groups[key(line)][side].append(line)
    return [group for group in groups.values() if all(group)]


def _by_id(old: _Lines, new: _Lines) -> Iterator[Pair]:
    """Messages of one id, speaker and moment; an id that a file has twice says nothing."""
    for ours, theirs in _in_both(old, new, "id", "speaker", "minute"):
        our, their = ours[0], theirs[0]
        if our.id is None or len(ours) > 1 or len(theirs) > 1:
            continue
        became = their.state if their.state != our.state else ""
        kind = became or ("edited" if our.text != their.text else "same")
        yield our.place, their.place, kind


def _by_text(old: _Lines, new: _Lines) -> Iterator[Pair]:
    """The nth message of a speaker, moment and text is the nth of the other file.

    Where the counts differ, the earlier file has its last ones in common with the later one.
    """
    first, second = (span(line.time for line in side) for side in (old, new))
    new_is_earlier = first and second and second < first
    for ours, theirs in _in_both(old, new, "speaker", "minute", "text", "deleted"):
        count = min(len(ours), len(theirs))
        shared = (ours, theirs[-count:]) if new_is_earlier else (ours[-count:], theirs)
        for our, their in zip(*shared, strict=False):
            yield our.place, their.place, "same"


def _near(old: _Lines, new: _Lines, first: Span, second: Span) -> list[Pair]:
    """Equal texts within a minute, where enough of them show that the clocks are two."""
    start, end = max(first[0], second[0]), min(first[1], second[1])
    before, after = (
        sorted((line for line in side if line.text and line.time), key=attrgetter("time"))
        for side in (old, new)
    )
    pairs: list[Pair] = []
    proven = 0
    for ours, theirs in _in_both(before, after, "speaker", "text", "deleted"):
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


def _find_changed(old: _Lines, new: _Lines, first: Span, second: Span) -> Iterator[Pair]:
    """Messages that one file has as edited or deleted and the other does not.

    They are one speaker's of one moment that both files cover, and it is clear which became which.
    """
    before = [line for line in old if _is_inside(line, second)]
    after = [line for line in new if line.time and first[0] <= line.time <= first[1]]
    for ours, theirs in _in_both(before, after, "speaker", "minute"):
        left, new_left = ours, theirs
        for state, new_state in _CHANGES:
            olds = [line for line in left if line.state == state]
            news = [line for line in new_left if line.state == new_state]
            if len(olds) == len(news):
                for our, their in zip(olds, news, strict=True):
                    yield our.place, their.place, new_state or "same"
                left = [line for line in left if line.state != state]
                new_left = [line for line in new_left if line.state != new_state]


def _is_reacted(our: _Line, their: _Line) -> bool:
    """Whether nothing but the reactions differs."""
    extras = (our.extra, their.extra)
    if our.extra == their.extra or not any('"reactions"' in extra for extra in extras):
        return False
    before, after = ({**readable_extra(extra), "reactions": None} for extra in extras)
    return before == after


def readable_extra(extra: str) -> dict[str, Any]:
    """What `extra` holds; nothing where somebody has damaged it."""
    try:
        return unpack_extra(extra)
    except (ValueError, TypeError, RecursionError):
        return {}


class Alignment(NamedTuple):
    """How a new chat lies on an old one, by `agreeing` messages that both have.

    `offset` brings the new one's times to the old one's. `others` are new names whose messages
    have another name in the old chat; None where it is unclear which.
    """

    offset: timedelta
    agreeing: int
    others: Mapping[str, str | None]


def align(old_frame: pl.DataFrame, new_frame: pl.DataFrame) -> Alignment | None:
    """How the new chat lies on the old one; None where they do not show to be one."""
    old, new = _lines(old_frame, new_frame)
    # By equal texts of one moment, whoever is said to have written them.
    pairs = [
        pair
        for group in _in_both(old, new, "minute", "text", "deleted")
        for pair in zip(*group, strict=False)
    ]
    if pairs and len(pairs) >= _ENOUGH * common(old_frame["time"], new_frame["time"]):
        return Alignment(timedelta(0), len(pairs), _others(pairs))
    return _find_offset(old, new)


def common(old: Iterable[datetime | None], new: Iterable[datetime | None]) -> int:
    """How many messages lie in the time that both cover, in the file that has fewer of them."""
    old, new = list(old), list(new)
    return min(_within(old, span(new)), _within(new, span(old)))


def _within(times: Iterable[datetime | None], covered: Span | None) -> int:
    if covered is None:
        return sum(time is None for time in times)
    return sum(time is not None and covered[0] <= time <= covered[1] for time in times)


def _find_offset(old: _Lines, new: _Lines) -> Alignment | None:
    """By texts that each side has once, where they are one and the same span apart."""
    first, second = _telling(old), _telling(new)
    apart = {text: first[text][0] - second[text][0] for text in first if text in second}
    apart = {text: gap for text, gap in apart.items() if abs(gap) <= _FARTHEST + _JITTER}
    zones = Counter(round(gap / _ZONE) for gap in apart.values())
    zone = min(zones, key=lambda zone: (-zones[zone], abs(zone), zone), default=0)
    offset = _ZONE * zone
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
    return Alignment(offset, len(pairs), _others(pairs))


def _telling(lines: _Lines) -> dict[str, tuple[datetime, _Line]]:
    """Long texts that a file has once, and when."""
    uses = Counter(line.text for line in lines if line.time)
    return {
        line.text: (line.time, line)
        for line in lines
        if line.time and uses[line.text] == 1 and len(line.text) >= _LONG
    }


def _others(pairs: Sequence[tuple[_Line, _Line]]) -> dict[str, str | None]:
    """Names of the new file → those that their messages have in the old one, where they differ.

    Messages of a moment's only text say it best. A pair of names is clear where nearly all
    messages of both go to each other.
    """
    times = Counter((our.minute, our.text) for our, _ in pairs)
    once = [(our, their) for our, their in pairs if times[our.minute, our.text] == 1 and our.text]
    by_name: dict[str, Counter[str]] = defaultdict(Counter)
    old_names: Counter[str] = Counter()
    for our, their in once or pairs:
        by_name[their.speaker][our.speaker] += 1
        old_names[our.speaker] += 1
    others: dict[str, str | None] = {}
    for name, counts in sorted(by_name.items()):
        total = counts.total()
        if total >= _CLEAR_AT_LEAST and 2 * counts[name] < total:
            best, most = max(sorted(counts.items()), key=lambda entry: entry[1])
            clear = most >= max(_CLEAR_AT_LEAST, _CLEAR * max(total, old_names[best]))
            others[name] = best if clear else None
    return others


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
    counts = JoinCounts(
        len(pairs),
        new.height - len(pairs),
        kinds["edited"],
        kinds["deleted"],
        kinds["reacted"],
        gone,
    )
    both = pl.concat([old, new])
    if take_edits:
        # What has other reactions may be of an older export: its text is not taken with them.
        taken = {"edited": _EDITABLE, "deleted": _EDITABLE, "reacted": ("extra",)}
        for kind, columns in taken.items():
            changed = {place: old.height + at for place, at, became in pairs if became == kind}
            places = [changed.get(place, place) for place in range(old.height)]
            old = old.with_columns(both.select(columns)[places].get_columns())
            both = pl.concat([old, new])
    if not counts.new:
        return old, counts
    known_at = {at: place for place, at, _ in pairs}
    order = _order(old["time"], new["time"], known_at)
    is_new = [place >= old.height for place in order]
    last = max([*numbers, *old["session"]], default=0)
    merged = _in_sessions(both[order].with_columns(new=pl.Series(is_new)), gap, last)
    ids, new_ids = old["id"].to_list(), new["id"].to_list()
    renamed = {new_ids[at]: ids[place] for at, place in reversed(known_at.items())}
    return _assign_ids(merged, is_new, ids, renamed), counts


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
    partners = pl.Series([known_at.get(at) for at in range(len(new_moments))], dtype=pl.Int64)
    neighbours = zip(partners.forward_fill(), partners.backward_fill(), strict=True)
    for place, (moment, (before, after)) in enumerate(zip(new_moments, neighbours, strict=True)):
        beside = (
            (moments[neighbour], neighbour, side)
            for neighbour, side in ((before, 1), (after, -1))
            if neighbour is not None and moment in (_LAST, moments[neighbour])
        )
        keys.append(next(beside, (moment, _LAST, 1)))
        if place not in known_at:
            order.append(len(keys) - 1)
    return sorted(order, key=keys.__getitem__)  # equal ones stay in the order of their file


def _in_sessions(merged: pl.DataFrame, gap: Gap, last: int) -> pl.DataFrame:
    """With a session for the new messages: one beside them, or the next after the `last`."""
    time, session, known = pl.col.time, pl.col.session, ~pl.col.new

    def of_known(value: pl.Expr) -> pl.Expr:
        return pl.when(known).then(value)

    # How many pauses lie before a message. One without a time goes with the one that it is held
    # against: the one before it, or the one behind it.
    pauses = pauses_before(time.forward_fill(), gap)
    count, count_back = pauses.cum_sum(), pauses_before(time.backward_fill(), gap).cum_sum()
    before, after = of_known(session).forward_fill(), of_known(session).backward_fill()
    goes_on = (count == of_known(count).forward_fill()) | (before == after)
    leads_to = count_back == of_known(count_back).backward_fill()
    beside = pl.when(goes_on).then(before).when(leads_to).then(after)
    stands_alone = beside.is_null()
    begins = stands_alone & (pauses | ~stands_alone.shift(1, fill_value=False))
    merged = merged.with_columns(
        session=pl.coalesce(of_known(session), beside, last + begins.cum_sum()).cast(pl.Int32)
    )
    stated = pl.col.session_time.filter(known).last().over("session")
    return merged.with_columns(
        session_time=pl.when(known.any().over("session"))
        .then(stated)
        .otherwise(time.first().over("session"))
    ).drop("new")


def _assign_ids(
    merged: pl.DataFrame, is_new: Sequence[bool], known_ids: Sequence[str], renamed: dict[str, str]
) -> pl.DataFrame:
    """With ids for the new messages, and their replies to what they mean.

    `renamed` are ids of the new export and those that their messages have here.
    """
    position: Counter[int] = Counter()  # of the last message of each session
    for own in filter(None, map(_OWN_ID.fullmatch, known_ids)):
        position[int(own[1])] = max(position[int(own[1])], int(own[2]))
    names = UniqueNames("{}~{}", taken=known_ids)
    ids = merged["id"].to_list()
    for at, (id_, number) in enumerate(zip(ids, merged["session"], strict=True)):
        if is_new[at]:
            position[number] += (is_own := _OWN_ID.fullmatch(id_) is not None)
            ids[at] = f"D{number}:{position[number]}" if is_own else names.free(id_)
            renamed.setdefault(id_, ids[at])
    replies = [
        renamed.get(reply, reply) if new else reply
        for new, reply in zip(is_new, merged["reply_to"], strict=True)
    ]
    return merged.with_columns(
        pl.Series("id", ids, pl.String), pl.Series("reply_to", replies, pl.String)
    )


def is_cut(messages: pl.DataFrame, gap: Gap) -> bool:
    """Whether sessions and ids of a chat are those that our rule gives."""
    columns = ("session", "id")
    return _cut_sessions(messages, gap).select(columns).equals(messages.select(columns))


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
