"""How results, progress and errors look in a terminal.

Results go to standard output, everything else to standard error, so that
`realtalk stats chat.zip --json | jq` works. Colours and bars only where a person looks.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from realtalk.corpora.reading import Progress

__all__ = ["console", "print_json", "progress", "say", "show", "table", "warn"]


def console(stderr: bool = False) -> Console:
    """A console that is as wide as the terminal, or 120 where there is none."""
    from rich.console import Console

    made = Console(stderr=stderr, highlight=False)
    if not made.is_terminal:
        made = Console(stderr=stderr, highlight=False, width=120)
    return made


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """A table; numbers stand to the right, None as a dash."""
    from rich import box
    from rich.table import Table

    made = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(columns):
        values = [row[place] for row in rows]
        numeric = bool(values) and all(isinstance(v, int | float | None) for v in values)
        made.add_column(
            name, justify="right" if numeric else "left", overflow="fold", no_wrap=numeric
        )
    for row in rows:
        made.add_row(*(cell(value) for value in row))
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
    """A value as the report writes it; text that looks like rich's markup stays text."""
    from rich.markup import escape

    from realtalk.report.cells import cell_text

    return escape(cell_text(value))


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
    import orjson

    sys.stdout.write(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode() + "\n")


def say(line: str) -> None:
    """A plain remark for the person, on standard error."""
    console(stderr=True).print(line, markup=False, soft_wrap=True)


def warn(line: str) -> None:
    """A remark that should not be overlooked."""
    console(stderr=True).print(f"note: {line}", style="yellow", markup=False, soft_wrap=True)


@contextmanager
def progress(title: str, always: bool = False) -> Iterator[Progress]:
    """A bar while long work goes on; silent where nobody looks, unless `always`."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    screen = console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[what]}"),
    )
    hidden = not (always or screen.is_terminal)
    with Bar(*columns, console=screen, disable=hidden, transient=not always) as bar:
        task = bar.add_task(title, total=None, what="", visible=False)

        def advance(done: int, total: int, what: str) -> None:
            bar.update(task, completed=done, total=total or None, what=what, visible=True)

        yield advance
