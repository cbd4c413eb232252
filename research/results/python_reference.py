"""What Python is offered, as one Markdown page: `python -m research.results.python_reference`.

    reference()    → "# Python reference\n…## `realtalk.read`\n```python\nread(path: Readable, …"

Made from signatures and docstrings, so the page cannot say what the code does not do; a test
keeps docs/reference-python.md equal to it.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cached_property
from typing import Any

_WIDTH = 88  # letters, from which a signature is written one parameter per line
_HEAD = """# Python reference

Made by `python -m research.results.python_reference`; do not edit by hand. [python.md](python.md)
explains it with examples. `Readable` is whatever holds chats: a path, a sample's name, a Corpus, a
`ReadCorpus` or a stored folder.
"""


def reference() -> str:
    """Every function, those one dot away, then every value, in the order of the alphabet."""
    door = importlib.import_module("realtalk")
    offered = {name: getattr(door, name) for name in door.__all__}
    rooms = {name: member for name, member in offered.items() if inspect.ismodule(member)}
    functions = {
        f"rt.{name}": member for name, member in offered.items() if inspect.isfunction(member)
    }
    for room, module in rooms.items():
        for name in sorted(vars(module).get("__all__") or _functions_of(module)):
            function = getattr(module, name)
            if inspect.isfunction(function) and function.__module__.startswith("realtalk.api"):
                functions[f"rt.{room}.{name}"] = function
    parts = [_HEAD, "## Functions\n"]
    for title, function in functions.items():
        parts += _function(title, function, "###")
    parts.append("## Values\n")
    for name, value in offered.items():
        if inspect.isclass(value):
            parts += _value(name, value)
    return "\n".join(parts)


def _functions_of(module: Any) -> list[str]:
    """The functions that a module itself defines."""
    own = module.__name__
    functions = inspect.getmembers(module, inspect.isfunction)
    return [name for name, member in functions if member.__module__ == own and name[0] != "_"]


def _function(title: str, function: Any, level: str) -> Iterator[str]:
    yield f"{level} `{title}`\n"
    yield f"```python\n{_signature(title.rpartition('.')[2], function)}\n```\n"
    yield f"{inspect.getdoc(function) or ''}\n"


def _value(name: str, value: Any) -> Iterator[str]:
    yield f"### `rt.{name}`\n"
    yield f"{_own_doc(value)}\n"
    if issubclass(value, Exception):
        return
    fields = getattr(value, "__dataclass_fields__", {})
    if fields:
        field_list = ", ".join(f"`{field}: {fields[field].type}`" for field in fields)
        yield f"Fields: {field_list}.\n"
    rows = [row for entry in vars(value).items() if (row := _member(*entry)) is not None]
    if rows:
        yield "| | |\n|---|---|"
        yield "\n".join(f"| `{call}` | {right} |" for call, right in rows) + "\n"


def _own_doc(value: Any) -> str:
    """Without what a dataclass writes by itself."""
    return inspect.cleandoc(value.__doc__ or "")


def _member(name: str, member: Any) -> tuple[str, str] | None:
    if name.startswith("_"):
        return None
    if isinstance(member, property | cached_property):
        getter = member.fget if isinstance(member, property) else member.func
        return (f".{name}", text) if (text := _sentence(getter)) else None
    inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
    if not inspect.isfunction(inner):
        return None
    text = re.sub(r"\((self|cls)(, )?", "(", _signature(name, inner, most=10_000))
    return text.replace("|", "\\|"), _sentence(inner)


def _sentence(function: Any) -> str:
    """A docstring in one line."""
    return " ".join((inspect.getdoc(function) or "").split()).replace("|", "\\|")


def _signature(name: str, function: Any, most: int = _WIDTH) -> str:
    signature = inspect.signature(function)
    parts: list[str] = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and "*" not in parts:
            parts.append("*")
        parts.append(_parameter(parameter))
    end = (
        ""
        if signature.return_annotation is signature.empty
        else f" -> {signature.return_annotation}"
    )
    text = f"{name}({', '.join(parts)}){end}"
    if len(text) <= most:
        return text
    return "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){end}"])


def _parameter(each: inspect.Parameter) -> str:
    """As it is written in the code; of a function that is a default, its name."""
    kind = "" if each.annotation is each.empty else f": {each.annotation}"
    if each.default is each.empty:
        return f"{each.name}{kind}"
    default = each.default.__name__ if inspect.isfunction(each.default) else repr(each.default)
    return f"{each.name}{kind} = {default.replace(chr(39), chr(34))}"


if __name__ == "__main__":
    sys.stdout.write(reference())
