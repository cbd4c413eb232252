"""Every command is a Python function: the same parameters, the same defaults, one text."""

from __future__ import annotations

import ast
import inspect
import itertools
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from test_advice import wrong

import realtalk as rt
from realtalk.api.choices import Engine, Model, Reading
from realtalk.cli.building import Command
from realtalk.cli.commands import COMMANDS, GROUPS
from realtalk.cli.main import run_commands
from refusals import refused
from text_tables import cases

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
    examples = list(command.examples())
    assert len(examples) >= 3 and len({*examples}) == len(examples)


def screen(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_commands(COMMANDS, GROUPS, words) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("words", ["", *dict.fromkeys([*GROUPS, *(c.words for c in COMMANDS)])])
def test_help_fits_a_screen(
    words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = screen(capsys, *words.split(), "--help").splitlines()
    assert max(map(cell_len, lines)) <= 80
    # What is listed stands on one line: a line that begins with spaces goes on with another.
    start = next((at for at, line in enumerate(lines) if "─ Commands ─" in line), len(lines))
    listed = itertools.takewhile(lambda line: line.startswith("│"), lines[start + 1 :])
    assert not [line for line in listed if line.startswith("│  ")]
    examples = lines[lines.index("Examples:") + 1 :]
    shown = [line.strip() for line in examples if line]
    assert len(shown) >= 3
    for line in shown:
        assert line.startswith("realtalk ") and wrong(shlex.split(line, comments=True)[1:]) == ""
    whole = [f"  {line}" for c in COMMANDS if c.words == words for line in c.examples()]
    assert [line for line in examples if line][: len(whole)] == whole


@cases("""
    words                            | line
    stast sample                     | unknown command 'stast'; did you mean 'stats'? see realtalk --help
    runs sho x                       | unknown command 'sho'; did you mean 'show'? see realtalk runs --help
    stats sample --figure x          | unknown option '--figure'; did you mean '--figures'? see realtalk stats --help
    --foo                            | unknown option '--foo'; see realtalk --help
    stats                            | CORPUS is missing; see realtalk stats --help
    export sample                    | --to is missing; see realtalk export --help
    probe sample --limit             | --limit needs a value; see realtalk probe --help
    probe sample --limit x           | --limit takes a whole number, not 'x'
    cache clear --older-than x       | --older-than takes a number, not 'x'
    stats sample --json=7            | --json takes no value, not '7'
    stats sample more                | 'more' is one word too many; see realtalk stats --help
    probe sample --limit 3 --limit 4 | --limit is given twice; say it once
""")  # noqa: E501
def test_a_mistyped_command_is_one_line_of_ours(run: Any, words: str, line: str) -> None:
    assert run(words) == (2, "", f"error: {line}\n")


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
    command = Command("work", work, shown.append, has_json=False)
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
    with refused("'k' is not KEY=VALUE; write --set KEY=VALUE"):
        app(["work", "a", "--set", "k"], exit_on_error=False)


def test_a_message_names_parameters_and_the_command_shows_options(run: Any) -> None:
    with refused("`chat=` names a chat of a stored corpus"):
        rt.read("sample", chat="x")
    err = run("read sample --chat x").wrong
    assert err == "error: --chat names a chat of a stored corpus; give --into too\n"


def test_no_message_below_the_command_spells_an_option() -> None:
    """Texts of errors and notes are written for Python; docstrings may tell of the command."""
    wrong = []
    for path in ROOT.rglob("*.py"):
        if path.parts[len(ROOT.parts)] == "cli":
            continue
        text = path.read_text("utf-8")
        if _OPTION.search(text) is None:
            continue
        tree = ast.parse(text)
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
