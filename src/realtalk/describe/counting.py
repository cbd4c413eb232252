"""What a corpus looks like: columns in, counts and means out.

    stats = describe(reading.tables)
    stats = describe_stream(open_stream("archive"))    # the same figures, a part at a time
    stats.messages_per_chat        → 14.5
    stats.response_gaps.median     → 2.2 (minutes), or None where no gap could be measured
    stats.per_chat[0].words        → 1204
    streaks_and_silences([2 March, 3 March, 7 March])
    → ([DaySpan(2 March, 3 March), DaySpan(7 March, 7 March)], [DaySpan(4 March, 6 March)])

Words are what Python's `str.split()` gives. Messages without a time are left out of every
figure about time, and counted. A mean of nothing is None, never 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Any, NamedTuple

import polars as pl

from realtalk.cells import WEEKDAYS
from realtalk.describe.combining import COUNTS, MINUTE, StatsPart, combine, in_units, mean
from realtalk.describe.values import ChatStats, CorpusStats, Counted, Distribution, SpeakerStats
from realtalk.files.progress import Progress, silent
from realtalk.formats.store import CorpusStream
from realtalk.formats.tables import Tables

# Python splits at these four separators too; the regular expression's \s does not.
_WORD = r"[^\s\x1c-\x1f]+"
_DAY = timedelta(days=1)
_NOTHING = Distribution(0, None, None, None)
_UNSAID: dict[str, Any] = {  # the figures of a chat without messages
    **dict.fromkeys(("messages", "turns", "sessions", "words", "messages_without_time"), 0),
    **dict.fromkeys(("first", "last", "days", "span_days")),
}


def count_words(text: pl.Expr) -> pl.Expr:
    """`len(text.split())` for a column."""
    return text.str.count_matches(_WORD)


def describe(tables: Tables) -> CorpusStats:
    """Every figure of a corpus, in a few passes over its columns."""
    return combine(tables.name, tables.format, [count_chats(tables)])


def describe_stream(stream: CorpusStream, progress: Progress = silent) -> CorpusStats:
    """The same of a stored corpus; memory holds a part of it at a time."""

    def parts() -> Iterator[StatsPart]:
        for done, piece in enumerate(stream.pieces):
            progress(done, len(stream.pieces), "parts")
            yield count_chats(piece.tables())

    return combine(stream.name, stream.format, parts())


def count_chats(tables: Tables) -> StatsPart:
    """All that is counted of these chats, which are whole."""
    lines = _lines(tables.messages)
    turns = lines.filter("new_turn").select("chat", "index")
    runs = turns.with_columns(
        (pl.col("index").shift(-1, fill_value=lines.height) - pl.col("index")).alias("value")
    )
    answers = lines.filter("new_turn", ~pl.col("new_session"), pl.col("gap").is_not_null())
    gaps = answers.filter(pl.col("gap") >= 0).select("chat", pl.col("gap").alias("value"))
    return StatsPart(
        _chats(tables, lines, _summaries(gaps, MINUTE), _summaries(runs)),
        _tally(gaps),
        answers.height - gaps.height,
        _tally(runs),
        _week(lines),
    )


def _lines(messages: pl.DataFrame) -> pl.DataFrame:
    """One narrow row per message: words, microseconds since the last, and what begins with it."""
    narrow = messages.select(
        "chat", "session", "speaker", "time", count_words(pl.col("text")).alias("words")
    )
    return with_beginnings(narrow).with_columns(pl.int_range(pl.len()).alias("index"))


def with_beginnings(messages: pl.DataFrame) -> pl.DataFrame:
    """The messages in the order of sessions, and what begins with each.

    Adds `new_session`, `new_turn` and `gap`, the microseconds since the message before. In chats
    whose sessions are not stored in one piece these are brought together first; that is decided
    chat by chat, so that a chat's figures do not depend on its company.
    """
    new_session = _changes("chat") | _changes("session")
    starts = messages.filter(new_session).select("chat", "session")
    torn = starts.filter(starts.is_duplicated())["chat"].unique()
    if torn.len():
        place = pl.int_range(pl.len()).min().over("chat")
        session = pl.when(pl.col("chat").is_in(torn.implode())).then("session").otherwise(0)
        messages = (
            messages.with_columns(place.alias("place"), session.alias("order"))
            .sort("place", "order", maintain_order=True)
            .drop("place", "order")
        )
    time = pl.col("time")
    return messages.with_columns(
        new_session.alias("new_session"),
        (new_session | _changes("speaker")).alias("new_turn"),
        (time - time.shift(1)).dt.total_microseconds().alias("gap"),
    )


def _changes(column: str) -> pl.Expr:
    return pl.col(column).ne_missing(pl.col(column).shift(1)) | (pl.int_range(pl.len()) == 0)


def _tally(values: pl.DataFrame) -> pl.DataFrame:
    """How often each value occurs."""
    counts = values.group_by("value").agg(pl.len().alias("count"))
    return counts.sort("value").cast(COUNTS)


def _summaries(values: pl.DataFrame, unit: float = 1) -> dict[str, Distribution]:
    """Each chat's values in short; a value of `unit` is called one."""
    value = pl.col("value")
    figures = (pl.len(), value.sum().alias("sum"), value.median(), value.max().alias("max"))
    return {
        chat: Distribution(n, mean(total, n, unit), median / unit, in_units(most, unit))
        for chat, n, total, median, most in values.group_by("chat").agg(figures).iter_rows()
    }


