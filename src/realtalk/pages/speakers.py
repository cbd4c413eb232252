"""Labels → speaker EI with intervals, the same person in two chats, and people beside models.

speaker_sections(loaded.labels)      → a section, and one per set of labels
consistency_sections(loaded.labels)  → where somebody appears in two chats
compare_labels(loaded.labels)        → SideBySide values, people first
comparison_sections(pairs)           → facet by facet, and which of the paper's findings hold
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from realtalk.ei.comparison import CorpusComparison, compare, comparison_rows, finding_rows
from realtalk.ei.figures import HEADLINE, draw_comparison, draw_consistency, draw_timelines
from realtalk.ei.languages import chat_languages, language_notes
from realtalk.ei.values import FACETS, SpeakerFacets, speaker_rows
from realtalk.ei.values import unit_of as counted_units
from realtalk.notebook import counted
from realtalk.pages.runs import MOST_POINTS, Panel, interval_panels, view
from realtalk.pages.values import ChartView, Section, table

if TYPE_CHECKING:
    from realtalk.pages.loading import LabelsRun

_MOST_TIMELINES = 3  # chats of a corpus that get pictures of their own
_INTERVALS = (
    "In brackets 95 % intervals from drawing turns again; intimacy in thousandths per session."
)


class SideBySide(NamedTuple):
    """Two sets of labels, compared; `knows_writers`: whether something says who is simulated."""

    first: LabelsRun
    second: LabelsRun
    comparison: CorpusComparison
    knows_writers: bool


def speaker_sections(labels: Sequence[LabelsRun]) -> list[Section]:
    """Nothing where no labels were given."""
    if not labels:
        return []
    turns = sum(run.frame.height for run in labels)
    people = sum(len({who.speaker for who in run.speakers}) for run in labels)
    lead = (
        f"Eleven facets of {people:,} speakers, from the labels of {turns:,} "
        f"{'units' if len({run.protocol for run in labels}) > 1 else labels[0].unit}. "
        "A speaker is measured in every chat apart."
    )
    sections = [Section("ei", "Speaker EI", lead)]
    return [*sections, *(_speakers(run) for run in labels)]


def _speakers(labels: LabelsRun) -> Section:
    charts = [_intervals(labels)] if labels.speakers else []
    if labels.frame["chat"].n_unique() <= _MOST_TIMELINES:
        timelines = draw_timelines(labels.frame, labels.speakers).charts
        charts += [view(chart, name.partition("_")[2]) for name, chart in timelines.items()]
    ways = ", ".join(
        f"{way} (version {version})"
        for way, version in labels.frame.select("measure", "version")
        .unique()
        .sort("measure")
        .rows()
    )
    lead = (
        f"{labels.frame.height:,} {labels.unit}, labelled by {ways}; protocol “{labels.protocol}”."
    )
    rows = table(f"{labels.name}: every speaker", *speaker_rows(labels.speakers), note=_INTERVALS)
    notes = tuple(language_notes(chat_languages(labels.frame)))
    return Section(f"ei-{labels.folder.name}", labels.name, lead, (rows,), tuple(charts), notes, 1)


def _intervals(labels: LabelsRun) -> ChartView:
    speakers = sorted(labels.speakers, key=lambda who: -who.turns)[:MOST_POINTS]
    speakers.sort(key=lambda who: (who.speaker.casefold(), who.chat))
    panels = []
    for facet in (FACETS[name] for name in HEADLINE):
        points = [
            (_who_and_where(who, speakers), who[facet.name].times(facet.scale)) for who in speakers
        ]
        of = counted_units(facet, labels.protocol)
        unit = {"share": f"share of {of}", "score": "mean score, 0 to 6"}.get(
            facet.unit, "1e-3 per session" if facet.unit == "per session" else facet.unit
        )
        panels.append(Panel(facet.title, unit, points))
    lines = [
        f"{labels.name}: {len(labels.speakers):,} speakers in a chat; dots with 95 % intervals"
    ]
    if len(speakers) < len(labels.speakers):
        lines.append(f"Shown: the {len(speakers)} who wrote most")
    return interval_panels("Emotional intelligence, speaker by speaker", lines, panels)


def _who_and_where(who: SpeakerFacets, speakers: Sequence[SpeakerFacets]) -> str:
    """Somebody in two chats needs the chat's number; its place among theirs is short."""
    chats = sorted({speaker.chat for speaker in speakers if speaker.speaker == who.speaker})
    return who.speaker if len(chats) == 1 else f"{who.speaker} · {_short(who.chat)}"


