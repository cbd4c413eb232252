"""The picture at the head of a page of results: estimates with their intervals, as SVG.

draw_estimates(PAGES / "languages.svg", "Found among the first five", [("es", "now", estimate)])
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import altair as alt
import polars as pl
import vl_convert

from realtalk.describe.figures import style_chart
from realtalk.metrics.statistics import Estimate

Point = tuple[str, str, Estimate]


def draw_estimates(
    path: Path, title: str, points: Sequence[Point], notes: Sequence[str] = ()
) -> None:
    """One row per label in the order given, one colour per group, whiskers for 95 % intervals."""
    scored = [point for point in points if point[2].value is not None]
    rows = [
        {"label": label, "group": group, "value": one.value, "low": one.low, "high": one.high}
        for label, group, one in scored
    ]
    labels = list(dict.fromkeys(label for label, _, _ in scored))
    groups = list(dict.fromkeys(group for _, group, _ in scored))
    colour = alt.Color(
        "group:N", title=None, sort=groups, legend=alt.Legend() if len(groups) > 1 else None
    )
    plain = alt.Chart(pl.DataFrame(rows, infer_schema_length=None)).encode(
        y=alt.Y("label:N", title=None, sort=labels, axis=alt.Axis(labelLimit=320)),
        yOffset=alt.YOffset("group:N", sort=groups),
        color=colour,
    )
    whisker = plain.mark_rule().encode(x=alt.X("low:Q", title=None), x2="high:Q")
    dot = plain.mark_point(filled=True, size=60).encode(x=alt.X("value:Q", title=None))
    height = max(60, 24 * len(labels) if len(groups) == 1 else 30 * len(labels))
    chart = style_chart((whisker + dot).properties(width=480, height=height), title, list(notes))
    path.write_text(vl_convert.vegalite_to_svg(chart.to_dict()), "utf-8")


def draw_columns(
    path: Path,
    title: str,
    points: Sequence[tuple[str, str, str, str, Estimate]],
    notes: Sequence[str] = (),
) -> None:
    """A grid of (row, column, place, group, estimate): places side by side, whiskers for 95 %."""
    names = ("row", "column", "place", "group")
    rows = [
        {
            **dict(zip(names, point, strict=False)),
            "value": one.value,
            "low": one.low,
            "high": one.high,
        }
        for *point, one in points
    ]
    order = {
        name: list(dict.fromkeys(str(point[at]) for point in points))
        for at, name in enumerate(names)
    }
    grid = []
    for title_of_row in order["row"]:
        own = pl.DataFrame([row for row in rows if row["row"] == title_of_row])
        plain = alt.Chart(own).encode(
            x=alt.X("place:N", title=None, sort=None, axis=alt.Axis(labelAngle=0)),
            color=alt.Color("group:N", title=None, sort=order["group"]),
            xOffset=alt.XOffset("group:N", sort=order["group"]),
        )
        whisker = plain.mark_rule().encode(y=alt.Y("low:Q", title=title_of_row), y2="high:Q")
        dot = plain.mark_point(filled=True, size=40).encode(y="value:Q")
        columns = alt.Column("column:N", title=None, sort=order["column"])
        cells = (whisker + dot).properties(width=210, height=110).facet(column=columns)
        grid.append(cells.resolve_scale(x="independent", xOffset="independent"))
    chart = style_chart(alt.vconcat(*grid), title, list(notes))
    path.write_text(vl_convert.vegalite_to_svg(chart.to_dict()), "utf-8")


def draw_budgets(
    path: Path, title: str, points: Sequence[tuple[str, str, float, Estimate]]
) -> None:
    """Lines of (facet, memory, words, estimate): what is found against the words that are shown."""
    rows = [
        {"set": facet, "memory": memory, "words": words, "value": one.value}
        | {"low": one.low, "high": one.high}
        for facet, memory, words, one in points
    ]
    ticks = [125, 250, 500, 1000, 2000, 4000]
    words = alt.X(
        "words:Q",
        title="words shown",
        scale=alt.Scale(type="log", domain=[ticks[0], ticks[-1]]),
        axis=alt.Axis(values=ticks, format=","),
    )
    plain = alt.Chart(pl.DataFrame(rows, infer_schema_length=None)).encode(
        x=words, color=alt.Color("memory:N", title=None, sort=None)
    )
    scale = alt.Scale(domain=[0, 1])
    band = plain.mark_area(opacity=0.15).encode(
        y=alt.Y("low:Q", title=None, scale=scale), y2="high:Q"
    )
    lines = band + plain.mark_line(point=True).encode(y=alt.Y("value:Q", title=None, scale=scale))
    chart = style_chart(
        lines.properties(width=300, height=220).facet(
            column=alt.Column(
                "set:N", title=None, sort=list(dict.fromkeys(facet for facet, _, _, _ in points))
            )
        ),
        title,
        ["bands are 95 % intervals that draw whole chats"],
    )
    path.write_text(vl_convert.vegalite_to_svg(chart.to_dict()), "utf-8")
