"""Advice that a command prints names options of that command, or another command whole."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import realtalk
from realtalk.cli.advice import followable, leaves
from realtalk.cli.main import commands
from test_advice import advised, wrong

PACKAGE = Path(realtalk.__file__).parent
LEAVES = dict(leaves(commands()))
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def options(command: Any) -> set[str]:
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)}


EVERY = set().union(*map(options, LEAVES.values()))


def messages() -> Iterator[str]:
    """Every text of the source that names an option: fixes, hints and notes, X for what varies."""
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        inside = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for part in ast.walk(node)
            if part is not node
        }
        for node in ast.walk(tree):
            if id(node) in inside:
                continue
            if isinstance(node, ast.JoinedStr):
                text = "".join(
                    str(each.value) if isinstance(each, ast.Constant) else "X"
                    for each in node.values
                )
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
            else:
                continue
            if OPTION.search(text) and "\n" not in text:  # those of several lines are helps
                yield text


MESSAGES = sorted(set(messages()))


def refused(line: str, path: tuple[str, ...]) -> list[str]:
    """What a message of this command advises and nobody could type."""
    typed = [words for words in advised(line) if words[0] in commands().commands]
    found = [reason for words in typed if (reason := wrong(words))]
    prose = re.sub(r"`[^`]*`|realtalk [a-z](?:[^`;,.)]|[,.)](?! |$))*", "", line)
    lacking = set(OPTION.findall(prose)) & EVERY - options(LEAVES[path])
    return [*found, *sorted(lacking)]


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_no_message_advises_what_the_command_refuses(path: tuple[str, ...]) -> None:
    assert len(MESSAGES) > 150  # the search itself works
    told = {line: followable(line, commands(), path) for line in MESSAGES}
    assert {line: reasons for line in told.values() if (reasons := refused(line, path))} == {}
    own = options(LEAVES[path])
    for line, shown in told.items():  # and what can be followed is as it was written
        if set(OPTION.findall(line)) <= own:
            assert shown == line


@pytest.mark.parametrize(
    ("path", "line", "shown"),
    [
        (
            "probe run",
            "x.csv: no column for the speaker; name it with --column speaker=COLUMN; found: a, b",
            "x.csv: no column for the speaker; name it with `realtalk read PATH --column "
            "speaker=COLUMN --out FOLDER` (then give FOLDER); found: a, b",
        ),
        (
            "studio",
            "pass --dates dmy, mdy or ymd if that is wrong",
            "pass `realtalk read PATH --dates ORDER --out FOLDER` (dmy, mdy or ymd; then give "
            "FOLDER) if that is wrong",
        ),
        ("mcp", "read as dmy (--dates)", "read as dmy (`realtalk read PATH --dates ORDER"),
        ("report", "it may help: --measures judge", "it may help: `realtalk ei PATH --measures"),
        ("stats", "end what else uses it, or leave --device out", "end what else uses it"),
        ("cache list", "leave --engine out, or take one of a, b", "take one of a, b"),
        ("stats", "no GPU; leave --device out", "no GPU"),
        ("stats", "pip install --no-deps x", "pip install --no-deps x"),
        ("stats", "store it: realtalk ei PATH --fresh", "store it: realtalk ei PATH --fresh"),
    ],
)
def test_an_option_of_another_command_is_told_with_it(path: str, line: str, shown: str) -> None:
    found = followable(line, commands(), tuple(path.split()))
    assert found.startswith(shown) and (len(found) == len(shown) or "`" in shown)


CSV = "when,who,what\n2026-01-01 10:00,Ann,hello\n2026-01-01 10:01,Bo,hi\n"
READERS = ("stats", "report", "check", "probe", "persona", "ei", "threads", "studio", "export")


@pytest.mark.parametrize("command", READERS)
def test_a_column_can_be_named_as_advised(command: str, run: Any, tmp_path: Path) -> None:
    """What is printed of a file whose columns have other names can be typed, and helps."""
    (tmp_path / "odd.csv").write_text(CSV, "utf-8")
    status, out, err = run(
        command, "odd.csv", *(["--to", "jsonl", "--out", "x"] if command == "export" else [])
    )
    assert status in (1, 2) and "--column" in out + err
    path = next(path for path in LEAVES if path[0] == command)
    path = (command, "label") if command == "ei" else path
    path = (command, "run") if (command, "run") in LEAVES else path
    for line in (out + err).splitlines():
        assert refused(line, path) == []


def test_the_page_of_a_chat_is_read_with_named_columns(run: Any, tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_text(CSV, "utf-8")
    named = ["--column", "speaker=who", "--column", "time=when", "--column", "text=what"]
    status, _, err = run("report", "odd.csv", *named, "--no-labels")
    assert status == 0 and "2 messages" in err


def test_options_are_told_as_they_are_in_python() -> None:
    with pytest.raises(realtalk.RealtalkError, match=r"write --gap 6h, 90m, 2d or day$"):
        realtalk.read("sample", gap="often")
