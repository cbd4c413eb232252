"""Every run → what was measured on what, with which settings and versions.

measured_section(loaded)   → a table of runs, and a table of the versions that made them
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from realtalk.ei.protocols import rules_of
from realtalk.report.grids import table
from realtalk.report.values import Cell, Section, TableView

if TYPE_CHECKING:
    from realtalk.report.loading import LoadedRuns


def measured_section(loaded: LoadedRuns) -> Section:
    """What the rest of the page is made from."""
    rows: list[tuple[Cell, ...]] = []
    for corpus in loaded.corpora:
        files = len(corpus.about["source"])
        settings = (
            f"format {corpus.stats.format}, {files} source file{'' if files == 1 else 's'}; "
            f"{corpus.written}"
        )
        count = corpus.stats.total("messages")
        rows.append((corpus.folder.name, "corpus", corpus.stats.name, settings, count, "messages"))
    for labels in loaded.labels:
        measures = labels.frame.select("measure", "version").unique().sort("measure", "version")
        ways = ", ".join(f"{way} {version}" for way, version in measures.rows())
        settings = f"labelled by {ways}; protocol {labels.protocol}; {labels.written}"
        unit = "turns" if rules_of(labels.protocol).joined else "messages"
        count = labels.frame.height
        rows.append((labels.folder.name, "EI labels", labels.name, settings, count, unit))
    for probe in loaded.probes:
        solver = probe.probed.settings["solver"]["settings"]
        chosen = {**solver, "budgets": probe.probed.settings["budgets"]}
        count = len(probe.probed.rows)
        rows.append((probe.folder.name, "memory", probe.corpus, _words(chosen), count, "questions"))
    for persona in loaded.personas:
        chosen = {name: persona.run.settings[name] for name in ("solver", "context", "limit")}
        count = len(persona.run.rows)
        rows.append(
            (persona.folder.name, "persona", persona.corpus, _words(chosen), count, "turns")
        )
    for guess in loaded.guesses:
        record = guess.run.settings
        chosen = {name: record[name] for name in ("solver", "replies", "context")}
        on, count = str(record["corpus"]["name"]), len(guess.run.rows)
        rows.append((guess.folder.name, "who wrote it", on, _words(chosen), count, "guesses"))
    for thread in loaded.threads:
        record = thread.run.settings
        chosen = {name: record[name] for name in ("task", "solver", "settings", "chosen")}
        words = f"{_words(chosen)}; protocol {record['protocol']['protocol']}"
        on, count = str(record["corpus"]["name"]), len(thread.run.rows)
        rows.append((thread.folder.name, "threads", on, words, count, "predictions"))
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
        (each.folder.name, {"realtalk": str(each.about.get("realtalk", ""))})
        for each in loaded.corpora
    ]
    versions_by_run += [
        (each.folder.name, {"realtalk": each.version}) for each in loaded.labels if each.version
    ]
    versions_by_run += [(each.name, versions) for each in loaded.runs for versions in each.versions]
    if not versions_by_run:
        return None
    names = list(dict.fromkeys(name for _, versions in versions_by_run for name in versions))
    rows = [(run, *(versions.get(name) for name in names)) for run, versions in versions_by_run]
    return table("Versions", ("run", *names), rows)
