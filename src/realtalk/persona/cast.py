"""Invented people and what happens to them: templates of our own, or a file, drawn by a seed.

    cast = load_cast()                             # cast.toml beside this module
    cast.personas[0].name                          → "Noor"
    roles = draw_roles(cast, days=7, begins=date(2025, 1, 6), chats=5, seed=0)
    roles[0][1].describe(datetime(2025, 1, 8, 18))     → "You are Piet, 61, …\\nLately: …"

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

import random
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from realtalk.chat import Corpus, turns
from realtalk.errors import RealtalkError
from realtalk.evals.language_models import written_day

_SHARE = 0.5  # of days on which something happens
_REMEMBERED = 3  # events that somebody has in mind
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


class Cast(NamedTuple):
    """Everybody who may be drawn, and everything that may happen, told to whom it happens."""

    personas: tuple[Persona, ...]
    events: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Role:
    """A persona in one chat, with what happens on which day."""

    persona: Persona
    events: tuple[tuple[date, str], ...] = ()

    def describe(self, moment: datetime) -> str:
        """What this person knows of themselves at a moment."""
        past = [event for event in self.events if event[0] <= moment.date()][-_REMEMBERED:]
        lines = [self.persona.text]
        if past:
            lines.append("What happened to you lately:")
            lines += [f"- [{written_day(day)}] {text}" for day, text in past]
        return "\n".join(lines)


def load_cast(path: Path | None = None) -> Cast:
    """Ours, or a file's personas; a file without events has ours."""
    file = path or Path(__file__).with_name("cast.toml")
    where = str(file)
    try:
        content = tomllib.loads(file.read_text("utf-8"))
        personas = []
        for entry in content["personas"]:
            values: dict[str, Any] = {name: str(text).strip() for name, text in entry.items()}
            if not values["name"]:
                raise ValueError
            personas.append(Persona(**{**values, "age": int(entry["age"])}))
        events = tuple(map(str, content.get("events", ())))
    except (OSError, UnicodeDecodeError) as error:
        raise RealtalkError(
            "the personas cannot be read", where=where, fix="save them as UTF-8 text"
        ) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RealtalkError(
            "is no file of personas", where=where, fix=f"write TOML: {_FORM}"
        ) from error
    names = [persona.name for persona in personas]
    if len(set(names)) < max(2, len(names)):
        raise RealtalkError(
            "two personas or more are needed, each with a name of its own", where=where
        )
    return Cast(tuple(personas), events or load_cast().events)


def draw_roles(
    cast: Cast, *, days: int, begins: date, chats: int, seed: int
) -> tuple[tuple[Role, Role], ...]:
    """Two people for each chat, and what happens to them in it."""
    roles = []
    waiting: list[Persona] = []
    chance = random.Random(f"{seed}/cast")
    for number in range(chats):
        if len(waiting) < 2:
            waiting = list(cast.personas)
            chance.shuffle(waiting)
        lots = random.Random(f"{seed}/{number}/events")
        coming = list(cast.events)  # each comes once in a chat
        lots.shuffle(coming)
        first, second = (
            Role(
                waiting.pop(),
                tuple(
                    (begins + timedelta(days=day), coming.pop())
                    for day in range(days)
                    if lots.random() < _SHARE and coming
                ),
            )
            for _ in range(2)
        )
        roles.append((first, second))
    return tuple(roles)


_BREAK = timedelta(hours=1)  # between two sessions, at least


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


class PlannedTurn(NamedTuple):
    """Who writes when; one message, and another one after each of the pauses."""

    session: int
    side: int  # 0 or 1
    time: datetime
    pauses: tuple[float, ...] = ()


