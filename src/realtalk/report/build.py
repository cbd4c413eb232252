"""Folders of runs → a report: title, the three things that matter, sections; and its page.

made = make_report([Path("demo")])
made.key_figures[0].says     → "Empathy is higher in sample-simulated than in sample: …"
write_report(made, Path("report.html"))
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from realtalk import __version__
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.files.writing import check_holder, write_text
from realtalk.formats.store import is_stored
from realtalk.report.loading import LoadedRuns, load
from realtalk.report.values import KeyFigure, Section
from realtalk.report.writers import Told

_TITLE = "Long-term conversations, measured"


@dataclass(frozen=True)
class PageReport:
    """The content of a page before it is rendered."""

    title: str
    lead: str
    key_figures: tuple[KeyFigure, ...]
    sections: tuple[Section, ...]
    made: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """The same figures without the page: tables whole, charts by their titles."""
        return {
            "title": self.title,
            "lead": self.lead,
            "key_figures": [asdict(each) for each in self.key_figures],
            "sections": [
                {
                    "id": section.id,
                    "title": section.title,
                    "lead": section.lead,
                    "tables": [asdict(each) for each in section.tables],
                    "charts": [each.title for each in section.charts],
                    "notes": list(section.notes),
                }
                for section in self.sections
            ],
            "made": dict(self.made),
        }


def make_report(
    folders: Sequence[Path],
    *,
    title: str | None = None,
    told: Told | None = None,
    progress: Progress = silent,
) -> PageReport:
    """Every section that the runs can fill; `told` is who wrote what, as far as the user says."""
    from realtalk.report.corpora import corpus_sections
    from realtalk.report.highlights import highlights
    from realtalk.report.measured import measured_section, unscored_section
    from realtalk.report.runs import groups_of, run_sections
    from realtalk.report.speakers import (
        compared,
        comparison_sections,
        consistency_sections,
        speaker_sections,
    )

    loaded = load(folders, progress, told)
    pairs = compared(loaded.labels)
    groups = groups_of(loaded.runs)
    unscored = unscored_section(loaded.labels, groups)
    sections = [
        *corpus_sections(loaded.corpora),
        *speaker_sections(loaded.labels),
        *consistency_sections(loaded.labels),
        *comparison_sections(pairs),
        *run_sections(groups),
        *([] if unscored is None else [unscored]),
        measured_section(loaded),
    ]
    return PageReport(
        title or _TITLE,
        _lead(loaded),
        tuple(highlights(loaded, pairs, groups)),
        tuple(sections),
        {
            "realtalk": __version__,
            "python": platform.python_version(),
            "altair": version("altair"),
            "date": datetime.now(UTC).date().isoformat(),
        },
    )


def write_report(report: PageReport, path: Path) -> Path:
    """The page, whole or not at all; never over a file that is no page, or inside a corpus."""
    from realtalk.report.page import render

    check_page(path)
    return write_text(
        path,
        render(
            report.title,
            report.sections,
            made=report.made,
            lead=report.lead,
            key_figures=report.key_figures,
        ),
    )


def check_page(path: Path) -> None:
    """Raises where a page must not be written."""
    check_holder(path)
    if path.is_dir():
        raise RealtalkError("is a folder", where=str(path), fix="name a file: `out=report.html`")
    if is_stored(path.parent):
        raise RealtalkError(
            "holds a stored corpus, which is not a place for a page",
            where=str(path.parent),
            fix="name another folder",
        )
    if path.is_file():
        with path.open("rb") as stream:
            head = stream.read(100).lstrip().lower()
        if head and not head.startswith(b"<!doctype"):
            raise RealtalkError(
                "is a file, but not a page", where=str(path), fix="name another file"
            )


def _lead(loaded: LoadedRuns) -> str:
    """What there is, in one sentence."""
    messages = sum(each.stats.total("messages") for each in loaded.corpora)
    turns = sum(each.frame.height for each in loaded.labels)
    kinds = dict.fromkeys(each.run.benchmark for each in loaded.runs)
    counts = {
        kind: sum(len(each.run) for each in loaded.runs if each.run.benchmark is kind)
        for kind in kinds
    }
    parts = [
        text
        for count, text in (
            (messages, f"{messages:,} messages read"),
            (turns, f"{turns:,} turns labelled"),
            *((count, f"{count:,} rows of {kind.name}") for kind, count in counts.items()),
        )
        if count
    ]
    if not parts:
        return ""
    whole = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{whole[0].upper()}{whole[1:]}. Every figure stands with its number and its interval."
