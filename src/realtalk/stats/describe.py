"""What a corpus looks like: columns in, counts and means out.

    stats = describe(reading.tables)
    stats.messages_per_chat        → 14.5
    stats.response_gaps.median     → 2.2 (minutes), or None where no gap could be measured
    stats.per_chat[0].words        → 1204

Words are what Python's `str.split()` gives. Messages without a time are left out of every
figure about time, and counted. A mean of nothing is None, never 0.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from realtalk.corpora.tables import Tables
from realtalk.stats.values import WEEKDAYS, Bin, ChatStats, CorpusStats, Distribution, SpeakerStats

# Python splits at these four separators too; the regular expression's \s does not.
_WORD = r"[^\s\x1c-\x1f]+"
_BINS_PER_DECADE = 4
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
    lines = _lines(tables.messages)
    turns = lines.filter("new_turn").select("chat", "index")
    runs = turns.with_columns(
        (pl.col("index").shift(-1, fill_value=lines.height) - pl.col("index")).alias("value")
    )
    answers = lines.filter("new_turn", ~pl.col("new_session"), pl.col("gap").is_not_null())
    gaps = answers.filter(pl.col("gap") >= 0).select("chat", pl.col("gap").alias("value"))
    chats = _chats(tables, lines, _summaries(gaps), _summaries(runs))
    lengths = runs.group_by("value").len().sort("value")
    return CorpusStats(
        tables.name,
        tables.format,
        chats,
        _summary(gaps),
        answers.height - gaps.height,
        _bins(gaps["value"]),
        _summary(runs),
        tuple((int(length), int(count)) for length, count in lengths.iter_rows()),
        _week(lines),
    )


def _lines(messages: pl.DataFrame) -> pl.DataFrame:
    """One narrow row per message: words, minutes since the one before, and what begins with it."""
    narrow = messages.select(
        "chat", "session", "speaker", "time", count_words(pl.col("text")).alias("words")
    )
    return with_beginnings(narrow).with_columns(
        (pl.col("gap") / 60e6).alias("gap"), pl.int_range(pl.len()).alias("index")
    )


def with_beginnings(messages: pl.DataFrame) -> pl.DataFrame:
    """The messages in the order of sessions, and what begins with each.

    Adds `new_session`, `new_turn` and `gap`, the microseconds since the message before. Sessions
    that are not stored in one piece are brought together first.
    """
    new_session = _changes("chat") | _changes("session")
    starts = messages.filter(new_session).select("chat", "session")
    if starts.is_duplicated().any():
        messages = messages.sort("chat", "session", maintain_order=True)
    time = pl.col("time")
    return messages.with_columns(
        new_session.alias("new_session"),
        (new_session | _changes("speaker")).alias("new_turn"),
        (time - time.shift(1)).dt.total_microseconds().alias("gap"),
    )


def _changes(column: str) -> pl.Expr:
    return pl.col(column).ne_missing(pl.col(column).shift(1)) | (pl.int_range(pl.len()) == 0)


_SUMMARY = (
    pl.len().alias("n"),
    pl.col("value").mean().alias("mean"),
    pl.col("value").median().alias("median"),
    pl.col("value").max().alias("max"),
)


def _summary(values: pl.DataFrame) -> Distribution:
    return Distribution(*values.select(_SUMMARY).row(0))


def _summaries(values: pl.DataFrame) -> dict[str, Distribution]:
    rows = values.group_by("chat").agg(_SUMMARY).iter_rows()
    return {chat: Distribution(*figures) for chat, *figures in rows}


def _chats(
    tables: Tables,
    lines: pl.DataFrame,
    gaps: dict[str, Distribution],
    runs: dict[str, Distribution],
) -> tuple[ChatStats, ...]:
    time = pl.col("time")
    counted = {
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
                **counted.get(chat.id, _UNSAID),
            )
        )
    return tuple(chats)


def _counts(frame: pl.DataFrame, column: str) -> dict[str, tuple[tuple[str, int], ...]]:
    """How often each value of a column occurs in each chat, sorted by value."""
    by_chat: dict[str, list[tuple[str, int]]] = {}
    for chat, value, number in frame.group_by("chat", column).len().sort(column).iter_rows():
        by_chat.setdefault(chat, []).append((value, number))
    return {chat: tuple(counts) for chat, counts in by_chat.items()}


def _bins(minutes: pl.Series) -> tuple[Bin, ...]:
    """Equal steps on a log scale from one second on; shorter gaps share the first bin."""
    # The tiny addend keeps whole powers of ten, which a logarithm may miss, in their own bin.
    step = ((minutes * 60).log(10) * _BINS_PER_DECADE + 1e-9).floor()
    counted = step.set(minutes * 60 < 1 - 1e-9, -1.0).cast(pl.Int64).alias("step").value_counts()
    counts = {int(step): int(count) for step, count in counted.iter_rows()}
    edges = [(0.0, 1 / 60)] + [
        tuple(10 ** ((step + side) / _BINS_PER_DECADE) / 60 for side in (0, 1))
        for step in range(max(counts, default=-1) + 1)
    ]
    return tuple(Bin(low, high, counts.get(step, 0)) for step, (low, high) in enumerate(edges, -1))


def _week(lines: pl.DataFrame) -> tuple[tuple[int, ...], ...]:
    counts = [[0] * 24 for _ in WEEKDAYS]
    timed = lines.lazy().select("time").filter(pl.col("time").is_not_null())
    cells = timed.group_by(
        pl.col("time").dt.weekday().alias("day"), pl.col("time").dt.hour().alias("hour")
    ).len()
    for day, hour, number in cells.collect().iter_rows():
        counts[day - 1][hour] = number
    return tuple(tuple(day) for day in counts)
