"""Figures of runs → radar pictures: one spoke per domain, one line per predictor or setting.

    draw_runs([run, other])    → {"sentiment-p-conv-mcc": Chart, …}, one line per run
    draw_runs([run])           → {"sentiment-mcc": Chart, …}, one line per setting

Drawn are the scores to look at first (`scoring.HEADLINES`). The centre is 0, or below the lowest
value where that is negative; rings are at round numbers. Values and intervals stand in the
tooltips.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from realtalk.describe.figures import style_chart
from realtalk.evals.run import Run
from realtalk.metrics.statistics import Estimate
from realtalk.threads.scoring import HEADLINES, SCORES
from realtalk.threads.values import SETTINGS, TASKS, Task

_SIZE = 420
_LABEL = 1.13  # where a domain's name stands, beyond the rim
_FEWEST = 3  # domains: a radar with fewer spokes is a line
_RINGS = 4  # at least, or at most one more
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
        points = [
            {
                "line": line,
                "domain": domain or "(none)",
                "spoke": spoke,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "n": estimate.n,
            }
            for line, slices in lines.items()
            for spoke, domain in enumerate(domains)
            if (estimate := slices.get(domain, {}).get(name)) and estimate.value is not None
        ]
        if points:
            title = f"{SCORES[name].title}: {task}, {subject}"
            charts[f"{prefix}-{name}"] = _chart(points, domains, list(lines), title)
    return charts


def _chart(
    points: list[dict[str, Any]], domains: Sequence[str], lines: Sequence[str], title: str
) -> Any:
    import altair as alt

    low, high, step = _rings([point["value"] for point in points])
    count = round((high - low) / step)

    def at(spoke: float, share: float) -> dict[str, float]:
        turn = 2 * math.pi * spoke / len(domains)
        return {"x": share * math.sin(turn), "y": share * math.cos(turn)}

    for point in points:
        point.update(at(point["spoke"], (point["value"] - low) / (high - low)))
    closed = [
        {**point, "step": part}
        for line in lines
        for part, point in enumerate(_round([point for point in points if point["line"] == line]))
    ]
    rings = [
        {"ring": ring, "step": part, **at(part * len(domains) / 72, ring / count)}
        for ring in range(1, count + 1)
        for part in range(73)
    ]
    marks = [
        {**at(0, ring / count), "text": f"{low + step * ring:.3g}"} for ring in range(count + 1)
    ]
    spokes = [
        {"domain": domain or "(none)", "end": end, **at(place, end)}
        for place, domain in enumerate(domains)
        for end in (0.0, 1.0)
    ]
    labels: list[dict[str, Any]] = [
        {"text": domain or "(none)", "side": _side(place / len(domains)), **at(place, _LABEL)}
        for place, domain in enumerate(domains)
    ]
    scale = alt.Scale(domain=[-1.4, 1.4])
    axes = {
        "x": alt.X("x:Q", axis=None, scale=scale),
        "y": alt.Y("y:Q", axis=None, scale=scale),
    }

    def by_line(channel: Any, values: Sequence[Any]) -> Any:
        styles = [values[number % len(values)] for number in range(len(lines))]
        return channel("line:N", title=None, scale=alt.Scale(domain=list(lines), range=styles))

    def chart(values: list[dict[str, Any]]) -> Any:
        return alt.Chart(alt.InlineData(values=values))

    colour = by_line(alt.Color, _COLOURS)
    # Lines that lie on one another (settings that change nothing) stay visible by their dashes.
    dash = by_line(alt.StrokeDash, _DASHES)
    order, outward = alt.Order("step:Q"), alt.Order("end:Q")
    tooltip = [
        *(alt.Tooltip(f"{name}:N") for name in ("line", "domain")),
        *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high")),
        alt.Tooltip("n:Q", format=","),
    ]
    grid = {"color": "#dddddd", "strokeWidth": 1}
    line, dot = {"strokeWidth": 2.5}, {"filled": True, "size": 60, "opacity": 1}
    sizes = {"fontSize": 10, "color": "#888888", "align": "left", "dx": 4}
    layers = (
        chart(rings).mark_line(**grid).encode(**axes, detail="ring:N", order=order),
        chart(spokes).mark_line(**grid).encode(**axes, detail="domain:N", order=outward),
        chart(closed).mark_line(**line).encode(**axes, color=colour, strokeDash=dash, order=order),
        chart(closed).mark_point(**dot).encode(**axes, color=colour, tooltip=tooltip),
        *(
            chart([label for label in labels if label["side"] == side])
            .mark_text(fontSize=12, color="#333333", align=side)
            .encode(**axes, text="text:N")
            for side in sorted({label["side"] for label in labels})
        ),
        chart(marks).mark_text(**sizes).encode(**axes, text="text:N"),
    )
    layered = alt.layer(*layers).properties(width=_SIZE, height=_SIZE)
    note = f"{sum(p['n'] for p in points if p['line'] == lines[0]):,} replies; centre {low:.3g}"
    return style_chart(layered, title, [f"{note}, rim {high:.3g}"])


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
    if min(turn, 1 - turn) < 0.02 or abs(turn - 0.5) < 0.02:
        return "center"
    return "left" if turn < 0.5 else "right"


def _round(points: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Back to where it began, where there is a line to close."""
    return [*points, points[0]] if len(points) > 2 else list(points)
