"""Figures of runs → charts of domains: a dot with its interval for each predictor or setting.

    draw_runs([run, other])    → {"sentiment-p-conv-mcc": Chart, …}, one colour per run
    draw_runs([run])           → {"sentiment-mcc": Chart, …}, one colour per setting

Drawn are the scores to look at first (`scoring.HEADLINES`), as a run's summary draws its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from realtalk.evals.run import Run
from realtalk.evals.tables import estimate_figure
from realtalk.metrics.statistics import Estimate
from realtalk.threads.scoring import HEADLINES, SCORES
from realtalk.threads.values import SETTINGS, TASKS, Task

_FEWEST = 3  # domains: of fewer the tables say it all

Lines = Mapping[str, Mapping[str, Mapping[str, Estimate]]]  # line → domain → score → figure


def draw_runs(runs: Sequence[Run]) -> dict[str, Any]:
    """Every task and setting; of a task with one run its settings side by side."""
    charts: dict[str, Any] = {}
    for task in TASKS:
        same = [run for run in runs if run.settings["task"] == task]
        if len(same) == 1:
            lines = {name: scores.slices for name, scores in same[0].variants.items()}
            charts |= _charts(lines, task, task, same[0].name)
            continue
        for setting in SETTINGS:
            lines = {
                run.name: run.variants[setting].slices for run in same if setting in run.variants
            }
            charts |= _charts(lines, task, f"{task}-{setting}", setting)
    return charts


def _charts(lines: Lines, task: Task, prefix: str, subject: str) -> dict[str, Any]:
    domains = dict.fromkeys(domain for slices in lines.values() for domain in slices)
    charts: dict[str, Any] = {}
    for name in HEADLINES[task] if len(domains) >= _FEWEST else ():
        rows = [
            {
                "score": domain or "(none)",
                "variant": line,
                "estimate": figure.value,
                "low": figure.low,
                "high": figure.high,
                "n": figure.n,
                "unscored": figure.left_out,
            }
            for line, slices in lines.items()
            for domain in domains
            if (figure := slices.get(domain, {}).get(name)) and figure.value is not None
        ]
        if rows:
            frame = pl.DataFrame(rows, infer_schema_length=None)
            title = f"{SCORES[name].title}: {task}, {subject}"
            charts[f"{prefix}-{name}"] = estimate_figure(frame, title)
    return charts
