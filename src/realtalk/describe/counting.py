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

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from realtalk.cells import WEEKDAYS
from realtalk.describe.values import (
    Bin,
    ChatStats,
    CorpusStats,
    Counted,
    Distribution,
    SpeakerStats,
)
from realtalk.files.progress import Progress, silent
from realtalk.formats.store import CorpusStream
from realtalk.formats.tables import Tables
from realtalk.grouping import grouped

# Figures of some chats each → the figures of the whole corpus, equal to the last digit.
#
#     combine("archive", "whatsapp", (count_chats(part) for part in parts))   → CorpusStats
#     StatsPart.from_json(part.to_json()) == part                             # what workers write
#
# How many parts there are makes no difference, because nothing is rounded before the end. Counts
# are added as whole numbers. A mean is the sum of whole microseconds (or messages) divided once.
# A median and the bins come from how often every value occurs: as many numbers as there are
# different gaps, some ten thousand where clocks show seconds. Intervals are drawn from the rows of
# chats, which are kept: a few hundred bytes each.

MINUTE = 60e6  # microseconds
COUNTS = pl.Schema({"value": pl.Int64, "count": pl.Int64})
_BINS_PER_DECADE = 4

Week = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, eq=False)
class StatsPart:
    """What is counted of some chats; all chats of a corpus are in one part each."""

    chats: tuple[ChatStats, ...]
    gaps: pl.DataFrame  # microseconds between speakers, and how often
    backwards: int
    runs: pl.DataFrame  # messages in a row, and how often
    week: Week

    def to_json(self) -> dict[str, Any]:
        """What orjson writes: it knows dataclasses and times."""
        return {
            "chats": self.chats,
            "gaps": self.gaps.to_dict(as_series=False),
            "backwards": self.backwards,
            "runs": self.runs.to_dict(as_series=False),
            "week": self.week,
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> StatsPart:
        return cls(
            tuple(_chat(entry) for entry in stored["chats"]),
            pl.DataFrame(stored["gaps"], schema=COUNTS),
            stored["backwards"],
            pl.DataFrame(stored["runs"], schema=COUNTS),
            tuple(tuple(day) for day in stored["week"]),
        )


def combine(name: str, format_name: str, parts: Iterable[StatsPart]) -> CorpusStats:
    """The corpus whose chats are in the parts, in their order; one part at a time is held."""
    chats: list[ChatStats] = []
    gaps = runs = pl.DataFrame(schema=COUNTS)
    week = np.zeros((len(WEEKDAYS), 24), np.int64)
    backwards = 0
    for part in parts:
        chats += part.chats
        gaps, runs = _added(gaps, part.gaps), _added(runs, part.runs)
        backwards += part.backwards
        week += part.week
    return CorpusStats(
        name,
        format_name,
        tuple(chats),
        _distribution(gaps, MINUTE),
        backwards,
        _bins(gaps),
        _distribution(runs),
        tuple(runs.iter_rows()),
        tuple(map(tuple, week.tolist())),
    )


def mean(total: int, n: int, unit: float = 1) -> float | None:
    """The sum of whole numbers divided once, correctly rounded; None of nothing."""
    return total / (n * int(unit)) if n else None


def in_units(value: int, unit: float) -> float:
    """A whole number of messages stays one; microseconds become minutes."""
    return value if unit == 1 else value / unit


def _added(counts: pl.DataFrame, more: pl.DataFrame) -> pl.DataFrame:
    """How often each value occurs on both sides."""
    both = pl.concat([counts, more])
    return both.group_by("value").agg(pl.col.count.sum()).sort("value")


def _distribution(counts: pl.DataFrame, unit: float = 1) -> Distribution:
    n = int(counts["count"].sum())
    if not n:
        return Distribution(0, None, None, None)
    # Whole numbers of Python: a sum of microseconds may be beyond what a float holds exactly.
    total = sum(value * count for value, count in counts.iter_rows())
    last = counts["count"].cum_sum()
    low, high = (
        counts["value"][int(last.search_sorted(rank + 1, side="left"))]
        for rank in ((n - 1) // 2, n // 2)
    )
    most = in_units(counts["value"][-1], unit)
    return Distribution(n, mean(total, n, unit), (low + high) / 2 / unit, most)


def _bins(gaps: pl.DataFrame) -> tuple[Bin, ...]:
    """Equal steps on a log scale from one second on; shorter gaps share the first bin."""
    seconds = gaps["value"] / MINUTE * 60
    # The tiny addend keeps whole powers of ten, which a logarithm may miss, in their own bin.
    step = (seconds.log(10) * _BINS_PER_DECADE + 1e-9).floor()
    step = step.set(seconds < 1 - 1e-9, -1.0).cast(pl.Int64)
    binned = gaps.with_columns(step=step).group_by("step").agg(pl.col.count.sum())
    counts = {int(step): int(count) for step, count in binned.iter_rows()}
    edges = [(0.0, 1 / 60)] + [
        tuple(10 ** ((step + side) / _BINS_PER_DECADE) / 60 for side in (0, 1))
        for step in range(max(counts, default=-1) + 1)
    ]
    return tuple(Bin(low, high, counts.get(step, 0)) for step, (low, high) in enumerate(edges, -1))


def _chat(stored: Mapping[str, Any]) -> ChatStats:
    times = {name: stored[name] for name in ("first", "last")}
    pairs = {name: stored[name] for name in ("attachments", "questions")}
    shares = {name: stored[name] for name in ("response_gaps", "runs")}
    return ChatStats(
        **{
            **stored,
            **{name: time and datetime.fromisoformat(time) for name, time in times.items()},
            **{name: tuple(map(tuple, counts)) for name, counts in pairs.items()},
            **{name: Distribution(**share) for name, share in shares.items()},
            "speakers": tuple(SpeakerStats(**who) for who in stored["speakers"]),
        }
    )


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
    runs = turns.with_columns(value=pl.col.index.shift(-1, fill_value=lines.height) - pl.col.index)
    answers = lines.filter("new_turn", ~pl.col.new_session, pl.col.gap.is_not_null())
    gaps = answers.filter(pl.col.gap >= 0).select("chat", value="gap")
    return StatsPart(
        _chats(tables, lines, _summaries(gaps, MINUTE), _summaries(runs)),
        _tally(gaps),
        answers.height - gaps.height,
        _tally(runs),
        _week(lines),
    )


def _lines(messages: pl.DataFrame) -> pl.DataFrame:
    """One narrow row per message: words, microseconds since the last, and what begins with it."""
    narrow = messages.select("chat", "session", "speaker", "time", words=count_words(pl.col.text))
    return with_beginnings(narrow).with_columns(index=pl.int_range(pl.len()))


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
        session = pl.when(pl.col.chat.is_in(torn.implode())).then("session").otherwise(0)
        messages = (
            messages.with_columns(place=place, order=session)
            .sort("place", "order", maintain_order=True)
            .drop("place", "order")
        )
    time = pl.col.time
    return messages.with_columns(
        new_session=new_session,
        new_turn=new_session | _changes("speaker"),
        gap=(time - time.shift(1)).dt.total_microseconds(),
    )


def _changes(column: str) -> pl.Expr:
    return pl.col(column).ne_missing(pl.col(column).shift(1)) | (pl.int_range(pl.len()) == 0)


def _tally(values: pl.DataFrame) -> pl.DataFrame:
    """How often each value occurs."""
    counts = values.group_by("value").agg(count=pl.len())
    return counts.sort("value").cast(COUNTS)


def _summaries(values: pl.DataFrame, unit: float = 1) -> dict[str, Distribution]:
    """Each chat's values in short; a value of `unit` is called one."""
    value = pl.col.value
    figures = values.group_by("chat").agg(
        pl.len(), sum=value.sum(), median=value.median(), max=value.max()
    )
    return {
        chat: Distribution(n, mean(total, n, unit), median / unit, in_units(most, unit))
        for chat, n, total, median, most in figures.iter_rows()
    }


def _chats(
    tables: Tables,
    lines: pl.DataFrame,
    gaps: dict[str, Distribution],
    runs: dict[str, Distribution],
) -> tuple[ChatStats, ...]:
    time = pl.col.time
    rows = {
        row.pop("chat"): row
        for row in lines.group_by("chat")
        .agg(
            messages=pl.len(),
            turns=pl.col.new_turn.sum(),
            sessions=pl.col.new_session.sum(),
            words=pl.col.words.sum(),
            first=time.min(),
            last=time.max(),
            days=pl.when(time.count() > 0).then(time.dt.date().drop_nulls().n_unique()),
            span_days=(time.max().dt.date() - time.min().dt.date()).dt.total_days() + 1,
            messages_without_time=time.null_count(),
        )
        .iter_rows(named=True)
    }
    said = lines.group_by("chat", "speaker", maintain_order=True).agg(
        pl.len(), pl.col.new_turn.sum(), pl.col.words.sum()
    )
    speaking = grouped((chat, SpeakerStats(*figures)) for chat, *figures in said.iter_rows())
    attached = (
        tables.messages.lazy()
        .select("chat", "attachments")
        .filter(pl.col.attachments.list.len() > 0)
        .explode("attachments")
        .select("chat", pl.col.attachments.struct.field("kind"))
        .collect()
    )
    attachments = _counts(attached, "kind")
    questions = _counts(tables.questions, "category")
    events = dict(tables.events.filter(pl.col.kind == "event").group_by("chat").len().iter_rows())
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
    rows = frame.group_by("chat", column).len().sort(column).iter_rows()
    by_chat = grouped((chat, (value, number)) for chat, value, number in rows)
    return {chat: tuple(counts) for chat, counts in by_chat.items()}


def _week(lines: pl.DataFrame) -> Week:
    time = lines["time"].drop_nulls().dt
    hours = (time.weekday().cast(pl.Int64) - 1) * 24 + time.hour()
    counts = np.bincount(hours, minlength=len(WEEKDAYS) * 24)
    return tuple(map(tuple, counts.reshape(-1, 24).tolist()))


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
    for day in sorted(set(dates)):
        goes_on = streaks and day - streaks[-1].last == _DAY
        streaks.append(DaySpan(streaks.pop().first if goes_on else day, day))
    return streaks, [DaySpan(a.last + _DAY, b.first - _DAY) for a, b in pairwise(streaks)]
