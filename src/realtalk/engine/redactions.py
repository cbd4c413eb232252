"""Many exports or stored corpora → each without the people in it.

redact_each(gathered(["corpora/"], out), out, InputReading(None, ReadOptions()), Inline())
→ shared/corpus-1, shared/corpus-2, …    stored corpora; parts.parquet says what each was made from

A part has a number for a name: exports are named after people. Stand-ins are given anew in each:
Person1 of one corpus is nobody in particular in another, so that sharing two tells nobody who is
in both, and a part depends on its own input alone. `keys` is a folder for who is who, one file
per part.
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
from realtalk.errors import RealtalkError
from realtalk.local.progress import Progress, silent
from realtalk.local.writing import private_folder

KIND = "redacting"
_PART = "corpus"


@dataclass(frozen=True)
class CorpusRedactor:
    """The function of a worker: stores one input redacted, and writes its key."""

    way: InputReading
    names: tuple[str, ...]
    keep: frozenset[str]
    keys: Path | None

    def __call__(self, source: Path, place: Path) -> Mapping[str, Any]:
        from realtalk.local.writing import write_json
        from realtalk.redaction.redact import redact
        from realtalk.redaction.sources import name_sources
        from realtalk.redaction.standins import SORTS
        from realtalk.redaction.storing import store_redacted

        opened = self.way.open(source)
        corpus, key = redact(
            opened.reading.corpus, names=self.names, keep=self.keep, sources=name_sources()
        )
        messages = store_redacted(corpus, place)
        if self.keys is not None:
            write_json(key_file(self.keys, place.name), key.to_file())
        figures = {**figures_of(opened), "messages": messages}
        counts = key.counts()
        return {**figures, "found": {sort: counts.get(sort, 0) for sort in SORTS}, "left": key.left}


def key_file(keys: Path, part: str) -> Path:
    """Where the key of a part is kept."""
    return keys / f"{part}.json"


def redact_each(
    inputs: tuple[Path, ...],
    out: Path,
    way: InputReading,
    engine: Engine,
    *,
    names: tuple[str, ...] = (),
    keep: frozenset[str] = frozenset(),
    keys: Path | None = None,
    fresh: bool = False,
    progress: Progress = silent,
) -> JobReport:
    """Every input becomes a stored corpus without its people in `out`."""
    from realtalk.redaction.redact import refuse_unknown_kinds

    refuse_unknown_kinds(keep)
    if keys is not None:
        keys = _checked(keys, out)
    settings = {
        **way.settings,
        "names": sorted(names),
        "keep": sorted(keep),
        "keys": keys is not None,
    }
    make = partial(CorpusRedactor, way, names, keep, keys)
    job = Job(KIND, inputs, make, out, settings, numbered=_PART)
    report = run_job(job, engine, fresh=fresh, progress=progress)
    if keys is not None:
        _refuse_lost_keys(report, keys)
    return report


def _checked(keys: Path, out: Path) -> Path:
    """The folder of keys, made; keys beside what they open would be shared with it."""
    place = keys.absolute()
    if place.resolve().is_relative_to(out.resolve()):
        raise RealtalkError(
            "keys would lie among what is to be shared",
            where=str(keys),
            fix="name a folder outside of --out",
        )
    try:
        return private_folder(place)
    except OSError as error:
        raise RealtalkError(
            f"cannot be a folder of keys ({error.strerror})", where=str(keys)
        ) from error


def _refuse_lost_keys(report: JobReport, keys: Path) -> None:
    """Raises where a part of an earlier sitting has no key there."""
    parts = [row["part"] for row in report.rows if not row["problem"]]
    lost = [part for part in parts if not key_file(keys, part).is_file()]
    if lost:
        raise RealtalkError(
            f"has no key of {lost[0]}" + (f" and {len(lost) - 1:,} more" if lost[1:] else ""),
            where=str(keys),
            fix="name the folder of before, or start anew with --fresh",
        )
