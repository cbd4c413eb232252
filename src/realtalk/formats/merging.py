"""A corpus and a new export → the corpus with what is new in it.

    merged = merge(stored, [export], Merging(gap=timedelta(hours=6), same={"Mum": "Anna"}))
    merged.tables     the chats of `stored`, with new messages and new chats
    merged.counts     joined 12,034, new 311, edited 2, deleted 1
    merged.notes      "Anna: times of the new file were moved by -1:00 h"

A chat is found by what both files have in common, else by its name and its people. `fresh` is
for files that are read together for the first time: ids and sessions are counted anew.

Names differ between phones. A name is taken for another only where the user said so, now or when
an earlier export was joined, or where the app's own ids say so. What the messages suggest is
proposed, never done: SamePersonError: 'Mum' is called 'Anna' in the other file.

Calls, which apps write among messages as notices, stand in the chat's `extra` as `calls`
({"Ann": ["2024-05-01T09:30:00"]}); `Chat.calls` reads them. A call is no message: it takes part
in no statistic of messages, turns or sessions.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cached_property

import polars as pl

from realtalk.chat import Alias, calls_in, pack_extra, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.formats.joining import (
    Alignment,
    JoinCounts,
    align,
    common,
    is_cut,
    join,
    readable_extra,
    recut,
    span,
)
from realtalk.formats.json_input import mapping
from realtalk.formats.reading import ReadCorpus
from realtalk.formats.sessions import Gap
from realtalk.formats.tables import ChatRow, Tables, join_tables, rename_chats
from realtalk.grouping import grouped
from realtalk.registry import known_name, suggest

JOINED = "another export"  # the source of an alias that was learned by joining
_LISTED = 20  # names in an error
_NOW = timedelta(0)
_COPY = re.compile(r"[ _]*\(\d{1,3}\)$")  # how browsers and phones name a second file
_FEW = 8  # chats that are all looked at
_LIKELY = 5  # of more, those that have most in common
_LONG = 12  # letters of a text that tells a chat
_MOST = 500  # chats that share messages: nobody exports one so often, and each takes some time
# What people are called, and their names in the corpus.
Renamed = Mapping[str, str]
TimedCall = tuple[str, datetime | None]


def packed_calls(calls: Iterable[TimedCall]) -> dict[str, list[str]]:
    """Calls as `extra` holds them; a call without a readable time is an empty text."""
    return grouped((who, "" if time is None else time.isoformat()) for who, time in calls)


def joined_calls(old: str, new: str, names: Renamed, offset: timedelta) -> str:
    """The known chat's `extra` with the calls that the new one's tells beyond them.

    `names` are the known names of people, `offset` is what the new clock lacks. Exports differ
    in seconds, so calls of one person in one minute are the same ones.
    """
    new_calls = _renamed_calls(new, names, offset)
    if not new_calls:
        return old
    calls = _renamed_calls(old, {})
    unseen = Counter(map(_minute, calls))
    for call in new_calls:
        if unseen[_minute(call)]:
            unseen[_minute(call)] -= 1
        else:
            calls.append(call)
    return pack_extra({**unpack_extra(old), "calls": packed_calls(calls)})


def _renamed_calls(extra: str, names: Renamed, offset: timedelta = _NOW) -> list[TimedCall]:
    return [
        (names.get(call.speaker, call.speaker), call.time and call.time + offset)
        for call in calls_in(extra)
    ]


def _minute(call: TimedCall) -> TimedCall:
    speaker, time = call
    return speaker, time and time.replace(second=0, microsecond=0)


class SamePersonError(RealtalkError):
    """Two exports call somebody differently; `proposed` has the new names and the known ones."""

    def __init__(self, chat: str, proposed: Renamed, unclear: tuple[str, ...]) -> None:
        self.proposed = dict(proposed)
        self.unclear = unclear
        if proposed:
            pairs = ", ".join(f"'{new}' is called '{old}'" for new, old in proposed.items())
            what = f"{pairs} in the other file"
            options = " ".join(f'`same="{new}={old}"`' for new, old in proposed.items())
            fix = f"if that is so, say {options}"
        else:
            what = f"'{unclear[0]}' has another name in the other file"
            fix = f'say who it is: `same="{unclear[0]}=NAME"`'
        super().__init__(what, where=f"chat '{chat}'", fix=fix)


def _same_people(
    old: ChatRow, new: ChatRow, alignment: Alignment | None, same: Renamed
) -> dict[str, str]:
    """New names → known ones, where they differ; an error where the messages suggest more."""
    names = _known_names(old, new, same)
    proposed: dict[str, str] = {}
    unclear: list[str] = []
    for name, suggested in (alignment.others if alignment else {}).items():
        if name in names and (name in same or name in same.values()):
            continue
        if suggested is None:
            unclear.append(name)
        elif suggested != names.get(name, name):
            proposed[name] = suggested
    if proposed or unclear:
        raise SamePersonError(old.id, proposed, tuple(unclear))
    return names


def _known_names(old: ChatRow, new: ChatRow, same: Renamed) -> dict[str, str]:
    """What was said, is remembered or follows from ids: new names → known ones, if they differ."""
    there = old.speakers
    authors: dict[str | None, str] = {number: name for name, number in _authors(old).items()}
    numbers = _authors(new)
    remembered = {alias.name: alias.speaker for alias in old.aliases if alias.source == JOINED}
    said_back = {theirs: ours for ours, theirs in same.items()}
    names: dict[str, str] = {}
    for name in new.speakers:
        if name in same and (same[name] in there or said_back.get(name) not in there):
            names[name] = same[name]
        elif said_back.get(name) in there and name not in there:
            names[name] = said_back[name]
        else:
            names[name] = authors.get(numbers.get(name), remembered.get(name, name))
    return {name: person for name, person in names.items() if name != person}


def _authors(row: ChatRow) -> dict[str, str]:
    """Speakers and the app's ids of them, where the reader kept them."""
    authors = mapping(readable_extra(row.extra).get("authors"))
    return {name: number for name, number in authors.items() if isinstance(number, str)}


