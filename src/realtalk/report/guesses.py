"""Runs of who wrote it → how often models and people find the real reply, corpus by corpus.

guess_sections(loaded.guesses)   → [Section("guesses", …), Section("guesses-sample-9f86d0", …)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from realtalk.report.charts import interval_panels, score_panel
from realtalk.report.finding import told_apart
from realtalk.report.grids import table
from realtalk.report.values import Section, TableView

if TYPE_CHECKING:
    from realtalk.report.loading import GuessesRun

_ROUNDS = "In brackets 95 % intervals, drawing whole rounds."


def guess_sections(guesses: Sequence[GuessesRun]) -> list[Section]:
    """Nothing where nobody guessed."""
    if not guesses:
        return []
    rows = sum(len(each.run.rows) for each in guesses)
    people = sum(each.run.by_people for each in guesses)
    by = "models and people" if 0 < people < len(guesses) else "people" if people else "models"
    lead = (
        f"{rows:,} times {by} picked the reply that somebody really wrote from several that "
        "others, or simulators, wrote. A simulator that cannot be told from the person is taken "
        "for real as often as the person is."
    )
    groups: dict[tuple[str, str], list[GuessesRun]] = {}
    for each in guesses:
        about = each.run.settings["corpus"]
        groups.setdefault((str(about["name"]), str(about["sha256"])), []).append(each)
    sections = [Section("guesses", "Who wrote it", lead)]
    return [*sections, *(_corpus(name, sha, runs) for (name, sha), runs in groups.items())]


def _corpus(name: str, sha: str, runs: Sequence[GuessesRun]) -> Section:
    from realtalk.persona.guess_people import people_figures
    from realtalk.persona.guess_rows import GUESS_SCORES
    from realtalk.persona.guess_tables import READING, guess_table, people_tables, speaker_table

    names = told_apart([each.run.name for each in runs], [each.folder.name for each in runs])
    summaries = [replace(each.run.summary, name=own) for own, each in zip(names, runs, strict=True)]
    tables: list[TableView] = [
        table("Who finds the real one", *guess_table(summaries), note=READING)
    ]
    for own, each in zip(names, runs, strict=True):
        if each.run.by_people:
            tables += [
                table(f"{own}: {title}", *lines, note=_ROUNDS)
                for title, lines in people_tables(people_figures(each.run.rows)).items()
            ]
    tables += [
        table(f"{each.name}: every speaker", *speaker_table(each, ""))
        for each in summaries
        if "" in each.variants
    ]
    points = [
        (f"{each.name}, {judge}" if judge else each.name, scores.overall["accuracy"])
        for each in summaries
        for judge, scores in each.variants.items()
    ]
    lines = [f"{name}: accuracy with 95 % intervals"]
    panels = [score_panel(GUESS_SCORES[0], points)]
    charts = (interval_panels("Who finds the real one", lines, panels),) if len(points) > 1 else ()
    notes = tuple(f"{each.name}: {note}" for each in summaries for note in each.notes)
    lead = f"{len(runs)} run{'' if len(runs) == 1 else 's'}."
    return Section(f"guesses-{name}-{sha[:6]}", name, lead, tuple(tables), charts, notes, 1)
