"""Thread runs → what predictors make of replies, task by task.

thread_sections(loaded.threads)   → [Section("threads", …), Section("threads-sentiment-…", depth=1)]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from realtalk.report.charts import interval_panels, score_panel, view
from realtalk.report.finding import told_apart
from realtalk.report.grids import table
from realtalk.report.values import ChartView, Section

if TYPE_CHECKING:
    from realtalk.evals.summaries import Summary
    from realtalk.report.loading import ThreadsRun

# The score of a task that chance and a skewed share of answers flatter least.
HEADLINE = {"sentiment": "mcc", "impact": "mae_log", "next_text": "cosine"}
_FEWEST_DOMAINS = 3  # a radar with fewer spokes is a line
_INTERVALS = (
    "In brackets 95 % intervals, drawing whole users; strict: what is unscored counts as wrong."
)
_TASKS = {"sentiment": "sentiment", "impact": "impact", "next_text": "next text"}


def by_task(threads: Sequence[ThreadsRun]) -> dict[tuple[str, str, str], dict[str, Summary]]:
    """Runs of one task on the very same threads, by names that tell them apart."""
    groups: dict[tuple[str, str, str], list[ThreadsRun]] = {}
    for each in threads:
        about = each.run.settings["corpus"]
        on = (str(each.run.task), str(about["name"]), str(about["sha256"]))
        groups.setdefault(on, []).append(each)
    named: dict[tuple[str, str, str], dict[str, Summary]] = {}
    for key, runs in groups.items():
        apart = told_apart([each.run.name for each in runs], [each.folder.name for each in runs])
        named[key] = {
            name: replace(each.run.summary, name=name)
            for name, each in zip(apart, runs, strict=True)
        }
    return named


def thread_sections(groups: Mapping[tuple[str, str, str], Mapping[str, Summary]]) -> list[Section]:
    """Nothing where no thread run was given."""
    if not groups:
        return []
    runs = sum(len(group) for group in groups.values())
    lead = (
        f"{runs} run{'' if runs == 1 else 's'} over replies in threads: is a reply liked, how "
        "much, and what does it say? p is with the writer's own history, np with another's; "
        "conv is with the conversation before it, nonconv without."
    )
    order = sorted(groups, key=lambda key: list(HEADLINE).index(key[0]))
    return [
        Section("threads", "Threads", lead),
        *(_task(*key, groups[key]) for key in order),
    ]


def _task(task: str, corpus: str, sha: str, group: Mapping[str, Summary]) -> Section:
    from realtalk.threads.pictures import draw_radar
    from realtalk.threads.tables import domain_table, paper_table
    from realtalk.threads.values import known_task

    runs = list(group.values())
    setting = next(iter(runs[0].variants))
    replies = max(scores.rows for each in runs for scores in each.variants.values())
    tables = [
        table(
            "Predictors and settings",
            *paper_table(runs, known_task(task), published=False),
            note=_INTERVALS,
        ),
        *(
            table(f"{each.name}: domains, {setting}", *domain_table(each, setting))
            for each in runs
            if setting in each.variants
        ),
    ]
    charts = [_intervals(corpus, task, runs)]
    domains = {name for each in runs for scores in each.variants.values() for name in scores.slices}
    radar = draw_radar(runs, setting).get(HEADLINE[task])
    if radar is not None and len(domains) >= _FEWEST_DOMAINS:
        charts.append(view(radar))
    notes = tuple(f"{each.name}: {note}" for each in runs for note in each.notes)
    lead = f"{replies:,} replies of {corpus} to predict, {len(runs)} predictors."
    title = f"{_TASKS[task].capitalize()}: {corpus}"
    anchor = f"threads-{task}-{corpus}-{sha[:6]}"
    return Section(anchor, title, lead, tuple(tables), tuple(charts), notes, depth=1)


def _intervals(corpus: str, task: str, runs: Sequence[Summary]) -> ChartView:
    from realtalk.threads.rows import scores_of
    from realtalk.threads.values import known_task

    figures = [
        (f"{each.name}, {setting}", scores.overall)
        for each in runs
        for setting, scores in each.variants.items()
    ]
    panels = [
        score_panel(kind, [(name, overall[kind.name]) for name, overall in figures])
        for kind in scores_of(known_task(task))
    ]
    lines = [f"{corpus}, {_TASKS[task]}: dots with 95 % intervals, drawing whole users"]
    return interval_panels("Predictors beside each other", lines, panels)
