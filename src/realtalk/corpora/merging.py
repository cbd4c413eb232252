"""A corpus and a new export → the corpus with what is new in it.

    merged = merge(stored, export, Merging(gap=timedelta(hours=6), same={"Mum": "Anna"}))
    merged.tables     the chats of `stored`, with new messages and new chats
    merged.counts     joined 12,034, new 311, edited 2, deleted 1
    merged.notes      "Anna: times of the new file were moved by -1:00 h"

A chat is found by what both files have in common, else by its name and its people. `fresh` is
for files that are read together for the first time: ids and sessions are counted anew.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

import polars as pl

from realtalk.chat import pack_extra, unpack_extra
from realtalk.corpora.calls import joined_calls, renamed_calls
from realtalk.corpora.joining import JoinCounts, is_cut, join, recut
from realtalk.corpora.matching import Alignment, align, common
from realtalk.corpora.people import aliases_with, authors_of, known_names, same_people
from realtalk.corpora.sessions import Gap
from realtalk.corpora.tables import MESSAGES, ChatRow, Tables
from realtalk.errors import RealtalkError
from realtalk.local.naming import UniqueNames
from realtalk.registry import suggest

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
                f"--chat names one chat, and the new file holds {len(self._new.chats):,}"
            )
        added = [row for row in self._new.chats if not self._joined(row, frames[row.id])]
        if added and not self._way.fresh and len(added) == len(self._new.chats):
            raise RealtalkError(
                f"no chat of the corpus goes on in chat '{added[0].id}'",
                fix="name it with --chat, or read the file into a folder of its own with --out",
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
            self._notes.append(f"{chat}: {told}; they stay as they were without --take-edits")
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
        f"chat '{row.id}' may be {listed} of the corpus", fix="name the one with --chat"
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
