"""Invented people and what happens to them: templates of our own, or a file, drawn by a seed.

    cast = load_cast()                             # cast.toml beside this module
    cast.personas[0].name                          → "Noor"
    roles = draw_roles(cast, days=7, begins=date(2025, 1, 6), chats=5, seed=0)
    roles[0][1].told(datetime(2025, 1, 8, 18))     → "You are Piet, 61, …\\nLately: …"

A pair of people shares one chat and nobody is in two as long as there are enough of them, so that
chats can be told apart by people who are in none of the others. About every other day something
happens to each of them, nothing twice in a chat; it is known from the morning of its day on.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any

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
        personas = tuple(_persona(each) for each in told["personas"])
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
    return Cast(personas, events)


def _persona(told: Mapping[str, Any]) -> Persona:
    values = {name: str(told[name]).strip() for name in _FIELDS}
    if not values["name"] or set(told) != set(_FIELDS):
        raise ValueError
    return Persona(**{**values, "age": int(told["age"])})  # type: ignore[arg-type]


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
        first, second = waiting.pop(), waiting.pop()
        happening = _Happening(cast.events, days, begins, f"{seed}/{number}/events")
        found.append((happening.role(first), happening.role(second)))
    return tuple(found)


class _Happening:
    """Events of a chat, each of which comes once."""

    def __init__(self, events: Sequence[str], days: int, begins: date, seed: str) -> None:
        self._chance = random.Random(seed)
        self._waiting = list(events)
        self._chance.shuffle(self._waiting)
        self._days = [begins + timedelta(days=day) for day in range(days)]

    def role(self, persona: Persona) -> Role:
        events = []
        for day in self._days:
            if self._chance.random() < _SHARE and self._waiting:
                events.append((day, self._waiting.pop()))
        return Role(persona, tuple(events))
