"""Names of simulators → simulators, with settings as the command line gives them.

    make_simulator("constant", {"says": "ok"})
    make_simulator("llm", {"model": "openai/gpt-4o-mini", "style": "true"})

An entry is a factory with named settings, each with its type and mostly a default. Text is read
by that type; what is no such value is refused by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from realtalk.errors import RealtalkError
from realtalk.persona.values import Simulator
from realtalk.registry import Registry, read_value, suggest

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
    factory = SIMULATORS[name]
    known = inspect.signature(factory, eval_str=True).parameters
    given: dict[str, Any] = {}
    for key, value in (settings or {}).items():
        if key not in known:
            if not known:
                raise RealtalkError(f"the simulator '{name}' has no setting '{key}'")
            raise suggest(f"setting of the simulator '{name}'", key, list(known))
        kind = known[key].annotation
        where = f"{name}, setting {key}"
        given[key] = read_value(value, kind, where) if isinstance(value, str) else value
    for key, each in known.items():
        if each.default is each.empty and key not in given:
            raise RealtalkError(
                f"the simulator '{name}' needs the setting '{key}'",
                fix=f"give it as --{key} or --set {key}=VALUE",
            )
    return factory(**given)
