"""Many exports or stored corpora → one report of what is odd about each, and all of it in a table.

check_each(gathered(["corpora/"], out), out, InputReading(None, ReadOptions()), Inline())
→ checks/Mara.json, …           what `realtalk check --json` prints of each
  checks/findings.parquet       one row per finding: part, input, severity, rule, chat …
  checks/parts.parquet          one row per input, with how many errors, warnings and notes
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from realtalk.engine.jobs import Engine, Job, JobReport
from realtalk.engine.opening import InputReading, figures_of
from realtalk.engine.running import run_job
from realtalk.local.progress import Progress, silent

if TYPE_CHECKING:
    from realtalk.corpora.check import CheckReport
    from realtalk.corpora.opening import Opened

KIND = "checking"
_TABLE = "findings"
_COLUMNS = ("severity", "rule", "chat", "where", "detail")


@dataclass(frozen=True)
class CorpusChecker:
    """The function of a worker: writes the report of one input."""

    way: InputReading

    def __call__(self, source: Path, place: Path) -> Mapping[str, Any]:
        from realtalk.corpora.check import check
        from realtalk.local.writing import write_json

        opened = self.way.open(source)
        reading = opened.reading
        told = report_json(check(reading.corpus, reading.ledger), opened)
        write_json(place, told)
        levels = {name: told[name] for name in ("severity", "errors", "warnings")}
        # "notes" are what the reader assumed, in every job's table.
        return {**figures_of(opened), **levels, "remarks": told["notes"]}


def report_json(report: CheckReport, opened: Opened) -> dict[str, Any]:
    """A report with what it is of, as `realtalk check --json` prints it."""
    reading = opened.reading
    about = {"name": reading.tables.name, "format": opened.format}
    return report.to_json() | about | {"ledger": reading.ledger.to_json()}


def check_each(
    inputs: tuple[Path, ...],
    out: Path,
    way: InputReading,
    engine: Engine,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> JobReport:
    """Every input gets a report in `out`, and every finding a row in `out`/findings.parquet."""
    job = Job(KIND, inputs, partial(CorpusChecker, way), out, way.settings, ".json")
    report = run_job(job, engine, fresh=fresh, progress=progress)
    _join(report)
    return report


def gravest(report: JobReport) -> str | None:
    """The gravest level of a finding in any input; None where nothing is odd."""
    present = {row["figures"]["severity"] for row in report.rows if not row["problem"]}
    return next((level for level in ("error", "warning", "note") if level in present), None)


def _join(report: JobReport) -> None:
    """All findings as one table, in the order of the inputs: the same by every engine."""
    import polars as pl

    from realtalk.evals.folder import RunFolder

    schema = pl.Schema(dict.fromkeys(("part", "input", *_COLUMNS), pl.String))
    RunFolder.load(report.out, KIND).rewrite(_TABLE, list(_findings(report)), schema)


def _findings(report: JobReport) -> Iterator[dict[str, Any]]:
    for row in report.rows:
        if row["problem"]:
            continue
        told = orjson.loads((report.out / row["part"]).read_bytes())
        for finding in told["findings"]:
            known = {"part": row["part"], "input": row["input"]}
            yield known | {name: finding[name] for name in _COLUMNS}
