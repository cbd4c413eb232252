"""Folders of runs → a report: title, the three things that matter, sections; and its page.

report = make_report([Path("demo")])
report.key_figures[0]        → KeyFigure("0.81", "is the recall@budget of “recent” …", …)
write_report(report, Path("report.html"))
corpus_sections(loaded.corpora)     → [Section("corpora", …), Section("corpus-sample", depth=1, …)]
measured_section(loaded)            → a table of runs, and one of the versions that made them
unscored_section(labels, groups)    → a table: run | what | unscored | of | reason

Unscored is never zero, and never hidden.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.cells import Cell, Grid, duration
from realtalk.ei.encoder_choice import is_usable
from realtalk.files.progress import Progress, silent
from realtalk.notebook import counted
from realtalk.pages.frame import made_with, write_page
from realtalk.pages.loading import AuthorOverrides, CorpusRun, LabelsRun, LoadedRuns, load
from realtalk.pages.runs import RunGroup, capital, groups_of, key_figures, run_sections, view
from realtalk.pages.sections import render
from realtalk.pages.speakers import (
    SideBySide,
    compare_labels,
    comparison_sections,
    consistency_sections,
    speaker_sections,
)
from realtalk.pages.values import KeyFigure, Section, TableView, table

if TYPE_CHECKING:
    from realtalk.describe.values import CorpusStats

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
            "key_figures": [figure._asdict() for figure in self.key_figures],
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
    return f"{capital(whole)}. Every figure stands with its number and its interval."


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
    from realtalk.ei.values import FACETS, facet_number

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


# Settings that the page says elsewhere, or that only a machine reads.
_UNTOLD = frozenset({"corpus", "scoring", "chats", "notes"})


def measured_section(loaded: LoadedRuns) -> Section:
    """What the rest of the page is made from."""
    rows: list[tuple[Cell, ...]] = []
    for corpus in loaded.corpora:
        files = counted(len(corpus.about["source"]), "source file")
        settings = f"format {corpus.stats.format}, {files}; {corpus.writer}"
        count = corpus.stats.total("messages")
        rows.append((corpus.folder.name, "corpus", corpus.stats.name, settings, count, "messages"))
    for labels in loaded.labels:
        measures = labels.frame.select("measure", "version").unique().sort("measure", "version")
        ways = ", ".join(f"{way} {version}" for way, version in measures.rows())
        settings = f"labelled by {ways}; protocol {labels.protocol}; {labels.writer}"
        count = labels.frame.height
        rows.append((labels.folder.name, "EI labels", labels.name, settings, count, labels.unit))
    for stored in loaded.runs:
        record, kind = stored.run.settings, stored.run.kind
        own_settings = {name: value for name, value in record.items() if name not in _UNTOLD}
        on, sample = str(record["corpus"]["name"]), stored.run.benchmark.sample
        rows.append((stored.folder.name, kind, on, _words(own_settings), len(stored.run), sample))
    tables = [table("Runs", ("run", "kind", "on", "settings", "rows", "of"), rows)]
    if versions := _versions(loaded):
        tables.append(versions)
    notes = tuple(f"Left out: {name} ({reason})" for name, reason in loaded.left_out)
    lead = "What was measured, on what, and with what. Everything below comes from these folders."
    return Section("measured", "What was measured", lead, tuple(tables), notes=notes)


def _words(settings: Mapping[str, Any]) -> str:
    """Settings as a line: names with their versions, then what differs from nothing."""
    parts: list[str] = []
    for name, value in settings.items():
        if isinstance(value, Mapping) and "name" in value:
            version = f" {value['version']}" if value.get("version") else ""
            inner = _words(value.get("settings", {}))
            parts.append(f"{name} {value['name']}{version}{f' ({inner})' if inner else ''}")
        elif isinstance(value, Mapping):
            inner = _words(value)
            parts += [f"{name}: {inner}"] if inner else []
        elif isinstance(value, list):
            parts.append(f"{name} {', '.join(map(str, value))}")
        elif value not in (None, ""):
            parts.append(f"{name} {value}")
    return "; ".join(parts)


def _versions(loaded: LoadedRuns) -> TableView | None:
    """One line per run and set of versions: a run that was resumed later may have two."""
    versions_by_run: list[tuple[str, Mapping[str, str]]] = [
        (corpus.folder.name, {"realtalk": str(corpus.about.get("realtalk", ""))})
        for corpus in loaded.corpora
    ]
    places = [run.folder for runs in (loaded.corpora, loaded.labels, loaded.runs) for run in runs]
    versions_by_run += [(place.name, own) for place in places for own in place.versions]
    if not versions_by_run:
        return None
    names = list(dict.fromkeys(name for _, versions in versions_by_run for name in versions))
    rows = [(run, *(versions.get(name) for name in names)) for run, versions in versions_by_run]
    return table("Versions", ("run", *names), rows)


def unscored_section(labels: Sequence[LabelsRun], groups: Sequence[RunGroup]) -> Section | None:
    """None where nothing was scored at all, so that nothing can be missing."""
    if not labels and not groups:
        return None
    rows: list[tuple[Cell, ...]] = [row for run in labels for row in _unlabelled_rows(run)]
    for group in groups:
        rows += _unscored_rows(group)
    if not rows:
        return Section("unscored", "Unscored", "Everything that was to be scored has its score.")
    lead = "What could not be scored is left out of every mean, and counted here with its reason."
    view = table("Unscored, by run and reason", ("run", "what", "unscored", "of", "reason"), rows)
    return Section("unscored", "Unscored", lead, (view,))


def _unlabelled_rows(labels: LabelsRun) -> Iterator[tuple[Cell, ...]]:
    from realtalk.ei.results import unscored_reasons

    for measure, reason, count in unscored_reasons([labels.frame]):
        yield (f"{labels.name}, labels", str(measure), count, labels.frame.height, reason)
    facets = Counter(
        (facet.title, estimate.unscored)
        for who in labels.speakers
        for facet, estimate in who.items()
        if estimate.unscored is not None
    )
    for (title, reason), count in facets.items():
        yield (f"{labels.name}, speakers", title.lower(), count, len(labels.speakers), reason)


def _unscored_rows(group: RunGroup) -> Iterator[tuple[Cell, ...]]:
    for name, run in group.runs.items():
        for variant, scores in run.variants.items():
            where = ", ".join(part for part in (group.corpus, name, group.part, variant) if part)
            for what, reasons in (
                (f"{group.benchmark.sample} answers", scores.unscored),
                ("truths", scores.untold),
                ("single scores", scores.left_out),
            ):
                for reason, count in reasons.items():
                    yield (where, what, count, scores.rows, reason)
        reasons = Counter(row["unscored"] for row in run.judgements if row["unscored"] is not None)
        for reason, count in reasons.items():
            yield (f"{group.corpus}, {name}", "judgements", count, len(run.judgements), reason)


def corpus_sections(corpora: Sequence[CorpusRun]) -> list[Section]:
    """Nothing where no corpus was given."""
    if not corpora:
        return []
    chats = sum(len(run.stats.per_chat) for run in corpora)
    messages = sum(run.stats.total("messages") for run in corpora)
    many = f"{len(corpora)} corpora" if len(corpora) > 1 else "1 corpus"
    lead = f"{many} with {counted(chats, 'chat')} and {messages:,} messages."
    overview = table(
        "Corpora side by side",
        *Grid.of([_row(run) for run in corpora]),
        note="In brackets 95 % intervals from drawing whole chats; a corpus of one chat has none. "
        "A turn is what one speaker said before another did.",
    )
    sections = [Section("corpora", "Corpora", lead, (overview,))]
    return [*sections, *(_one(run) for run in corpora)]


def _row(run: CorpusRun) -> dict[str, Cell]:
    stats = run.stats
    first = [chat.first.date().isoformat() for chat in stats.per_chat if chat.first]
    last = [chat.last.date().isoformat() for chat in stats.per_chat if chat.last]
    gap = stats.response_gaps.median
    return {
        "corpus": run.folder.name,
        "format": stats.format,
        "chats": len(stats.per_chat),
        "speakers": len({who.name for chat in stats.per_chat for who in chat.speakers}),
        **{name: stats.total(name) for name in ("messages", "turns", "sessions", "words")},
        **{f"{name} per chat": _mean(stats, name) for name in ("messages", "words")},
        "answer after (median)": None if gap is None else duration(gap),
        "events": stats.total("events"),
        "questions": sum(number for _, number in stats.questions),
        "first day": min(first, default=None),
        "last day": max(last, default=None),
        "without a time": stats.total("messages_without_time"),
    }


def _mean(stats: CorpusStats, name: str) -> str | None:
    value, interval = stats.mean(name), stats.intervals[f"{name}_per_chat"]
    if value is None:
        return None
    extent = "" if interval is None else f" [{interval[0]:,.1f}, {interval[1]:,.1f}]"
    return f"{value:,.1f}{extent}"


def _one(run: CorpusRun) -> Section:
    from realtalk.describe import chat_rows, corpus_rows
    from realtalk.describe.figures import draw

    figures = draw(run.stats)
    name = run.folder.name
    ledger = run.about["ledger"]
    read_note = (
        f"Read as {run.stats.format}: {ledger['total']:,} {ledger['unit']}, of which "
        f"{ledger['in_messages']:,} became messages, {ledger['system']:,} were system lines and "
        f"{ledger['left_over']:,} were left over."
    )
    return Section(
        f"corpus-{name}",
        name,
        read_note,
        (
            table(f"{name}: figures", *corpus_rows(run.stats)),
            table(f"{name}: every chat", *chat_rows(run.stats)),
        ),
        tuple(view(chart, name) for chart in figures.charts.values()),
        tuple(
            f"Not drawn: {what.replace('_', ' ')} ({why})" for what, why in figures.left_out.items()
        ),
        depth=1,
    )
