"""What is counted of a chat → a few sentences with one large figure each.

    for line in glance(aggregates):
        print(line.figure, line.text)     → 39% of the messages are from Mara

The same sentences open the page, which counts them again for every choice of people and time;
their wording is shared (assets/wording.json).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

import polars as pl

from realtalk.notebook import counted
from realtalk.portrait.aggregates import Aggregates
from realtalk.portrait.lines import Unit

_MOST = 8


@dataclass(frozen=True, slots=True)
class Sentence:
    """A figure and what it says."""

    id: str
    figure: str
    text: str


@cache
def wording() -> Mapping[str, Any]:
    """The page's words and limits."""
    text = (files("realtalk.portrait") / "assets" / "wording.json").read_text("utf-8")
    found: Mapping[str, Any] = json.loads(text)
    return found


def glance(aggregates: Aggregates, *, claims: bool = True) -> list[Sentence]:
    """At most eight sentences; what nothing carries is not said.

    Without `claims` nothing is said of feelings: labels are below usable in these languages.
    """
    frame = aggregates.lines.frame
    if frame.is_empty():
        return []
    days = frame.drop_nulls("date").group_by("date").len("messages").sort("date")
    return [
        *_size(aggregates, days),
        *_shares(aggregates),
        *_replies(aggregates),
        *_course(days),
        *(_mood(aggregates) if claims else []),
    ][:_MOST]


def _say(id_: str, figure: str, values: Mapping[str, str], template: str = "") -> Sentence:
    return Sentence(id_, figure, wording()["sentences"][template or id_].format(**values))


def _size(aggregates: Aggregates, days: pl.DataFrame) -> list[Sentence]:
    frame, total = aggregates.lines.frame, aggregates.lines.frame.height
    people = aggregates.people
    count = len(people.names) + people.others
    column, noun = ("characters", "character") if aggregates.lines.spaceless else ("words", "word")
    size = counted(int(frame[column].sum()), noun)
    values = {
        "messages": f"{'message' if total == 1 else 'messages'}, {size},",
        "people": people.names[0] if count == 1 else f"{count:,} people",
    }
    template = "messages"
    if days.height:
        first, last = days["date"][0], days["date"][-1]
        values |= {"first": dated(first), "last": dated(last)}
        template = "messages_day" if first == last else "messages_since"
    return [_say("messages", f"{total:,}", values, template)]


def _shares(aggregates: Aggregates) -> list[Sentence]:
    frame, names = aggregates.lines.frame, aggregates.people.names
    if len(names) < 2:
        return []
    found = [
        _say(
            "share",
            percent(frame.filter(pl.col("speaker") == names[0]).height / frame.height),
            {"name": names[0]},
        )
    ]
    starts = dict(frame.filter("starts").group_by("speaker").len().iter_rows())
    total = sum(starts.values())
    if total >= wording()["least"]["sessions"]:
        most = max(names, key=lambda name: (starts.get(name, 0), -names.index(name)))
        found.append(_say("starts", percent(starts.get(most, 0) / total), {"name": most}))
    return found


def _replies(aggregates: Aggregates) -> list[Sentence]:
    names, unit = aggregates.people.names, aggregates.lines.unit
    size = 60 if unit == "minute" else 1
    waits = (
        aggregates.lines.frame.drop_nulls("reply")
        .filter(pl.col("speaker").is_in(list(names)))
        .group_by("speaker")
        .agg((pl.col("reply") // size).median().alias("median"), pl.len().alias("n"))
        .filter(pl.col("n") >= wording()["least"]["replies"])
    )
    order = sorted((median, names.index(name), name) for name, median, _ in waits.iter_rows())
    if not order:
        return []
    values = {"name": order[0][2]}
    template = "reply"
    if len(order) == 2:
        values |= {"other": order[1][2], "time": waited(order[1][0], unit)}
        template = "reply_two"
    return [_say("reply", waited(order[0][0], unit), values, template)]


def _course(days: pl.DataFrame) -> list[Sentence]:
    """The longest run of days with messages, the longest without, and the fullest day."""
    dates: list[date] = days["date"].to_list()
    if len(dates) < 2:
        return []
    one = timedelta(days=1)
    runs: list[tuple[date, date]] = [(dates[0], dates[0])]
    pauses: list[tuple[date, date]] = []
    for before, day in pairwise(dates):
        if day - before == one:
            runs[-1] = (runs[-1][0], day)
        else:
            runs.append((day, day))
            pauses.append((before + one, day - one))
    found = []
    for id_, spans, least in (("streak", runs, 2), ("silence", pauses, 1)):
        longest = max(spans, key=lambda span: span[1] - span[0], default=None)
        length = 0 if longest is None else (longest[1] - longest[0]).days + 1
        if longest is not None and length >= least:
            ends = {"from": dated(longest[0]), "to": dated(longest[1])}
            template = "silence_day" if length == 1 else id_
            found.append(_say(id_, counted(length, "day"), ends, template))
    fullest = max(days.iter_rows(), key=lambda row: row[1])
    found.append(_say("busiest", counted(fullest[1], "message"), {"date": dated(fullest[0])}))
    return found


def _mood(aggregates: Aggregates) -> list[Sentence]:
    if aggregates.feelings is None:
        return []
    felt = aggregates.feelings.drop_nulls("sentiment")
    least = wording()["least"]
    if felt.height < least["turns"] or felt["date"].n_unique() < least["days"]:
        return []
    share = {
        name: percent(felt.filter(pl.col("sentiment") == name).height / felt.height)
        for name in ("positive", "negative")
    }
    return [_say("mood", share["positive"], {"negative": share["negative"]})]


def dated(day: date) -> str:
    """2 March 2026."""
    return f"{day.day} {wording()['months'][day.month - 1]} {day.year}"


def percent(share: float) -> str:
    """39%; what is not quite nothing or everything is not called so."""
    value = share * 100
    if 0 < value < 1:
        return "under 1%"
    return "over 99%" if 99 < value < 100 else f"{int(value + 0.5)}%"


def waited(value: float, unit: Unit) -> str:
    """A wait in words; a clock of minutes knows no seconds."""
    seconds = value * 60 if unit == "minute" else value
    if seconds < 60:
        short = unit == "minute" or seconds < 1
        return "under a minute" if short else counted(int(seconds + 0.5), "second")
    if seconds < 3570:
        return counted(int(seconds / 60 + 0.5), "minute")
    hours = seconds / 3600
    if hours >= 9.95:
        return counted(int(hours + 0.5), "hour")
    short_form = f"{hours:.1f}".removesuffix(".0")
    return "1 hour" if short_form == "1" else f"{short_form} hours"
