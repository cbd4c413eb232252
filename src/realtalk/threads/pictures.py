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

from realtalk.describe.figures import styled
from realtalk.evals.run import Run
from realtalk.metrics.statistics import Estimate
from realtalk.threads.scoring import HEADLINES, SCORES
from realtalk.threads.values import SETTINGS, TASKS

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
            drawn = _charts(lines, HEADLINES[task], f"{task}, {same[0].name}")
            charts |= {f"{task}-{name}": chart for name, chart in drawn.items()}
            continue
        for setting in SETTINGS:
            kept = [run for run in same if setting in run.variants]
            lines = {run.name: run.variants[setting].slices for run in kept}
            drawn = _charts(lines, HEADLINES[task], f"{task}, {setting}") if kept else {}
            charts |= {f"{task}-{setting}-{name}": chart for name, chart in drawn.items()}
    return charts


def _charts(lines: Lines, names: Sequence[str], what: str) -> dict[str, Any]:
    domains = list(dict.fromkeys(domain for found in lines.values() for domain in found))
    charts: dict[str, Any] = {}
    for name in names if len(domains) >= _FEWEST else ():
        points = _points(lines, domains, name)
        if points:
            charts[name] = _chart(points, domains, list(lines), f"{SCORES[name].title}: {what}")
    return charts


def _points(lines: Lines, domains: Sequence[str], name: str) -> list[dict[str, Any]]:
    points = []
    for line, found in lines.items():
        for domain in domains:
            value = found.get(domain, {}).get(name)
            if value is None or value.value is None:
                continue
            points.append(
                {
                    "line": line,
                    "domain": domain or "(none)",
                    "spoke": domains.index(domain),
                    "value": value.value,
                    "low": value.low,
                    "high": value.high,
                    "n": value.n,
                }
            )
    return points


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
        for part, point in enumerate(_round([each for each in points if each["line"] == line]))
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
    x, y = alt.X("x:Q", axis=None, scale=scale), alt.Y("y:Q", axis=None, scale=scale)
    colour = alt.Color(
        "line:N",
        title=None,
        scale=alt.Scale(
            domain=list(lines), range=[_COLOURS[i % len(_COLOURS)] for i in range(len(lines))]
        ),
    )
    # Lines that lie on one another (settings that change nothing) stay visible by their dashes.
    dash = alt.StrokeDash(
        "line:N",
        title=None,
        scale=alt.Scale(domain=list(lines), range=[_DASHES[i % 4] for i in range(len(lines))]),
    )
    order = alt.Order("step:Q")
    shown = [alt.Tooltip("line:N"), alt.Tooltip("domain:N")]
    shown += [alt.Tooltip(f"{each}:Q", format=".3f") for each in ("value", "low", "high")]
    shown += [alt.Tooltip("n:Q", format=",")]
    grid = alt.Chart(alt.InlineData(values=rings)).mark_line(color="#dddddd", strokeWidth=1)
    rays = alt.Chart(alt.InlineData(values=spokes)).mark_line(color="#dddddd", strokeWidth=1)
    data = alt.InlineData(values=closed)
    names = [
        alt.Chart(alt.InlineData(values=[each for each in labels if each["side"] == side]))
        .mark_text(fontSize=12, color="#333333", align=side)
        .encode(x=x, y=y, text="text:N")
        for side in sorted({each["side"] for each in labels})
    ]
    sizes = alt.Chart(alt.InlineData(values=marks)).mark_text(
        fontSize=10, color="#888888", align="left", dx=4
    )
    layers = (
        grid.encode(x=x, y=y, detail="ring:N", order=order),
        rays.encode(x=x, y=y, detail="domain:N", order=alt.Order("end:Q")),
        alt.Chart(data)
        .mark_line(strokeWidth=2.5)
        .encode(x=x, y=y, color=colour, strokeDash=dash, order=order),
        alt.Chart(data)
        .mark_point(filled=True, size=60, opacity=1)
        .encode(x=x, y=y, color=colour, tooltip=shown),
        *names,
        sizes.encode(x=x, y=y, text="text:N"),
    )
    whole = alt.layer(*layers).properties(width=_SIZE, height=_SIZE)
    note = f"{sum(p['n'] for p in points if p['line'] == lines[0]):,} replies; centre {low:.3g}"
    return styled(whole, title, [f"{note}, rim {high:.3g}"])


def _rings(values: Sequence[float]) -> tuple[float, float, float]:
    """Centre, rim, and a round step between rings that leads from one to the other."""
    low, top = min(0.0, *values), max(values)
    rough = max(top - low, 1e-9) / _RINGS
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * each for each in (1, 2, 2.5, 5, 10) if size * each >= rough * 0.999)
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