def _short(chat: str) -> str:
    """ "Chat_10_Mara_Theo" → "Chat 10"; anything else by its first letters."""
    parts = chat.split("_")
    if len(parts) > 1 and parts[1].isdigit():
        return " ".join(parts[:2])
    return chat if len(chat) <= 14 else f"{chat[:13]}…"


def consistency_sections(labels: Sequence[LabelsRun]) -> list[Section]:
    """How far speakers differ from themselves, for each set in which somebody has two chats."""
    from realtalk.ei.speakers import consistency_rows

    sections = []
    for run in (run for run in labels if run.consistency):
        people = len({who.speaker for who in run.consistency})
        distances = [who.overall.value for who in run.consistency if who.overall.value is not None]
        mean = (
            f" On average {sum(distances) / len(distances):.2f} of a facet's range."
            if distances
            else ""
        )
        lead = (
            f"{counted(people, 'speaker')} of {run.name} in "
            f"{counted(len(run.consistency), 'pair')} of chats: "
            f"how far the facets of one person lie apart. 0 is no difference.{mean}"
        )
        rows = table(
            f"{run.name}: differences between two chats of one speaker",
            *consistency_rows(run.consistency),
            note=f"{_INTERVALS} Overall is the mean difference as part of each facet's range.",
        )
        charts = tuple(view(chart) for chart in draw_consistency(run.consistency).charts.values())
        notes = ("A speaker is known by name alone: two people of one name count as one.",)
        title = f"Consistency: {run.name}"
        sections.append(
            Section(f"consistency-{run.folder.name}", title, lead, (rows,), charts, notes)
        )
    return sections


def compare_labels(labels: Sequence[LabelsRun]) -> list[SideBySide]:
    """People against simulated speakers; two sets that nothing tells apart, as they come."""

    people = [run for run in labels if not run.writer.is_simulated]
    models = [run for run in labels if run.writer.is_simulated]
    both_known = bool(people and models)
    pairs = product(people, models) if both_known else [labels] if len(labels) == 2 else []
    return [
        SideBySide(
            first,
            second,
            compare(first.speakers, second.speakers, (first.name, second.name)),
            both_known,
        )
        for first, second in pairs
        # Labels of turns and labels of messages do not measure the same thing.
        if first.protocol == second.protocol and first.speakers and second.speakers
    ]


def comparison_sections(pairs: Sequence[SideBySide]) -> list[Section]:
    """Facet by facet, with what holds of the paper's findings."""

    sections = []
    for pair in pairs:
        comparison = pair.comparison
        first_name, second_name = comparison.names
        holds = sum(finding.verdict == "holds" for finding in comparison.findings)
        who = (
            f"{first_name} is {pair.first.writer}, {second_name} {pair.second.writer}."
            if pair.knows_writers
            else f"Nothing says who is simulated: {first_name} stands first. "
            "Make the page with `simulated=NAME` to say it."
        )
        lead = (
            f"{comparison.speakers[0]} speakers of {first_name} beside {comparison.speakers[1]} of "
            f"{second_name}. {holds} of {len(comparison.findings)} findings of the REALTALK paper "
            f"hold here. {who}"
        )
        figures = draw_comparison(comparison, pair.first.speakers, pair.second.speakers)
        charts = tuple(
            view(chart) for name, chart in figures.charts.items() if name == "comparison"
        )
        note = (
            "In brackets 95 % intervals from drawing whole chats. Cliff's delta of chats is above "
            f"zero where {first_name} has more. A speaker counts once a chat."
        )
        tables = (
            table("What holds", *finding_rows(comparison)),
            table("Facet by facet", *comparison_rows(comparison), note=note),
        )
        title = (
            f"Human against simulated: {first_name} and {second_name}"
            if pair.knows_writers
            else f"{first_name} beside {second_name}"
        )
        anchor = f"compared-{pair.first.folder.name}-{pair.second.folder.name}"
        notes = tuple(
            f"{name}: {line}"
            for name, spoken in zip(comparison.names, comparison.languages, strict=True)
            for line in language_notes(spoken)
        )
        sections.append(Section(anchor, title, lead, tables, charts, notes))
    return sections
