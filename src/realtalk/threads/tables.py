"""Figures of thread runs → tables for people, the paper's beside them.

paper_table(summaries, "sentiment", published=True)   one line per predictor and setting
domain_table(summary, "p-conv")                       one line per domain
change_table(compared, "sentiment")                   one line per score: difference, ratio, test
count_tables(counts)                                  what there is to predict
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from realtalk.evals.comparing import Compared
from realtalk.evals.summaries import Summary
from realtalk.evals.tables import Lines, compared_table, share, slice_table, summary_table
from realtalk.threads.published import TABLE, published_gain
from realtalk.threads.rows import scores_of
from realtalk.threads.values import SETTINGS, Counts, Task, known_task

READING = (
    "figure [95 % interval, drawing whole users]; strict: what is unscored counts as wrong. The "
    "paper's rows are of other data, without intervals; its GPT rows are the best of ten answers "
    "a score, and its F1 is not the same in all rows: compare our rows with each other"
)


def paper_table(summaries: Sequence[Summary], task: Task, *, published: bool) -> Lines:
    """Predictors by setting, in the form of the paper's main table."""
    scores = scores_of(task)
    headings, rows = summary_table(
        [summary for summary in summaries if summary.about["task"] == task],
        scores,
        solver="predictor",
        variant="setting",
        samples="replies",
        groups="users",
        facts=("positive",),
    )
    for model, settings in TABLE.items() if published else ():
        for setting in (name for name in SETTINGS if name in settings):
            known = settings[setting]
            cells = (f"{known[score.published]:g}" if score.published else None for score in scores)
            rows.append((f"paper: {model}", setting, None, None, None, *cells))
    return headings, rows


def domain_table(summary: Summary, setting: str) -> Lines:
    """Each domain of one setting."""
    scores = scores_of(known_task(summary.about["task"]))
    return slice_table(summary, setting, scores, slices="domain", samples="replies")


def change_table(compared: Compared, task: Task, *, strict: bool = False) -> Lines:
    """The second side against the first."""
    return compared_table(
        compared, scores_of(task), samples="replies", groups="users", strict=strict
    )


def gain_line(compared: Compared, task: Task) -> str | None:
    """The paper's relative gain beside ours; None where these are not its settings."""
    if task != "sentiment" or compared.names != ("p-nonconv", "p-conv"):
        return None
    change = compared.changes["mcc"]
    paper = f"the paper's GPT-4.1 has {published_gain('GPT-4.1', 'mcc'):+.0%}, without an interval"
    ours = share(change.relative)
    if ours is None:
        return f"relative gain in MCC of p-conv over p-nonconv: none can be told here; {paper}"
    return f"relative gain in MCC of p-conv over p-nonconv: {ours}, n = {change.n:,}; {paper}"


def count_tables(counts: Counts) -> list[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]]:
    """(title, headings, rows): what there is, class weights and domains, and what was left."""
    shares = [
        (f"{part}: share of scores above 0", round(share, 4))
        for part, share in counts.positive.items()
    ]
    sizes: list[tuple[Any, ...]] = [
        ("threads", counts.threads),
        ("comments", counts.comments),
        ("users", counts.users),
        ("train replies", counts.train),
        ("test replies", counts.test),
        ("test replies without earlier history", counts.without_history),
        *shares,
        *((f"class weight, {name}", round(value, 3)) for name, value in counts.weights.items()),
    ]
    found: list[tuple[str, tuple[str, ...], list[tuple[Any, ...]]]] = [
        ("what there is to predict", ("what", "count"), sizes),
        ("domains of the test part", ("domain", "replies"), _pairs(counts.domains)),
    ]
    if counts.skipped:
        found.append(("comments not asked about", ("why", "comments"), _pairs(counts.skipped)))
    if counts.left_out:
        found.append(("threads left out", ("why", "threads"), _pairs(counts.left_out)))
    return found


def _pairs(counted: Mapping[str, int]) -> list[tuple[Any, ...]]:
    return [(name or "(none)", count) for name, count in counted.items()]
