"""A corpus and a new export → the corpus with what is new in it.

    merged = merge(stored, export, Merging(gap=timedelta(hours=6), same={"Mum": "Anna"}))
    merged.tables     the chats of `stored`, with new messages and new chats
    merged.counts     joined 12,034, new 311, edited 2, deleted 1
    merged.notes      "Anna: times of the new file were moved by -1:00 h"

A chat is found by what both files have in common, else by its name and its people. `fresh` is
for files that are read together for the first time: ids and sessions are counted anew.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import orjson
import polars as pl

from realtalk.chat import Alias, Call, calls_in, pack_extra, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.formats.joining import JoinCounts, is_cut, join, recut
from realtalk.formats.matching import Alignment, align, common, span
from realtalk.formats.reading import ReadCorpus
from realtalk.formats.sessions import Gap
from realtalk.formats.tables import MESSAGES, ChatRow, Tables
from realtalk.registry import suggest

# Calls, which apps write among messages as notices → who called when, kept beside a chat.
#
#     packed_calls([("Ann", datetime(2024, 5, 1, 9, 30))])    → {"Ann": ["2024-05-01T09:30:00"]}
#     joined_calls(known, new, {"Mum": "Ann"})                → both, a call of both exports once
#
# They stand in the chat's `extra` as `calls`; `Chat.calls` reads them. A call is no message: it
# takes part in no statistic of messages, turns or sessions.

_NOW = timedelta(0)


def packed_calls(calls: Iterable[tuple[str, datetime | None]]) -> dict[str, list[str]]:
    """Calls as `extra` holds them; a call without a readable time is an empty text."""
    packed: dict[str, list[str]] = {}
    for speaker, time in calls:
        packed.setdefault(speaker, []).append("" if time is None else time.isoformat())
    return packed


def joined_calls(known: str, new: str, names: Mapping[str, str], offset: timedelta = _NOW) -> str:
    """The known chat's `extra` with the calls that the new one's tells beyond them.

    `names` are the known names of people, `offset` is what the new clock lacks. Exports differ
    in seconds, so calls of one person in one minute are the same ones.
    """
    there, told = calls_in(known), calls_in(new)
    if not told:
        return known
    seen = Counter(map(_minute, there))
    calls = [(call.speaker, call.time) for call in there]
    for each in told:
        moved = None if each.time is None else each.time + offset
        call = Call(names.get(each.speaker, each.speaker), moved)
        if seen[_minute(call)]:
            seen[_minute(call)] -= 1
        else:
            calls.append((call.speaker, call.time))
    return pack_extra({**unpack_extra(known), "calls": packed_calls(calls)})


def renamed_calls(extra: str, names: Mapping[str, str]) -> str:
    """The same calls by people who have other names now."""
    calls = calls_in(extra)
    if not calls or not names:
        return extra
    renamed = packed_calls((names.get(call.speaker, call.speaker), call.time) for call in calls)
    return pack_extra({**unpack_extra(extra), "calls": renamed})


def _minute(call: Call) -> tuple[str, datetime | None]:
    return call.speaker, None if call.time is None else call.time.replace(second=0, microsecond=0)


# Who is who in two exports of one chat: names differ between phones.
#
#     same_people(known, new, alignment, {"Mum": "Anna"})   → {"Mum": "Anna"}
#     same_people(known, new, alignment, {})
#     → SamePersonError: 'Mum' is called 'Anna' in the corpus; say so with --same "Mum=Anna"
#
# A name is taken for another only where the user said so, now or when an earlier export was joined,
# or where the app's own ids say so. What the messages suggest is proposed, never done.

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
            said = " ".join(f'`same="{new}={known}"`' for new, known in proposed.items())
            fix = f"if that is so, say {said}"
        else:
            what = f"'{unclear[0]}' has another name in the other file"
            fix = f'say who it is: `same="{unclear[0]}=NAME"`'
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


_COPY = re.compile(r"[ _]*\(\d{1,3}\)$")  # how browsers and phones name a second file
_FEW = 8  # chats that are all looked at
_LIKELY = 5
_LONG = 12


@dataclass(frozen=True, slots=True)
class Merging:
    """How to merge: the pause between sessions, the chat meant, people of two names."""

    gap: Gap
    chat: str | None = None
    same: Mapping[str, str] = field(default_factory=dict)
    take_edits: bool = False
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged corpus and what happened; `chats` is how many are new."""

    tables: Tables
    counts: JoinCounts
    chats: int = 0
    notes: tuple[str, ...] = ()


