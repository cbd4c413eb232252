"""Invented people and what happens to them: templates of our own, or a file, drawn by a seed.

    cast = load_cast()                             # cast.toml beside this module
    cast.personas[0].name                          → "Noor"
    roles = draw_roles(cast, days=7, begins=date(2025, 1, 6), chats=5, seed=0)
    roles[0][1].told(datetime(2025, 1, 8, 18))     → "You are Piet, 61, …\\nLately: …"

A pair of people shares one chat and nobody is in two as long as there are enough of them, so that
chats can be told apart by people who are in none of the others. About every other day something
happens to each of them, nothing twice in a chat; it is known from the morning of its day on.

When people write: what chats show, or a paper prints → the sessions, gaps and bursts of a chat.

    pace = pace_of(corpus)                 # counts and seconds, nothing that was said
    pace.bursts                            → (1, 3, 1, 2, …), messages in a row
    draw_turns(pace, days=7, begins=date(2025, 1, 6), seed="0/Chat_1")
    → (PlannedTurn(session=1, side=0, time=…18:04, pauses=(12, 40)), …)

All times are drawn before a word is written, each figure by itself from what was seen of it. A
session begins an hour after the last one ended at the earliest; what would be later than the last
day is left out.
"""

from __future__ import annotations

import json
import math
import random
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, time, timedelta
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist, fmean
from typing import Any

from realtalk.chat import Chat, Corpus, turns
from realtalk.errors import RealtalkError
from realtalk.evals.prompts import written_day

_SHARE = 0.5  # of days on which something happens
_REMEMBERED = 3  # events that somebody has in mind
_FIELDS = ("name", "age", "place", "work", "life", "manner")
_FORM = '[[personas]] with name, age, place, work, life and manner, and events = ["…"]'


@dataclass(frozen=True, slots=True)
class Persona:
    """Somebody who does not exist: who they are, how they live, how they write."""

    name: str
    age: int
    place: str
    work: str
    life: str
    manner: str

    @property
    def text(self) -> str:
        return (
            f"You are {self.name}, {self.age}, from {self.place}; {self.work}. {self.life} "
            f"How you write: {self.manner}"
        )


@dataclass(frozen=True, slots=True)
class Cast:
    """Everybody who may be drawn, and everything that may happen, told to whom it happens."""

    personas: tuple[Persona, ...]
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Role:
    """A persona in one chat, with what happens on which day."""

    persona: Persona
    events: tuple[tuple[date, str], ...] = ()

    def told(self, moment: datetime) -> str:
        """What this person knows of themselves at a moment."""
        past = [each for each in self.events if each[0] <= moment.date()][-_REMEMBERED:]
        lines = [self.persona.text]
        if past:
            lines.append("What happened to you lately:")
            lines += [f"- [{written_day(day)}] {text}" for day, text in past]
        return "\n".join(lines)


