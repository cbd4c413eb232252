"""Names of simulators and of guessers → these, with settings as the command line gives them.

    make_simulator("constant", {"says": "ok"})
    make_simulator("llm", {"model": "openai/gpt-4o-mini", "style": "true"})
    make_guesser("nearness", {"to": "context"})

Settings are read as `registry.make` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from realtalk.evals.values import Solver
from realtalk.persona.lineups import Lineup
from realtalk.persona.values import Simulator
from realtalk.registry import Registry, make, within

_PLAIN = {"copy": "Copy", "constant": "Constant", "common": "Common", "retrieve": "Retrieve"}
BASELINES = tuple(_PLAIN)  # need no model
SIMULATORS: Registry[Callable[..., Simulator]] = Registry(
    "simulator",
    {
        **within("realtalk.persona.simulators", _PLAIN),
        "llm": "realtalk.persona.asking:LlmSimulator",
        **within("realtalk.persona.tuned", {"local": "LocalSimulator", "tuned": "TunedSimulator"}),
        "written": "realtalk.persona.written:WrittenSimulator",
        "matched": "realtalk.persona.matched:MatchedSimulator",
    },
)
GUESSERS: Registry[Callable[..., Solver[Lineup, int]]] = Registry(
    "guesser",
    {
        **within(
            "realtalk.persona.guessers", {"classifier": "ByStyle", "nearness": "ByMeaningNear"}
        ),
        "llm": "realtalk.persona.guess_asking:LlmGuesser",
    },
)


def make_simulator(name: str, settings: Mapping[str, Any] | None = None) -> Simulator:
    """The simulator of that name. Values may be text, as from the command line, or typed."""
    return make(f"the simulator '{name}'", SIMULATORS[name], settings)


def make_guesser(name: str, settings: Mapping[str, Any] | None = None) -> Solver[Lineup, int]:
    """The guesser of that name, with its settings likewise."""
    return make(f"the guesser '{name}'", GUESSERS[name], settings)
