"""A sweep → the picture of score against tokens, with the memories that nothing beats marked.

draw_sweep({"retrieved": run, "recent": run})    → {"recall": Chart, "f1": Chart}
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from realtalk.describe.figures import style_chart
from realtalk.evals.run import Run

_WIDTH, _HEIGHT = 640, 360
# Okabe and Ito's colours, which stay apart for colour-blind readers.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def draw_sweep(runs: Mapping[str, Run]) -> dict[str, Any]:
    """One chart per score that the runs have: evidence found, and the answers' F1."""
    charts = {}
    for name, title in (
        ("recall@budget", "Evidence in the context"),
        ("f1", "Partial-match F1 of the answers"),
        ("date_f1", "Date-aware F1 of the answers"),
    ):
        points = _points(runs, name)
        if points:
            charts[name.removesuffix("@budget")] = _chart(points, title)
    return charts


def pareto(points: Sequence[Mapping[str, Any]]) -> list[int]:
    """The places of points that no other beats: none is as cheap and better, or as good and
    cheaper. Cheapest first."""
    order = sorted(range(len(points)), key=lambda at: (points[at]["tokens"], -points[at]["value"]))
    best: list[int] = []
    for at in order:
        if not best or points[at]["value"] > points[best[-1]]["value"]:
            best.append(at)
    return best


def _points(runs: Mapping[str, Run], name: str) -> list[dict[str, Any]]:
    points: list[dict[str, Any]] = []
    for memory, run in runs.items():
        for budget, scores in run.variants.items():
            estimate, tokens = scores.overall.get(name), scores.facts.get("context tokens")
            if estimate is None or estimate.value is None or not isinstance(tokens, float):
                continue
            points.append(
                {
                    "memory": memory,
                    "budget": budget,
                    "tokens": max(1.0, tokens),
                    "value": estimate.value,
                    "low": estimate.value if estimate.low is None else estimate.low,
                    "high": estimate.value if estimate.high is None else estimate.high,
                    "n": estimate.n,
                }
            )
    return points


def _chart(points: list[dict[str, Any]], title: str) -> Any:
    import altair as alt

    best = {(points[at]["memory"], points[at]["budget"]) for at in pareto(points)}
    for point in points:
        point["unbeaten"] = (point["memory"], point["budget"]) in best
    data = alt.InlineData(values=points)
    memories = list(dict.fromkeys(point["memory"] for point in points))
    tokens = alt.X(
        "tokens:Q",
        title="Tokens of context a question (mean, log scale)",
        scale=alt.Scale(type="log", nice=True),
        axis=alt.Axis(format=",.0f", grid=False, labelOverlap="greedy", tickCount=6),
    )
    colour = alt.Color(
        "memory:N",
        title="memory",
        scale=alt.Scale(domain=memories, range=[_COLOURS[i % 7] for i in range(len(memories))]),
    )
    value = alt.Y(
        "value:Q", title="mean, with 95 % interval", scale=alt.Scale(domainMin=0, nice=True)
    )
    tooltips = [
        alt.Tooltip("memory:N"),
        alt.Tooltip("budget:N"),
        alt.Tooltip("tokens:Q", format=",.0f"),
        alt.Tooltip("value:Q", format=".3f"),
        alt.Tooltip("low:Q", format=".3f"),
        alt.Tooltip("high:Q", format=".3f"),
        alt.Tooltip("n:Q"),
    ]
    whole = alt.Chart(data).encode(x=tokens)
    front = (
        alt.Chart(data)
        .transform_filter("datum.unbeaten")
        .mark_line(interpolate="step-after", color="#999999", strokeDash=[4, 3])
        .encode(x=tokens, y=value)
    )
    bars = whole.mark_rule().encode(y=alt.Y("low:Q"), y2="high:Q", color=colour)
    lines = whole.mark_line().encode(y=value, color=colour)
    dots = whole.mark_point(filled=True, size=90, opacity=1).encode(
        y=value, color=colour, tooltip=tooltips
    )
    names = (
        alt.Chart(data)
        .mark_text(align="left", dx=8, dy=-8, fontSize=11, color="#444444")
        .encode(x=tokens, y=value, text="budget:N")
    )
    chart = alt.layer(front, bars, lines, dots, names).properties(width=_WIDTH, height=_HEIGHT)
    n = max(point["n"] for point in points)
    note = f"{n:,} questions. Dashed: what no other memory beats at its price or below."
    return style_chart(chart, title, [note])