def _chats(
    tables: Tables,
    lines: pl.DataFrame,
    gaps: dict[str, Distribution],
    runs: dict[str, Distribution],
) -> tuple[ChatStats, ...]:
    time = pl.col("time")
    rows = {
        row.pop("chat"): row
        for row in lines.group_by("chat")
        .agg(
            pl.len().alias("messages"),
            pl.col("new_turn").sum().alias("turns"),
            pl.col("new_session").sum().alias("sessions"),
            pl.col("words").sum(),
            time.min().alias("first"),
            time.max().alias("last"),
            pl.when(time.count() > 0).then(time.dt.date().drop_nulls().n_unique()).alias("days"),
            (time.max().dt.date() - time.min().dt.date()).dt.total_days().alias("span_days") + 1,
            time.null_count().alias("messages_without_time"),
        )
        .iter_rows(named=True)
    }
    speaking: dict[str, list[SpeakerStats]] = {}
    for chat, *figures in (
        lines.group_by("chat", "speaker", maintain_order=True)
        .agg(pl.len(), pl.col("new_turn").sum(), pl.col("words").sum())
        .iter_rows()
    ):
        speaking.setdefault(chat, []).append(SpeakerStats(*figures))
    attached = (
        tables.messages.lazy()
        .select("chat", "attachments")
        .filter(pl.col("attachments").list.len() > 0)
        .explode("attachments")
        .select("chat", pl.col("attachments").struct.field("kind"))
        .collect()
    )
    attachments = _counts(attached, "kind")
    questions = _counts(tables.questions, "category")
    events = dict(
        tables.events.filter(pl.col("kind") == "event").group_by("chat").len().iter_rows()
    )
    chats = []
    for chat in tables.chats:
        spoke = speaking.get(chat.id, [])
        heard = {who.name for who in spoke}
        silent = [name for name in chat.speakers if name not in heard]
        chats.append(
            ChatStats(
                id=chat.id,
                speakers=(*spoke, *(SpeakerStats(name, 0, 0, 0) for name in silent)),
                empty_sessions=len(chat.empty_sessions),
                attachments=attachments.get(chat.id, ()),
                events=events.get(chat.id, 0),
                questions=questions.get(chat.id, ()),
                response_gaps=gaps.get(chat.id, _NOTHING),
                runs=runs.get(chat.id, _NOTHING),
                **rows.get(chat.id, _UNSAID),
            )
        )
    return tuple(chats)


def _counts(frame: pl.DataFrame, column: str) -> dict[str, Counted]:
    """How often each value of a column occurs in each chat, sorted by value."""
    by_chat: dict[str, list[tuple[str, int]]] = {}
    for chat, value, number in frame.group_by("chat", column).len().sort(column).iter_rows():
        by_chat.setdefault(chat, []).append((value, number))
    return {chat: tuple(counts) for chat, counts in by_chat.items()}


def _week(lines: pl.DataFrame) -> tuple[tuple[int, ...], ...]:
    counts = [[0] * 24 for _ in WEEKDAYS]
    time = lines["time"].drop_nulls()
    hours = pl.DataFrame({"day": time.dt.weekday(), "hour": time.dt.hour()})
    for day, hour, number in hours.group_by("day", "hour").len().iter_rows():
        counts[day - 1][hour] = number
    return tuple(map(tuple, counts))


class DaySpan(NamedTuple):
    """Days from `first` to `last`, both included."""

    first: date
    last: date

    @property
    def days(self) -> int:
        return (self.last - self.first).days + 1


def streaks_and_silences(dates: Iterable[date]) -> tuple[list[DaySpan], list[DaySpan]]:
    """Days in a row with messages, and days in a row without between them, oldest first."""
    streaks: list[DaySpan] = []
    silences: list[DaySpan] = []
    for day in sorted(set(dates)):
        if streaks and day - streaks[-1].last == _DAY:
            streaks[-1] = DaySpan(streaks[-1].first, day)
        else:
            if streaks:
                silences.append(DaySpan(streaks[-1].last + _DAY, day - _DAY))
            streaks.append(DaySpan(day, day))
    return streaks, silences
