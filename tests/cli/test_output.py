"""No table is torn apart on a screen of 80 letters, and output that nobody takes is said."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from rich.cells import cell_len

from realtalk.cli import printing

WIDTH = 80
FIGURE = re.compile(r"[+-]?[\d.,]+%?( ± [\d.]+)?( \[[^\]]*\])?")


class Shown(NamedTuple):
    """A table as a command wanted it printed."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @property
    def texts(self) -> list[str]:
        cells = [printing.cell(value) for row in self.rows for value in row]
        return [self.title, *map(printing.printable, self.columns), *cells]


def torn(table: Shown, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> list[str]:
    """What of the table is not whole when it is printed."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    capsys.readouterr()
    printing.show(*table)
    out = capsys.readouterr().out.replace("─", "")
    faults = [line for line in out.splitlines() if cell_len(line) > WIDTH]
    # The first columns are joined where that alone tells the rows of a part from each other.
    known = {word.strip(",:") for text in table.texts for word in text.split()}
    # A path may be longer than any screen.
    long = " ".join(word for word in known if len(word) > WIDTH // 2)
    words = {word.strip(",:") for word in out.split()}
    faults += [word for word in words - known if word not in long]
    figures = [text for text in table.texts if FIGURE.fullmatch(text)]
    return faults + [figure for figure in figures if figure not in out]


INTERVAL = "0.844 [0.684, 1.000]"
PROSE = "a sentence that goes on for longer than any column of a table ought to be, by far"


@pytest.mark.parametrize(
    "table",
    [
        Shown(
            "many columns",
            ["who", *(f"score {n}" for n in range(12))],
            [["Mara", *[INTERVAL] * 12]],
        ),
        Shown("long names", ["who", "a", "b"], [[PROSE, INTERVAL, INTERVAL]] * 2),
        Shown("prose beside prose", ["rule", "meaning", "n"], [[PROSE, PROSE, 12_345]]),
        Shown("not two fit", ["a" * 50, "b" * 50], [["x" * 50, "y" * 50]]),
        Shown("wide signs", ["who", "says", "n"], [["見" * 10, "見見見 " * 20, 3]] * 2),
        Shown("alike", ["who", "chat", *"abcdef"], [["Mara", "one", *[INTERVAL] * 6]] * 2),
        Shown("nothing", ["who", "n"], []),
        Shown("one column", ["who"], [[PROSE]]),
        Shown(f"a title as long as this: {PROSE}", ["who", "n"], [["Mara", 1]]),
    ],
    ids=lambda table: table.title[:20],
)
def test_tables_of_any_shape_are_whole(
    table: Shown, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert torn(table, capsys, monkeypatch) == []


# --- nobody takes the output: a closed pipe, a full disk ---


COMMAND = [sys.executable, "-m", "realtalk", "check", "sample", "--all"]


def test_a_closed_pipe_is_no_finding() -> None:
    """`check` says 1 for findings, so a reader that went away must be told apart."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(COMMAND, stdout=writing, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(writing)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_said_in_one_line() -> None:
    """Also where Python keeps what is printed until the end, as it does for a user."""
    kept = os.environ | {"PYTHONUNBUFFERED": ""}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(COMMAND, stdout=full, stderr=subprocess.PIPE, text=True, env=kept)
    assert done.returncode == 2
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("error: the output cannot be written")
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr
