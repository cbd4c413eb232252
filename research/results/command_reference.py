"""The command's help as one Markdown page: `python -m research.results.command_reference`.

Made from the commands themselves, so the page cannot say what they do not do; a test keeps
docs/reference.md equal to it. The settings of the Inspect tasks are read from the source of their
functions, since importing these needs inspect-ai.
"""

from __future__ import annotations

import ast
import importlib.util
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from realtalk.cli.building import Command, Option


def reference() -> str:
    """Every command with its arguments, options and examples."""
    from realtalk.cli.commands import COMMANDS, GROUPS

    parts = [
        "# Command reference\n",
        "Made by `python -m research.results.command_reference`; do not edit by hand.\n",
    ]
    groups: set[str] = set()
    for command in COMMANDS:
        group = command.words.partition(" ")[0]
        if group in GROUPS and group not in groups:
            parts.append(f"## `realtalk {group}`\n\n{GROUPS[group]}\n")
            groups.add(group)
        parts += _command(command, is_default=group in GROUPS and group == command.words)
    return "\n".join([*parts, *_inspect_tasks()])


def _command(command: Command, is_default: bool) -> Iterator[str]:
    words = f"{command.words} [{command.default_verb}]" if is_default else command.words
    yield f"### `realtalk {words}`\n"
    yield f"{command.help}\n"
    if examples := list(command.examples()):
        yield "```sh\n" + "\n".join(examples) + "\n```\n"
    yield "| | |\n|---|---|"
    yield "\n".join(_row(option) for option in command.options) + "\n"


def _row(option: Option) -> str:
    names = ", ".join(option.keywords) or option.name.upper()
    default, text = option.default, option.help.replace("|", "\\|")
    if default is inspect.Parameter.empty:
        text += " Required." if option.keywords else ""
    elif isinstance(default, str) or (default and not isinstance(default, bool | dict | tuple)):
        text += f" Default: `{default}`." if default else ""
    return f"| `{names}` | {text} |"


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
    for name in _exported_names(tree):
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


def _exported_names(tree: ast.Module) -> list[str]:
    """What `__all__` names."""
    return next(
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )


def _task_settings(function: ast.FunctionDef, home: ast.Module) -> Iterator[str]:
    parameters = function.args.args
    for parameter, default in zip(parameters, function.args.defaults, strict=True):
        kinds = "" if parameter.annotation is None else ast.unparse(parameter.annotation)
        words = [_KINDS[kind] for kind in kinds.split(" | ") if kind in _KINDS]
        value = ast.unparse(_constant(default, home)).strip("'")
        default_text = "" if value in ("", "None") else f"`{value}`"
        yield f"| `{parameter.arg}` | {' or '.join(words)} | {default_text} |"


def _constant(value: ast.expr, home: ast.Module) -> ast.expr:
    """What a name stands for that is set in the module, or in the one that it is imported from."""
    if not isinstance(value, ast.Name):
        return value
    for node in home.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == value.id:
            return node.value
        if isinstance(node, ast.ImportFrom) and value.id in [alias.name for alias in node.names]:
            return _constant(value, _source(node.module or ""))
    return value


if __name__ == "__main__":
    sys.stdout.write(reference())