def pace_of(corpus: Corpus) -> ChatPace:
    """What the chats of a corpus show, those with times."""
    counts: dict[str, list[int]] = {"sessions": [], "starts": [], "turns": [], "bursts": []}
    waits: dict[str, list[float]] = {"gaps": [], "pauses": []}
    for chat in corpus.chats:
        begun: Counter[date] = Counter()
        for session in chat.sessions:
            timed = [
                (message.speaker, message.time) for message in session.messages if message.time
            ]
            if not timed:
                continue
            first = timed[0][1]
            begun[first.date()] += 1
            counts["starts"].append(first.hour * 60 + first.minute)
            bursts = [len(turn.messages) for turn in turns(session)]
            counts["turns"].append(len(bursts))
            counts["bursts"] += bursts
            for (writer, moment), (next_writer, later) in pairwise(timed):
                if later >= moment:
                    kind = "pauses" if writer == next_writer else "gaps"
                    waits[kind].append((later - moment).total_seconds())
        if begun:
            span = (max(begun) - min(begun)).days + 1
            counts["sessions"] += [begun[min(begun) + timedelta(days=day)] for day in range(span)]
    if not waits["gaps"]:
        raise RealtalkError(
            "no chat shows when people answer each other",
            where=corpus.name,
            fix="name one with the times of its messages, or leave `like=` out",
        )
    waits["pauses"] = waits["pauses"] or [_PAUSE_MEDIAN]
    samples: dict[str, list[Any]] = {**counts, **waits}
    return ChatPace(corpus.name, **{name: tuple(values) for name, values in samples.items()})


# What the REALTALK paper prints: response gaps and messages in a row in §5.1, messages and
# sessions per chat in Table 1, days per chat in Table 5. Times in seconds.
_MESSAGES, _SESSIONS, _DAYS = 894.4, 21.9, 20  # per chat
_BURST_MEAN = 2.31
_GAP_MEDIAN, _GAP_LONGEST = 60 * 2.22, 3600 * 27.90
_GAP_SPREAD = 2.1741506721755286  # with it, the mean is the printed one of 20.98 minutes
# What no paper prints: when a day's first message comes, and how fast one's own next one does.
_WAKING = (8 * 60, 23 * 60)  # minutes after midnight
_PAUSE_MEDIAN, _PAUSE_SPREAD = 15.0, 0.9
_STEPS = 1000  # values that stand for a distribution of which only these figures are known


def printed_pace() -> ChatPace:
    """When people write by the figures that the REALTALK paper prints of its chats.

    Gaps and pauses are logarithmic normal up to the longest, bursts and turns geometric with the
    printed mean.
    """
    from scipy.stats import geom, lognorm

    a_day = _SESSIONS / _DAYS
    more = round(_STEPS * (a_day % 1))
    steps = [(step + 0.5) / _STEPS for step in range(_STEPS)]
    gaps = lognorm.ppf(steps, _GAP_SPREAD, scale=_GAP_MEDIAN)
    pauses = lognorm.ppf(steps, _PAUSE_SPREAD, scale=_PAUSE_MEDIAN)
    return ChatPace(
        "REALTALK (arXiv:2502.13270): Table 1, Table 5, §5.1",
        sessions=(int(a_day) + 1,) * more + (int(a_day),) * (_STEPS - more),
        starts=tuple(range(*_WAKING)),
        turns=tuple(map(int, geom.ppf(steps, 1 / (_MESSAGES / _SESSIONS / _BURST_MEAN)))),
        gaps=tuple(round(min(_GAP_LONGEST, float(gap)), 1) for gap in gaps),
        pauses=tuple(round(float(pause), 1) for pause in pauses),
        bursts=tuple(map(int, geom.ppf(steps, 1 / _BURST_MEAN))),
    )


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
    moment, planned = start, []
    for place in range(max(1, chance.choice(pace.turns))):
        if place:
            moment += timedelta(seconds=max(1, round(chance.choice(pace.gaps))))
        more = chance.choice(pace.bursts) - 1
        pauses = tuple(max(1.0, round(pause)) for pause in chance.choices(pace.pauses, k=more))
        planned.append(PlannedTurn(number, side, moment, pauses))
        moment += timedelta(seconds=sum(pauses))
        side = 1 - side
    return planned
