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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from realtalk.errors import RealtalkError
from realtalk.memory.values import Memory
from realtalk.registry import Registry, make, within

_PLAIN = {"whole": "Whole", "recent": "Recent", "none": "Nothing", "events": "Events"}
MEMORIES: Registry[Callable[..., Memory]] = Registry(
    "memory",
    {
        **within("realtalk.memory.plain", _PLAIN),
        "oracle": "realtalk.memory.plain:Oracle",
        "restored": "realtalk.memory.restored:Restored",
        "retrieved": "realtalk.memory.retrieved:Retrieved",
        "notes": "realtalk.memory.notes:Notes",
        "outside": "realtalk.memory.outside:make",
        "langchain": "realtalk.memory.outside_libraries:make_langchain",
        "mem0": "realtalk.memory.outside_libraries:make_mem0",
    },
)

BUDGETLESS = frozenset({"whole", "none", "oracle"})  # a budget changes nothing of what these show


def parse_settings(pairs: Sequence[str]) -> dict[str, str]:
    """`["around=3"]` as a mapping."""
    found: dict[str, str] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise RealtalkError(f"'{pair}' is no setting", fix="write it as name=value")
        found[key.strip()] = value.strip()
    return found


def settings_of(name: str) -> dict[str, str]:
    """The settings of a memory and their defaults, as text."""
    return {key: _text(each.default) for key, each in _parameters(name).items()}


def make_memory(name: str, settings: Mapping[str, Any] | None = None) -> Memory:
    """The memory of that name, or of one's own: `my_module:Mine`, `folder/mine.py:Mine`.

    Values may be text, as from the command line, or typed.
    """
    if ":" in name:
        return _own(name, settings)
    return make(
        f"the memory '{name}'",
        MEMORIES[name],
        settings,
        known=_parameters(name),
        fix="give it as {key}=VALUE",
    )


def _own(reference: str, settings: Mapping[str, Any] | None) -> Memory:
    """A memory of the user's: a class with the protocol, or what `outside` takes."""
    from realtalk.memory.outside import Outside, code_of, load_object, starting

    found = load_object(reference, "memory")
    if inspect.isclass(found) and not (hasattr(found, "build") or hasattr(found, "add_session")):
        raise RealtalkError(
            f"{found.__name__} is not a memory, it has no 'build'",
            where=reference,
            fix="give it build(chat), or add_session(session) and recall(question)",
        )
    if not hasattr(found, "build"):
        if settings:
            raise RealtalkError(f"'{reference}' takes no settings", fix="leave `settings=` out")
        record = {"system": reference, **code_of(reference)}
        return Outside(reference.rpartition(":")[2], starting(found), settings=record)
    made: Memory = make(f"the memory '{reference}'", found, settings)
    for name, value in (("name", reference), ("version", "1"), ("settings", code_of(reference))):
        if not hasattr(made, name):
            setattr(made, name, value)
    return made


def _parameters(name: str) -> dict[str, inspect.Parameter]:
    signature = inspect.signature(MEMORIES[name], eval_str=True)
    plain = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return {
        key: each
        for key, each in signature.parameters.items()
        if each.kind in plain and _readable(each.annotation)
    }


def _readable(kind: Any) -> bool:
    """Whether text can say such a value; a ranking or another object is for Python only."""
    if kind in (str, int, float, bool, Path, NoneType) or get_origin(kind) is Literal:
        return True
    if get_origin(kind) is tuple:
        return get_args(kind) == (str, Ellipsis)
    return get_origin(kind) in (Union, UnionType) and all(map(_readable, get_args(kind)))


def _text(value: Any) -> str:
    if value is inspect.Parameter.empty:
        return "(needed)"
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)