def check_names(same: Renamed, parts: Iterable[Tables]) -> None:
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


def _aliases(row: ChatRow, speakers: Sequence[str], names: Renamed) -> tuple[Alias, ...]:
    """The aliases of a chat, and those that were learned; no speaker's name becomes one."""
    learned = (
        Alias(name, speaker, JOINED) for name, speaker in names.items() if name not in speakers
    )
    return tuple(dict.fromkeys((*row.aliases, *learned)))


@dataclass(frozen=True, slots=True)
class Merging:
    """How to merge: the pause between sessions, the chat meant, people of two names."""

    gap: Gap
    chat: str | None = None
    same: Renamed = field(default_factory=dict)
    take_edits: bool = False
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class MergeResult:
    """The merged corpus and what happened; `chats` is how many are new."""

    tables: Tables
    counts: JoinCounts
    chats: int = 0
    notes: tuple[str, ...] = ()


def merge(old: Tables, new: Tables, way: Merging) -> MergeResult:
    """The known corpus with what is new."""
    return _Merger(old, new, way).merge()


class _Merger:
    def __init__(self, old: Tables, new: Tables, way: Merging) -> None:
        self._known, self._new, self._way = old, new, way
        self._rows = {row.id: row for row in old.chats}
        self._frames = _by_chat(old)
        self._new_frames = _by_chat(new)
        self._counts = JoinCounts()
        self._joined_chats: list[str] = []
        self._notes: list[str] = []

    def merge(self) -> MergeResult:
        way, chats = self._way, self._new.chats
        if way.fresh and way.same:
            self._rename_people()
        if way.chat is not None and len(chats) > 1:
            raise RealtalkError(f"`chat=` names one chat, and the new file holds {len(chats):,}")
        added = [row for row in chats if not self._join_known(row)]
        if added and not way.fresh and len(added) == len(chats):
            raise RealtalkError(
                f"no chat of the corpus goes on in chat '{added[0].id}'",
                fix="name it with `chat=`, or read the file into a folder of its own with `out=`",
            )
        return MergeResult(self._tables(added), self._counts, len(added), tuple(self._notes))

    def _rename_people(self) -> None:
        """People of the known chats get the names that were said to be theirs."""
        for id_, row in self._rows.items():
            names = {
                name: old
                for name, old in self._way.same.items()
                if name in row.speakers and old not in row.speakers
            }
            speakers = tuple(names.get(name, name) for name in row.speakers)
            extra = row.extra
            if calls := _renamed_calls(extra, names):
                extra = pack_extra({**unpack_extra(extra), "calls": packed_calls(calls)})
            aliases = _aliases(row, speakers, names)
            self._rows[id_] = replace(row, speakers=speakers, aliases=aliases, extra=extra)
            self._frames[id_] = self._frames[id_].with_columns(pl.col.speaker.replace(names))

    def _join_known(self, row: ChatRow) -> bool:
        """Whether the chat is one that is known; then its messages are put in."""
        home = self._home(row)
        if home is None:
            return False
        old, alignment = home
        way = self._way
        names = _same_people(old, row, alignment, way.same)
        offset = alignment.offset if alignment else _NOW
        frame = self._new_frames[row.id].with_columns(
            pl.col.speaker.replace(names), pl.col.time + offset, chat=pl.lit(old.id)
        )
        if offset:
            self._notes.append(f"{old.id}: times of the new file were moved by {_hours(offset)}")
        known = self._frames[old.id]
        numbers = [number for number, _ in old.empty_sessions]
        after, counts = join(known, frame, way.gap, numbers=numbers, take_edits=way.take_edits)
        if way.fresh:
            after = _number_anew(after, known, way.gap)
            note = _taken_once(counts.joined)
            self._notes.append(f"{old.id}: {note}" if len(self._rows) > 1 else note)
        self._frames[old.id] = after
        self._counts += counts
        self._joined_chats.append(old.id)
        self._rows[old.id] = _joined_row(old, row, names, after, offset)
        if counts.changes and not way.take_edits:
            note = f"messages edited, deleted or given reactions since: {counts.changes:,}"
            self._notes.append(
                f"{old.id}: {note}; they stay as they were without `take_edits=True`"
            )
        rest = (self._new.events, self._new.questions)
        if behind := sum(frame.filter(pl.col.chat == row.id).height for frame in rest):
            note = f"events and questions of the new file left out: {behind:,}"
            self._notes.append(f"{old.id}: {note}")
        return True

    def _home(self, row: ChatRow) -> tuple[ChatRow, Alignment | None] | None:
        """The known chat that this one is, and how they lie on each other."""
        way, frame = self._way, self._new_frames[row.id]
        if way.chat is not None:
            known_name("chat", way.chat, self._rows)
            return self._rows[way.chat], align(self._frames[way.chat], frame)
        likely = self._likely(row)
        homes: list[tuple[ChatRow, Alignment | None]] = [
            (old, alignment)
            for old in likely
            if (alignment := align(self._frames[old.id], frame)) is not None
        ]
        homes = homes or [(old, None) for old in likely if self._goes_on(old, row, frame)]
        alike = [home for home in homes if _is_named_alike(home[0], row)]
        if len(homes) > 1 and len(alike) != 1 and not way.fresh:
            listed = ", ".join(f"'{old.id}'" for old, _ in homes[:_LIKELY])
            raise RealtalkError(
                f"chat '{row.id}' may be {listed} of the corpus", fix="name the one with `chat=`"
            )
        return max(
            alike or homes, key=lambda home: home[1].agreeing if home[1] else 0, default=None
        )

    def _goes_on(self, old: ChatRow, row: ChatRow, frame: pl.DataFrame) -> bool:
        """Whether it is of the same people at another time; no message shows that it is one."""
        names = _known_names(old, row, self._way.same)
        people, there = {names.get(name, name) for name in row.speakers}, set(old.speakers)
        alike = people == there or (_is_named_alike(old, row) and people & there)
        is_one_app = self._known.format == self._new.format
        return bool(
            is_one_app and alike and not common(self._frames[old.id]["time"], frame["time"])
        )

    def _likely(self, row: ChatRow) -> list[ChatRow]:
        """Known chats that may be this one: of its name, its people, or with texts of it."""
        rows = list(self._rows.values())
        if len(rows) <= _FEW:
            return rows
        alike = [old.id for old in rows if _is_named_alike(old, row)]
        people = [old.id for old in rows if set(old.speakers) == set(row.speakers)]
        shared = self._shared.get(row.id, [])
        ids = {id_ for likely in (alike, people, shared) for id_ in likely[:_LIKELY]}
        return [old for old in rows if old.id in ids]

    @cached_property
    def _shared(self) -> dict[str, list[str]]:
        is_long = pl.col.text.str.len_chars() >= _LONG
        known, new = (side.messages.filter(is_long) for side in (self._known, self._new))
        return _find_sharing(known, new, ["text"])

    def _tables(self, added: Sequence[ChatRow]) -> Tables:
        """All chats; one that was read of several files has their common name."""
        ids = {id_: id_ for id_ in self._rows}
        for id_ in self._joined_chats if self._way.fresh else ():
            if (name := _common_name(id_)) not in ids.values():
                ids[id_] = name
        names = UniqueNames(taken=ids.values())
        new_ids = {row.id: names.free(row.id) for row in added}
        known = replace(
            self._known,
            chats=tuple(self._rows.values()),
            messages=pl.concat([self._known.messages.clear(), *self._frames.values()]),
        )
        parts = [rename_chats(known, ids), rename_chats(self._new, new_ids)]
        return join_tables(known.name, known.format, parts)


