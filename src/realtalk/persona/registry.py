"""Names of simulators → simulators, with settings as the command line gives them.

    make_simulator("constant", {"says": "ok"})
    make_simulator("llm", {"model": "openai/gpt-4o-mini", "style": "true"})

An entry is a factory with named settings, each with its type and mostly a default. Text is read
by that type; what is no such value is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from realtalk.persona.values import Simulator
from realtalk.registry import Registry, make

__all__ = ["BASELINES", "SIMULATORS", "make_simulator"]

SimulatorFactory: TypeAlias = Callable[..., Simulator]

SIMULATORS: Registry[SimulatorFactory] = Registry(
    "simulator",
    {
        "copy": "realtalk.persona.simulators:Copy",
        "constant": "realtalk.persona.simulators:Constant",
        "common": "realtalk.persona.simulators:Common",
        "retrieve": "realtalk.persona.simulators:Retrieve",
        "llm": "realtalk.persona.asking:LlmSimulator",
        "local": "realtalk.persona.tuned:LocalSimulator",
        "tuned": "realtalk.persona.tuned:TunedSimulator",
        "written": "realtalk.persona.written:WrittenSimulator",
    },
)
BASELINES = ("copy", "constant", "common", "retrieve")  # need no model


def make_simulator(name: str, settings: Mapping[str, Any] | None = None) -> Simulator:
    """The simulator of that name. Values may be text, as from the command line, or typed."""
    return make(f"the simulator '{name}'", SIMULATORS[name], settings)
