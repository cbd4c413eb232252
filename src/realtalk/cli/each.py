"""`read`, `check`, `redact` and `report` with --each: every input by itself, by any engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from realtalk.cli.options import EngineOptions

if TYPE_CHECKING:
    from realtalk.corpora.reading import ReadOptions
    from realtalk.engine.jobs import JobReport

_MOST = 20


@dataclass(frozen=True)
class EachRequest:
    """What all of these commands are given."""

    paths: list[str]
    out: Path | None
    format_name: str | None
    options: ReadOptions
    chosen: EngineOptions
    fresh: bool
    json: bool

    def single(self) -> str:
        """The one path of a call without --each; what is only for many is refused by name."""
        from realtalk.errors import RealtalkError

        if alone := self.chosen.given() or ("--fresh" if self.fresh else None):
            raise RealtalkError(f"{alone} is for many files", fix="give --each too")
        if len(self.paths) > 1:
            raise RealtalkError(f"{len(self.paths):,} paths", fix="give --each too, or one path")
        return self.paths[0]

    def run(self, work: str, title: str, what: str, /, **more: Any) -> JobReport:
        """Carries a job out with a bar. `what` is said where no folder is named for it."""
        from realtalk.cli.printing import progress
        from realtalk.errors import RealtalkError
        from realtalk.local.stores import place_of
        from realtalk.surface.each import InputReading, work_each

        if self.out is None:
            raise RealtalkError(f"--each {what}", fix="name a folder for them with --out")
        engine = self.chosen.engine()
        out = place_of(self.out)
        way = InputReading(self.format_name, self.options)
        with progress(title) as advance:
            return work_each(
                work, self.paths, out, way, engine, fresh=self.fresh, progress=advance, **more
            )

    def tell(self, report: JobReport, done: str, part: str, columns: Sequence[str]) -> None:
        """The parts as a table or JSON, then notes, problems and how many there are."""
        from realtalk.cli.printing import print_json, say, show, warn

        whole = [row for row in report.rows if not row["problem"]]
        if self.json:
            counts = {done: len(whole), "failed": len(report.problems), "worked": report.worked}
            print_json({"folder": str(report.out), **counts, "parts": list(report.rows)})
        else:
            rows = [(row["part"], *(row["figures"][name] for name in columns)) for row in whole]
            headings = (part, *columns)
            show(str(report.out), headings, rows, _MOST, "; parts.parquet lists them all")
            for note, names in _notes(whole).items():
                more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
                warn(f"{names[0]}{more}: {note}")
        for name, problem in report.problems:
            warn(problem if problem.startswith(name) else f"{name}: {problem}")
        before = len(report.rows) - report.worked
        say(
            f"{done} {len(whole):,} of {len(report.rows):,} in {report.out}"
            + (f" ({before:,} were there)" if before else "")
        )


def read_each(request: EachRequest) -> None:
    """Reads them, says what became of each, and ends with 1 where one could not be read."""
    report = request.run("read", "reading", "stores many corpora")
    request.tell(report, "stored", "corpus", ("format", "chats", "messages"))
    _end(bool(report.problems))


def check_each(request: EachRequest, fails: Callable[[str | None], bool]) -> None:
    """Checks them; ends with 1 where one could not be, or has findings that count."""
    from realtalk.cli.printing import say
    from realtalk.local.stores import child
    from realtalk.surface.each import gravest

    report = request.run("check", "checking", "writes many reports")
    columns = ("format", "chats", "messages", "errors", "warnings", "remarks")
    request.tell(report, "checked", "report", columns)
    if gravest(report) is not None:
        say(f"every finding is a row of {child(report.out, 'findings.parquet')}")
    _end(bool(report.problems) or fails(gravest(report)))


def redact_each(
    request: EachRequest, names: Iterable[str], keep: Iterable[str], keys: Path | None
) -> None:
    """Redacts them; ends with 1 where one could not be."""
    from realtalk.cli.printing import say

    report = request.run(
        "redact",
        "redacting",
        "stores many corpora",
        names=tuple(names),
        keep=frozenset(keep),
        keys=keys,
    )
    request.tell(report, "redacted", "corpus", ("format", "chats", "messages"))
    if keys is not None:
        say(f"who is who: one file per corpus in {keys} (keep them private)")
    say("parts.parquet names the inputs: share the corpora without it, and read them before")
    _end(bool(report.problems))


def report_each(request: EachRequest, **options: Any) -> None:
    """Writes their pages; ends with 1 where one could not be written."""
    report = request.run("report", "pages", "writes many pages", **options)
    request.tell(report, "wrote", "page", ("format", "chats", "messages"))
    _end(bool(report.problems))


def _end(failed: bool) -> None:
    if failed:
        raise typer.Exit(1)


def _notes(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Every note once, with the files that it is about."""
    notes: dict[str, list[str]] = {}
    for row in rows:
        for note in row["figures"]["notes"]:
            notes.setdefault(note, []).append(row["input"])
    return notes
