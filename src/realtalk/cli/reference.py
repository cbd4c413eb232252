"""The command's help as one Markdown page: `python -m realtalk.cli.reference`.

Made from the parser itself, so the page cannot say what the command does not do; a test keeps
docs/reference.md equal to it. The settings of the Inspect tasks are read from the source of their
functions, since importing these needs inspect-ai.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def reference() -> str:
    """Every command with its arguments, options and examples."""
    from realtalk.cli.main import commands

    root = commands()
    parts = [
        "# Command reference\n",
        "Made by `python -m realtalk.cli.reference`; do not edit by hand.\n",
        *_command(root, "realtalk"),
        *_inspect_tasks(),
    ]
    return "\n".join(parts)


def _command(command: Any, path: str) -> Iterator[str]:
    yield f"## `{path}`\n"
    yield _help(command.help or "")
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    rows = [(_names(p), _meaning(p)) for p in [*arguments, *options] if _names(p)]
    if rows:
        yield "| | |\n|---|---|"
        yield "\n".join(f"| `{name}` | {meaning} |" for name, meaning in rows) + "\n"
    children = getattr(command, "commands", {})
    for name in children:
        yield from _command(children[name], f"{path} {name}")


def _help(text: str) -> str:
    """Examples are the indented lines of a docstring: they become a code block."""
    lines: list[str] = []
    examples: list[str] = []
    for line in re.sub(r"\f.*", "", text, flags=re.DOTALL).splitlines():
        if line.startswith("    "):
            examples.append(line.strip())
        else:
            lines.append(line)
    prose = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    block = "\n\n```sh\n" + "\n".join(examples) + "\n```" if examples else ""
    return f"{prose}{block}\n"


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return str(parameter.metavar or parameter.name.upper())
    names = ", ".join(parameter.opts)
    if getattr(parameter, "is_flag", False):
        return names
    return f"{names} {getattr(parameter, 'metavar', None) or 'VALUE'}"


def _meaning(parameter: Any) -> str:
    text = (getattr(parameter, "help", None) or "").replace("|", "\\|")
    default = parameter.default
    if parameter.required and parameter.param_type_name == "option":
        text += " Required."
    elif isinstance(default, str) or (default and not isinstance(default, bool)):
        text += f" Default: `{default}`."
    return text.strip()


_TASKS = "realtalk.tasks"
_KINDS = {"str": "text", "int": "a whole number", "float": "a number", "bool": "true or false"}
_HEAD = """## Inspect tasks

The benchmarks as tasks of Inspect (extra llm): `inspect eval realtalk/NAME -T KEY=VALUE --model
PROVIDER/MODEL`. The model is Inspect's; `-T` sets what follows.
"""


def _inspect_tasks() -> Iterator[str]:
    """One section per task that the package offers, from its signature and docstring."""
    tree = _source(_TASKS)
    homes = {
        alias.name: node.module or ""
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    yield _HEAD
    for name in _offered(tree):
        home = _source(homes[name]) if name in homes else tree
        function = next(
            node for node in home.body if isinstance(node, ast.FunctionDef) and node.name == name
        )
        yield f"### `realtalk/{name}`\n"
        yield f"{ast.get_docstring(function) or ''}\n"
        yield "| `-T` | values | default |\n|---|---|---|"
        yield "\n".join(_task_settings(function, home)) + "\n"


def _source(module: str) -> ast.Module:
    spec = importlib.util.find_spec(module)
    assert spec is not None and spec.origin is not None
    return ast.parse(Path(spec.origin).read_text("utf-8"))


def _offered(tree: ast.Module) -> list[str]:
    """What `__all__` names."""
    return next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )


def _task_settings(function: ast.FunctionDef, home: ast.Module) -> Iterator[str]:
    given = function.args.args
    for parameter, default in zip(given, function.args.defaults, strict=True):
        kinds = "" if parameter.annotation is None else ast.unparse(parameter.annotation)
        words = [_KINDS[kind] for kind in kinds.split(" | ") if kind in _KINDS]
        value = ast.unparse(_constant(default, home)).strip("'")
        told = "" if value in ("", "None") else f"`{value}`"
        yield f"| `{parameter.arg}` | {' or '.join(words)} | {told} |"


def _constant(value: ast.expr, home: ast.Module) -> ast.expr:
    """What a name stands for that is set in the module, or in the one that it is imported from."""
    if not isinstance(value, ast.Name):
        return value
    for node in home.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == value.id:
            return node.value
        if isinstance(node, ast.ImportFrom) and value.id in [each.name for each in node.names]:
            return _constant(value, _source(node.module or ""))
    return value


if __name__ == "__main__":
    sys.stdout.write(reference())
