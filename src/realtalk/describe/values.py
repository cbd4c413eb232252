"""The figures of a corpus as frozen values, with their JSON and their intervals.

    stats.messages_per_chat        → 14.5
    stats.to_json()["intervals"]   → {"messages_per_chat": [13.0, 16.0], ...}
    stats.frame                    → one row per chat

`describe` counts them. Intervals are 95 % percentile bootstraps that draw whole
chats, so they say how far a figure would move with other chats of the same kind. A
corpus of one chat has none.

chat_rows(stats).headings      → ["chat", "speakers", "messages", ...]
corpus_rows(stats).rows[0]     → ["messages per chat", 14.5, 13.0, 16.0, 2, "chats"]
chat_frame(stats.per_chat)     → chat | speakers | messages | turns | …, one row per chat
"""

from __future__ import annotations

import random
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import polars as pl

from realtalk.cells import Cell, Grid
from realtalk.notebook import plain, table_html, table_text

_RESAMPLES = (400, 2000)  # many chats need fewer: their intervals are narrow
_DRAWS = 1 << 21
_AT_ONCE = 1 << 16  # drawn rows in memory: eight megabytes of figures
_SEED = 20250218
_LEVEL = 0.95
_TOTALS = ("messages", "messages_without_time", "turns", "sessions", "words", "events")
PER_CHAT = ("messages", "turns", "sessions", "words", "days", "words_per_day")
_SEEN_OR_HEARD = ("image", "video", "audio", "sticker", "media")
UNTOLD = "media"  # the kind of what an export calls no more than that

Counted: TypeAlias = tuple[tuple[str, int], ...]  # what, and how often
Interval = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Bin:
    """How many values lie from `low` (included) to `high`, in minutes."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Distribution:
    """A distribution in short. Without values, n is 0 and the rest None."""

    n: int
    mean: float | None
    median: float | None
    max: float | None


@dataclass(frozen=True, slots=True)
class SpeakerStats:
    """One speaker's part in one chat."""

    name: str
    messages: int
    turns: int
    words: int


@dataclass(frozen=True, slots=True)
class ChatStats:
    """One chat. `days` have a message; `span_days` runs from the first to the last of them."""

    id: str
    speakers: tuple[SpeakerStats, ...]
    messages: int
    turns: int
    sessions: int
    empty_sessions: int
    words: int
    first: datetime | None
    last: datetime | None
    days: int | None  # None where no message has a time
    span_days: int | None
    messages_without_time: int
    attachments: Counted  # kind and number
    events: int
    questions: Counted  # category and number
    response_gaps: Distribution  # minutes
    runs: Distribution  # messages

    @property
    def words_per_day(self) -> float | None:
        return self.words / self.days if self.days else None

    @property
    def images(self) -> int | None:
        """None where the export left out media without saying of which kind: any may be one."""
        kinds = dict(self.attachments)
        return None if UNTOLD in kinds else kinds.get("image", 0)

    def to_json(self) -> dict[str, Any]:
        plain = asdict(self)
        gaps, runs = plain.pop("response_gaps"), plain.pop("runs")
        return {
            "chat": plain.pop("id"),
            **plain,
            "first": self.first.isoformat() if self.first else None,
            "last": self.last.isoformat() if self.last else None,
            "words_per_day": self.words_per_day,
            "images": self.images,
            "attachments": dict(self.attachments),
            "questions": with_total(self.questions),
            "response_gap_minutes": gaps,
            "consecutive_messages": runs,
        }


