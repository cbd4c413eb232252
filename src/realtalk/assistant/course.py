"""Messages as lines → how chats went: who writes first, streaks, earlier years, lost contacts.

    first_writers(frame, by="quarter")
    → [{"chat": …, "quarter": "2026-Q1", "conversations": 12, "began": {"Mara": "58%", …}}, …]
    chat_spans(frame)         → [{"chat": …, "days": 31, "streaks": […], "silences": […], …}]
    lost(frame, me="Mara", least=100, quiet=180)  → people Mara wrote with, and no longer does
    year_of(frame, "second", "Mara", 2026)        → her year in numbers

`frame` has one row per message (`pages.lines`), so that a conversation, its first message and a
reply time are here what they are on the page. Numbers are rounded as they are told there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any, Literal

import polars as pl

from realtalk.assistant.answers import Period
from realtalk.describe.spans import DaySpan, streaks_and_silences
from realtalk.errors import RealtalkError
from realtalk.pages.lines import Unit
from realtalk.pages.wording import Wording

Part = Literal["month", "quarter", "year"]

_LONGEST = 5  # streaks and silences that are told
_PEOPLE = 12
_LEAST_REPLIES = 5
_PARTS = {
    "month": pl.col("date").dt.strftime("%Y-%m"),
    "quarter": pl.format("{}-Q{}", pl.col("date").dt.year(), pl.col("date").dt.quarter()),
    "year": pl.col("date").dt.strftime("%Y"),
}


def within(frame: pl.DataFrame, period: Period) -> pl.DataFrame:
    """The messages of a period; without an end that of all, also where no time is known."""
    if period == Period():
        return frame
    first, last = period.first or date.min, period.last or date.max
    return frame.filter(pl.col("date").is_between(pl.lit(first), pl.lit(last)))


def first_writers(frame: pl.DataFrame, by: Part) -> list[dict[str, Any]]:
    """Who began conversations: for each chat in its two halves, then part by part."""
    begun = frame.filter("starts").sort("chat", "time", maintain_order=True)
    is_early = pl.int_range(pl.len()) * 2 < pl.len()
    half = pl.when(is_early).then(pl.lit("first")).otherwise(pl.lit("second"))
    rows: list[dict[str, Any]] = []
    for (chat,), own in begun.group_by("chat", maintain_order=True):
        rows += _began(own.with_columns(half.alias("part")), str(chat), "half")
        dated = own.drop_nulls("date").with_columns(_PARTS[by].alias("part"))
        rows += _began(dated, str(chat), by)
    return rows


def _began(begun: pl.DataFrame, chat: str, name: str) -> Iterator[dict[str, Any]]:
    for (part,), own in begun.group_by("part", maintain_order=True):
        yield {"chat": chat, name: part, "conversations": own.height, "began": _shares(own)}


def _shares(frame: pl.DataFrame) -> dict[str, str]:
    counts = frame["speaker"].value_counts(sort=True, name="n").head(_PEOPLE)
    return {name: Wording.load().percent(n / frame.height) for name, n in counts.iter_rows()}


def chat_spans(frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Each chat's longest runs of days with messages, and without."""
    rows = []
    for (chat,), own in frame.drop_nulls("date").group_by("chat", maintain_order=True):
        dates = own["date"].unique().sort().to_list()
        streaks, silences = streaks_and_silences(dates)
        rows.append(
            {
                "chat": chat,
                "first": dates[0].isoformat(),
                "last": dates[-1].isoformat(),
                "days_with_messages": len(dates),
                "streaks": _longest(streaks),
                "silences": _longest(silences),
            }
        )
    return rows


def _longest(spans: Sequence[DaySpan]) -> list[dict[str, Any]]:
    several = (span for span in spans if span.days > 1)
    longest = sorted(several, key=lambda span: (-span.days, span.first))[:_LONGEST]
    return [
        {"days": span.days, "first": span.first.isoformat(), "last": span.last.isoformat()}
        for span in longest
    ]