def _common_name(name: str) -> str:
    """The name of a chat without the number of its file: "Mara (1)" is "Mara" once more."""
    return _COPY.sub("", name) or name


def _is_named_alike(first: ChatRow, second: ChatRow) -> bool:
    return _common_name(first.id) == _common_name(second.id)


def _hours(offset: timedelta) -> str:
    minutes = round(abs(offset).total_seconds() / 60)
    return f"{'-' if offset < _NOW else '+'}{minutes // 60}:{minutes % 60:02} h"


def _taken_once(count: int) -> str:
    return f"messages that stand in two files of one chat, taken once: {count:,}"


def _by_chat(tables: Tables) -> dict[str, pl.DataFrame]:
    """The messages of every chat."""
    parts = tables.messages.partition_by("chat", as_dict=True, maintain_order=True)
    return {row.id: parts.get((row.id,), tables.messages.clear()) for row in tables.chats}


def _find_sharing(old: pl.DataFrame, new: pl.DataFrame, on: Sequence[str]) -> dict[str, list[str]]:
    """New chats and the known ones that have most messages in common with them, most first.

    A message that is in many chats tells nothing: it counts for the first that has it.
    """
    known = old.group_by(on, maintain_order=True).agg(known=pl.col.chat.first())
    counts = (
        new.select("chat", *on)
        .unique()
        .join(known, on=on, nulls_equal=True)
        .group_by("chat", "known")
        .len()
        .sort("len", "known", descending=[True, False])
    )
    return grouped((chat, partner) for chat, partner, _ in counts.rows())


