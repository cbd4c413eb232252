"""`read --each`: every export into a stored corpus of its own, by one engine or another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from realtalk.cli.options import EngineOptions

if TYPE_CHECKING:
    from realtalk.corpora.reading import ReadOptions
    from realtalk.engine.jobs import JobReport

_MOST = 20


def read_each(
    paths: list[str],
    out: Path | None,
    format_name: str | None,
    options: ReadOptions,
    chosen: EngineOptions,
    *,
    fresh: bool,
    json: bool,
) -> None:
    """Reads them, says what became of each, and ends with 1 where one could not be read."""
    from realtalk.cli.printing import progress
    from realtalk.engine.exports import read_each as read
    from realtalk.engine.inputs import gathered
    from realtalk.errors import RealtalkError

    if out is None:
        raise RealtalkError("--each stores many corpora", fix="name a folder for them with --out")
    engine = chosen.engine()
    inputs = gathered(paths, out)
    with progress("reading") as advance:
        report = read(inputs, out, format_name, options, engine, fresh=fresh, progress=advance)
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
