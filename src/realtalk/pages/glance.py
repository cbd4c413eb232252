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
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

import polars as pl

from realtalk.describe.counting import streaks_and_silences
from realtalk.pages.aggregates import Aggregates
from realtalk.pages.wording import Wording, asset

_MOST = 8
# From which figures on something is said; the page's scripts have the same.
LIMITS: Mapping[str, Any] = json.loads(asset("limits.json"))
_LEAST: Mapping[str, float] = LIMITS["least"]


class Sentence(NamedTuple):
    """A figure and what it says. `is_whole` text says the figure itself; `is_weak` says little."""

    id: str
    figure: str
    text: str
    is_whole: bool = False
    is_weak: bool = False

    def __str__(self) -> str:
        return self.text if self.is_whole else f"{self.figure} {self.text}"


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
    everybody = aggregates.by_person
    people = everybody.head(len(aggregates.people.names))
    found = [_size(words, aggregates, days, chats)]
    if chats == 1:
        found += [*_shares(words, everybody, people), *_replies(words, aggregates, people)]
    found += _course(words, days, chats)
    if claims:
        found += _mood(words, aggregates)
    if chats == 1:
        found += _habits(words, aggregates, people)
    found += _weekday(words, days)
    return sorted(found, key=lambda sentence: sentence.is_weak)[:_MOST]


def _say(words: Wording, id_: str, figure: str, template: str = "", **gaps: str) -> Sentence:
    text = words.say("sentences", template or id_, **gaps)
    return Sentence(id_, figure, text, id_ == "reply" or template.endswith("_tie"))


def _holders(words: Wording, figures: Mapping[str, str]) -> tuple[str, str, int]:
    """The first figure, who has it, and how many share it as far as it is shown."""
    figure = next(iter(figures.values()))
    equal = [name for name, time in figures.items() if time == figure]
    many = words.counted(len(equal), "people")
    return figure, many if len(equal) > 3 else words.joined(equal), len(equal)


def _size(words: Wording, aggregates: Aggregates, days: pl.DataFrame, chats: int) -> Sentence:
    people, total = aggregates.by_person, aggregates.lines.frame.height
    column, noun = ("characters", "character") if aggregates.lines.spaceless else ("words", "word")
    values = {
        "messages": words.counted(total, "messages"),
        "size": words.counted(int(people[column].sum()), noun),
        "people": people["speaker"][0]
        if people.height == 1
        else words.counted(people.height, "from_people"),
        "chats": words.number(chats),
    }
    template = "messages"
    if days.height:
        first, last = days["date"][0], days["date"][-1]
        values |= {"first": words.day(first), "last": words.day(last)}
        template = "messages_day" if first == last else "messages_since"
    template += "_chats" if chats > 1 else ""
    return _say(words, "messages", words.number(total), template, **values)


def _shares(words: Wording, everybody: pl.DataFrame, people: pl.DataFrame) -> Iterator[Sentence]:
    sessions = _LEAST["sessions"]
    for id_, column, enough in (("share", "messages", 1), ("starts", "starts", sessions)):
        total = int(everybody[column].sum())
        if people.height < 2 or total < enough:
            continue
        order = people.sort(column, descending=True, maintain_order=True)
        counts = dict(order.select("speaker", column).iter_rows())
        shares = {name: words.percent(count / total) for name, count in counts.items()}
        share, who, equal = _holders(words, shares)
        sentence = _say(
            words,
            id_,
            share if equal == 1 else words.say("sentences", "tie"),
            f"{id_}_tie" if equal > 1 else id_,
            name=who,
            names=who,
            share=share,
            conversations=words.counted(total, "conversation"),
        )
        is_weak = _is_expected(order[column][0], total, everybody.height)
        yield sentence._replace(is_weak=is_weak)


def _is_expected(count: int, total: int, people: int) -> bool:
    """Whether a share is near that of each of so many equals, or could well be so by chance."""
    even = 1 / people
    error = (even * (1 - even) / total) ** 0.5
    share = count / total
    return share < even * _LEAST["telling"] or share - even < 1.96 * error


