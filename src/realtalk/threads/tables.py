"""Figures of runs → tables for people: headings and rows.

paper_table(summaries, published=True)    a line a predictor and setting, the paper's below
domain_table(summary, "p-conv")           a line a domain
compared_table(compared)                  a line a score: difference, ratio, test
count_tables(counts)                      what there is to predict
unscored_lines(summary)                   what has no score, and why
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from realtalk.metrics.grouped import Change
from realtalk.metrics.statistics import Estimate
from realtalk.threads.comparing import Compared
from realtalk.threads.published import TABLE, published_gain
from realtalk.threads.rows import SCORES, scores_of
from realtalk.threads.summaries import Summary
from realtalk.threads.values import SETTINGS, Counts, Task

__all__ = [
    "READING",
    "compared_table",
    "count_tables",
    "domain_table",
    "gain_line",
    "paper_table",
    "unscored_lines",
]

Rows: TypeAlias = tuple[tuple[str, ...], list[tuple[Any, ...]]]

READING = (
    "figure [95 % interval, drawing whole users]; strict: what is unscored counts as wrong. The "
    "paper's rows are of other data, without intervals; its GPT rows are the best of ten answers "
    "a score, and its F1 is not the same in all rows: compare our rows with each other"
)
_DIGITS = {"rmse": 1, "mae": 2}


def _told(found: Estimate | None, name: str) -> str | None:
    if found is None or found.value is None:
        return None
    digits = _DIGITS.get(name, 3)
    text = f"{found.value:.{digits}f}"
    if found.low is not None and found.high is not None:
        text += f" [{found.low:.{digits}f}, {found.high:.{digits}f}]"
    return text


def paper_table(summaries: Sequence[Summary], task: Task, *, published: bool) -> Rows:
    """Predictors by setting, in the form of the paper's main table."""
    names = scores_of(task)
    headings = (
        *("predictor", "setting", "replies", "users", "positive"),
        *(SCORES[name].title for name in names),
    )
    rows: list[tuple[Any, ...]] = []
    for each in (summary for summary in summaries if summary.task == task):
        for setting, scores in each.settings.items():
            base = None if scores.base_rate is None else f"{scores.base_rate:.3f}"
            told = scores.rows - sum(scores.untold.values())
            line = (f"{scores.scored:,} of {told:,}", scores.users, base)
            rows.append(
                (each.name, setting, *line, *(_told(scores.overall[name], name) for name in names))
            )
            if scores.unscored:
                cells = (_told(scores.strict[name], name) for name in names)
                rows.append((f"{each.name}, strict", setting, f"{told:,}", *line[1:], *cells))
    if published:
        for model, settings in TABLE.items():
            for setting in (name for name in SETTINGS if name in settings):
                known = settings[setting]
                cells = (
                    None if not SCORES[name].published else f"{known[SCORES[name].published]:g}"
                    for name in names
                )
                rows.append((f"paper: {model}", setting, None, None, None, *cells))
    return headings, rows


def domain_table(summary: Summary, setting: str) -> Rows:
    """Each domain of one setting."""
    names = scores_of(summary.task)
    scores = summary.settings[setting]
    rows: list[tuple[Any, ...]] = []
    for domain, found in scores.domains.items():
        n = max(each.n for each in found.values())
        rows.append((domain or "(none)", n, *(_told(found[name], name) for name in names)))
    return ("domain", "replies", *(SCORES[name].title for name in names)), rows


def compared_table(compared: Compared, *, strict: bool = False) -> Rows:
    """The second side against the first."""
    first, second = compared.names
    headings = (
        *("score", "replies", "users", first, second, "difference", "relative"),
        *("p", "p (Holm)", "better"),
    )
    rows = []
    for name, change in (compared.strict if strict else compared.changes).items():
        rows.append(
            (
                SCORES[name].title,
                change.n,
                change.groups,
                *(_told(Estimate(value), name) for value in (change.first, change.second)),
                _told(change.difference, name),
                _share(change.relative),
                _p(change.p),
                _p(change.p_holm),
                _better(name, change, compared.names),
            )
        )
    return headings, rows


def _share(found: Estimate) -> str | None:
    if found.value is None:
        return None
    text = f"{found.value:+.0%}"
    if found.low is not None and found.high is not None:
        text += f" [{found.low:+.0%}, {found.high:+.0%}]"
    return text


def _p(value: float | None) -> str | None:
    return None if value is None else "< .001" if value < 0.001 else f"{value:.3f}"


def _better(name: str, change: Change, names: tuple[str, str]) -> str | None:
    """The side that is better beyond chance: the interval leaves 0 out and so does the test."""
    low, high = change.difference.low, change.difference.high
    if low is None or high is None or low <= 0 <= high or (change.p_holm or 0.0) >= 0.05:
        return None
    return names[1] if (low > 0) == (SCORES[name].better > 0) else names[0]


def gain_line(compared: Compared) -> str | None:
    """The paper's relative gain beside ours; None where these are not its settings."""
    if compared.task != "sentiment" or compared.names != ("p-nonconv", "p-conv"):
        return None
    change = compared.changes["mcc"]
    paper = f"the paper's GPT-4.1 has {published_gain('GPT-4.1', 'mcc'):+.0%}, without an interval"
    ours = _share(change.relative)
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
        *(("threads", counts.threads), ("comments", counts.comments), ("users", counts.users)),
        *(("train replies", counts.train), ("test replies", counts.test)),
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


def unscored_lines(summary: Summary) -> list[str]:
    """What is unscored, with its reasons."""
    lines = []
    for setting, scores in summary.settings.items():
        for what, reasons in (
            ("unscored", scores.unscored),
            ("without a truth", scores.untold),
            ("left out", scores.left_out),
        ):
            if reasons:
                told = ", ".join(f"{count:,} {reason}" for reason, count in reasons.items())
                lines.append(f"{summary.name}, {setting}, {what}: {told}")
    return lines
