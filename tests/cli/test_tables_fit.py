"""No table of the command is torn apart on a screen of 80 letters."""

from __future__ import annotations

import re
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


SIMPLE = ("persona", "run", "sample", "-s", "Mara", "--labels", "labels", "--limit", "4")
THREADS = ("threads", "sample-threads", "--limit", "30", "-p")
COMMANDS = (
    ("stats", "sample"),
    ("stats", "sample-threads"),
    ("check", "sample", "--all"),
    ("ei", "sample", "--out", "labels"),
    ("runs", "compare", "labels", "labels"),
    ("ei", "consistency", "labels"),
    ("runs", "compare", "labels", "labels"),
    ("probe", "sample", "--memory", "recent", "--limit", "4", "--budget", "300", "--out", "recent"),
    ("probe", "sample", "--memory", "none", "--limit", "4", "--out", "none"),
    ("runs", "compare", "recent", "none"),
    ("runs", "show", "recent", "--groups"),
    ("sweep", "probe", "sample", "--memories", "none,recent", "--limit", "4", "--out", "memories"),
    ("persona", "turns", "sample", "--labels", "labels"),
    (*SIMPLE, "--simulator", "copy", "--out", "copy"),
    (*SIMPLE, "--simulator", "constant", "--out", "constant"),
    ("runs", "table", "a simulator with quite a long name=copy", "constant", "--speakers"),
    ("runs", "compare", "copy", "constant"),
    ("runs", "show", "copy", "--groups"),
    (
        *("sweep", "simulate", "sample", "-s", "Mara", "--labels", "labels", "--limit", "3"),
        *("--set", "simulator=copy,constant", "--out", "simulators"),
    ),
    ("threads", "samples", "sample-threads"),
    (*THREADS, "majority", "--out", "majority"),
    (*THREADS, "nearest", "--out", "nearest"),
    ("runs", "table", "majority", "nearest", "--domains"),
    ("runs", "compare", "majority", "nearest"),
    ("runs", "show", "majority", "--groups"),
    (
        *("sweep", "predict", "sample-threads", "--set", "predictor=majority,nearest"),
        *("--set", "limit=30", "--out", "predictors"),
    ),
    ("cache", "list"),
    ("models", "list"),
    ("data", "list"),
)


@pytest.mark.slow
def test_every_table_of_the_commands_is_whole(
    run: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tables: list[tuple[str, Shown]] = []
    show = printing.show

    def note(title: str, columns: Any, rows: Any, most: Any = None, elsewhere: str = "") -> None:
        tables.append((" ".join(words), Shown(title, columns, rows[:most])))
        show(title, columns, rows, most, elsewhere)

    with monkeypatch.context() as patched:
        patched.setattr(printing, "show", note)
        for words in COMMANDS:
            status, _, err = run(*words)
            assert status in (0, 1), f"{words}: {err}"
    assert len(tables) > 40
    faults = {
        (words, table.title): found
        for words, table in tables
        if (found := torn(table, capsys, monkeypatch))
    }
    assert faults == {}


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


def test_a_torn_table_is_seen(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rich.table import Table

    def squeezed(columns: Any, rows: Any, width: int) -> Any:
        table = Table(*columns)
        for row in rows:
            table.add_row(*map(str, row))
        yield table

    monkeypatch.setattr(printing, "_tables", squeezed)
    table = Shown("many", [f"score {n}" for n in range(12)], [[INTERVAL] * 12])
    assert INTERVAL in torn(table, capsys, monkeypatch)
