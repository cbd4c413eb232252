"""The command's help as one Markdown page: `python -m realtalk.cli.reference`.

Made from the parser itself, so the page cannot say what the command does not do; a test keeps
docs/reference.md equal to it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import typer.main

__all__ = ["reference"]


def reference() -> str:
    """Every command with its arguments, options and examples."""
    from realtalk.cli.main import app

    root = typer.main.get_command(app)
    parts = [
        "# Command reference\n",
        "Made by `python -m realtalk.cli.reference`; do not edit by hand.\n",
        *_command(root, "realtalk"),
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


if __name__ == "__main__":
    sys.stdout.write(reference())
