"""Altair charts → what the page shows; and figures with intervals, side by side.

    view(draw(stats).charts["runs"])   → ChartView("Messages in a row", spec, "n = 812 turns; …")
    interval_panels([Panel("Empathy", "mean score", [("Mara", Estimate(2.1, 1.8, 2.4)), …])])

The page sets title and note itself, in its own type; the chart keeps them for when it is saved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from realtalk.report.values import ChartView

if TYPE_CHECKING:
    from realtalk.evals.values import Score
    from realtalk.metrics.statistics import Estimate

MOST_POINTS = 60  # names of a panel that can still be read
_BLUE = "#0072B2"  # Okabe and Ito's
_WIDTH, _STEP, _COLUMNS = 230, 21, 3


@dataclass(frozen=True, slots=True)
class Panel:
    """One figure with the names it is of; whoever has no value is not drawn."""

    title: str
    unit: str
    points: Sequence[tuple[str, Estimate]]


def score_panel(score: Score, points: Sequence[tuple[str, Estimate]]) -> Panel:
    """A score, with which way is better."""
    better = "less is better" if score.better < 0 else "more is better"
    return Panel(score.title[:1].upper() + score.title[1:], better, points)


def view(chart: Any, of: str = "") -> ChartView:
    """A chart with its data inside. `of` is set before the title: "sample: Response gaps"."""
    spec = chart.to_dict(validate=False)  # the room that drew it has tests of its own
    title_spec = spec.get("title", "")
    title = title_spec.get("text", "") if isinstance(title_spec, dict) else title_spec
    lines = title_spec.get("subtitle", ()) if isinstance(title_spec, dict) else ()
    note = ". ".join(line.rstrip(".") for line in ([lines] if isinstance(lines, str) else lines))
    return ChartView(f"{of}: {title}" if of else title, spec, f"{note}." if note else "")


def interval_panels(title: str, lines: Sequence[str], panels: Sequence[Panel]) -> ChartView:
    """A dot and its interval for everybody, one panel per figure that somebody has.

    Written as Vega-Lite, not through Altair, which copies every panel many times.
    """
    rows = [(panel, _rows(panel)) for panel in panels]
    filled = [(panel, drawn) for panel, drawn in rows if drawn]
    names = list(dict.fromkeys(row["name"] for _, drawn in filled for row in drawn))
    spec = {
        "concat": [
            _panel(panel, drawn, names, at % _COLUMNS == 0)
            for at, (panel, drawn) in enumerate(filled)
        ],
        "columns": _COLUMNS,
        "spacing": {"row": 26, "column": 22},
        "padding": 14,
        "background": "white",
        "title": {"text": title, "subtitle": list(lines)},
        "config": {
            "font": "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif",
            "title": {"anchor": "start", "fontSize": 18, "subtitleFontSize": 13, "offset": 12},
            "axis": {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"},
            "view": {"strokeWidth": 0},
        },
    }
    return ChartView(title, spec, f"{'. '.join(lines)}.")


def _rows(panel: Panel) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "value": point.value,
            "low": point.value if point.low is None else point.low,
            "high": point.value if point.high is None else point.high,
            "interval": "none"
            if point.low is None or point.high is None
            else f"{point.low:.3g} … {point.high:.3g}",
            "n": point.n,
        }
        for name, point in panel.points
        if point.value is not None
    ]


def _panel(
    panel: Panel, rows: Sequence[Mapping[str, Any]], names: Sequence[str], labels: bool
) -> dict[str, Any]:
    x = {
        "field": "low",
        "type": "quantitative",
        "title": panel.unit,
        "scale": {"zero": False, "nice": True, "padding": 8},
        "axis": {"tickCount": 5, "domain": False},
    }
    y = {
        "field": "name",
        "type": "nominal",
        "title": None,
        "sort": names,
        "scale": {"domain": names},
        "axis": {"labels": labels, "ticks": False, "domain": False, "labelLimit": 170},
    }
    shown = [
        {"field": "name", "type": "nominal"},
        {"field": "value", "title": panel.title.lower(), "type": "quantitative", "format": ".3~g"},
        {"field": "interval", "title": "95 % interval", "type": "nominal"},
        {"field": "n", "type": "quantitative"},
    ]
    return {
        "width": _WIDTH,
        "height": max(2, len(names)) * _STEP,
        "title": {"text": panel.title, "fontSize": 13, "anchor": "start", "offset": 6},
        "data": {"values": rows},
        "encoding": {"y": y},
        "layer": [
            {
                "mark": {"type": "rule", "color": _BLUE, "strokeWidth": 2, "opacity": 0.45},
                "encoding": {"x": x, "x2": {"field": "high"}},
            },
            {
                "mark": {"type": "circle", "color": _BLUE, "size": 52, "opacity": 1},
                "encoding": {"x": x | {"field": "value"}, "tooltip": shown},
            },
        ],
    }