def merge(known: Tables, new: Tables, way: Merging) -> Merged:
    """The known corpus with what is new."""
    return _Merger(known, new, way).merged()


class _Merger:
    def __init__(self, known: Tables, new: Tables, way: Merging) -> None:
        if way.fresh and way.same:
            known = _renamed(known, way.same)
        self._known, self._new, self._way = known, new, way
        self._rows = {row.id: row for row in known.chats}
        self._frames = by_chat(known)
        self._counts = JoinCounts()
        self._whole: list[str] = []  # ids of chats that were put together
        self._notes: list[str] = []
        self._shared: dict[str, list[str]] | None = None

    def merged(self) -> Merged:
        frames = by_chat(self._new)
        if self._way.chat is not None and len(self._new.chats) > 1:
            raise RealtalkError(
                f"`chat=` names one chat, and the new file holds {len(self._new.chats):,}"
            )
        added = [row for row in self._new.chats if not self._joined(row, frames[row.id])]
        if added and not self._way.fresh and len(added) == len(self._new.chats):
            raise RealtalkError(
                f"no chat of the corpus goes on in chat '{added[0].id}'",
                fix="name it with `chat=`, or read the file into a folder of its own with `out=`",
            )
        tables = self._tables(added, frames)
        return Merged(tables, self._counts, len(added), tuple(self._notes))

    def _joined(self, row: ChatRow, frame: pl.DataFrame) -> bool:
        """Whether the chat is one that is known; then its messages are put in."""
        found = self._found(row, frame)
        if found is None:
            return False
        known, alignment = found
        names = same_people(known, row, alignment, self._way.same)
        offset = alignment.offset if alignment else timedelta(0)
        frame = frame.with_columns(pl.lit(known.id).alias("chat"), pl.col("speaker").replace(names))
        if offset:
            frame = frame.with_columns(pl.col("time") + offset)
            self._notes.append(f"{known.id}: times of the new file were moved by {_hours(offset)}")
        before = self._frames[known.id]
        gap, empty = self._way.gap, [number for number, _ in known.empty_sessions]
        edits = self._way.take_edits
        after, counts = join(before, frame, gap, numbers=empty, take_edits=edits)
        if self._way.fresh and counts.new and is_cut(before, gap):
            after = recut(after, gap)
        self._frames[known.id] = after
        self._counts += counts
        self._whole.append(known.id)
        self._rows[known.id] = joined_row(known, row, names, after, offset)
        self._note(known.id, row.id, counts)
        return True

    def _note(self, chat: str, new: str, counts: JoinCounts) -> None:
        if self._way.fresh:
            told = taken_once(counts.joined)
            self._notes.append(f"{chat}: {told}" if len(self._rows) > 1 else told)
        if counts.changed and not self._way.take_edits:
            told = f"messages edited, deleted or given reactions since: {counts.changed:,}"
            self._notes.append(f"{chat}: {told}; they stay as they were without `take_edits=True`")
        behind = sum(
            frame.filter(pl.col("chat") == new).height
            for frame in (self._new.events, self._new.questions)
        )
        if behind:
            self._notes.append(f"{chat}: events and questions of the new file left out: {behind:,}")

    def _found(self, row: ChatRow, frame: pl.DataFrame) -> tuple[ChatRow, Alignment | None] | None:
        """The known chat that this one is, and how they lie on each other."""
        if self._way.chat is not None:
            if self._way.chat not in self._rows:
                raise suggest("chat", self._way.chat, list(self._rows))
            known = self._rows[self._way.chat]
            return known, align(self._frames[known.id], frame)
        likely = self._likely(row)
        aligned = [
            (known, alignment)
            for known in likely
            if (alignment := align(self._frames[known.id], frame)) is not None
        ]
        if not aligned:
            return self._next_part(row, frame, likely)
        named = [each for each in aligned if common_name(each[0].id) == common_name(row.id)]
        if len(aligned) > 1 and len(named) != 1 and not self._way.fresh:
            raise _several(row, [known for known, _ in aligned])
        return max(named or aligned, key=lambda each: each[1].agreeing)

    def _next_part(
        self, row: ChatRow, frame: pl.DataFrame, likely: Sequence[ChatRow]
    ) -> tuple[ChatRow, None] | None:
        """A chat of the same people at another time; no message shows that it is the same."""
        if self._known.format != self._new.format:
            return None
        apart, times = [], frame["time"].to_list()
        for known in likely:
            names = known_names(known, row, self._way.same)
            people = {names.get(name, name) for name in row.speakers}
            alike = people == set(known.speakers) or (
                common_name(known.id) == common_name(row.id) and people & set(known.speakers)
            )
            if alike and not common(self._frames[known.id]["time"].to_list(), times):
                apart.append(known)
        named = [known for known in apart if common_name(known.id) == common_name(row.id)]
        if len(apart) > 1 and len(named) != 1 and not self._way.fresh:
            raise _several(row, apart)
        return ((named or apart)[0], None) if apart else None

    def _likely(self, row: ChatRow) -> list[ChatRow]:
        """Known chats that may be this one: of its name, its people, or with texts of it."""
        rows = list(self._rows.values())
        if len(rows) <= _FEW:
            return rows
        named = [each for each in rows if common_name(each.id) == common_name(row.id)]
        people = [each for each in rows if set(each.speakers) == set(row.speakers)]
        if self._shared is None:
            self._shared = _shared(self._known.messages, self._new.messages)
        texts = [self._rows[chat] for chat in self._shared.get(row.id, ())]
        found = {each.id: each for each in (*named[:_LIKELY], *people[:_LIKELY], *texts)}
        return [each for each in rows if each.id in found]

    def _tables(self, added: Sequence[ChatRow], frames: Mapping[str, pl.DataFrame]) -> Tables:
        if self._way.fresh:
            self._name_whole()
        names = UniqueNames(taken=self._rows)
        ids = {row.id: names.free(row.id) for row in added}
        rows = [*self._rows.values(), *(replace(row, id=ids[row.id]) for row in added)]
        messages = [
            *self._frames.values(),
            *(frames[row.id].with_columns(chat=pl.lit(ids[row.id])) for row in added),
        ]
        events, questions = (
            pl.concat([old, _of_chats(new, ids)])
            for old, new in (
                (self._known.events, self._new.events),
                (self._known.questions, self._new.questions),
            )
        )
        whole = pl.concat(messages) if messages else self._known.messages
        return replace(
            self._known, chats=tuple(rows), messages=whole, events=events, questions=questions
        )

    def _name_whole(self) -> None:
        """A chat of several files has their common name: "Mara", not "Mara (1)"."""
        for chat in self._whole:
            name = common_name(chat)
            if name in self._rows or _of_chats(self._known.events, {chat: name}).height:
                continue
            named = {key: name if key == chat else key for key in self._rows}
            self._rows = {new: replace(self._rows[key], id=new) for key, new in named.items()}
            self._frames = {new: self._frames[key] for key, new in named.items()}
            self._frames[name] = self._frames[name].with_columns(chat=pl.lit(name))


