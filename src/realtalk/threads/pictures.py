"""Figures of runs → radar pictures: one spoke per domain, one line per predictor or setting.

    draw_runs([run, other])    → {"sentiment-p-conv-mcc": Chart, …}, one line per run
    draw_runs([run])           → {"sentiment-mcc": Chart, …}, one line per setting

Drawn are the scores to look at first (`scoring.HEADLINES`). The centre is 0, or below the lowest
value where that is negative; rings are at round numbers. Values and intervals stand in the
tooltips. What a picture looks like stands in radar.json; everything in it is at a radius and a
turn, by which Vega places it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from realtalk.describe.figures import fill_chart, style_chart
from realtalk.evals.run import Run
from realtalk.metrics.statistics import Estimate
from realtalk.threads.scoring import HEADLINES, SCORES
from realtalk.threads.values import SETTINGS, TASKS, Task

_LABEL = 1.13  # where a domain's name stands, beyond the rim
_FEWEST = 3  # domains: a radar with fewer spokes is a line
_RINGS = 4  # at least, or at most one more
_CORNERS = 72  # of a ring
_DASHES = ([1, 0], [8, 6], [3, 5], [12, 4, 2, 4])
# Okabe and Ito's colours, which stay apart for colour-blind readers.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

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
    domains = list(dict.fromkeys(domain for slices in lines.values() for domain in slices))
    charts: dict[str, Any] = {}
    for name in HEADLINES[task] if len(domains) >= _FEWEST else ():
        figures = {
            line: {
                domain: estimate
                for domain in domains
                if (estimate := slices.get(domain, {}).get(name)) and estimate.value is not None
            }
            for line, slices in lines.items()
        }
        if any(figures.values()):
            title = f"{SCORES[name].title}: {task}, {subject}"
            charts[f"{prefix}-{name}"] = _chart(figures, domains, title)
    return charts


def _chart(
    figures: Mapping[str, Mapping[str, Estimate]], domains: Sequence[str], title: str
) -> Any:
    values = [figure.value or 0.0 for line in figures.values() for figure in line.values()]
    low, high, step = _rings(values)
    count = round((high - low) / step)
    turns = {domain: 2 * math.pi * at / len(domains) for at, domain in enumerate(domains)}
    rows: list[dict[str, Any]] = [
        {"kind": "tick", "turn": 0.0, "radius": at / count, "text": f"{low + step * at:.3g}"}
        for at in range(count + 1)
    ]
    for ring in range(1, count + 1):
        for corner in range(_CORNERS + 1):
            turn = 2 * math.pi * corner / _CORNERS
            place = {"turn": turn, "radius": ring / count}
            rows.append({"kind": "ring", **place, "ring": ring, "step": corner})
    for domain, turn in turns.items():
        spoke = {"domain": domain or "(none)", "turn": turn}
        rows += [{"kind": "spoke", **spoke, "radius": end} for end in (0.0, 1.0)]
        rows.append({"kind": "label", **spoke, "radius": _LABEL, "side": _side(turn)})
    for line, own in figures.items():
        around = list(own.items())
        # Back to where it began, where there is a line to close.
        for corner, (domain, figure) in enumerate(around + around[: len(around) > 2]):
            about = {"line": line, "domain": domain or "(none)", "step": corner, "n": figure.n}
            ends = {"value": figure.value, "low": figure.low, "high": figure.high}
            radius = ((figure.value or 0.0) - low) / (high - low)
            place = {"turn": turns[domain], "radius": radius}
            rows.append({"kind": "point", **place, **about, **ends})
    chart = fill_chart(
        Path(__file__).with_name("radar.json"),
        rows,
        lines=list(figures),
        colours=[_COLOURS[at % len(_COLOURS)] for at in range(len(figures))],
        # Lines that lie on one another (settings that change nothing) stay visible by their dashes.
        dashes=[_DASHES[at % len(_DASHES)] for at in range(len(figures))],
    )
    replies = sum(figure.n for figure in next(iter(figures.values())).values())
    return style_chart(chart, title, [f"{replies:,} replies; centre {low:.3g}, rim {high:.3g}"])


def _rings(values: Sequence[float]) -> tuple[float, float, float]:
    """Centre, rim, and a round step between rings that leads from one to the other."""
    low, top = min(0.0, *values), max(values)
    rough = max(top - low, 1e-9) / _RINGS
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 2.5, 5, 10) if size * factor >= rough * 0.999)
    start = math.floor(low / step + 1e-9) * step
    return start, start + max(1, math.ceil((top - start) / step - 1e-9)) * step, step


def _side(turn: float) -> str:
    """Where a name stands against its point: away from the circle."""
    across = math.sin(turn)
    if abs(across) < math.sin(0.04 * math.pi):
        return "center"
    return "left" if across > 0 else "right"
