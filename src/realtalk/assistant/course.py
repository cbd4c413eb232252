"""Messages as lines → how chats went: who writes first, streaks, earlier years, lost contacts.

    first_writers(frame, by="quarter")
    → [{"chat": …, "quarter": "2026-Q1", "conversations": 12, "began": {"Mara": "58%", …}}, …]
    chat_spans(frame)         → [{"chat": …, "days": 31, "streaks": […], "silences": […], …}]
    lost(frame, me="Mara", least=100, quiet=180)  → people Mara wrote with, and no longer does
    year_of(lines, "Mara", 2026)        → her year in numbers

`frame` has one row per message (`pages.lines`), so that a conversation, its first message and a
reply time are here what they are on the page. Numbers are rounded as they are told there.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Literal

import polars as pl

from realtalk.assistant.answers import JsonObject, Period
from realtalk.describe.counting import DaySpan, streaks_and_silences
from realtalk.errors import RealtalkError
from realtalk.pages.lines import MessageLines
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


def first_writers(frame: pl.DataFrame, by: Part) -> list[JsonObject]:
    """Who began conversations: for each chat in its two halves, then part by part."""
    begun = frame.filter("starts").sort("chat", "time", maintain_order=True)
    is_early = pl.int_range(pl.len()) * 2 < pl.len()
    halves = pl.when(is_early).then(pl.lit("first")).otherwise(pl.lit("second"))
    rows: list[JsonObject] = []
    for (chat,), own in begun.group_by("chat", maintain_order=True):
        for name, part in (("half", halves), (by, _PARTS[by])):
            dated = own.with_columns(part=part).drop_nulls("part")
            rows += [
                {"chat": chat, name: value, "conversations": few.height, "began": _shares(few)}
                for (value,), few in dated.group_by("part", maintain_order=True)
            ]
    return rows


def _shares(frame: pl.DataFrame) -> dict[str, str]:
    counts = frame["speaker"].value_counts(sort=True, name="n").head(_PEOPLE)
    return {name: Wording.load().percent(n / frame.height) for name, n in counts.iter_rows()}


def chat_spans(frame: pl.DataFrame) -> list[JsonObject]:
    """Each chat's longest runs of days with messages, and without."""
    rows = []
    for (chat,), own in frame.drop_nulls("date").group_by("chat", maintain_order=True):
        dates = sorted(set(own["date"]))
        streaks, silences = streaks_and_silences(dates)
        row = {"chat": chat, "first": dates[0].isoformat(), "last": dates[-1].isoformat()}
        row |= {"days_with_messages": len(dates), "streaks": _longest(streaks)}
        rows.append(row | {"silences": _longest(silences)})
    return rows


def _longest(spans: Sequence[DaySpan]) -> list[JsonObject]:
    several = (span for span in spans if span.days > 1)
    longest = sorted(several, key=lambda span: (-span.days, span.first))[:_LONGEST]
    return [
        {"days": span.days, "first": span.first.isoformat(), "last": span.last.isoformat()}
        for span in longest
    ]


def lost(frame: pl.DataFrame, me: str, least: int, quiet: int) -> JsonObject:
    """With whom somebody wrote often in private, and for `quiet` days no longer; most first.

    Days count until the last message of all chats: nobody is lost because an export is old. "" is
    whoever speaks in more of the private chats than anybody else.
    """
    pairs = frame.drop_nulls("date").filter(pl.col("speaker").n_unique().over("chat") == 2)
    if not me:
        chats = pairs.group_by("speaker").agg(pl.col("chat").n_unique())
        most = chats.filter(pl.col("chat") == pl.col("chat").max())["speaker"].to_list()
        if len(most) != 1:
            raise RealtalkError("it is not clear who you are", fix="give your name as 'me'")
        (me,) = most
    end, date_, is_me = frame["date"].max(), pl.col("date"), pl.col("speaker") == me
    found = (
        pairs.filter(is_me.any().over("chat"))
        .with_columns(person=pl.col("speaker").filter(~is_me).first().over("chat"))
        .group_by("person")
        .agg(
            chats=pl.col("chat").unique().sort(),
            messages=pl.len(),
            days_with_messages=date_.n_unique(),
            first=date_.min().cast(pl.String),
            last=date_.max().cast(pl.String),
            fullest_year=date_.dt.year().mode().max(),
            quiet_days=(pl.lit(end) - date_.max()).dt.total_days(),
        )
        .filter(pl.col("messages") >= least, pl.col("quiet_days") >= quiet)
        .sort("messages", "person", descending=[True, False])
    )
    return {"me": me, "until": str(end), "people": found.to_dicts()}


def year_of(lines: MessageLines, person: str, year: int | None) -> JsonObject:
    """Somebody's year in all chats; without a year, the last in which they wrote."""
    words, frame, size = Wording.load(), lines.frame, lines.unit_seconds
    in_year = pl.col("date").dt.year()
    own = frame.filter(pl.col("speaker") == person).drop_nulls("date")
    years: list[int] = own.select(in_year.unique().sort())["date"].to_list()
    chosen = years[-1] if year is None and years else year or 0
    if chosen not in years:
        some = f"{years[0]} to {years[-1]}" if years else "none"
        raise RealtalkError("this person wrote nothing in this year", fix=f"years: {some}")
    before = own.filter(in_year == chosen - 1)
    own = own.filter(in_year == chosen)
    theirs = frame.filter(pl.col("chat").is_in(own["chat"].unique().implode()))
    begun = theirs.filter("starts", in_year == chosen)["speaker"] == person
    days = own["date"].value_counts(name="n").sort("n", "date", descending=[True, False])
    months = own["date"].dt.strftime("%Y-%m").value_counts(name="n")
    month = months.sort("n", "date", descending=[True, False]).row(0)
    replies = own["reply"].drop_nulls() // size * size
    answer: JsonObject = {
        "person": person,
        "year": chosen,
        "messages": own.height,
        "messages_the_year_before": before.height,
        "words": _count(own["words"]),
        "days_with_messages": days.height,
        "fullest_day": {"date": days["date"][0].isoformat(), "messages": days["n"][0]},
        "fullest_month": {"month": month[0], "messages": month[1]},
        "streaks": _longest(streaks_and_silences(days["date"])[0]),
        "conversations_begun": words.percent(_count(begun) / max(1, len(begun))),
        "at_night": words.percent(_count(own["hour"] < 5) / own.height),
        "with_a_question": words.percent(_count(own["question"]) / own.height),
        "photos": _count(own["image"]),
    }
    if len(replies) >= _LEAST_REPLIES:
        answer["usual_reply"] = words.wait(replies.median(), lines.unit)  # type: ignore[arg-type]
    chats = own["chat"].value_counts(sort=True, name="messages").head(_PEOPLE)
    return answer | {"chats": chats.to_dicts(), "chats_in_all": own["chat"].n_unique()}


def _count(values: pl.Series) -> int:
    return int(values.sum())
