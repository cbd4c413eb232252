"""Many exports → one stored corpus each.

read_each(gathered(["exports/"], out), out, None, ReadOptions(), Inline())
→ corpora/Mara, corpora/Telegram_2024, …: stored corpora, and parts.parquet about them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.engine.jobs import Engine, Job, JobReport
from realtalk.engine.running import run_job
from realtalk.local.progress import Progress, silent

if TYPE_CHECKING:
    from realtalk.corpora.reading import ReadOptions

KIND = "reading"


@dataclass(frozen=True)
class ExportReader:
    """The function of a worker: reads one export and stores it."""

    format_name: str | None
    options: ReadOptions

    def __call__(self, source: Path, place: Path) -> Mapping[str, Any]:
        from realtalk.corpora.opening import open_reading
        from realtalk.corpora.store import store

        opened = open_reading(source, self.format_name, self.options)
        store(opened.reading, place, opened.source, self.options)
        tables, ledger = opened.reading.tables, opened.reading.ledger
        return {
            "format": opened.format,
            "chats": len(tables.chats),
            "messages": tables.messages.height,
            "left_over": len(ledger.leftovers),
            "notes": list(opened.reading.notes),
        }


def read_each(
    inputs: tuple[Path, ...],
    out: Path,
    format_name: str | None,
    options: ReadOptions,
    engine: Engine,
    *,
    fresh: bool = False,
    progress: Progress = silent,
) -> JobReport:
    """Every input becomes a stored corpus of its own in `out`."""
    gap = options.gap
    settings = {
        "format": format_name,
        "gap": gap.total_seconds() if isinstance(gap, timedelta) else gap,
        "dates": options.dates,
        "timezone": options.timezone,
        "columns": dict(options.columns),
    }
    make = partial(ExportReader, format_name, replace(options, progress=silent))
    job = Job(KIND, inputs, make, out, settings)
    return run_job(job, engine, fresh=fresh, progress=progress)