def _several(row: ChatRow, known: Sequence[ChatRow]) -> RealtalkError:
    listed = ", ".join(f"'{each.id}'" for each in known[:_LIKELY])
    return RealtalkError(
        f"chat '{row.id}' may be {listed} of the corpus", fix="name the one with `chat=`"
    )


def common_name(name: str) -> str:
    """The name of a chat without the number of its file: "Mara (1)" is "Mara" once more."""
    return _COPY.sub("", name) or name


def _hours(offset: timedelta) -> str:
    minutes = round(abs(offset).total_seconds() / 60)
    return f"{'-' if offset < timedelta(0) else '+'}{minutes // 60}:{minutes % 60:02} h"


def taken_once(count: int) -> str:
    """The note of what stands in two files."""
    return f"messages that stand in two files of one chat, taken once: {count:,}"


def by_chat(tables: Tables) -> dict[str, pl.DataFrame]:
    """The messages of every chat."""
    parts = tables.messages.partition_by("chat", as_dict=True, maintain_order=True)
    empty = pl.DataFrame(schema=MESSAGES)
    return {row.id: parts.get((row.id,), empty) for row in tables.chats}


def _of_chats(frame: pl.DataFrame, ids: Mapping[str, str]) -> pl.DataFrame:
    return frame.filter(pl.col("chat").is_in(list(ids))).with_columns(pl.col("chat").replace(ids))


