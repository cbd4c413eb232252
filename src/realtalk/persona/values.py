"""The words of persona simulation: what is to be continued, by what, and what came out.

    task = PersonaTask("Mara", learning, test=chat, turns=(...))
    simulator.prepare(task.learning)             # one chat: what was said in it, nothing else
    simulator.solve(task.prompts)                → [Answer("lol no"), ...]

A simulator is handed a `Learning` and `TurnPrompt`s, never a task: neither holds what the speaker
wrote at the turns to be simulated. A prompt's context is what was said before its turn, so it
does hold the speaker's earlier turns in the tested chat; each prompt must be answered from
itself alone.

    make_simulator("constant", {"says": "ok"})       by name, with settings as `registry.make` reads
    make_simulator("llm", {"model": "openai/gpt-4o-mini", "style": "true"})
    make_guesser("nearness", {"to": "context"})      who wrote it: a solver of line-ups
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from realtalk.chat import Chat
from realtalk.evals.language_models import written_day
from realtalk.evals.values import Settings, Solver
from realtalk.registry import Registry, make, within


@dataclass(frozen=True, slots=True)
class ContextTurn:
    """One earlier turn as a simulator sees it: captions are already text."""

    session: int
    time: datetime | None
    speaker: str
    text: str

    @property
    def session_head(self) -> str:
        """What stands over its session: the day, or its number where the source has no dates."""
        return f"[session {self.session}]" if self.time is None else f"[{written_day(self.time)}]"


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
    def place(self) -> int:
        """The turn's place in the chat."""
        return int(self.id.rpartition("#")[2])

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
    consistency: float | None = None  # how far the speaker differs between the two chats

    @property
    def prompts(self) -> tuple[TurnPrompt, ...]:
        """What a simulator is given of the test."""
        return tuple(turn.prompt for turn in self.turns)


Simulator: TypeAlias = Solver[TurnPrompt, str]  # a way to continue as somebody
_PLAIN = {"copy": "Copy", "constant": "Constant", "common": "Common", "retrieve": "Retrieve"}
BASELINES = tuple(_PLAIN)  # need no model
SIMULATORS: Registry[Callable[..., Simulator]] = Registry(
    "simulator",
    {
        **within("realtalk.persona.simulators", _PLAIN),
        "llm": "realtalk.persona.prompting:LlmSimulator",
        **within("realtalk.persona.tuned", {"local": "LocalSimulator", "tuned": "TunedSimulator"}),
        "written": "realtalk.persona.written:WrittenSimulator",
        "matched": "realtalk.persona.written:MatchedSimulator",
    },
)
GUESSERS: Registry[Callable[..., Solver[Any, int]]] = Registry(
    "guesser",
    {
        **within(
            "realtalk.persona.scoring", {"classifier": "ByStyle", "nearness": "ByMeaningNear"}
        ),
        "llm": "realtalk.persona.prompting:LlmGuesser",
    },
)


def make_simulator(name: str, settings: Mapping[str, Any] | None = None) -> Simulator:
    """The simulator of that name. Values may be text, as from the command line, or typed."""
    return make(f"the simulator '{name}'", SIMULATORS[name], settings)


def make_guesser(name: str, settings: Mapping[str, Any] | None = None) -> Solver[Any, int]:
    """The guesser of that name, with its settings likewise."""
    return make(f"the guesser '{name}'", GUESSERS[name], settings)
