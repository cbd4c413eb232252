"""Folders of runs → a report: title, the three things that matter, sections; and its page.

report = make_report([Path("demo")])
report.key_figures[0]        → KeyFigure("0.81", "is the recall@budget of “recent” …", …)
write_report(report, Path("report.html"))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from typing import Any

from realtalk.ei.grades import is_usable
from realtalk.files.progress import Progress, silent
from realtalk.pages.corpora import corpus_sections
from realtalk.pages.frame import made_with, write_page
from realtalk.pages.loading import LoadedRuns, load
from realtalk.pages.measured import measured_section, unscored_section
from realtalk.pages.runs import RunGroup, groups_of, key_figures, run_sections
from realtalk.pages.sections import render
from realtalk.pages.speakers import (
    SideBySide,
    compare_labels,
    comparison_sections,
    consistency_sections,
    speaker_sections,
)
from realtalk.pages.values import KeyFigure, Section
from realtalk.pages.writers import AuthorOverrides

_TITLE = "Long-term conversations, measured"
_MOST = 3
_ALPHA = 0.05
_UNITS = {"bits": " in bits", "per session": " in thousandths per session"}


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
            "key_figures": [asdict(figure) for figure in self.key_figures],
            "sections": [
                {
                    "id": section.id,
                    "title": section.title,
                    "lead": section.lead,
                    "tables": [asdict(table_view) for table_view in section.tables],
                    "charts": [chart.title for chart in section.charts],
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
    authors: AuthorOverrides | None = None,
    progress: Progress = silent,
) -> PageReport:
    """Every section that the runs can fill; `authors` is who wrote what, as the user says."""
    loaded = load(folders, progress, authors)
    pairs = compare_labels(loaded.labels)
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
        made_with(altair=version("altair")),
    )


def write_report(report: PageReport, path: Path) -> Path:
    """The page, whole or not at all; never over a file that is no page, or inside a corpus."""
    figures, sections = report.key_figures, report.sections
    text = render(report.title, sections, made=report.made, lead=report.lead, key_figures=figures)
    return write_page(path, text)


def _lead(loaded: LoadedRuns) -> str:
    """What there is, in one sentence."""
    messages = sum(corpus_run.stats.total("messages") for corpus_run in loaded.corpora)
    turns = sum(labels_run.frame.height for labels_run in loaded.labels)
    parts = [f"{messages:,} messages read"] if messages else []
    parts += [f"{turns:,} turns labelled"] if turns else []
    for kind in dict.fromkeys(stored.run.benchmark for stored in loaded.runs):
        count = sum(len(stored.run) for stored in loaded.runs if stored.run.benchmark is kind)
        parts += [f"{count:,} rows of {kind.name}"] if count else []
    if not parts:
        return ""
    whole = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"{whole[0].upper()}{whole[1:]}. Every figure stands with its number and its interval."


def highlights(
    loaded: LoadedRuns,
    pairs: Sequence[SideBySide],
    groups: Sequence[RunGroup],
) -> list[KeyFigure]:
    """The results that matter most, each a figure with its interval: at most three.

    One figure per kind of run, in this order, and the first three that can be given with an
    interval: people against models, every benchmark, consistency, the corpus. Nothing is said
    where nothing was measured, or where labels are below usable in the language of a chat.
    """

    figures = chain(
        [_comparison_figure(pairs)], key_figures(groups), [_consistency(loaded), _corpus(loaded)]
    )
    return list(islice((figure for figure in figures if figure is not None), _MOST))


def _comparison_figure(pairs: Sequence[SideBySide]) -> KeyFigure | None:
    """The facet that tells two sets of speakers apart most, of those beyond chance."""
    from realtalk.ei import FACETS
    from realtalk.ei.values import facet_number

    for pair in pairs:
        comparison = pair.comparison
        tested = [
            facet
            for facet in comparison.facets
            if facet.delta.value is not None
            and facet.p_shift_holm is not None
            and facet.facet not in comparison.unusable
        ]
        clear = [facet for facet in tested if (facet.p_shift_holm or 0.0) < _ALPHA]
        best = max(clear or tested, key=lambda facet: abs(facet.delta.value or 0.0), default=None)
        if best is None or best.delta.low is None or best.delta.high is None:
            continue
        facet, (first_name, second_name) = FACETS[best.facet], comparison.names
        delta, low, high = map(_sign, (best.delta.value or 0.0, best.delta.low, best.delta.high))
        first, second = (
            [facet_number(facet, value) for value in (side.mean, side.low, side.high)]
            for side in (best.first, best.second)
        )
        beyond = (
            f"{len(clear)} of {len(comparison.facets)} facets differ beyond chance."
            if clear
            else "It differs most, but no facet differs beyond chance."
        )
        says = (
            f"is the mean {facet.title.lower()} in {first_name} and in {second_name} "
            f"(Cliff's delta of chats {delta}, 95 % interval {low} … {high}; "
            f"{best.first.n} and {best.second.n} speakers in {best.first.chats} and "
            f"{best.second.chats} chats). {beyond}"
        )
        return KeyFigure(
            f"{first[0]} vs {second[0]}",
            says,
            f"means{_UNITS.get(facet.unit, '')}, 95 % intervals {first[1]} … {first[2]} and "
            f"{second[1]} … {second[2]}",
            f"compared-{pair.first.folder.name}-{pair.second.folder.name}",
            "Human against simulated" if pair.knows_writers else "Two sets of speakers",
        )
    return None


def _consistency(loaded: LoadedRuns) -> KeyFigure | None:
    """Who differs most from themselves."""
    for labels in loaded.labels:
        scored = [
            who
            for who in labels.consistency
            if who.overall.value is not None
            and who.overall.low is not None
            and all(is_usable(spoken.grade()) for spoken in who.languages)
        ]
        if labels.writer.is_simulated or not scored:
            continue
        most = max(scored, key=lambda who: who.overall.value or 0.0)
        people = len({who.speaker for who in scored})
        says = (
            f"of a facet's range lies, on average, between {most.speaker}'s two chats"
            + (f", the most of {people} speakers who appear twice." if people > 1 else ".")
            + " 0 would be no difference."
        )
        extent = f"95 % interval {most.overall.low:.2f} … {most.overall.high:.2f}"
        return KeyFigure(
            f"{most.overall.value:.2f}",
            says,
            extent,
            f"consistency-{labels.folder.name}",
            "Consistency",
        )
    return None


def _corpus(loaded: LoadedRuns) -> KeyFigure | None:
    """How much people write per chat."""
    for corpus in sorted(loaded.corpora, key=lambda run: -run.stats.total("messages")):
        stats, name = corpus.stats, corpus.folder.name
        mean, interval = stats.messages_per_chat, stats.intervals["messages_per_chat"]
        if mean is None or interval is None:
            continue
        chats = len(stats.per_chat)
        extent = f"95 % interval {interval[0]:,.0f} … {interval[1]:,.0f}, n = {chats:,} chats"
        sessions = stats.mean("sessions") or 0
        says = f"messages per chat, on average, in {name}, over {sessions:,.1f} sessions."
        return KeyFigure(f"{mean:,.0f}", says, extent, f"corpus-{name}", "Corpus")
    return None


def _sign(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