def _shared(known: pl.DataFrame, new: pl.DataFrame) -> dict[str, list[str]]:
    """New chats and the known ones that have most long texts in common with them."""
    first, second = _telling(known), _telling(new)
    both = second.join(first, on="text", suffix="_known")
    counts = both.group_by("chat", "chat_known").len().sort("len", descending=True)
    found: dict[str, list[str]] = {}
    for chat, other, _ in counts.rows():
        if len(likely := found.setdefault(chat, [])) < _LIKELY:
            likely.append(other)
    return found


def _telling(messages: pl.DataFrame) -> pl.DataFrame:
    """Long texts that few chats have: what is sent to everybody tells nothing."""
    long = messages.filter(pl.col("text").str.len_chars() >= _LONG).select("chat", "text").unique()
    return long.filter(pl.len().over("text") <= _FEW)


def joined_row(
    known: ChatRow,
    new: ChatRow,
    names: Mapping[str, str],
    after: pl.DataFrame,
    offset: timedelta = timedelta(0),
) -> ChatRow:
    """The known chat with new speakers, their ids and calls, and others' names for them."""
    spoke = set(after["speaker"].unique())
    others = (names.get(name, name) for name in new.speakers)
    speakers = tuple(dict.fromkeys((*known.speakers, *(name for name in others if name in spoke))))
    numbers = authors_of(known)
    fresh = {
        name: number
        for name, number in authors_of(new).items()
        if name not in names and name in speakers[len(known.speakers) :] and name not in numbers
    }
    extra = known.extra
    if fresh and numbers:
        extra = pack_extra({**unpack_extra(extra), "authors": {**numbers, **fresh}})
    extra = joined_calls(extra, new.extra, names, offset)
    return replace(known, speakers=speakers, aliases=aliases_with(known, names), extra=extra)


def _renamed(tables: Tables, same: Mapping[str, str]) -> Tables:
    """A corpus in which people have the names that were said to be theirs."""
    rows = []
    for row in tables.chats:
        names = {
            name: other
            for name, other in same.items()
            if name in row.speakers and other not in row.speakers
        }
        speakers = tuple(names.get(name, name) for name in row.speakers)
        rows.append(
            replace(
                row,
                speakers=speakers,
                aliases=aliases_with(replace(row, speakers=speakers), names),
                extra=renamed_calls(row.extra, names),
            )
        )
        here = pl.col("chat") == row.id
        if names:
            column = pl.when(here).then(pl.col("speaker").replace(names)).otherwise("speaker")
            tables = replace(tables, messages=tables.messages.with_columns(speaker=column))
    return replace(tables, chats=tuple(rows))


# Several exports of one chat in one folder or archive, joined: what stands in two is taken once.
#
#     "WhatsApp Chat with Mara.txt"      messages of January and February
#     "WhatsApp Chat with Mara (1).txt"  messages of February and March
#     → one chat "Mara" of three months
#
# Files belong together where their names are alike and they agree on the time that both cover:
# a greeting sent to two people in one minute makes no one chat of two.

_SAME = ["speaker", "time", "text"]
_LIKELY_SHARED = 5  # chats that share most messages with one
_MOST = 500  # chats that share messages: nobody exports one so often, and each takes some time