def _joined_row(
    old: ChatRow,
    new: ChatRow,
    names: Renamed,
    after: pl.DataFrame,
    offset: timedelta = _NOW,
) -> ChatRow:
    """The known chat with new speakers, their ids and calls, and others' names for them."""
    spoke = set(after["speaker"])
    others = dict.fromkeys(names.get(name, name) for name in new.speakers)
    added = [name for name in others if name in spoke and name not in old.speakers]
    numbers, new_numbers = _authors(old), _authors(new)
    extra = old.extra
    if numbers and (told := {name: new_numbers[name] for name in added if name in new_numbers}):
        extra = pack_extra({**unpack_extra(extra), "authors": {**told, **numbers}})
    return replace(
        old,
        speakers=(*old.speakers, *added),
        aliases=_aliases(old, old.speakers, names),
        extra=joined_calls(extra, new.extra, names, offset),
    )


# Several exports of one chat in one folder or archive, joined: what stands in two is taken once.
#
#     "WhatsApp Chat with Mara.txt"      messages of January and February
#     "WhatsApp Chat with Mara (1).txt"  messages of February and March
#     → one chat "Mara" of three months
#
# Files belong together where their names are alike and they agree on the time that both cover:
# a greeting sent to two people in one minute makes no one chat of two.


def join_overlaps(
    reading: ReadCorpus, titles: Sequence[str], gap: Gap, ids: Sequence[str] = ()
) -> ReadCorpus:
    """The reading with chats of one name joined where they agree.

    `titles` are the names that its chats have in their files, before two of one were told apart,
    and `ids` what the app itself calls them: chats that it tells apart stay apart.
    """
    keys = [
        f"{_common_name(name)}\0{id_}"
        for name, id_ in zip(titles, ids or [""] * len(titles), strict=True)
    ]
    if len(set(keys)) == len(keys):
        return reading
    tables = reading.tables
    rows, frames = {row.id: row for row in tables.chats}, _by_chat(tables)
    names = dict(zip(rows, titles, strict=True))
    key = pl.col.chat.replace_strict(dict(zip(rows, keys, strict=True)), return_dtype=pl.String)
    keyed = tables.messages.with_columns(key=key)
    sharing = {
        chat: [partner for partner in partners if partner != chat][:_LIKELY]
        for chat, partners in _find_sharing(
            keyed, keyed, ["key", "speaker", "time", "text"]
        ).items()
    }
    if sum(map(bool, sharing.values())) > _MOST:
        return reading
    into: dict[str, str] = {}  # a chat → the one that it was put into
    notes: list[str] = []
    for chat in tuple(rows):
        homes = dict.fromkeys(into.get(partner, partner) for partner in sharing.get(chat, ()))
        for home in homes:
            if (union := _joined_files(home, frames[home], frames[chat], gap)) is not None:
                frames[home], counts = union
                rows[home] = _joined_row(rows[home], rows[chat], {}, frames[home])
                into[chat] = home
                names[home] = _common_name(names[home])
                notes.append(_taken_once(counts.joined))
                break
    if not notes:
        return reading
    unique = UniqueNames()
    final_names = {name: unique.free(names[name]) for name in rows if name not in into}
    tables = replace(
        tables,
        chats=tuple(replace(rows[old], id=new) for old, new in final_names.items()),
        messages=pl.concat(
            frames[old].with_columns(chat=pl.lit(new)) for old, new in final_names.items()
        ),
    )
    return ReadCorpus(tables=tables, ledger=reading.ledger, notes=(*reading.notes, *notes))


def _joined_files(
    chat: str, old: pl.DataFrame, new: pl.DataFrame, gap: Gap
) -> tuple[pl.DataFrame, JoinCounts] | None:
    """Both as one chat, or None where they disagree."""
    alignment = align(old, new)
    if alignment is None or alignment.offset or alignment.others:
        return None
    first, second = span(old["time"]), span(new["time"])
    if first and second and second[1] < first[1]:
        old, new = new, old  # what was exported first stays as it was
    old, new = (frame.with_columns(chat=pl.lit(chat)) for frame in (old, new))
    union, counts = join(old, new, gap)
    return _number_anew(union, old, gap), counts


def _number_anew(union: pl.DataFrame, old: pl.DataFrame, gap: Gap) -> pl.DataFrame:
    """A chat that nothing points to yet in new sessions, where our rule made those of the old."""
    return recut(union, gap) if is_cut(old, gap) else union
