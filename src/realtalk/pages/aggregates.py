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
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

import polars as pl

from realtalk.ei.labels import EMOTIONS
from realtalk.formats.tables import Tables
from realtalk.pages.groups import answers, mentions
from realtalk.pages.lines import MEDIA, MessageLines, message_lines
from realtalk.pages.lookup import LookUp
from realtalk.pages.words import PortraitWords, WordCounts, count_words_used, name_parts

PEOPLE, CHATS = 12, 12  # shown by name; one more is shown too rather than called "others"
_KEY = ("chat", "day", "person")
COUNTED = ("words", "characters", "question", "links", *MEDIA, "calls", "edited", "deleted")
MARKED = ("starts", "ends", "turn")
_MOST = 60_000  # entries of a part, some 400 kB of a page
_MOST_REPLIES = 4_000  # of a person
_LONGER = ("1mo", "1q", "1y", "1000y")  # what entries are gathered over until they are few enough


@dataclass(frozen=True)
class Group:
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

    def to_json(self) -> dict[str, Any]:
        """What the page holds; `json` of it is some twenty bytes per message, or fewer."""
        frame = self._add_numbers(self.lines.frame)
        rows, row_of = self._rows(frame)
        data: dict[str, Any] = {
            "people": list(self.people.names),
            "others": self.people.others,
            "members": self.members,
            "chats": list(self.chats.names),
            "other_chats": self.chats.others,
            "first": self.first.isoformat() if self.first else None,
            "unit": self.lines.unit,
            "spaceless": self.lines.spaceless,
            "languages": [] if self.words is None else list(self.words.languages),
            "rows": _columns(rows),
            "hours": self._hours(frame, row_of),
            "replies": self._replies(frame, row_of),
        }
        data["answers"] = self._between(answers(self.lines.frame), row_of)
        if self.words is not None:
            used = self.words
            named = mentions(self.lines.frame, self.people.names)
            data["mentions"] = self._between(named, row_of)
            data["words"] = self._sparse(used.words, row_of) | {
                "shares": list(used.shares),
                "least": list(used.least),
            }
            data["lookup"] = self._lookup(used.lookup)
            for name in ("emoji", "laughter", "openings", "domains"):
                data[name] = self._sparse(getattr(used, name), row_of)
        if self.feelings is not None:
            data["emotions"] = self._emotions(row_of)
        return data

    def _add_numbers(self, frame: pl.DataFrame, person: str = "speaker") -> pl.DataFrame:
        """The same with numbers in place of chats, dates and people."""
        days = (
            (pl.col("date") - pl.lit(self.first)).dt.total_days().fill_null(-1)
            if self.first
            else pl.lit(-1)
        )
        return frame.with_columns(
            _number("chat", self.chats),
            days.cast(pl.Int64).alias("day"),
            _number(person, self.people).alias("person"),
        )

    def _rows(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        rows = frame.group_by(_KEY).agg(
            pl.len().alias("messages"),
            *(pl.col(name).cast(pl.Int64).sum() for name in (*COUNTED, *MARKED)),
        )
        for extra in self._further():
            rows = rows.join(extra, on=_KEY, how="full", coalesce=True, nulls_equal=True)
        rows = rows.fill_null(0).sort(_KEY)
        rows = rows.with_columns(pl.col("calls") + pl.col("called")).drop("called")
        return rows, rows.select(_KEY).with_row_index("row")

    def _further(self) -> list[pl.DataFrame]:
        """Columns whose rows need not have a message of that person on that day."""
        marks = self.lines.reactions
        givers = self._add_numbers(marks.drop_nulls("giver"), "giver")
        receivers = self._add_numbers(marks, "receiver")
        calls = self._add_numbers(self.lines.calls)
        parts = [
            calls.group_by(_KEY).agg(pl.col("count").cast(pl.Int64).sum().alias("called")),
            givers.group_by(_KEY).agg(pl.col("count").sum().alias("reacted")),
            receivers.group_by(_KEY).agg(pl.col("count").sum().alias("reactions")),
        ]
        if self.words is not None:
            tokens = self._add_numbers(self.words.tokens)
            parts.append(tokens.group_by(_KEY).agg(pl.col("count").sum().alias("tokens")))
        if self.feelings is not None:
            parts.append(feeling_sums(self._add_numbers(self.feelings), _KEY))
        return parts

    def _hours(self, frame: pl.DataFrame, row_of: pl.DataFrame) -> dict[str, Any]:
        timed = frame.drop_nulls("hour").group_by(*_KEY, "hour", maintain_order=True).len("count")
        timed = self._few(timed.rename({"hour": "item"}), row_of, weekdays=True)
        return _entries(timed, row_of)

    def _replies(self, frame: pl.DataFrame, row_of: pl.DataFrame) -> dict[str, Any]:
        """Reply times by row, in the unit of the clock, shortest first."""
        size = 60 if self.lines.unit == "minute" else 1
        waits = frame.drop_nulls("reply").select(*_KEY, pl.col("reply") // size)
        if waits.height > _MOST:
            # Every so many-th of a person's, in each month from the shortest to the longest.
            step = (pl.len() / _MOST_REPLIES).ceil().cast(pl.Int64).over("person")
            place = pl.int_range(pl.len()).over("person")
            waits = self._gathered(waits, row_of, "1mo").sort("person", "chat", "day", "reply")
            waits = waits.filter(place % step == step // 2)
        replies = (
            waits.group_by(_KEY)
            .agg(pl.col("reply").sort().alias("values"))
            .join(row_of, on=_KEY)
            .sort("row")
        )
        return {"row": _steps(replies["row"]), "values": replies["values"].to_list()}

    def _sparse(self, counts: WordCounts, row_of: pl.DataFrame) -> dict[str, Any]:
        summed = (
            self._add_numbers(counts.counts)
            .group_by(*_KEY, "item", maintain_order=True)
            .agg(pl.col("count").sum())
        )
        summed = self._few(summed, row_of, longest=2)
        # Items come in the order of their use: those used least are given up.
        sizes = summed.group_by("item").len().sort("item")
        kept = sizes.filter(pl.col("len").cum_sum() <= max(_MOST, sizes["len"].max() or 0))
        summed = summed.join(kept, on="item", how="semi", maintain_order="left")
        return {"items": list(counts.items)} | _entries(summed, row_of)

    def _few(
        self,
        counts: pl.DataFrame,
        row_of: pl.DataFrame,
        *,
        longest: int = len(_LONGER),
        weekdays: bool = False,
    ) -> pl.DataFrame:
        """The counts, gathered over as much time as is needed to have few."""
        few = counts
        for every in _LONGER[:longest]:
            if few.height <= _MOST:
                break
            few = (
                self._gathered(counts, row_of, every, weekdays=weekdays)
                .group_by(*_KEY, "item", maintain_order=True)
                .agg(pl.col("count").sum())
            )
        return few

    def _gathered(
        self, lines: pl.DataFrame, row_of: pl.DataFrame, every: str, *, weekdays: bool = False
    ) -> pl.DataFrame:
        """Lines with one day for each chat, person and span of time: that of the middle row.

        Whoever chooses a part of the time chooses the spans whose middle it holds.
        """
        date = pl.lit(self.first) + pl.duration(days=pl.col("day"))
        is_timed = pl.col("day") >= 0
        cell = [pl.when(is_timed).then(date.dt.truncate(every)).alias("span")]
        if weekdays:
            cell.append(pl.when(is_timed).then(date.dt.weekday()).alias("weekday"))
        keys = ["chat", "person", "span", *(["weekday"] if weekdays else [])]
        middle = pl.col("day").sort().get(pl.len() // 2).alias("middle")
        home = row_of.with_columns(cell).group_by(keys).agg(middle)
        placed = lines.with_columns(cell).join(
            home, on=keys, nulls_equal=True, maintain_order="left"
        )
        return placed.with_columns(pl.col("middle").alias("day")).drop("middle", *keys[2:])

    def _lookup(self, found: LookUp) -> dict[str, Any]:
        """Uses of each item by chat, person and week or month, which are numbered as cells."""
        counts = self._add_numbers(found.counts).group_by("item", *_KEY).agg(pl.col("count").sum())
        cells = counts.select(_KEY).unique().sort(_KEY).with_row_index("cell")
        placed = counts.join(cells, on=_KEY).sort("item", "cell")
        sizes = placed.group_by("item", maintain_order=True).len()["len"]
        return {
            "items": list(found.items),
            "words": found.words,
            "phrases": found.phrases,
            "cells": {name: cells[name].to_list() for name in _KEY},
            "sizes": sizes.to_list(),
            "cell": placed["cell"].to_list(),
            "count": placed["count"].to_list(),
        }

    def _between(self, pairs: pl.DataFrame, row_of: pl.DataFrame) -> dict[str, Any]:
        """Counts by row and the number of the other person."""
        numbered = self._add_numbers(pairs).with_columns(
            _number("other", self.people).alias("item")
        )
        counts = numbered.group_by(*_KEY, "item").len("count").sort("item")
        return _entries(self._few(counts, row_of), row_of)

    def _emotions(self, row_of: pl.DataFrame) -> dict[str, Any]:
        assert self.feelings is not None
        numbers = {name: number for number, name in enumerate(EMOTIONS)}
        felt = (
            self._add_numbers(self.feelings.drop_nulls("emotion"))
            .with_columns(
                pl.col("emotion").replace_strict(numbers, return_dtype=pl.Int64).alias("item")
            )
            .group_by(*_KEY, "item")
            .len("count")
            .sort(*_KEY, "item")
        )
        return {"items": list(EMOTIONS)} | _entries(self._few(felt, row_of), row_of)


def _number(column: str, group: Group) -> pl.Expr:
    """Its place among the names; the number after the last for all others."""
    return pl.col(column).replace_strict(
        group.numbers(), default=len(group.names), return_dtype=pl.Int64
    )


def _entries(counts: pl.DataFrame, row_of: pl.DataFrame) -> dict[str, Any]:
    """Counts by row and item: rows as steps from one to the next, which are short to write."""
    placed = counts.join(row_of, on=_KEY, maintain_order="left").sort("row", maintain_order=True)
    return {
        "row": _steps(placed["row"]),
        "item": placed["item"].to_list(),
        "count": placed["count"].to_list(),
    }


def _steps(numbers: pl.Series) -> list[int]:
    return numbers.cast(pl.Int64).diff().fill_null(numbers.cast(pl.Int64)).to_list()


def _columns(rows: pl.DataFrame) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        "chat": _steps(rows["chat"]),
        "day": rows["day"].to_list(),
        "person": rows["person"].to_list(),
    }
    for name in rows.columns:
        if name not in columns and (rows[name] != 0).any():
            columns[name] = rows[name].to_list()
    return columns


def feeling_lines(labels: pl.DataFrame) -> pl.DataFrame:
    """One row per labelled turn: chat | date | speaker | sentiment | emotion | … | low.

    `low` says of a turn that answers somebody within a session whether that somebody's turn was
    negative; it is missing where nobody was answered or the turn before was not labelled.
    """
    turns = labels.sort("chat", "turn")
    before = [pl.col(name).shift(1) for name in ("chat", "session", "turn", "speaker", "sentiment")]
    chat, session, turn, speaker, sentiment = before
    answers = (
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
        *(pl.col(name).cast(pl.Float64).fill_nan(None) for name in ("intimacy", "empathy")),
        pl.when(answers).then(sentiment == "negative").alias("low"),
    )


def feeling_sums(lines: pl.DataFrame, by: tuple[str, ...]) -> pl.DataFrame:
    """Counts and sums that every share and mean of feelings is made from."""
    positive = pl.col("sentiment") == "positive"
    empathy = pl.col("empathy")
    low = pl.col("low").fill_null(value=False)
    is_high = pl.col("low").not_().fill_null(value=False)
    return lines.group_by(*by).agg(
        pl.col("sentiment").count().alias("felt"),
        positive.sum().alias("positive"),
        (pl.col("sentiment") == "negative").sum().alias("negative"),
        pl.col("intimacy").count().alias("intimacy_n"),
        pl.col("intimacy").sum().round(4),
        empathy.count().alias("empathy_n"),
        empathy.sum().round(4),
        empathy.filter(low).count().alias("low_n"),
        empathy.filter(low).sum().round(4).alias("low_empathy"),
        empathy.filter(is_high).count().alias("other_n"),
        empathy.filter(is_high).sum().round(4).alias("other_empathy"),
    )