def join_overlaps(
    reading: ReadCorpus, wanted: Sequence[str], gap: Gap, ids: Sequence[str] = ()
) -> ReadCorpus:
    """The reading with chats of one name joined where they agree.

    `wanted` are the names that its chats have in their files, before two of one were told apart,
    and `ids` what the app itself calls them: chats that it tells apart stay apart.
    """
    keys = [
        (common_name(name), id_)
        for name, id_ in zip(wanted, ids or [""] * len(wanted), strict=True)
    ]
    counts = Counter(keys)
    if all(count == 1 for count in counts.values()):
        return reading
    chats = [row.id for row in reading.tables.chats]
    names = dict(zip(chats, wanted, strict=True))
    sharing = _sharing(reading.tables.messages, dict(zip(chats, keys, strict=True)))
    if not sharing or len(sharing) > _MOST:
        return reading
    tables, notes = _joined(reading.tables, names, sharing, gap)
    if not notes:
        return reading
    return ReadCorpus(tables=tables, ledger=reading.ledger, notes=(*reading.notes, *notes))


def _joined(
    tables: Tables, names: dict[str, str], sharing: Mapping[str, Sequence[str]], gap: Gap
) -> tuple[Tables, list[str]]:
    frames = by_chat(tables)
    rows = {row.id: row for row in tables.chats}
    into: dict[str, str] = {}  # a chat → the one that it was put into
    notes: list[str] = []
    for chat, others in sharing.items():
        for home in dict.fromkeys(into.get(other, other) for other in others):
            merged = _merged(rows[home], frames[home], rows[chat], frames[chat], gap)
            if merged is not None:
                frames[home], rows[home], shared = merged
                into[chat] = home
                names[home] = common_name(names[home])
                notes.append(taken_once(shared))
                break
    free = UniqueNames()
    kept = {name: free.free(names[name]) for name in rows if name not in into}
    messages = [frames[name].with_columns(chat=pl.lit(new)) for name, new in kept.items()]
    chats = tuple(replace(rows[name], id=new) for name, new in kept.items())
    return replace(tables, chats=chats, messages=pl.concat(messages)), notes


def _sharing(messages: pl.DataFrame, keys: Mapping[str, tuple[str, str]]) -> dict[str, list[str]]:
    """Chats, and those of their name before them that have messages of theirs, most first."""
    counts = Counter(keys.values())
    alike = [chat for chat, key in keys.items() if counts[key] > 1]
    common = {chat: "\0".join(key) for chat, key in keys.items()}
    said = messages.filter(pl.col("chat").is_in(alike)).select("chat", *_SAME)
    said = said.unique(maintain_order=True).with_columns(
        name=pl.col("chat").replace_strict(common, return_dtype=pl.String)
    )
    said = said.with_columns(first=pl.col("chat").first().over("name", *_SAME))
    pairs = said.filter(pl.col("first") != pl.col("chat")).group_by("chat", "first").len()
    shared: dict[str, list[tuple[int, str]]] = {}
    for chat, first, count in pairs.rows():
        shared.setdefault(chat, []).append((-count, first))
    return {
        chat: [first for _, first in sorted(shared[chat])[:_LIKELY_SHARED]]
        for chat in alike
        if chat in shared
    }


def _merged(
    home: ChatRow, known: pl.DataFrame, row: ChatRow, new: pl.DataFrame, gap: Gap
) -> tuple[pl.DataFrame, ChatRow, int] | None:
    """Both as one chat, or None where they disagree."""
    alignment = align(known, new)
    if alignment is None or alignment.offset or alignment.others():
        return None
    spans = span(known["time"]), span(new["time"])
    if spans[0] and spans[1] and spans[1][1] < spans[0][1]:
        known, new = new, known  # what was exported first stays as it was
    new = new.with_columns(chat=pl.lit(home.id))
    known = known.with_columns(chat=pl.lit(home.id))
    whole, counts = join(known, new, gap)
    if is_cut(known, gap):
        whole = recut(whole, gap)
    return whole, joined_row(home, row, {}, whole), counts.joined
