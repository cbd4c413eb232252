"""Many exports → one stored corpus each.

read_each(gathered(["exports/"], out), out, InputReading(None, ReadOptions()), Inline())
→ corpora/Mara, corpora/Telegram_2024, …: stored corpora, and parts.parquet about them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from realtalk.engine.jobs import Engine, Job, JobReport
from realtalk.engine.opening import InputReading, figures_of
from realtalk.engine.running import run_job
from realtalk.local.progress import Progress, silent

KIND = "reading"


@dataclass(frozen=True)
class ExportReader:
    """The function of a worker: reads one export and stores it."""

    way: InputReading

    def __call__(self, source: Path, place: Path) -> Mapping[str, Any]:
        from realtalk.corpora.store import store

        opened = self.way.open(source)
        store(opened.reading, place, opened.source, self.way.options)
        figures = dict(figures_of(opened))
        notes = figures.pop("notes")
        return {**figures, "left_over": len(opened.reading.ledger.leftovers), "notes": notes}


def read_each(
    inputs: tuple[Path, ...],
    out: Path,
    way: InputReading,
    engine: Engine,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> JobReport:
    """Every input becomes a stored corpus of its own in `out`."""
    job = Job(KIND, inputs, partial(ExportReader, way), out, way.settings)
    return run_job(job, engine, fresh=fresh, progress=progress)