def load_cast(path: Path | None = None) -> Cast:
    """Ours, or a file's personas; a file without events has ours."""
    own = _read((files("realtalk.persona") / "cast.toml").read_text("utf-8"), "cast.toml")
    if path is None:
        return own
    try:
        given = _read(path.read_text("utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise RealtalkError(
            "the personas cannot be read", where=str(path), fix="save them as UTF-8 text"
        ) from error
    return Cast(given.personas, given.events or own.events)


def _read(text: str, where: str) -> Cast:
    try:
        told = tomllib.loads(text)
        personas = []
        for each in told["personas"]:
            values = {name: str(each[name]).strip() for name in _FIELDS}
            if not values["name"] or set(each) != set(_FIELDS):
                raise ValueError
            personas.append(Persona(**{**values, "age": int(each["age"])}))  # type: ignore[arg-type]
        events = tuple(str(each) for each in told.get("events", ()))
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise RealtalkError(
            "is no file of personas", where=where, fix=f"write TOML: {_FORM}"
        ) from error
    names = [each.name for each in personas]
    if len(set(names)) < max(2, len(names)):
        raise RealtalkError(
            "two personas or more are needed, each with a name of its own", where=where
        )
    return Cast(tuple(personas), events)


def draw_roles(
    cast: Cast, *, days: int, begins: date, chats: int, seed: int
) -> tuple[tuple[Role, Role], ...]:
    """Two people for each chat, and what happens to them in it."""
    found = []
    waiting: list[Persona] = []
    chance = random.Random(f"{seed}/cast")
    for number in range(chats):
        if len(waiting) < 2:
            waiting = list(cast.personas)
            chance.shuffle(waiting)
        lots = random.Random(f"{seed}/{number}/events")
        coming = list(cast.events)  # each comes once in a chat
        lots.shuffle(coming)
        pair = []
        for persona in (waiting.pop(), waiting.pop()):
            events = [
                (begins + timedelta(days=day), coming.pop())
                for day in range(days)
                if lots.random() < _SHARE and coming
            ]
            pair.append(Role(persona, tuple(events)))
        found.append((pair[0], pair[1]))
    return tuple(found)


_BREAK = timedelta(hours=1)  # between two sessions, at least
_STEPS = 1000  # values that stand for a distribution of which only a paper's figures are known
# What no paper prints: when a day's first message comes, and how fast one's own next one does.
_WAKING = (8 * 60, 23 * 60)  # minutes after midnight
_PAUSE_MEDIAN, _PAUSE_SPREAD = 15.0, 0.9  # seconds; of a logarithmic normal distribution


@dataclass(frozen=True, slots=True)
class ChatPace:
    """Values to draw from, as often as they were seen. Times are in seconds."""

    source: str
    sessions: tuple[int, ...]  # begun on a day; days without any count too
    starts: tuple[int, ...]  # of sessions, in minutes after midnight
    turns: tuple[int, ...]  # of a session
    gaps: tuple[float, ...]  # from a turn to somebody else's
    pauses: tuple[float, ...]  # between messages of one turn
    bursts: tuple[int, ...]  # messages of a turn

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> ChatPace:
        source = str(told["source"])
        return cls(source, **{name: tuple(told[name]) for name in _DRAWN})

    @classmethod
    def load(cls, path: Path) -> ChatPace:
        """One that was written down, for a machine that has no chats."""
        return cls.from_json(json.loads(path.read_text("utf-8")))


_DRAWN = ("sessions", "starts", "turns", "gaps", "pauses", "bursts")


@dataclass(frozen=True, slots=True)
class PlannedTurn:
    """Who writes when; one message, and another one after each of the pauses."""

    session: int
    side: int  # 0 or 1
    time: datetime
    pauses: tuple[float, ...] = ()


def pace_of(corpus: Corpus) -> ChatPace:
    """What the chats of a corpus show, those with times."""
    found: dict[str, list[float]] = {name: [] for name in _DRAWN}
    for chat in corpus.chats:
        _observe(chat, found)
    if not found["gaps"]:
        raise RealtalkError(
            "no chat shows when people answer each other",
            where=corpus.name,
            fix="name one with the times of its messages, or leave `like=` out",
        )
    whole = {name: tuple(map(int, found[name])) for name in ("sessions", "starts", "turns")}
    return ChatPace(
        corpus.name,
        **whole,
        gaps=tuple(found["gaps"]),
        pauses=tuple(found["pauses"]) or (_PAUSE_MEDIAN,),
        bursts=tuple(map(int, found["bursts"])),
    )


def _observe(chat: Chat, found: dict[str, list[float]]) -> None:
    begun: Counter[date] = Counter()
    for session in chat.sessions:
        said = [message for message in session.messages if message.time is not None]
        if not said or said[0].time is None:
            continue
        begun[said[0].time.date()] += 1
        found["starts"].append(said[0].time.hour * 60 + said[0].time.minute)
        runs = list(turns(session))
        found["turns"].append(len(runs))
        found["bursts"] += [len(run.messages) for run in runs]
        for one, other in pairwise(said):
            if one.time is None or other.time is None or other.time < one.time:
                continue
            kind = "pauses" if one.speaker == other.speaker else "gaps"
            found[kind].append((other.time - one.time).total_seconds())
    if begun:
        first, last = min(begun), max(begun)
        span = (last - first).days + 1
        found["sessions"] += [begun[first + timedelta(days=day)] for day in range(span)]


def printed_pace(
    source: str,
    *,
    gap_median: float,
    gap_mean: float,
    gap_longest: float,
    burst_mean: float,
    burst_most: int,
    turns_mean: float,
    sessions_a_day: float,
) -> ChatPace:
    """The pace of which a paper prints these figures; times in seconds.

    Gaps are logarithmic normal with the printed median and mean up to the longest, bursts and
    turns geometric with the printed mean. The hours of a day, and the pauses within a burst, which
    are not printed, are ours.
    """
    more = round(_STEPS * (sessions_a_day % 1))
    least = int(sessions_a_day)
    return ChatPace(
        source,
        sessions=(least + 1,) * more + (least,) * (_STEPS - more),
        starts=tuple(range(*_WAKING)),
        turns=tuple(_geometric(turns_mean, most=10_000)),
        gaps=tuple(_skewed(gap_median, gap_mean, gap_longest)),
        pauses=tuple(_lognormal(_PAUSE_MEDIAN, _PAUSE_SPREAD, math.inf)),
        bursts=tuple(_geometric(burst_mean, most=burst_most)),
    )


def _quantiles(inverse: Callable[[float], float]) -> list[float]:
    return [inverse((step + 0.5) / _STEPS) for step in range(_STEPS)]


def _geometric(mean: float, most: int) -> list[int]:
    if mean <= 1:
        return [1]
    ends = math.log(1 - 1 / mean)
    return [min(most, math.ceil(value)) for value in _quantiles(lambda q: math.log(1 - q) / ends)]


def _lognormal(median: float, spread: float, longest: float) -> list[float]:
    normal = NormalDist()
    found = _quantiles(lambda q: median * math.exp(spread * normal.inv_cdf(q)))
    return [round(min(longest, value), 1) for value in found]


def _skewed(median: float, mean: float, longest: float) -> list[float]:
    """Halves the room for the spread until the values have the mean."""
    low, high = 0.0, 6.0
    for _ in range(40):
        spread = (low + high) / 2
        if fmean(_lognormal(median, spread, longest)) < mean:
            low = spread
        else:
            high = spread
    return _lognormal(median, high, longest)


def draw_turns(pace: ChatPace, *, days: int, begins: date, seed: str) -> tuple[PlannedTurn, ...]:
    """Every turn of a chat, in time order: at least one session, whatever is drawn."""
    chance = random.Random(f"{seed}/pace")
    end = datetime.combine(begins, time()) + timedelta(days=days)
    planned: list[PlannedTurn] = []
    number, free = 0, datetime.min
    for day in range(days):
        midnight = datetime.combine(begins, time()) + timedelta(days=day)
        count = chance.choice(pace.sessions)
        if not planned and day == days - 1:
            count = max(1, count)
        for minute in sorted(chance.choices(pace.starts, k=count)):
            start = max(midnight + timedelta(minutes=minute), free)
            if start >= end:
                break
            number += 1
            session = _session(pace, chance, number, start)
            planned += [turn for turn in session if turn.time < end]
            free = session[-1].time + timedelta(seconds=sum(session[-1].pauses)) + _BREAK
    return tuple(planned)


def _session(
    pace: ChatPace, chance: random.Random, number: int, start: datetime
) -> Sequence[PlannedTurn]:
    side = chance.randrange(2)
    moment, found = start, []
    for place in range(max(1, chance.choice(pace.turns))):
        if place:
            moment += timedelta(seconds=max(1, round(chance.choice(pace.gaps))))
        more = chance.choice(pace.bursts) - 1
        pauses = tuple(max(1.0, round(each)) for each in chance.choices(pace.pauses, k=more))
        found.append(PlannedTurn(number, side, moment, pauses))
        moment += timedelta(seconds=sum(pauses))
        side = 1 - side
    return found
