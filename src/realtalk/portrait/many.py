"""Many exports or stored corpora → one page about each.

write_pages(gathered(["exports/"], out), out, InputReading(None, ReadOptions()), Inline())
→ pages/Mara.html, pages/Theo.html, …    and parts.parquet about them
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from realtalk.engine.jobs import Engine, Job, JobReport
from realtalk.engine.opening import InputReading, figures_of
from realtalk.engine.running import run_job
from realtalk.local.progress import Progress, silent
from realtalk.portrait.build import PortraitOptions, make_portrait, write_portrait

KIND = "pages"


@dataclass(frozen=True)
class PageWriter:
    """The function of a worker: writes the page of one input."""

    way: InputReading
    options: PortraitOptions

    def __call__(self, source: Path, place: Path) -> Mapping[str, Any]:
        opened = self.way.open(source)
        portrait = make_portrait(opened.reading, self.options)
        write_portrait(portrait, place)
        figures = figures_of(opened)
        cautions = [line for line in (portrait.options.sampled, *portrait.options.cautions) if line]
        return {**figures, "notes": [*figures["notes"], *cautions]}


def write_pages(
    inputs: tuple[Path, ...],
    out: Path,
    way: InputReading,
    engine: Engine,
    *,
    options: PortraitOptions | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> JobReport:
    """Every input gets a page of its own in `out`."""
    chosen = options or PortraitOptions()
    settings = {**way.settings, **asdict(chosen)}
    job = Job(KIND, inputs, partial(PageWriter, way, chosen), out, settings, ".html")
    return run_job(job, engine, fresh=fresh, progress=progress)
