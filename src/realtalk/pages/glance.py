"""What is counted of a chat → a few sentences with one large figure each.

    for line in glance(aggregates):
        print(line.figure, line.text)     → 39% of the messages are from Mara

The same sentences open the page, which counts them again for every choice of people and time;
their wording is shared (`wording`). A fact that lies near what chance would give, such as
51% of the messages from one of two people, comes last, and is left out where others have more to
tell. Of several chats nothing is said that would add people up as if they were one group.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from typing import Any

import polars as pl

from realtalk.describe.spans import streaks_and_silences
from realtalk.pages.aggregates import Aggregates
from realtalk.pages.wording import Wording, asset

_MOST = 8


@dataclass(frozen=True, slots=True)
class Sentence:
    """A figure and what it says. `is_whole` text says the figure itself; `is_weak` says little."""

    id: str
    figure: str
    text: str
    is_whole: bool = False
    is_weak: bool = False

    def __str__(self) -> str:
        return self.text if self.is_whole else f"{self.figure} {self.text}"


@cache
def limits() -> Mapping[str, Any]:
    """From which figures on something is said; the page's scripts have the same."""
    found: Mapping[str, Any] = json.loads(asset("limits.json"))
    return found


def glance(
    aggregates: Aggregates, *, claims: bool = True, words: Wording | None = None
) -> list[Sentence]:
    """At most eight sentences, in English or in `words`; what nothing carries is not said.

    Without `claims` nothing is said of feelings: labels are below usable in these languages.
    """
    words, frame = words or Wording.load(), aggregates.lines.frame
    if frame.is_empty():
        return []
    days = frame.drop_nulls("date").group_by("date").len("messages").sort("date")
    chats = len(aggregates.chats.names) + aggregates.chats.others
    found = [
        *_size(words, aggregates, days, chats),
        *(_shares(words, aggregates) + _replies(words, aggregates) if chats == 1 else []),
        *_course(words, days, chats),
        *(_mood(words, aggregates) if claims else []),
        *(_habits(words, aggregates) if chats == 1 else []),
        *_weekday(words, days),
    ]
    return sorted(found, key=lambda sentence: sentence.is_weak)[:_MOST]


def _say(
    words: Wording,
    id_: str,
    figure: str,
    gaps: Mapping[str, str],
    template: str = "",
    *,
    is_weak: bool = False,
) -> Sentence:
    text = words.say("sentences", template or id_, **gaps)
    is_whole = id_ == "reply" or template.endswith("_tie")
    return Sentence(id_, figure, text, is_whole, is_weak)


def _holders(words: Wording, figures: Mapping[str, str]) -> tuple[str, str, int]:
    """The first figure, who has it, and how many share it as far as it is shown."""
    figure = next(iter(figures.values()))
    equal = [name for name, time in figures.items() if time == figure]
    many = words.counted(len(equal), "people")
    return figure, many if len(equal) > 3 else words.joined(equal), len(equal)


def _size(words: Wording, aggregates: Aggregates, days: pl.DataFrame, chats: int) -> list[Sentence]:
    frame, total = aggregates.lines.frame, aggregates.lines.frame.height
    people = aggregates.people
    count = len(people.names) + people.others
    column, noun = ("characters", "character") if aggregates.lines.spaceless else ("words", "word")
    values = {
        "messages": words.counted(total, "messages"),
        "size": words.counted(int(frame[column].sum()), noun),
        "people": people.names[0] if count == 1 else words.counted(count, "from_people"),
        "chats": words.number(chats),
    }
    template = "messages"
    if days.height:
        first, last = days["date"][0], days["date"][-1]
        values |= {"first": words.day(first), "last": words.day(last)}
        template = "messages_day" if first == last else "messages_since"
    template += "_chats" if chats > 1 else ""
    return [_say(words, "messages", words.number(total), values, template)]


def _shares(words: Wording, aggregates: Aggregates) -> list[Sentence]:
    frame, names = aggregates.lines.frame, aggregates.people.names
    if len(names) < 2:
        return []
    starts = dict(frame.filter("starts").group_by("speaker").len().iter_rows())
    sentences = []
    for id_, counts, least in (
        ("share", dict(frame.group_by("speaker").len().iter_rows()), 1),
        ("starts", starts, limits()["least"]["sessions"]),
    ):
        if (total := sum(counts.values())) < least:
            continue
        order = sorted(names, key=lambda name: -counts.get(name, 0))
        shown = {name: words.percent(counts.get(name, 0) / total) for name in order}
        share, who, equal = _holders(words, shown)
        values = {"name": who, "names": who, "share": share}
        values |= {"conversations": words.counted(total, "conversation")}
        figure = share if equal == 1 else words.say("sentences", "tie")
        sentences.append(
            _say(
                words,
                id_,
                figure,
                values,
                f"{id_}_tie" if equal > 1 else id_,
                is_weak=_is_expected(
                    counts.get(order[0], 0), total, len(names) + aggregates.people.others
                ),
            )
        )
    return sentences


def _is_expected(count: int, total: int, people: int) -> bool:
    """Whether a share is near that of each of so many equals, or could well be so by chance."""
    even = 1 / people
    error = (even * (1 - even) / total) ** 0.5
    share = count / total
    least: float = limits()["least"]["telling"]
    return share < even * least or share - even < 1.96 * error


