"""A sweep → the picture of score against tokens, with the memories that nothing beats marked.

draw_sweep({"retrieved": run, "recent": run})    → {"recall": Chart, "f1": Chart}
advise({"retrieved": run, "recent": run})        → the same runs in two sentences
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from realtalk.describe.figures import style_chart
from realtalk.evals.run import Run
from realtalk.evals.values import Runs
from realtalk.memory.rows import RIGHT
from realtalk.notebook import counted

_WIDTH, _HEIGHT = 640, 360
# Okabe and Ito's colours, which stay apart for colour-blind readers.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")


def draw_sweep(runs: Runs) -> dict[str, Any]:
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


def draw_words(runs: Runs) -> Any:
    """The picture beside `advise`: one score of each memory, by the words that it shows."""
    name, title = ("date_f1", "Date-aware F1 of the answers")
    if not any(_answered(run) for run in runs.values()):
        name, title = ("all@budget", "Questions with all their evidence in the context")
    return _chart(_points(runs, name, "words"), title, "Words")


def advise(runs: Runs) -> tuple[str, str]:
    """Which memory serves best, and how many words are enough: in counts of questions.

    The best is right most often over all budgets. Enough is the smallest budget that the largest
    beats by no more than one question in twenty. The budgets are words, and the runs share them.
    """
    right = {memory: _right(run) for memory, run in runs.items()}
    order = sorted(right, key=lambda memory: -sum(map(len, right[memory].values())))
    best = right[order[0]]
    budgets = sorted(best, key=lambda budget: int(budget.removesuffix("w")))
    n = len({(row["group"], row["sample"]) for row in runs[order[0]].rows})
    enough = next(at for at in budgets if 20 * (len(best[budgets[-1]]) - len(best[at])) <= n)
    words, most = (f"{int(at.removesuffix('w')):,} words" for at in (enough, budgets[-1]))
    answered = any(_answered(run) for run in runs.values())
    does = "is answered from" if answered else "shows what is needed for"
    first = f"Of {counted(n, 'question')}, {order[0]} {does} {len(best[enough])} in {words}"
    if len(order) > 1:
        other = right[order[1]].get(enough, set())
        first += f", {order[1]} for {len(other)}"
        wins, losses = len(best[enough] - other), len(other - best[enough])
        if _is_chance(wins, losses):
            first += ", which may be chance"
    gain = len(best[budgets[-1]]) - len(best[enough])
    second = f"{words} are enough: {most} add {gain}."
    if enough == budgets[-1]:
        second = f"{most}, the most that was tried, may not be enough: fewer do worse."
    return f"{first}.", second


def _right(run: Run) -> dict[str, set[tuple[str, str]]]:
    """For each budget the questions that are answered, or whose evidence is all there."""
    found: dict[str, set[tuple[str, str]]] = {}
    answered = _answered(run)
    for row in run.rows:
        questions = found.setdefault(row["variant"], set())
        if (row["date_f1"] or 0) >= RIGHT or row["accepted"] if answered else row["all@budget"]:
            questions.add((row["group"], row["sample"]))
    return found


def _answered(run: Run) -> bool:
    return any(row["answer"] is not None for row in run.rows)


def _is_chance(wins: int, losses: int) -> bool:
    """Whether a fair coin is as uneven once in twenty times: the sign test."""
    from scipy.stats import binomtest

    n = wins + losses
    return not n or binomtest(wins, n).pvalue >= 0.05


def pareto(points: Sequence[Mapping[str, Any]]) -> list[int]:
    """The places of points that no other beats: none is as cheap and better, or as good and
    cheaper. Cheapest first."""
    order = sorted(range(len(points)), key=lambda at: (points[at]["tokens"], -points[at]["value"]))
    best: list[int] = []
    for at in order:
        if not best or points[at]["value"] > points[best[-1]]["value"]:
            best.append(at)
    return best


def _points(runs: Runs, name: str, unit: str = "tokens") -> list[dict[str, Any]]:
    points: list[dict[str, Any]] = []
    for memory, run in runs.items():
        for budget, scores in run.variants.items():
            estimate, tokens = scores.overall.get(name), scores.facts.get(f"context {unit}")
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


def _chart(points: list[dict[str, Any]], title: str, unit: str = "Tokens") -> Any:
    import altair as alt

    best = {(points[at]["memory"], points[at]["budget"]) for at in pareto(points)}
    for point in points:
        point["unbeaten"] = (point["memory"], point["budget"]) in best
    data = alt.InlineData(values=points)
    memories = list(dict.fromkeys(point["memory"] for point in points))
    tokens = alt.X(
        "tokens:Q",
        title=f"{unit} of context a question (mean, log scale)",
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
        alt.Tooltip("tokens:Q", title=unit.lower(), format=",.0f"),
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
