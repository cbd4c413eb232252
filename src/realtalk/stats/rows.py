"""The figures of a corpus → tables: rows for people, columns for frames.

chat_rows(stats).headings      → ["chat", "speakers", "messages", ...]
corpus_rows(stats).rows[0]     → ["messages per chat", 14.5, 13.0, 16.0, 2, "chats"]
chat_frame(stats.per_chat)     → chat | speakers | messages | turns | …, one row per chat
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from realtalk.stats.grids import Cell, Grid
from realtalk.stats.values import PER_CHAT, UNTOLD, ChatStats, CorpusStats, Interval, with_total


def _rounded(value: float | None, digits: int = 2) -> float | None:
    return None if value is None else round(value, digits)


def chat_frame(chats: Sequence[ChatStats]) -> pl.DataFrame:
    """One row per chat as columns: gaps in minutes, runs in messages."""
    names = ("messages", "turns", "sessions", "words", "days", "span_days", "words_per_day")
    return pl.DataFrame(
        {
            "chat": pl.Series([chat.id for chat in chats], dtype=pl.String),
            "speakers": [len(chat.speakers) for chat in chats],
            **{name: [getattr(chat, name) for chat in chats] for name in names},
            **{name: [getattr(chat, name) for chat in chats] for name in ("first", "last")},
            **{name: [getattr(chat, name) for chat in chats] for name in ("images", "events")},
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
    headings = [
        "chat",
        "speakers",
        "messages",
        "turns",
        "sessions",
        "days",
        "words",
        "words per day",
        "images",
        "events",
        *categories,
        "gap median (min)",
        "gaps",
        "run mean",
        "runs",
    ]
    rows: list[list[Cell]] = []
    for chat in stats.per_chat:
        questions = dict(chat.questions)
        rows.append(
            [
                chat.id,
                len(chat.speakers),
                chat.messages,
                chat.turns,
                chat.sessions,
                chat.days,
                chat.words,
                None if chat.words_per_day is None else round(chat.words_per_day),
                chat.images,
                chat.events,
                *(questions.get(category, 0) for category in categories),
                _rounded(chat.response_gaps.median),
                chat.response_gaps.n,
                _rounded(chat.runs.mean),
                chat.runs.n,
            ]
        )
    return Grid(headings, rows)


def corpus_rows(stats: CorpusStats) -> Grid:
    """One row per figure: its value, its interval where it has one, and over how many of what."""
    rows: list[list[Cell]] = []

    def add(figure: str, value: float | None, n: int, of: str, interval: Interval = None) -> None:
        low, high = interval or (None, None)
        rows.append([figure, _rounded(value), _rounded(low), _rounded(high), n, of])

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