def _replies(words: Wording, aggregates: Aggregates) -> list[Sentence]:
    names, unit = aggregates.people.names, aggregates.lines.unit
    size = 60 if unit == "minute" else 1
    waits = (
        aggregates.lines.frame.drop_nulls("reply")
        .filter(pl.col("speaker").is_in(list(names)))
        .group_by("speaker")
        .agg((pl.col("reply") // size).median().alias("median"), pl.len().alias("n"))
        .filter(pl.col("n") >= limits()["least"]["replies"])
    )
    order = sorted((median, names.index(name), name) for name, median, _ in waits.iter_rows())
    if not order:
        return []
    times = {name: words.wait(median, unit) for median, _, name in order}
    figure, who, equal = _holders(words, times)
    if equal == len(order):
        template = {1: "reply", 2: "reply_both"}.get(equal, "reply_all")
    elif len(order) == 2:
        template = "reply_two"
    else:
        template = "reply_least_tie" if equal > 1 else "reply_least"
    values = {
        "names": who,
        "time": words.wait(order[0][0], unit, "within"),
        "other": order[-1][2],
        "later": words.wait(order[-1][0], unit, "within"),
        "count": words.number(len(order)),
    }
    return [_say(words, "reply", figure, values, template)]


def _habits(words: Wording, aggregates: Aggregates) -> list[Sentence]:
    """Whose messages are longest, and who asks most; each beside the one who does so least."""
    least, names = limits()["least"], aggregates.people.names
    people = (
        aggregates.lines.frame.filter(pl.col("speaker").is_in(list(names)))
        .group_by("speaker")
        .agg(pl.len().alias("n"), pl.col("words").sum(), pl.col("question").sum())
        .filter(pl.col("n") >= least["messages"])
    )
    rows = sorted(people.iter_rows(named=True), key=lambda row: names.index(row["speaker"]))
    if len(rows) < 2:
        return []
    sentences = []
    for id_, column in (("length", "words"), ("question", "question")):
        order = sorted(rows, key=lambda row: -row[column] / row["n"])
        most, fewest = (row[column] / row["n"] for row in (order[0], order[-1]))
        if id_ == "length":
            is_told = not aggregates.lines.spaceless
            texts = [
                words.counted(int(value * 10 + 0.5) / 10, "word", 1) for value in (most, fewest)
            ]
        else:
            is_told = sum(row["question"] for row in rows) >= least["questions"]
            texts = [words.percent(value) for value in (most, fewest)]
        if is_told and most >= fewest * least[id_] and most > 0:
            values = {
                "name": order[0]["speaker"],
                "other": order[-1]["speaker"],
                "less": texts[1],
            }
            sentences.append(_say(words, id_, texts[0], values))
    return sentences


def _weekday(words: Wording, days: pl.DataFrame) -> list[Sentence]:
    """The fullest day of the week, where it stands out over some weeks."""
    least, total = limits()["least"], int(days["messages"].sum())
    if days.height < 2 or (days["date"][-1] - days["date"][0]).days + 1 < least["weeks"]:
        return []
    sums = dict(
        days.group_by(pl.col("date").dt.weekday()).agg(pl.col("messages").sum()).iter_rows()
    )
    top = max(range(1, 8), key=lambda day: (sums.get(day, 0), -day))
    if sums[top] * 7 < total * least["weekday"] or total < least["messages"]:
        return []
    values = {"weekday": words.weekday(top - 1)}
    return [_say(words, "weekday", words.percent(sums[top] / total), values)]


def _course(words: Wording, days: pl.DataFrame, chats: int) -> list[Sentence]:
    """The longest run of days with messages, the longest without, and the fullest day."""
    dates: list[date] = days["date"].to_list()
    if len(dates) < 2:
        return []
    streaks, silences = streaks_and_silences(dates)
    sentences = []
    for id_, spans, least in (
        ("streak", streaks, 2),
        ("silence", silences, limits()["least"]["silence"]),
    ):
        lengths = [span.days for span in spans]
        length = max(lengths, default=0)
        if length >= least:
            begin, end = spans[lengths.index(length)]
            times = lengths.count(length)
            values = {"chats": words.number(chats), "times": words.counted(times, "time")}
            values |= {"from": words.day(begin), "to": words.day(end)}
            template = f"{id_}{'_chats' * (chats > 1)}{'_several' * (times > 1)}"
            sentences.append(_say(words, id_, words.counted(length, "day"), values, template))
    sizes: list[int] = days["messages"].to_list()
    times = sizes.count(max(sizes))
    if times < len(sizes):  # where all days are alike, none stands out
        date_text = words.day(dates[sizes.index(max(sizes))])
        values = {"date": date_text, "days": words.number(times)}
        template = "busiest_several" if times > 1 else "busiest"
        figure = words.counted(max(sizes), "message")
        sentences.append(_say(words, "busiest", figure, values, template))
    return sentences


def _mood(words: Wording, aggregates: Aggregates) -> list[Sentence]:
    if aggregates.feelings is None:
        return []
    felt = aggregates.feelings.drop_nulls("sentiment")
    least = limits()["least"]
    if felt.height < least["turns"] or felt["date"].n_unique() < least["days"]:
        return []
    share = {
        name: words.percent(felt.filter(pl.col("sentiment") == name).height / felt.height)
        for name in ("positive", "negative")
    }
    values = {"turns": words.counted(felt.height, "turn"), "negative": share["negative"]}
    return [_say(words, "mood", share["positive"], values)]
