"""`read --each`: every export into a stored corpus of its own, by one engine or another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

if TYPE_CHECKING:
    from realtalk.corpora.reading import ReadOptions
    from realtalk.engine.jobs import JobReport

_MOST = 20

EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="NAME",
        help="With --each, where files are worked on: inline (this process, the default), "
        "processes, or ray.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="How many files are worked on at once by processes or ray; one per processor "
        "without it.",
        show_default=False,
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="ADDRESS",
        help="A Ray cluster that is running (auto finds it); without it ray runs on this machine "
        "alone.",
        show_default=False,
    ),
]


class EngineOptions(NamedTuple):
    """The options of an engine, as they were given."""

    engine: str | None
    workers: int | None
    address: str | None
    fresh: bool

    def refuse_alone(self) -> None:
        """Raises where one of them is given without --each."""
        from realtalk.errors import RealtalkError

        given = {
            "--engine": self.engine,
            "--workers": self.workers,
            "--address": self.address,
            "--fresh": self.fresh or None,
        }
        names = [name for name, value in given.items() if value is not None]
        if names:
            raise RealtalkError(f"{names[0]} is for many files", fix="give --each too")


def read_each(
    paths: list[str],
    out: Path | None,
    format_name: str | None,
    options: ReadOptions,
    chosen: EngineOptions,
    json: bool,
) -> None:
    """Reads them, says what became of each, and ends with 1 where one could not be read."""
    from realtalk.cli.printing import progress
    from realtalk.engine.choosing import choose
    from realtalk.engine.exports import read_each as read
    from realtalk.engine.inputs import gathered
    from realtalk.errors import RealtalkError

    if out is None:
        raise RealtalkError("--each stores many corpora", fix="name a folder for them with --out")
    engine = choose(chosen.engine or "inline", chosen.workers, chosen.address)
    inputs = gathered(paths, out)
    with progress("reading") as advance:
        report = read(
            inputs, out, format_name, options, engine, fresh=chosen.fresh, progress=advance
        )
    _tell(report, json)
    if report.problems:
        raise typer.Exit(1)


def _tell(report: JobReport, json: bool) -> None:
    from realtalk.cli.printing import print_json, say, show, warn

    stored = [row for row in report.rows if not row["problem"]]
    if json:
        counts = {"stored": len(stored), "failed": len(report.problems), "worked": report.worked}
        print_json({"folder": str(report.out), **counts, "parts": list(report.rows)})
    else:
        columns = ("corpus", "format", "chats", "messages")
        rows = [(row["part"], *(row["figures"][name] for name in columns[1:])) for row in stored]
        show(str(report.out), columns, rows, _MOST, "; parts.parquet lists them all")
        for note, names in _notes(stored).items():
            more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
            warn(f"{names[0]}{more}: {note}")
    for name, problem in report.problems:
        warn(problem if problem.startswith(name) else f"{name}: {problem}")
    before = len(report.rows) - report.worked
    say(
        f"stored {len(stored):,} of {len(report.rows):,} in {report.out}"
        + (f" ({before:,} were there)" if before else "")
    )


def _notes(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Every note once, with the files that it is about."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        for note in row["figures"]["notes"]:
            notes.setdefault(note, []).append(row["input"])
    return notes