def _replies(words: Wording, aggregates: Aggregates, people: pl.DataFrame) -> Iterator[Sentence]:
    unit = aggregates.lines.unit
    answering = people.filter(pl.col("replies") >= _LEAST["replies"])
    order = answering.sort("reply_seconds", maintain_order=True)
    waits = dict(order.select("speaker", "reply_seconds").iter_rows())
    if not waits:
        return
    times = {name: words.wait(seconds, unit) for name, seconds in waits.items()}
    figure, who, equal = _holders(words, times)
    if equal == len(waits):
        template = {1: "reply", 2: "reply_both"}.get(equal, "reply_all")
    elif len(waits) == 2:
        template = "reply_two"
    else:
        template = "reply_least_tie" if equal > 1 else "reply_least"
    first, last = ([*waits][at] for at in (0, -1))
    yield _say(
        words,
        "reply",
        figure,
        template,
        names=who,
        time=words.wait(waits[first], unit, "within"),
        other=last,
        later=words.wait(waits[last], unit, "within"),
        count=words.number(len(waits)),
    )


def _habits(words: Wording, aggregates: Aggregates, people: pl.DataFrame) -> Iterator[Sentence]:
    """Whose messages are longest, and who asks most; each beside the one who does so least."""
    writers = people.filter(pl.col("messages") >= _LEAST["messages"])
    if writers.height < 2:
        return
    asked = writers["question"].sum() >= _LEAST["questions"]
    for id_, column, is_told in (
        ("length", "words", not aggregates.lines.spaceless),
        ("question", "question", asked),
    ):
        rate = pl.col(column) / pl.col("messages")
        order = writers.sort(rate, descending=True, maintain_order=True)
        rates = order.select(rate)[column]
        most, fewest = rates[0], rates[-1]
        if is_told and most >= fewest * _LEAST[id_] and most > 0:
            texts = [
                words.percent(value)
                if id_ == "question"
                else words.counted(int(value * 10 + 0.5) / 10, "word", 1)
                for value in (most, fewest)
            ]
            names = order["speaker"]
            yield _say(words, id_, texts[0], name=names[0], other=names[-1], less=texts[1])


def _weekday(words: Wording, days: pl.DataFrame) -> Iterator[Sentence]:
    """The fullest day of the week, where it stands out over some weeks."""
    total = int(days["messages"].sum())
    if days.height < 2 or (days["date"][-1] - days["date"][0]).days + 1 < _LEAST["weeks"]:
        return
    sums = days.group_by(day=pl.col("date").dt.weekday()).agg(pl.col("messages").sum())
    day, top = sums.sort("messages", "day", descending=[True, False]).row(0)
    if top * 7 >= total * _LEAST["weekday"] and total >= _LEAST["messages"]:
        yield _say(words, "weekday", words.percent(top / total), weekday=words.weekday(day - 1))


def _course(words: Wording, days: pl.DataFrame, chats: int) -> Iterator[Sentence]:
    """The longest run of days with messages, the longest without, and the fullest day."""
    dates: list[date] = days["date"].to_list()
    if len(dates) < 2:
        return
    for id_, spans, least in zip(
        ("streak", "silence"),
        streaks_and_silences(dates),
        (2, _LEAST["silence"]),
        strict=True,
    ):
        lengths = [span.days for span in spans]
        length = max(lengths, default=0)
        if length >= least:
            begin, end = spans[lengths.index(length)]
            times = lengths.count(length)
            yield _say(
                words,
                id_,
                words.counted(length, "day"),
                f"{id_}{'_chats' * (chats > 1)}{'_several' * (times > 1)}",
                chats=words.number(chats),
                times=words.counted(times, "time"),
                **{"from": words.day(begin), "to": words.day(end)},
            )
    sizes: list[int] = days["messages"].to_list()
    times = sizes.count(max(sizes))
    if times < len(sizes):  # where all days are alike, none stands out
        yield _say(
            words,
            "busiest",
            words.counted(max(sizes), "message"),
            "busiest_several" if times > 1 else "busiest",
            date=words.day(dates[sizes.index(max(sizes))]),
            days=words.number(times),
        )


def _mood(words: Wording, aggregates: Aggregates) -> Iterator[Sentence]:
    if aggregates.feelings is None:
        return
    felt = aggregates.feelings.drop_nulls("sentiment")
    if felt.height < _LEAST["turns"] or felt["date"].n_unique() < _LEAST["days"]:
        return
    positive, negative = (
        words.percent(int((felt["sentiment"] == name).sum()) / felt.height)
        for name in ("positive", "negative")
    )
    turns = words.counted(felt.height, "turn")
    yield _say(words, "mood", positive, turns=turns, negative=negative)
