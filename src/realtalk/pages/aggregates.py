"""A corpus and its labels → the aggregates that a page filters: one row per chat, day and person.

    Aggregates.build(tables, labels).to_json()
    → {"people": ["Mara", "Theo"], "chats": ["Chat_1"], "first": "2026-03-02",
       "rows": {"chat": [0, 0], "day": [0, 0], "person": [0, 1], "messages": [12, 9], …},
       "hours": {"row": [0, 0, 1], "item": [18, 19, 19], "count": [7, 5, 9]},
       "replies": {"row": [0, 1], "values": [[40, 75], [22]]}, "words": …, "emoji": …,
       "lookup": …}

No text of a message is in it. People beyond the most active share one row as "others". A day is
the number of days since `first`; -1 stands for messages without a time. A column of nothing but
zeros is left out. What would grow with the messages has an end: of a large chat hours, words and
the like are counted by month or longer, on a day in the middle of it, and of very many reply times
every so many-th is kept.

    answers(frame)             → chat | date | speaker | other: Mara answered Theo
    mentions(frame, speakers)  → chat | date | speaker | other: Mara wrote "@Theo" or "theo"

A chat is a group from three writers on. Whoever quotes a message answers its writer; otherwise the
first message of a turn answers whoever wrote before it in the same session. A name is a mention by
any of its words that no other speaker has and that is no ordinary word of the chat; behind an "@"
it is always one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl
import regex

from realtalk.ei.labels import EMOTIONS
from realtalk.formats.tables import Tables
from realtalk.pages.lines import MEDIA, MessageLines, message_lines
from realtalk.pages.words import LookUp, PortraitWords, count_words_used, name_parts
from realtalk.text.ordinary import ordinary_words
from realtalk.text.words import letter_words

PEOPLE, CHATS = 12, 12  # shown by name; one more is shown too rather than called "others"
_KEY = ("chat", "day", "person")
COUNTED = ("words", "characters", "question", "links", *MEDIA, "calls", "edited", "deleted")
MARKED = ("starts", "ends", "turn")
_SUMS = (
    pl.len().alias("messages"),
    *(pl.col(name).cast(pl.Int64).sum() for name in (*COUNTED, *MARKED)),
)
_SHOWN = {"emoji": 120, "laughter": 120, "openings": 60, "domains": 40}  # at most so many items
_MOST = 60_000  # entries of a part, some 400 kB of a page
_MOST_REPLIES = 4_000  # of a person
_LONGER = ("1mo", "1q", "1y", "1000y")  # what entries are gathered over until they are few enough


class Group(NamedTuple):
    """The first of many things by name, and how many more there are beside them."""

    names: tuple[str, ...]
    others: int

    @classmethod
    def of(cls, sizes: Mapping[str, int], most: int) -> Group:
        order = sorted(sizes, key=lambda name: (-sizes[name], name))
        first = order if len(order) <= most + 1 else order[:most]
        return cls(tuple(first), len(order) - len(first))

    def numbers(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}


@dataclass(frozen=True)
class Aggregates:
    """Everything that a portrait is made from, and the lines that a second count starts from."""

    lines: MessageLines
    feelings: pl.DataFrame | None
    words: PortraitWords | None
    people: Group
    chats: Group
    first: date | None
    members: int  # speakers who never wrote are counted here

    @classmethod
    def build(
        cls, tables: Tables, labels: pl.DataFrame | None = None, *, words: bool = True
    ) -> Aggregates:
        """Counts everything; without `words` no word, emoji or address is looked at."""
        lines = message_lines(tables)
        frame = lines.frame
        names = {name for chat in tables.chats for name in chat.speakers}
        aliases = {alias.name for chat in tables.chats for alias in chat.aliases}
        return cls(
            lines,
            None if labels is None else feeling_lines(labels),
            count_words_used(lines, name_parts(names | aliases)) if words else None,
            Group.of(dict(frame.group_by("speaker").len().iter_rows()), PEOPLE),
            Group.of(dict(frame.group_by("chat").len().iter_rows()), CHATS),
            frame["date"].min(),  # type: ignore[arg-type]
            len(names),
        )

    @cached_property
    def by_person(self) -> pl.DataFrame:
        """One row per person, who wrote most first: what the page's table of people shows."""
        unit = self.lines.unit_seconds
        count = pl.col("count").cast(pl.Int64)
        calls = self.lines.calls.group_by("speaker").agg(called=count.sum())
        return (
            self.lines.frame.group_by("speaker")
            .agg(
                *_SUMS,
                replies=pl.col("reply").count(),
                reply_seconds=(pl.col("reply") // unit * unit).median(),
                night=(pl.col("hour") < 5).sum(),
                morning=pl.col("hour").is_between(5, 9).sum(),
            )
            .join(calls, on="speaker", how="left")
            .with_columns(pl.col("calls") + pl.col("called").fill_null(0))
            .drop("called")
            .sort("messages", "speaker", descending=[True, False])
        )

    def to_json(self) -> dict[str, Any]:
        """What the page holds; `json` of it is some twenty bytes per message, or fewer."""
        frame, used = self.lines.frame, self.words
        data: dict[str, Any] = {
            "people": list(self.people.names),
            "others": self.people.others,
            "members": self.members,
            "chats": list(self.chats.names),
            "other_chats": self.chats.others,
            "first": self.first.isoformat() if self.first else None,
            "unit": self.lines.unit,
            "spaceless": self.lines.spaceless,
            "languages": [] if used is None else list(used.languages),
            "rows": _columns(self._rows),
            "hours": self._entries(frame.rename({"hour": "item"}), weekdays=True),
            "replies": self._replies(),
            "answers": self._between(answers(frame)),
        }
        if used is not None:
            data["mentions"] = self._between(mentions(frame, self.people.names))
            data["words"] = self._used(used.words, _MOST)
            counts = used.words["item"].value_counts(name="n")
            uses, total = dict(counts.iter_rows()), max(1, used.tokens["count"].sum())
            data["words"]["shares"] = [uses[item] / total for item in data["words"]["items"]]
            data["words"]["least"] = list(used.least)
            data["lookup"] = self._lookup(used.lookup)
            for name, most in _SHOWN.items():
                data[name] = self._used(getattr(used, name), most)
        if self.feelings is not None:
            numbers = {name: number for number, name in enumerate(EMOTIONS)}
            number = pl.col("emotion").replace_strict(numbers, return_dtype=pl.Int64)
            felt = self.feelings.drop_nulls("emotion").with_columns(item=number).sort("item")
            data["emotions"] = {"items": list(EMOTIONS)} | self._entries(felt)
        return data

    def _add_numbers(self, frame: pl.DataFrame, person: str = "speaker") -> pl.DataFrame:
        """The same with numbers in place of chats, dates and people."""
        days = (pl.col("date") - pl.lit(self.first, pl.Date)).dt.total_days()
        return frame.with_columns(
            chat=_number("chat", self.chats),
            day=days.fill_null(-1),
            person=_number(person, self.people),
        )

    @cached_property
    def _rows(self) -> pl.DataFrame:
        """Sums by chat, day and person; of some none need have a message of that person then."""
        marks = self.lines.reactions
        parts = [
            self._summed(self.lines.calls, "called"),
            self._summed(marks.drop_nulls("giver"), "reacted", "giver"),
            self._summed(marks, "reactions", "receiver"),
        ]
        if self.words is not None:
            parts.append(self._summed(self.words.tokens, "tokens"))
        if self.feelings is not None:
            parts.append(feeling_sums(self._add_numbers(self.feelings), _KEY))
        rows = self._add_numbers(self.lines.frame).group_by(_KEY).agg(_SUMS)
        for part in parts:
            rows = rows.join(part, on=_KEY, how="full", coalesce=True, nulls_equal=True)
        rows = rows.fill_null(0).sort(_KEY)
        return rows.with_columns(pl.col("calls") + pl.col("called")).drop("called")

    def _summed(self, counts: pl.DataFrame, name: str, person: str = "speaker") -> pl.DataFrame:
        total = pl.col("count").cast(pl.Int64).sum().alias(name)
        return self._add_numbers(counts, person).group_by(_KEY).agg(total)

    @cached_property
    def _row_of(self) -> pl.DataFrame:
        return self._rows.select(_KEY).with_row_index("row")

    def _replies(self) -> dict[str, Any]:
        """Reply times by row, in the unit of the clock, shortest first."""
        size = self.lines.unit_seconds
        timed = self._add_numbers(self.lines.frame.drop_nulls("reply"))
        waits = timed.select(*_KEY, pl.col("reply") // size)
        if waits.height > _MOST:
            # Every so many-th of a person's, in each month from the shortest to the longest.
            step = (pl.len() / _MOST_REPLIES).ceil().cast(pl.Int64).over("person")
            place = pl.int_range(pl.len()).over("person")
            waits = self._gathered(waits, "1mo").sort("person", "chat", "day", "reply")
            waits = waits.filter(place % step == step // 2)
        replies = (
            waits.group_by(_KEY)
            .agg(values=pl.col("reply").sort())
            .join(self._row_of, on=_KEY)
            .sort("row")
        )
        return {"row": _steps(replies["row"]), "values": replies["values"].to_list()}

    def _used(self, uses: pl.DataFrame, most: int) -> dict[str, Any]:
        """The items that were used most, most first, and their uses by row."""
        order = uses["item"].value_counts(name="n").sort("n", "item", descending=[True, False])
        kept = order.head(most).select("item", number=pl.int_range(pl.len()))
        numbered = uses.join(kept, on="item", maintain_order="left")
        numbered = numbered.with_columns(item="number")
        return {"items": kept["item"].to_list()} | self._entries(numbered, ranked=True)

    def _entries(
        self, uses: pl.DataFrame, *, ranked: bool = False, weekdays: bool = False
    ) -> dict[str, Any]:
        """Uses of numbered items counted by row, gathered over time until there are few.

        Rows are steps from one to the next, which are short to write.
        """
        by_item = (*_KEY, "item")
        numbered = self._add_numbers(uses.drop_nulls("item"))
        counts = few = numbered.group_by(by_item, maintain_order=True).len("count")
        for every in _LONGER[:2] if ranked else _LONGER:
            if few.height <= _MOST:
                break
            gathered = self._gathered(counts, every, weekdays=weekdays)
            few = gathered.group_by(by_item, maintain_order=True).agg(pl.col("count").sum())
        if ranked:  # by their use: those used least are given up
            sizes = few.group_by("item").len().sort("item")
            kept = sizes.filter(pl.col("len").cum_sum() <= max(_MOST, sizes["len"].max() or 0))
            few = few.join(kept, on="item", how="semi", maintain_order="left")
        placed = few.join(self._row_of, on=_KEY, maintain_order="left")
        placed = placed.sort("row", maintain_order=True)
        return {
            "row": _steps(placed["row"]),
            "item": placed["item"].to_list(),
            "count": placed["count"].to_list(),
        }

    def _between(self, pairs: pl.DataFrame) -> dict[str, Any]:
        """Counts by row and the number of the other person."""
        return self._entries(pairs.with_columns(item=_number("other", self.people)).sort("item"))

    def _gathered(self, lines: pl.DataFrame, every: str, *, weekdays: bool = False) -> pl.DataFrame:
        """Lines with one day for each chat, person and span of time: that of the middle row.

        Whoever chooses a part of the time chooses the spans whose middle it holds.
        """
        date = pl.lit(self.first) + pl.duration(days=pl.col("day"))
        cells = {"span": date.dt.truncate(every)}
        if weekdays:
            cells["weekday"] = date.dt.weekday()
        is_timed = pl.col("day") >= 0
        cell = [pl.when(is_timed).then(value).alias(name) for name, value in cells.items()]
        keys = ["chat", "person", *cells]
        middle = pl.col("day").sort().get(pl.len() // 2).alias("middle")
        home = self._row_of.with_columns(cell).group_by(keys).agg(middle)
        placed = lines.with_columns(cell).join(
            home, on=keys, nulls_equal=True, maintain_order="left"
        )
        return placed.with_columns(day="middle").drop("middle", *cells)

    def _lookup(self, found: LookUp) -> dict[str, Any]:
        """Uses of each item by chat, person and week or month, which are numbered as cells."""
        counts = self._add_numbers(found.counts).group_by("item", *_KEY).agg(pl.col("count").sum())
        cells = counts.select(_KEY).unique().sort(_KEY).with_row_index("cell")
        placed = counts.join(cells, on=_KEY).sort("item", "cell")
        return {
            "items": list(found.items),
            "words": found.words,
            "phrases": found.phrases,
            "cells": {name: cells[name].to_list() for name in _KEY},
            "sizes": placed["item"].rle().struct.field("len").to_list(),
            "cell": placed["cell"].to_list(),
            "count": placed["count"].to_list(),
        }


def _number(column: str, group: Group) -> pl.Expr:
    """Its place among the names; the number after the last for all others."""
    return pl.col(column).replace_strict(
        group.numbers(), default=len(group.names), return_dtype=pl.Int64
    )


def _steps(numbers: pl.Series) -> list[int]:
    return numbers.cast(pl.Int64).diff().fill_null(numbers.cast(pl.Int64)).to_list()


def _columns(rows: pl.DataFrame) -> dict[str, list[Any]]:
    filled = (column for column in rows if column.name in _KEY or (column != 0).any())
    return {column.name: column.to_list() for column in filled} | {"chat": _steps(rows["chat"])}


def feeling_lines(labels: pl.DataFrame) -> pl.DataFrame:
    """One row per labelled turn: chat | date | speaker | sentiment | emotion | … | low.

    `low` says of a turn that answers somebody within a session whether that somebody's turn was
    negative; it is missing where nobody was answered or the turn before was not labelled.
    """
    turns = labels.sort("chat", "turn")
    before = [pl.col(name).shift(1) for name in ("chat", "session", "turn", "speaker", "sentiment")]
    chat, session, turn, speaker, sentiment = before
    is_answer = (
        (pl.col("chat") == chat)
        & (pl.col("session") == session)
        & (pl.col("turn") == turn + 1)
        & (pl.col("speaker") != speaker)
    )
    return turns.select(
        "chat",
        pl.col("time").dt.date().alias("date"),
        "speaker",
        "sentiment",
        "emotion",
        pl.col("intimacy", "empathy").cast(pl.Float64).fill_nan(None),
        low=pl.when(is_answer).then(sentiment == "negative"),
    )


def feeling_sums(lines: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    """Counts and sums that every share and mean of feelings is made from."""
    empathy, low = pl.col("empathy"), pl.col("low")
    return lines.group_by(*by).agg(
        felt=pl.col("sentiment").count(),
        positive=(pl.col("sentiment") == "positive").sum(),
        negative=(pl.col("sentiment") == "negative").sum(),
        intimacy_n=pl.col("intimacy").count(),
        intimacy=pl.col("intimacy").sum().round(4),
        empathy_n=empathy.count(),
        empathy=empathy.sum().round(4),
        low_n=empathy.filter(low).count(),
        low_empathy=empathy.filter(low).sum().round(4),
        other_n=empathy.filter(~low).count(),
        other_empathy=empathy.filter(~low).sum().round(4),
    )


_LINE = ("chat", "date", "speaker")
_SHORTEST = 3  # letters of a part of a name
_SAMPLE = 2_000  # texts that tell the chat's language


def _in_groups(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("speaker").n_unique().over("chat") > 2)


def answers(frame: pl.DataFrame) -> pl.DataFrame:
    """Who answered whom; nobody answers themselves."""
    groups = _in_groups(frame)
    quoted = groups.select("chat", reply_to="id", other="speaker").unique(["chat", "reply_to"])
    before = pl.when(pl.col("turn") & ~pl.col("starts")).then(pl.col("speaker").shift(1))
    return (
        groups.with_columns(before=before)
        .join(quoted, on=["chat", "reply_to"], how="left")
        .select(*_LINE, other=pl.coalesce("other", "before"))
        .filter(pl.col("other") != pl.col("speaker"))
    )


def mentions(frame: pl.DataFrame, speakers: Iterable[str]) -> pl.DataFrame:
    """Who wrote whose name; nobody mentions themselves."""
    groups = _in_groups(frame)
    names = sorted(speakers) if groups.height else []
    words = {name: set(letter_words(name.lower())) for name in names}
    shared = Counter(word for parts in words.values() for word in parts)
    sample = groups["text"].gather_every(max(1, groups.height // _SAMPLE)).to_list()
    ordinary = ordinary_words(sample)
    found = [groups.head(0).select(*_LINE, other=pl.lit(""))]
    for name in names:
        own = {word for word in words[name] if shared[word] == 1 and len(word) >= _SHORTEST}
        plain = [regex.escape(word) for word in own if not ordinary.has(word, word)]
        marked = [f"@{regex.escape(word)}" for word in own]
        if not marked:
            continue
        pattern = rf"(?i)(?:^|[^\p{{L}}])(?:{'|'.join(sorted([*plain, *marked]))})(?:[^\p{{L}}]|$)"
        is_mention = pl.col("text").str.contains(pattern) & (pl.col("speaker") != name)
        found.append(groups.filter(is_mention).select(*_LINE, other=pl.lit(name)))
    return pl.concat(found)