def lost(frame: pl.DataFrame, me: str, least: int, quiet: int) -> dict[str, Any]:
    """With whom somebody wrote often in private, and for `quiet` days no longer; most first.

    Days count until the last message of all chats: nobody is lost because an export is old. "" is
    whoever speaks in more of the private chats than anybody else.
    """
    pairs = frame.drop_nulls("date").filter(pl.col("speaker").n_unique().over("chat") == 2)
    if not me:
        sizes = pairs.group_by("speaker").agg(pl.col("chat").n_unique().alias("n")).sort("n")
        most = sizes.filter(pl.col("n") == pl.col("n").max())["speaker"].to_list()
        if len(most) != 1:
            raise RealtalkError("it is not clear who you are", fix="give your name as 'me'")
        (me,) = most
    mine = pairs.filter((pl.col("speaker") == me).any().over("chat"))
    end = frame["date"].max()
    found = (
        mine.with_columns(
            pl.col("speaker").filter(pl.col("speaker") != me).first().over("chat").alias("person"),
            pl.col("date").dt.year().alias("year"),
        )
        .group_by("person")
        .agg(
            pl.col("chat").unique().sort().alias("chats"),
            pl.len().alias("messages"),
            pl.col("date").n_unique().alias("days_with_messages"),
            pl.col("date").min().alias("first"),
            pl.col("date").max().alias("last"),
            pl.col("year").mode().max().alias("fullest_year"),
            (pl.lit(end) - pl.col("date").max()).dt.total_days().alias("quiet_days"),
        )
        .filter(pl.col("messages") >= least, pl.col("quiet_days") >= quiet)
        .sort("messages", "person", descending=[True, False])
        .with_columns(pl.col("first", "last").cast(pl.String))
    )
    return {"me": me, "until": str(end), "people": found.to_dicts()}


def year_of(frame: pl.DataFrame, unit: Unit, person: str, year: int | None) -> dict[str, Any]:
    """Somebody's year in all chats; without a year, the last in which they wrote."""
    words = Wording.load()
    own = frame.filter(pl.col("speaker") == person).drop_nulls("date")
    years: list[int] = own["date"].dt.year().unique().sort().to_list()
    chosen = years[-1] if year is None and years else year or 0
    if chosen not in years:
        some = f"{years[0]} to {years[-1]}" if years else "none"
        raise RealtalkError("this person wrote nothing in this year", fix=f"years: {some}")
    before = own.filter(pl.col("date").dt.year() == chosen - 1)
    own = own.filter(pl.col("date").dt.year() == chosen)
    written = own.height
    theirs = frame.filter(pl.col("chat").is_in(own["chat"].unique().implode()))
    begun = theirs.filter("starts", pl.col("date").dt.year() == chosen)
    days = own["date"].value_counts(name="n").sort("n", "date", descending=[True, False])
    months = own["date"].dt.strftime("%Y-%m").value_counts(name="n")
    month = months.sort("n", "date", descending=[True, False]).row(0)
    replies = own["reply"].drop_nulls()
    size = 60 if unit == "minute" else 1
    answer: dict[str, Any] = {
        "person": person,
        "year": chosen,
        "messages": written,
        "messages_the_year_before": before.height,
        "words": _count(own["words"]),
        "days_with_messages": days.height,
        "fullest_day": {"date": days["date"][0].isoformat(), "messages": days["n"][0]},
        "fullest_month": {"month": month[0], "messages": month[1]},
        "streaks": _longest(streaks_and_silences(days["date"])[0]),
        "conversations_begun": words.percent(
            _count(begun["speaker"] == person) / max(1, begun.height)
        ),
        "at_night": words.percent(_count(own["hour"] < 5) / written),
        "with_a_question": words.percent(_count(own["question"]) / written),
        "photos": _count(own["image"]),
    }
    if len(replies) >= _LEAST_REPLIES:
        answer["usual_reply"] = words.wait(float((replies // size).median() or 0), unit)  # type: ignore[arg-type]
    chats = own["chat"].value_counts(sort=True, name="messages").head(_PEOPLE)
    return answer | {"chats": chats.to_dicts(), "chats_in_all": own["chat"].n_unique()}


def _count(values: pl.Series) -> int:
    return int(values.sum())
