"""Names of memories → memories, with settings as the command line gives them.

    make_memory("restored", {"around": "3", "kinds": "event,observation"})
    → Restored(around=3, kinds=("event", "observation"))
    make_memory("restored", {"arround": "3"})
    → RealtalkError: unknown setting of the memory 'restored' 'arround'; did you mean 'around'? …

An entry is a factory with named settings, each with its type and a default. Text is read by
that type; what is no such value is refused by name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.memory.values import Memory
from realtalk.registry import Registry, make, within

_PLAIN = {"whole": "Whole", "recent": "Recent", "none": "Nothing", "events": "Events"}
MEMORIES: Registry[Callable[..., Memory]] = Registry(
    "memory",
    {
        **within("realtalk.memory.plain", _PLAIN),
        "oracle": "realtalk.memory.plain:Oracle",
        "restored": "realtalk.memory.retrieved:Restored",
        "retrieved": "realtalk.memory.retrieved:Retrieved",
        "notes": "realtalk.memory.notes:Notes",
        "outside": "realtalk.memory.outside:make",
        "langchain": "realtalk.memory.outside:retriever_memory",
        "mem0": "realtalk.memory.outside:mem0_memory",
    },
)

_OBJECTS = frozenset(
    {"ranking", "encoder", "multilingual", "evidence"}
)  # settings that no text can say: for Python only
BUDGETLESS = frozenset({"whole", "none", "oracle"})  # a budget changes nothing of what these show


def make_memory(name: str, settings: Mapping[str, Any] | None = None) -> Memory:
    """The memory of that name, or of one's own: `my_module:Mine`, `folder/mine.py:Mine`.

    Values may be text, as from the command line, or typed.
    """
    if ":" in name:
        return _own(name, settings)
    parameters = inspect.signature(MEMORIES[name], eval_str=True).parameters
    options = {key: parameter for key, parameter in parameters.items() if key not in _OBJECTS}
    what, fix = f"the memory '{name}'", "give it as {key}=VALUE"
    return make(what, MEMORIES[name], settings, parameters=options, fix=fix)


def _own(reference: str, settings: Mapping[str, Any] | None) -> Memory:
    """A memory of the user's: a class with the protocol, or what `outside` takes."""
    from realtalk.memory.outside import code_of, load_object, outside

    own = load_object(reference, "memory")
    if inspect.isclass(own) and not (hasattr(own, "build") or hasattr(own, "add_session")):
        raise RealtalkError(
            f"{own.__name__} is not a memory, it has no 'build'",
            where=reference,
            fix="give it build(chat), or add_session(session) and recall(question)",
        )
    if not hasattr(own, "build"):
        if settings:
            raise RealtalkError(f"'{reference}' takes no settings", fix="leave `settings=` out")
        return outside(reference.rpartition(":")[2], reference, own)
    memory: Memory = make(f"the memory '{reference}'", own, settings)
    for name, value in (("name", reference), ("version", "1"), ("settings", code_of(reference))):
        if not hasattr(memory, name):
            setattr(memory, name, value)
    return memory
