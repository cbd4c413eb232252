"""The words of persona simulation: what is to be continued, by what, and what came out.

    task = PersonaTask("Mara", learning, test=chat, turns=(...))
    simulator.prepare(task.learning)             # one chat: what was said in it, nothing else
    simulator.solve(task.prompts)                → [Answer("lol no"), ...]

A simulator is handed a `Learning` and `TurnPrompt`s, never a task: neither holds what the speaker
wrote at the turns to be simulated. A prompt's context is what was said before its turn, so it
does hold the speaker's earlier turns in the tested chat; each prompt must be answered from
itself alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol, TypeAlias

from realtalk.chat import Chat
from realtalk.evals.values import Answer
from realtalk.files.progress import Progress, silent

Settings: TypeAlias = dict[str, str | int | float | bool]


@dataclass(frozen=True, slots=True)
class ContextTurn:
    """One earlier turn as a simulator sees it: captions are already text."""

    session: int
    time: datetime | None
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class TurnPrompt:
    """A turn to write: who, when, after what. The truth is not in here."""

    id: str  # chat id, "#", and the turn's place in the chat: Chat_2_Mara_Juno#14
    chat: str
    session: int
    speaker: str
    time: datetime | None
    context: tuple[ContextTurn, ...]  # oldest first, the last sessions within a token budget
    about: str = ""  # who the speaker is, where nobody wrote as them before: an invented person

    @property
    def previous(self) -> str:
        """What the partner said just before, "" at the start of a session."""
        if not self.context or self.context[-1].session != self.session:
            return ""
        return self.context[-1].text


@dataclass(frozen=True, slots=True)
class PersonaTurn:
    """A turn with its prompt and what the person really wrote."""

    prompt: TurnPrompt
    message_ids: tuple[str, ...]
    text: str  # captions are already text, as in a context

    @property
    def id(self) -> str:
        return self.prompt.id


@dataclass(frozen=True)
class Learning:
    """All that a simulator may learn from: one chat, and the speaker's turns in it."""

    speaker: str
    chat: Chat
    turns: tuple[PersonaTurn, ...]
    settings: Settings = field(default_factory=dict)  # of the contexts, as for the test


@dataclass(frozen=True)
class PersonaTask:
    """One speaker, what to learn from, and the turns of another chat to be tested on."""

    speaker: str
    learning: Learning
    test: Chat
    turns: tuple[PersonaTurn, ...]  # the speaker's turns in `test`, with the truth
    settings: Settings = field(default_factory=dict)

    @property
    def prompts(self) -> tuple[TurnPrompt, ...]:
        """What a simulator is given of the test."""
        return tuple(turn.prompt for turn in self.turns)


class Simulator(Protocol):
    """A solver of persona simulation: a way to continue as somebody."""

    name: str

    @property
    def version(self) -> str: ...

    @property
    def settings(self) -> Settings: ...

    def prepare(self, learning: Learning, progress: Progress = silent) -> None:
        """Learn who is to be continued; called once per speaker."""

    def solve(self, shown: Sequence[TurnPrompt], progress: Progress = silent) -> list[Answer[str]]:
        """One answer per prompt, in order."""
