"""Every run → what was measured on what, with which settings and versions; what has no score.

measured_section(loaded)            → a table of runs, and one of the versions that made them
unscored_section(labels, groups)    → a table: run | what | unscored | of | reason

Unscored is never zero, and never hidden.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from realtalk.notebook import counted
from realtalk.pages.values import Cell, Section, TableView, table

if TYPE_CHECKING:
    from realtalk.pages.loading import LabelsRun, LoadedRuns
    from realtalk.pages.runs import RunGroup

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
    from realtalk.ei.label_files import unscored_reasons

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
