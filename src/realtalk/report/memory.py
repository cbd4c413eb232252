"""Probe runs → what memories find, what readers answer, and what that costs, corpus by corpus.

memory_sections(loaded.probes)   → [Section("memory", …), Section("memory-realtalk", depth=1)]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from realtalk.report.charts import view
from realtalk.report.finding import told_apart
from realtalk.report.grids import stacked, table
from realtalk.report.values import Section

if TYPE_CHECKING:
    from realtalk.report.loading import ProbeRun

_INTERVALS = "In brackets 95 % intervals; whole chats are drawn where there are enough of them."


def by_corpus(probes: Sequence[ProbeRun]) -> dict[tuple[str, str], dict[str, ProbeRun]]:
    """Runs on the very same chats, by a name that tells them apart.

    The name is the memory's; the reader's too where there are several, and the folder's where
    that is still not enough.
    """
    groups: dict[tuple[str, str], list[ProbeRun]] = {}
    for each in probes:
        key = (each.corpus, str(each.probed.settings["corpus"]["sha256"]))
        groups.setdefault(key, []).append(each)
    named: dict[tuple[str, str], dict[str, ProbeRun]] = {}
    for key, runs in groups.items():
        several = len({each.reader for each in runs}) > 1
        names = [
            f"{each.memory}, read by {each.reader}" if several else each.memory for each in runs
        ]
        apart = told_apart(names, [each.folder.name for each in runs])
        named[key] = dict(zip(apart, runs, strict=True))
    return named


def memory_sections(probes: Sequence[ProbeRun]) -> list[Section]:
    """Nothing where no probe run was given."""
    if not probes:
        return []
    questions = sum(len(each.probed.rows) for each in probes)
    groups = by_corpus(probes)
    lead = (
        f"{len(probes)} run{'' if len(probes) == 1 else 's'}, {questions:,} questions asked in all."
        " Evidence is scored without any model: was what the answer needs in the context?"
    )
    sections = [Section("memory", "Memory", lead)]
    return [*sections, *(_corpus(name, sha, runs) for (name, sha), runs in groups.items())]


def _corpus(name: str, sha: str, runs: Mapping[str, ProbeRun]) -> Section:
    from realtalk.memory.pictures import draw_sweep
    from realtalk.memory.tables import answer_rows, cost_rows, retrieval_rows, sweep_rows

    scores = {label: each.scores for label, each in runs.items()}
    points = sum(len(each.costs) for each in scores.values())
    charts = tuple(view(chart) for chart in draw_sweep(scores).values()) if points > 1 else ()
    retrieved = {
        label: retrieval_rows(each.retrieval)
        for label, each in scores.items()
        if each.retrieval is not None and each.retrieval.overall.means
    }
    answered = {label: answer_rows(each) for label, each in scores.items() if each.answers}
    tables = [
        table("Memories and budgets", *sweep_rows(scores), note=_INTERVALS),
        *stacked("Evidence found", "memory", retrieved, note=_INTERVALS),
        *stacked("Answers", "memory", answered, note=_INTERVALS),
        *stacked("Cost", "memory", {label: cost_rows(each) for label, each in scores.items()}),
    ]
    questions = len(
        {(row["group"], row["sample"]) for each in runs.values() for row in each.probed.rows}
    )
    chats = len({row["group"] for each in runs.values() for row in each.probed.rows})
    readers = sorted({each.reader for each in runs.values()} - {"none"})
    who = f" Answers are read by {', '.join(readers)}." if readers else " Nobody answered."
    lead = f"{questions:,} questions about {chats:,} chat{'' if chats == 1 else 's'}.{who}"
    cautions = tuple(f"{label}: {line}" for label, e in runs.items() for line in e.probed.cautions)
    return Section(f"memory-{name}-{sha[:6]}", name, lead, tuple(tables), charts, cautions, depth=1)
