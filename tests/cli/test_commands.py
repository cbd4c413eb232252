"""Every command is a Python function: the same parameters, the same defaults, one text."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import realtalk as rt
from realtalk.api.options import Engine, Model, Reading
from realtalk.cli.building import Command
from realtalk.cli.commands import COMMANDS, GROUPS
from realtalk.cli.main import application

ROOT = Path(rt.__file__).parent
_OPTION = re.compile(r"(?<![\w-])--[a-z]{2,}")


def offered(function: Any) -> bool:
    """Whether Python reaches a function from `rt`, by one name or two."""
    places = [rt, *(getattr(rt, name) for name in ("data", "ei", "memory", "persona", "runs"))]
    return any(
        getattr(place, function.__name__, None) is function for place in (*places, rt.threads)
    )


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.words)
def test_a_command_is_a_function_that_python_offers(command: Command) -> None:
    if command.words.startswith("batch "):
        assert command.function.__name__ in dir(rt)
    else:
        assert offered(command.function)
    kinds = (Reading, Model, Engine)
    defaults = {each.name: each.default for each in command.options}
    for name, parameter in inspect.signature(command.function).parameters.items():
        if name in defaults and not any(
            kind.__name__ in str(parameter.annotation) for kind in kinds
        ):
            assert defaults[name] == parameter.default


@pytest.mark.parametrize("command", COMMANDS, ids=lambda each: each.words)
def test_help_is_whole_and_short(command: Command) -> None:
    assert command.summary.endswith(".")
    for option in command.options:
        words = re.sub(r"[(:;]", " ", option.help).split()
        assert 1 <= len(words) <= 8, (option.name, option.help)
        assert option.help.endswith("."), (option.name, option.help)
    if command.words not in ("studio",):
        assert list(command.examples()), "an example that is a call of the function"


def test_every_group_has_its_commands() -> None:
    groups = {command.words.partition(" ")[0] for command in COMMANDS if " " in command.words}
    assert groups == set(GROUPS)
    assert len({command.words for command in COMMANDS}) == len(COMMANDS)
    assert application() is not None


def test_words_become_values() -> None:
    calls: list[dict[str, Any]] = []

    def work(
        paths: list[str],
        *,
        names: Any = (),
        count: int | None = None,
        settings: Any = None,
        deep: bool = False,
        model: Model | str | None = None,
        reading: Reading | str | None = None,
    ) -> str:
        """Do the work.

        Args:
            paths: Files.
            names: Names.
            count: A number.
            settings: A setting.
            deep: A flag.

        Example:
            rt.work(["a", "b c"], names=["x", "y"], model=Model("m", rate="5/s"), deep=True)
            rt.work(["a"], settings={"around": 3}, reading="whatsapp")
        """
        calls.append({**locals()})
        return "done"

    work.__annotations__ |= {
        "paths": "Sequence[str]",
        "names": "Sequence[str]",
        "settings": "Mapping[str, Any] | None",
    }
    shown: list[str] = []
    command = Command("work", work, shown.append)
    assert list(command.examples()) == [
        'realtalk work a "b c" --names x,y --rate 5/s --model m --deep',
        "realtalk work a --set around=3 --format whatsapp",
    ]
    from cyclopts import App

    app = App(result_action="return_value")
    app.command(command.make_callable(), name="work")
    words = ["work", "a", "b", "--names", "x,y", "--names", "z", "--count", "3", "--deep"]
    app([*words, "--set", "k=v", "--model", "m", "--dates", "dmy"], exit_on_error=False)
    (call,) = calls
    assert call["paths"] == ["a", "b"] and call["names"] == ["x", "y", "z"]
    assert (call["count"], call["deep"], call["settings"]) == (3, True, {"k": "v"})
    assert call["model"] == Model("m") and call["reading"] == Reading(dates="dmy")
    assert shown == ["done"]
    with pytest.raises(rt.RealtalkError, match="'k' is not KEY=VALUE; write --set KEY=VALUE"):
        app(["work", "a", "--set", "k"], exit_on_error=False)


def test_a_message_names_parameters_and_the_command_shows_options(run: Any) -> None:
    with pytest.raises(rt.RealtalkError, match="`chat=` names a chat of a stored corpus"):
        rt.read("sample", chat="x")
    status, _, err = run("read", "sample", "--chat", "x")
    assert status == 2
    assert err == "error: --chat names a chat of a stored corpus; give --into too\n"


def test_no_message_below_the_command_spells_an_option() -> None:
    """Texts of errors and notes are written for Python; docstrings may tell of the command."""
    wrong = []
    for path in ROOT.rglob("*.py"):
        if path.parts[len(ROOT.parts)] == "cli":
            continue
        tree = ast.parse(path.read_text("utf-8"))
        docs = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in docs
                and (found := _OPTION.search(node.value))
                and not node.value.startswith("--")  # an argument of another program
            ):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}: {found[0]}")
    assert not wrong
