"""How results, progress and errors look in a terminal.

Results go to standard output, everything else to standard error, so that
`realtalk stats chat.zip --json | jq` works. Colours and bars only where a person looks.

Names of people, chats and files come from others: whatever would steer the terminal or turn
the line around is shown as what it is (`printable`), and nothing of it is markup.

A table is printed in parts that fit the screen, with no word and no figure torn in two:

    _parts(("score", "figure", "n"), [("f1", "0.844 [0.684, 1.000]", 51)], 80)
    → [_Part((0, 1, 2), (5, 20, 2))]         columns side by side, and how wide each is
    _parts(columns, rows, 40)                → two parts, each headed by the first column

A cell of many words may be wrapped between them; a figure with its interval is never wrapped. A
table of which even two columns do not fit has no parts: its rows are written one cell per line.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from realtalk.errors import PARAMETER, as_options
from realtalk.files.progress import Progress, Trouble

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from realtalk.cli.building import Command

# Control characters (ESC and the C1 block among them), and what turns the order of a line around.
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]")
_BEYOND_ASCII = re.compile(_STEERING.pattern.replace("\x00-\x1f", ""))
_ROW_FILES = ("rows", "labels", "parts")  # tables that grow while a command runs
_LINES_KEPT = re.compile(_STEERING.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))
_BETWEEN = 3  # letters from one column to the next
_EDGE = 2  # at the left and the right of a table
_PROSE = 28  # letters, from which a cell may be wrapped
_FIGURE = re.compile(r"[+\-–<]?\s?[\d.,]+%?(\s(±|of)\s[\d.,]+)?(\s\[[^\]]*\])?(\s\w+)?")


# The command whose messages are printed, and what its function was called with.
_running: list[tuple[Command, Mapping[str, Any]]] = []
notes: list[str] = []  # what that command warned of, for its JSON


class Output:
    """Whether the result is wanted as JSON: then its tables and texts are not printed."""

    is_json = False


@contextmanager
def running(command: Command, calls: Mapping[str, Any]) -> Iterator[None]:
    """From now on messages are those of this command, and remarks that functions log are shown."""
    import logging

    class Remarks(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            line = record.getMessage()
            if record.levelno >= logging.WARNING:
                notes.append(line)
                warn(line)
            else:
                say(line)

    logger, handler = logging.getLogger("realtalk"), Remarks(logging.INFO)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    notes.clear()
    _running[:] = [(command, calls)]  # it stays: what goes wrong is printed after it
    try:
        yield
    finally:
        Output.is_json = False
        logger.removeHandler(handler)
        logger.level, logger.propagate = before


def as_command_text(line: str) -> str:
    """A message with parameters as options: "give `into='mara'`" → "give --into mara".

    An option that the running command does not have is named with a command that has it.
    """
    if not _running:
        return as_options(line)
    names = _running[-1][0].option_names
    for match in PARAMETER.finditer(line):
        if match[1] not in names and "realtalk " not in line[: match.start()]:
            names[match[1]] = _option_elsewhere(match[1])
    return as_options(line, names)


def _option_elsewhere(name: str) -> str:
    from realtalk.cli.commands import COMMANDS

    for command in COMMANDS:
        if name in command.option_names:
            return f"realtalk {command.words} {command.option_names[name]}"
    return f"--{name.replace('_', '-')}"


def interruption() -> str:
    """What is kept of a command that was interrupted, and how to go on with it."""
    from pathlib import Path

    from realtalk.notebook import counted

    command, calls = _running[-1] if _running else (None, {})
    folder = Path(str(calls.get("out") or ""))
    resumes = command is not None and "fresh" in command.option_names and calls.get("out")
    if not resumes or not folder.is_dir():
        return "interrupted; nothing was left half written"
    files = [path for name in _ROW_FILES for path in folder.rglob(f"{name}.jsonl")]
    rows = sum(path.read_bytes().count(b"\n") for path in files)
    kept = f"{counted(rows, 'row')} kept" if files else "what is done is kept"
    fresh = " without --fresh" if calls.get("fresh") else ""
    return f"interrupted: {kept} in {folder}; run the same command{fresh} to continue"


def printable(text: str, *, lines: bool = False) -> str:
    """Text that only shows: spaces for line ends (kept with `lines`), \\x1b for an escape."""

    def as_escape(match: re.Match[str]) -> str:
        sign = match[0]
        if sign.isspace():
            return " "
        return f"\\x{ord(sign):02x}" if ord(sign) < 256 else f"\\u{ord(sign):04x}"

    return (_LINES_KEPT if lines else _STEERING).sub(as_escape, text)


def console(stderr: bool = False) -> Console:
    """A console that is as wide as the terminal, or as COLUMNS says, or 120 letters."""
    from rich.console import Console

    screen = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not screen.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        screen.width = 120
    return screen


def cell(value: Any) -> str:
    """A value as the report writes it."""
    from realtalk.cells import cell_text

    return printable(cell_text(value))


def show(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    most: int | None = None,
    elsewhere: str = "",
) -> None:
    """Prints a table to standard output, in parts where it is wider than the terminal.

    Of more than `most` rows the first are shown, and where the rest is.
    """
    if Output.is_json:
        return
    screen = console()
    first_rows = rows[:most]
    if title:
        screen.print(printable(title), style="table.title")
    for table in _tables(columns, first_rows, screen.width):
        screen.print(table)
    if len(first_rows) < len(rows):
        say(f"… and {len(rows) - len(first_rows):,} more{elsewhere}")


def _tables(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int
) -> Iterator[RenderableType]:
    """A table in as many parts as it needs, none of them wider than the screen.

    Every part begins with a column that names the rows; numbers stand to the right.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from realtalk.cells import Grid

    def layout(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[_Part]:
        texts = [[cell(value) for value in row] for row in rows]
        return _parts([printable(name) for name in columns], texts, width)

    groups = layout(columns, rows)
    if len(groups) > 1 and len(rows) == 1:  # a single row reads better from top to bottom
        columns, rows = (columns[0], cell(rows[0][0])), list(zip(columns, rows[0], strict=True))[1:]
        groups = layout(columns, rows)
    if len(groups) > 1:
        columns, rows = Grid(list(columns), [list(row) for row in rows]).told_apart()
        groups = layout(columns, rows)
    for part in groups:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for at, wide in zip(part.columns, part.widths, strict=True):
            values = [row[at] for row in rows]
            numeric = bool(values) and all(isinstance(v, int | float | None) for v in values)
            table.add_column(
                Text(printable(columns[at])),
                justify="right" if numeric else "left",
                overflow="fold",
                width=wide,
            )
        for row in rows:
            table.add_row(*(Text(cell(row[at])) for at in part.columns))
        yield table
    if not groups:  # not even two columns fit side by side
        for row in rows:
            cells = zip(columns, row, strict=True)
            yield Text(
                "\n".join(f"{printable(name)}: {cell(value)}" for name, value in cells) + "\n"
            )


class _Part(NamedTuple):
    """Columns that stand side by side, and their widths."""

    columns: tuple[int, ...]
    widths: tuple[int, ...]


class _Column(NamedTuple):
    least: int  # letters that it needs
    whole: int  # letters with which nothing is wrapped


def _parts(headings: Sequence[str], rows: Sequence[Sequence[str]], screen: int) -> list[_Part]:
    """The parts of a table whose cells are written already; none where two columns do not fit."""
    columns = [
        _column([heading, *(row[at] for row in rows)]) for at, heading in enumerate(headings)
    ]
    groups: list[list[int]] = [[0]]
    for at in range(1, len(columns)):
        if len(groups[-1]) > 1 and _least(columns, [*groups[-1], at]) > screen:
            groups.append([0])
        groups[-1].append(at)
    if any(_least(columns, group) > screen for group in groups):
        return []
    return [_Part(tuple(group), _widths(columns, group, screen)) for group in groups]


def _column(cells: Sequence[str]) -> _Column:
    from rich.cells import cell_len

    whole = max(map(cell_len, cells))
    least = 0
    for text in cells:
        wrapped = len(text) > _PROSE and not _FIGURE.fullmatch(text)
        words = [*text.split(), " " * _PROSE] if wrapped else [text]
        least = max(least, *map(cell_len, words))
    return _Column(least, whole)


def _least(columns: Sequence[_Column], group: Sequence[int]) -> int:
    return sum(columns[at].least + _BETWEEN for at in group) - _BETWEEN + _EDGE


def _widths(columns: Sequence[_Column], group: Sequence[int], screen: int) -> tuple[int, ...]:
    """What each column needs; what is left goes to those that would be wrapped, in turn."""
    widths = {at: columns[at].least for at in group}
    spare = screen - _least(columns, group)
    while spare > 0 and (short := [at for at in group if widths[at] < columns[at].whole]):
        for at in short[:spare]:
            widths[at] += 1
            spare -= 1
    return tuple(widths[at] for at in group)


def as_json(value: Any) -> bool:
    """Prints a value, or what a method of it makes, where the result is wanted as JSON."""
    if Output.is_json:
        print_json(value() if callable(value) else value)
    return Output.is_json


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    import json

    import orjson

    try:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:  # a file's name that is no text
        text = json.dumps(value, indent=2)
    # JSON leaves the C1 block and the marks of direction as they are; escaped they mean the same.
    text = _BEYOND_ASCII.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
    sys.stdout.write(f"{text}\n")


def print_text(text: str) -> None:
    """Text of several lines on standard output."""
    if not Output.is_json:
        sys.stdout.write(f"{printable(text, lines=True)}\n")


def say(line: str) -> None:
    """A plain remark for the person, on standard error."""
    console(stderr=True).print(printable(as_command_text(line)), soft_wrap=True)


def warn(line: str, screen: Console | None = None) -> None:
    """A remark that should not be overlooked; above the bar where that bar's screen is given."""
    screen = screen or console(stderr=True)
    screen.print(f"note: {printable(as_command_text(line))}", style="yellow", soft_wrap=True)


def warn_of_trouble(done: int, total: int, what: str) -> None:  # noqa: ARG001
    """The progress of what is too short for a bar."""
    if isinstance(what, Trouble):
        warn(what)


def end_unscored(reasons: Iterable[str | None]) -> int:
    """Status 1 where nothing has a score: `reasons` are why, None of what has one."""
    counts = Counter(reasons)
    if None in counts:
        return 0
    (reason, count), *_ = [*counts.most_common(1), ("there was nothing to score", 0)]
    often = f" ({count:,} of {counts.total():,})" if len(counts) > 1 else ""
    sys.stderr.write(f"error: nothing was scored: {as_command_text(str(reason))}{often}\n")
    return 1


@contextmanager
def progress(title: str, always: bool = False) -> Iterator[Progress]:
    """A bar while long work goes on; silent where nobody looks, unless `always`."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    screen = console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[what]}", markup=False),
    )
    hidden = not (always or screen.is_terminal)
    with Bar(*columns, console=screen, disable=hidden, transient=not always) as bar:
        task = bar.add_task(printable(title), total=None, what="", visible=False)

        def advance(done: int, total: int, what: str) -> None:
            if isinstance(what, Trouble):  # also where no bar is shown
                warn(what, screen)
                return
            what = printable(what)
            bar.update(task, completed=done, total=total or None, what=what, visible=True)

        yield advance
