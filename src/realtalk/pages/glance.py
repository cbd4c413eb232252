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
from itertools import pairwise
from typing import Any

import polars as pl

from realtalk.notebook import counted
from realtalk.pages.aggregates import Aggregates
from realtalk.pages.frame import asset
from realtalk.pages.lines import Unit

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
    words: Mapping[str, Any] = json.loads(asset("wording.json"))
    return words


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
        *_course(days, _of_all(aggregates, " in any of the {:,} chats")),
        *(_mood(aggregates) if claims else []),
    ][:_MOST]


def _say(id_: str, figure: str, values: Mapping[str, str], template: str = "") -> Sentence:
    return Sentence(id_, figure, wording()["sentences"][template or id_].format(**values))


def _of_all(aggregates: Aggregates, words: str) -> str:
    """Figures of several chats are of all together, also of those that a person is not in."""
    count = len(aggregates.chats.names) + aggregates.chats.others
    return words.format(count) if count > 1 else ""


def _holders(figures: Mapping[str, str]) -> tuple[str, str]:
    """The first figure and who has it; those who share it, as far as it is shown, together."""
    figure = next(iter(figures.values()))
    equal = [name for name, time in figures.items() if time == figure]
    if len(equal) == 1:
        return figure, equal[0]
    names = (
        f"{len(equal):,} people" if len(equal) > 3 else f"{', '.join(equal[:-1])} and {equal[-1]}"
    )
    return figure, f"each of {names}"


def _size(aggregates: Aggregates, days: pl.DataFrame) -> list[Sentence]:
    frame, total = aggregates.lines.frame, aggregates.lines.frame.height
    people = aggregates.people
    count = len(people.names) + people.others
    column, noun = ("characters", "character") if aggregates.lines.spaceless else ("words", "word")
    size = counted(int(frame[column].sum()), noun)
    by = people.names[0] if count == 1 else f"{count:,} people"
    values = {
        "messages": f"{'message' if total == 1 else 'messages'}, {size},",
        "people": by + _of_all(aggregates, " in {:,} chats"),
    }
    template = "messages"
    if days.height:
        first, last = days["date"][0], days["date"][-1]
        values |= {"first": day_text(first), "last": day_text(last)}
        template = "messages_day" if first == last else "messages_since"
    return [_say("messages", f"{total:,}", values, template)]


def _shares(aggregates: Aggregates) -> list[Sentence]:
    frame, names = aggregates.lines.frame, aggregates.people.names
    if len(names) < 2:
        return []
    starts = dict(frame.filter("starts").group_by("speaker").len().iter_rows())
    sentences = []
    for id_, counts, least in (
        ("share", dict(frame.group_by("speaker").len().iter_rows()), 1),
        ("starts", starts, wording()["least"]["sessions"]),
    ):
        if (total := sum(counts.values())) < least:
            continue
        order = sorted(names, key=lambda name: -counts.get(name, 0))
        figure, who = _holders({name: percent(counts.get(name, 0) / total) for name in order})
        chats = _of_all(aggregates, " of the {:,} chats together")
        values = {"conversations": counted(total, "conversation"), "chats": chats, "name": who}
        sentences.append(_say(id_, figure, values))
    return sentences


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
    times = {name: wait_text(median, unit) for median, _, name in order}
    last, time = next(reversed(times.items()))
    figure, who = _holders(times)
    template = "reply" if time == figure else "reply_two" if len(order) == 2 else "reply_least"
    values = {"name": who, "other": last, "time": time, "count": f"{len(order):,}"}
    return [_say("reply", figure, values, template)]


def _course(days: pl.DataFrame, of: str) -> list[Sentence]:
    """The longest run of days with messages, the longest without, and the fullest day."""
    dates: list[date] = days["date"].to_list()
    if len(dates) < 2:
        return []
    one_day = timedelta(days=1)
    runs: list[tuple[date, date]] = [(dates[0], dates[0])]
    pauses: list[tuple[date, date]] = []
    for before, day in pairwise(dates):
        if day - before == one_day:
            runs[-1] = (runs[-1][0], day)
        else:
            runs.append((day, day))
            pauses.append((before + one_day, day - one_day))
    sentences = []
    for id_, spans, least in (
        ("streak", runs, 2),
        ("silence", pauses, wording()["least"]["silence"]),
    ):
        lengths = [(end - begin).days + 1 for begin, end in spans]
        length = max(lengths, default=0)
        if length >= least:
            begin, end = spans[lengths.index(length)]
            times = lengths.count(length)
            values = {"of": of, "times": f"{times:,}", "from": day_text(begin), "to": day_text(end)}
            template = f"{id_}_several" if times > 1 else id_
            sentences.append(_say(id_, counted(length, "day"), values, template))
    sizes: list[int] = days["messages"].to_list()
    times = sizes.count(max(sizes))
    if times < len(sizes):  # where all days are alike, none stands out
        values = {"date": day_text(dates[sizes.index(max(sizes))]), "times": f"{times:,}"}
        template = "busiest_several" if times > 1 else "busiest"
        sentences.append(_say("busiest", counted(max(sizes), "message"), values, template))
    return sentences


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
    values = {"turns": counted(felt.height, "turn"), "negative": share["negative"]}
    return [_say("mood", share["positive"], values)]


def day_text(day: date) -> str:
    """2 March 2026."""
    return f"{day.day} {wording()['months'][day.month - 1]} {day.year}"


def percent(share: float) -> str:
    """39%; what is not quite nothing or everything is not called so."""
    value = share * 100
    if 0 < value < 1:
        return "under 1%"
    return "over 99%" if 99 < value < 100 else f"{int(value + 0.5)}%"


def wait_text(value: float, unit: Unit) -> str:
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