@dataclass(frozen=True, repr=False)
class CorpusStats:
    """All chats together: counts are sums, means are over chats. `frame` has one row per chat."""

    name: str
    format: str
    per_chat: tuple[ChatStats, ...]
    response_gaps: Distribution  # minutes between speakers, within sessions
    gaps_backwards: int  # answers stamped before what they answer: left out of the gaps
    gap_bins: tuple[Bin, ...]
    runs: Distribution  # messages that one speaker sent in a row
    run_counts: tuple[tuple[int, int], ...]  # length of a run, and how many there are
    week: tuple[tuple[int, ...], ...]  # messages by weekday (Monday first) and hour

    @cached_property
    def frame(self) -> pl.DataFrame:
        """One row per chat."""
        return chat_frame(self.per_chat)

    def figures(self, folder: Path | str | None = None) -> dict[str, Any]:
        """Altair charts by name, those that the corpus can fill; also files, with a folder."""
        from realtalk.describe.figures import draw, save_figures

        charts = dict(draw(self).charts)
        if folder is not None:
            save_figures(charts, folder)
        return charts

    def __repr__(self) -> str:
        return table_text(f"{plain(self.name)}: the corpus", *corpus_rows(self))

    def _repr_html_(self) -> str:
        return table_html(f"{self.name}: the corpus", *corpus_rows(self))

    def total(self, figure: str) -> int:
        """The sum over chats of a count such as "messages"."""
        return sum(int(getattr(chat, figure)) for chat in self.per_chat)

    @property
    def images(self) -> int | None:
        """None where one chat's number is not known."""
        images = self._values("images")
        return int(sum(images)) if len(images) == len(self.per_chat) else None

    def mean(self, figure: str) -> float | None:
        """The mean over the chats that have the figure."""
        values = self._values(figure)
        return sum(values) / len(values) if values else None

    def _values(self, figure: str) -> list[float]:
        values = (getattr(chat, figure) for chat in self.per_chat)
        return [float(value) for value in values if value is not None]

    @property
    def messages_per_chat(self) -> float | None:
        return self.mean("messages")

    @property
    def questions(self) -> Counted:
        return _add_counts(chat.questions for chat in self.per_chat)

    @property
    def attachments(self) -> Counted:
        return _add_counts(chat.attachments for chat in self.per_chat)

    @property
    def timed_messages(self) -> int:
        return self.total("messages") - self.total("messages_without_time")

    @property
    def table1(self) -> dict[str, Any]:
        """The row of the REALTALK paper's Table 1.

        The paper's names differ from ours: its "turns" are messages per chat, and its
        "tokens" are words per chat. "multimodal" says whether there is any picture, sound,
        film or sticker.
        """
        return {
            "dataset": self.name,
            "turns": self.messages_per_chat,
            "sessions": self.mean("sessions"),
            "tokens": self.mean("words"),
            "multimodal": any(kind in _SEEN_OR_HEARD for kind, _ in self.attachments),
        }

    @cached_property
    def intervals(self) -> dict[str, Interval]:
        """95 % intervals of the means, from drawing chats; None below two chats."""
        parts = {
            f"{figure}_per_chat": [
                (float(getattr(chat, figure) or 0), int(getattr(chat, figure) is not None))
                for chat in self.per_chat
            ]
            for figure in PER_CHAT
        }
        for key, field in (
            ("response_gap_minutes", "response_gaps"),
            ("consecutive_messages", "runs"),
        ):
            every: list[Distribution] = [getattr(chat, field) for chat in self.per_chat]
            parts[key] = [((summary.mean or 0.0) * summary.n, summary.n) for summary in every]
        return _bootstrap(parts)

    def to_json(self) -> dict[str, Any]:
        hours = [sum(day[hour] for day in self.week) for hour in range(24)]
        return {
            "name": self.name,
            "format": self.format,
            "chats": len(self.per_chat),
            **{name: self.total(name) for name in _TOTALS},
            "images": self.images,
            "attachments": dict(self.attachments),
            "questions": with_total(self.questions),
            **{f"{figure}_per_chat": self.mean(figure) for figure in PER_CHAT},
            "response_gap_minutes": {
                **asdict(self.response_gaps),
                "backwards": self.gaps_backwards,
                "bins": [asdict(bin_) for bin_ in self.gap_bins],
            },
            "consecutive_messages": {
                **asdict(self.runs),
                "counts": {str(length): count for length, count in self.run_counts},
            },
            "activity": {
                "n": self.timed_messages,
                "hour": hours,
                "weekday": [sum(day) for day in self.week],
                "week": [list(day) for day in self.week],
            },
            "intervals": {
                name: list(interval) if interval else None
                for name, interval in self.intervals.items()
            },
            "interval_method": {
                "kind": "percentile bootstrap over chats",
                "level": _LEVEL,
                "resamples": _resamples(len(self.per_chat)),
                "seed": _SEED,
            },
            "table1": self.table1,
            "per_chat": [chat.to_json() for chat in self.per_chat],
        }


def with_total(counts: Counted) -> dict[str, int]:
    return {**dict(counts), "total": sum(number for _, number in counts)}


def _add_counts(parts: Iterable[Counted]) -> Counted:
    sums: Counter[str] = Counter()
    for counts in parts:
        sums.update(dict(counts))
    return tuple(sums.items())


