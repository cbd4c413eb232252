"""Tables as a notebook and a Python prompt show them: every word escaped, none that steers.

    counted(3, "chat")                                  → "3 chats"
    table_text("scores", ("score", "n"), [("f1", 12)])  → "scores\n score   n\n f1     12"
    table_html("scores", ("score", "n"), [("f1", 12)])  → '<table><caption>scores</caption>…'

A table of more than `most` rows is cut, and the last line says how much is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from typing import Any

from realtalk.cells import NOTHING, cell_text

SHOWN = 20  # rows of a table
_LONGEST = 48  # letters of a cell in a terminal
_STRANGE = "\ufffd"
_NUMBER = re.compile(r"[+\-<]? ?[\d.,]+(e[+\-]\d+)?( \[.*\])?")


def counted(number: int, what: str) -> str:
    """A number with its noun: "1 chat", "2,012 messages", "3 replies"."""
    return f"{number:,} {what if number == 1 else plural(what)}"


def plural(noun: str) -> str:
    """`chat` as chats, `reply` as replies."""
    return f"{noun[:-1]}ies" if noun.endswith("ly") else f"{noun}s"


def table_text(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    notes: Sequence[str] = (),
    most: int = SHOWN,
) -> str:
    """A table in plain letters: the first column to the left, numbers to the right."""
    lines = [[plain(cell_text(cell)) for cell in row] for row in (headings, *rows[:most])]
    widths = [max(len(line[at]) for line in lines) for at in range(len(headings))]
    right = [_is_number_column([line[at] for line in lines[1:]]) for at in range(len(headings))]
    lines_out = [plain(title, None)] if title else []
    for line in lines:
        cells = zip(line, widths, right, strict=True)
        lines_out.append(
            " " + "  ".join(c.rjust(w) if to_right else c.ljust(w) for c, w, to_right in cells)
        )
    return "\n".join(line.rstrip() for line in (*lines_out, *_last_lines(len(rows), notes, most)))


def table_html(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[Any]],
    notes: Sequence[str] = (),
    most: int = SHOWN,
) -> str:
    """A table as HTML without a style of its own: the notebook has one."""
    head = "".join(f"<th>{escape(name)}</th>" for name in headings)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell_text(cell))}</td>' for cell in row)}</tr>"
        for row in rows[:most]
    )
    caption = f"<caption>{escape(title)}</caption>" if title else ""
    below = "".join(f"<p>{escape(line)}</p>" for line in _last_lines(len(rows), notes, most))
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def _last_lines(rows: int, notes: Sequence[str], most: int) -> list[str]:
    last_lines = [f"… and {counted(rows - most, 'row')} more"] if rows > most else []
    return [*last_lines, *(plain(note, None) for note in notes)]


def plain(cell: str, longest: int | None = _LONGEST) -> str:
    """Without what would steer a terminal, and not longer than a cell should be."""
    text = "".join(letter if letter.isprintable() else _STRANGE for letter in cell)
    return text if longest is None or len(text) <= longest else f"{text[: longest - 1]}…"


def _is_number_column(cells: Sequence[str]) -> bool:
    filled = [cell for cell in cells if cell not in ("", NOTHING)]
    return bool(filled) and all(map(_NUMBER.fullmatch, filled))
