"""How results, progress and errors look in a terminal.

Results go to standard output, everything else to standard error, so that
`realtalk stats chat.zip --json | jq` works. Colours and bars only where a person looks.

Names of people, chats and files come from others: whatever would steer the terminal or turn
the line around is shown as what it is (`printable`), and nothing of it is markup.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from realtalk.local.progress import Progress

__all__ = [
    "console",
    "end_unscored",
    "print_json",
    "print_text",
    "printable",
    "progress",
    "say",
    "show",
    "table",
    "warn",
]

# Control characters (ESC and the C1 block among them), and what turns the order of a line around.
_STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029\ud800-\udfff]")
_BEYOND_ASCII = re.compile(_STEERING.pattern.replace("\x00-\x1f", ""))
_LINES_KEPT = re.compile(_STEERING.pattern.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f"))


def printable(text: str, *, lines: bool = False) -> str:
    """Text that only shows: spaces for line ends (kept with `lines`), \\x1b for an escape."""

    def shown(found: re.Match[str]) -> str:
        sign = found[0]
        if sign.isspace():
            return " "
        return f"\\x{ord(sign):02x}" if ord(sign) < 256 else f"\\u{ord(sign):04x}"

    return (_LINES_KEPT if lines else _STEERING).sub(shown, text)


def console(stderr: bool = False) -> Console:
    """A console that is as wide as the terminal, or 120 where there is none."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not made.is_terminal:
        made.width = 120
    return made


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """A table; numbers stand to the right, None as a dash."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(
        title=Text(printable(title)) if title else None,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for place, name in enumerate(columns):
        values = [row[place] for row in rows]
        numeric = bool(values) and all(isinstance(v, int | float | None) for v in values)
        made.add_column(
            Text(printable(name)),
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=numeric,
        )
    for row in rows:
        made.add_row(*(Text(cell(value)) for value in row))
    return made


def _groups(columns: Sequence[str], rows: Sequence[Sequence[Any]], width: int) -> list[list[int]]:
    """Columns that fit side by side; the first, which names the row, heads every group."""
    wide = [
        max(len(name), *(len(cell(row[place])) for row in rows), 0)
        for place, name in enumerate(columns)
    ]
    groups: list[list[int]] = [[0]]
    for place in range(1, len(columns)):
        used = sum(wide[at] + 3 for at in groups[-1])
        if used + wide[place] + 3 > width and len(groups[-1]) > 1:
            groups.append([0])
        groups[-1].append(place)
    return groups


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
    screen = console()
    shown = rows[:most]
    groups = _groups(columns, shown, screen.width)
    for number, group in enumerate(groups):
        part = [columns[place] for place in group]
        cells = [[row[place] for place in group] for row in shown]
        screen.print(table(title if number == 0 else "", part, cells))
    if len(shown) < len(rows):
        say(f"… and {len(rows) - len(shown):,} more{elsewhere}")


def print_json(value: Any) -> None:
    """One JSON document on standard output."""
    import json

    import orjson

    try:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:  # a file's name that is no text
        text = json.dumps(value, indent=2)
    # JSON leaves the C1 block and the marks of direction as they are; escaped they mean the same.
    text = _BEYOND_ASCII.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    sys.stdout.write(f"{text}\n")


def print_text(text: str) -> None:
    """Text of several lines on standard output."""
    sys.stdout.write(f"{printable(text, lines=True)}\n")


def say(line: str) -> None:
    """A plain remark for the person, on standard error."""
    console(stderr=True).print(printable(line), soft_wrap=True)


def warn(line: str) -> None:
    """A remark that should not be overlooked."""
    console(stderr=True).print(f"note: {printable(line)}", style="yellow", soft_wrap=True)


def end_unscored(reasons: Iterable[str | None]) -> None:
    """Ends with status 1 where nothing has a score: `reasons` are why, None of what has one."""
    import typer

    found = Counter(reasons)
    if None in found:
        return
    (reason, count), *_ = [*found.most_common(1), ("there was nothing to score", 0)]
    often = f" ({count:,} of {found.total():,})" if len(found) > 1 else ""
    sys.stderr.write(f"error: nothing was scored: {reason}{often}\n")
    raise typer.Exit(1)


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
            what = printable(what)
            bar.update(task, completed=done, total=total or None, what=what, visible=True)

        yield advance