def _bootstrap(parts: Mapping[str, Sequence[tuple[float, int]]]) -> dict[str, Interval]:
    """Intervals of sum / number, of which each chat has one of either, over the same draws.

    The draws come from Python's generator, which gives the same bytes everywhere; polars
    adds them up in pieces, so that ten thousand chats need seconds and little memory.
    """
    values = pl.DataFrame(
        {
            f"{name}/{side}": [float(pair[side]) for pair in pairs]
            for name, pairs in parts.items()
            for side in (0, 1)
        }
    )
    intervals: dict[str, Interval] = dict.fromkeys(parts)
    n, generator = values.height, random.Random(_SEED)
    if n < 2:
        return intervals
    resamples = _resamples(n)
    at_once = max(1, _AT_ONCE // n)
    rounds: list[pl.DataFrame] = []
    for start in range(0, resamples, at_once):
        bits = array("Q")
        bits.frombytes(generator.randbytes(bits.itemsize * n * min(at_once, resamples - start)))
        rounds.append(
            values[pl.Series(bits, dtype=pl.UInt64) % n]
            .group_by(round=pl.int_range(pl.len()).floordiv(n), maintain_order=True)
            .agg(pl.all().sum())
        )
    sums = pl.concat(rounds)
    for name, pairs in parts.items():
        if sum(number > 0 for _, number in pairs) < 2:
            continue
        draws = sums.filter(pl.col(f"{name}/1") > 0)
        ratios = draws[f"{name}/0"] / draws[f"{name}/1"]
        low, high = (ratios.quantile((1 + side * _LEVEL) / 2, "linear") for side in (-1, 1))
        intervals[name] = None if low is None or high is None else (low, high)
    return intervals


def _resamples(chats: int) -> int:
    fewest, most = _RESAMPLES
    return max(fewest, min(most, _DRAWS // max(chats, 1)))


def _round(value: float | None, digits: int = 2) -> float | None:
    return None if value is None else round(value, digits)


def chat_frame(chats: Sequence[ChatStats]) -> pl.DataFrame:
    """One row per chat as columns: gaps in minutes, runs in messages."""
    names = (
        *("messages", "turns", "sessions", "words", "days", "span_days", "words_per_day"),
        *("first", "last", "images", "events"),
    )
    return pl.DataFrame(
        {
            "chat": pl.Series([chat.id for chat in chats], dtype=pl.String),
            "speakers": [len(chat.speakers) for chat in chats],
            **{name: [getattr(chat, name) for chat in chats] for name in names},
            "questions": [sum(number for _, number in chat.questions) for chat in chats],
            "response_gap_median": [chat.response_gaps.median for chat in chats],
            "response_gaps": [chat.response_gaps.n for chat in chats],
            "run_mean": [chat.runs.mean for chat in chats],
            "runs": [chat.runs.n for chat in chats],
        },
        schema_overrides={
            **dict.fromkeys(("days", "span_days", "images"), pl.Int64),
            **dict.fromkeys(("words_per_day", "response_gap_median", "run_mean"), pl.Float64),
            **dict.fromkeys(("first", "last"), pl.Datetime("us")),
        },
    )


def chat_rows(stats: CorpusStats) -> Grid:
    """One row per chat, for a terminal or a page; None where there is nothing to measure."""
    categories = [name for name, _ in stats.questions]
    counts = ("messages", "turns", "sessions", "days", "words")
    headings = ["chat", "speakers", *counts, "words per day", "images", "events", *categories]
    rows: list[list[Cell]] = []
    for chat in stats.per_chat:
        questions = dict(chat.questions)
        rows.append(
            [
                chat.id,
                len(chat.speakers),
                *(getattr(chat, name) for name in counts),
                None if chat.words_per_day is None else round(chat.words_per_day),
                chat.images,
                chat.events,
                *(questions.get(category, 0) for category in categories),
                _round(chat.response_gaps.median),
                chat.response_gaps.n,
                _round(chat.runs.mean),
                chat.runs.n,
            ]
        )
    return Grid([*headings, "gap median (min)", "gaps", "run mean", "runs"], rows)


def corpus_rows(stats: CorpusStats) -> Grid:
    """One row per figure: its value, its interval where it has one, and over how many of what."""
    rows: list[list[Cell]] = []

    def add(figure: str, value: float | None, n: int, of: str, interval: Interval = None) -> None:
        low, high = interval or (None, None)
        rows.append([figure, _round(value), _round(low), _round(high), n, of])

    chats = len(stats.per_chat)
    for figure in PER_CHAT:
        n = sum(getattr(chat, figure) is not None for chat in stats.per_chat)
        title = "words per day" if figure == "words_per_day" else f"{figure} per chat"
        add(title, stats.mean(figure), n, "chats", stats.intervals[f"{figure}_per_chat"])
    for title, summary, of, key in (
        ("response gap (minutes)", stats.response_gaps, "gaps", "response_gap_minutes"),
        ("messages in a row", stats.runs, "turns", "consecutive_messages"),
    ):
        add(f"{title}, mean", summary.mean, summary.n, of, stats.intervals[key])
        add(f"{title}, median", summary.median, summary.n, of)
        add(f"{title}, longest", summary.max, summary.n, of)
    add("events", stats.total("events"), chats, "chats")
    add("images", stats.images, chats, "chats")
    if untold := dict(stats.attachments).get(UNTOLD, 0):
        add("media of a kind that is not told", untold, chats, "chats")
    add("messages without time", stats.total("messages_without_time"), chats, "chats")
    for category, number in with_total(stats.questions).items():
        add(f"questions: {category}", number, chats, "chats")
    return Grid(["figure", "value", "low (95 %)", "high (95 %)", "n", "of"], rows)
