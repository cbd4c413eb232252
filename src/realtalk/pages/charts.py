"""Altair charts → SVG for the page; and figures with intervals, side by side.

    view(draw(stats).charts["runs"])   → ChartView("Messages in a row", spec, "n = 812 turns; …")
    interval_panels([Panel("Empathy", "mean score", [("Mara", Estimate(2.1, 1.8, 2.4)), …])])
    svg_text(view, "chart-1")          → '<svg …><path data-tip="name: Mara␟mean: 2.1" …/></svg>'

The charts of the page are those that rooms save as files, drawn when the page is made: it needs no
chart library, opens at once, and shows them without scripts. The page sets title and note itself,
in its own type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

import orjson

from realtalk.pages.values import ChartView
from realtalk.pages.wording import asset

if TYPE_CHECKING:
    from realtalk.evals.values import Score
    from realtalk.metrics.statistics import Estimate

MOST_POINTS = 60  # names of a panel that can still be read
_STEP = 21  # of a name
_SVG = "http://www.w3.org/2000/svg"
# What only a program that reads charts aloud needs (the page names a whole chart), or what the
# page gives itself.
_DROPPED = frozenset({"role", "font-family", "pointer-events", "style", "href"})
_DIGITS = re.compile(r"(\d+\.\d)\d+")
_ID = re.compile(r"(url\(#)")
_TIP, _BREAK = "\u241e", "\u241f"  # before what is shown at a mark, and between its lines


class Panel(NamedTuple):
    """One figure with the names it is of; whoever has no value is not drawn."""

    title: str
    unit: str
    points: Sequence[tuple[str, Estimate]]


def capital(text: str) -> str:
    """The same with a capital first."""
    return text[:1].upper() + text[1:]


def score_panel(score: Score, points: Sequence[tuple[str, Estimate]]) -> Panel:
    """A score, with which way is better."""
    better = "less is better" if score.better < 0 else "more is better"
    return Panel(capital(score.title), better, points)


def view(chart: Any, of: str = "") -> ChartView:
    """A chart with its data inside. `of` is set before the title: "sample: Response gaps"."""
    spec = chart.to_dict(validate=False)  # the room that drew it has tests of its own
    title_spec = spec.get("title", "")
    title = title_spec.get("text", "") if isinstance(title_spec, dict) else title_spec
    lines = title_spec.get("subtitle", ()) if isinstance(title_spec, dict) else ()
    note = ". ".join(line.rstrip(".") for line in ([lines] if isinstance(lines, str) else lines))
    return ChartView(f"{of}: {title}" if of else title, spec, f"{note}." if note else "")


def svg_text(view: ChartView, id_: str) -> str:
    """The chart, drawn: shapes and text alone, with what to show at a mark as its `data-tip`.

    Vega reads a name that is sorted by as part of an expression, where two separators of Unicode
    end a line and with it the chart. In a name they say nothing: a space stands for them.
    """
    import vl_convert

    text = orjson.dumps(view.spec).decode().replace("\u2028", " ").replace("\u2029", " ")
    spec = {**_with_tips(orjson.loads(text)), "background": "transparent", "padding": 2}
    spec.pop("title", None)
    ElementTree.register_namespace("", _SVG)
    drawing = ElementTree.fromstring(vl_convert.vegalite_to_svg(spec))  # noqa: S314 - our own
    for element in drawing.iter():
        tip = element.get("aria-label", "")
        attributes = {
            # Two charts of a page may not share an id.
            name: _ID.sub(rf"\1{id_}-", _DIGITS.sub(r"\1", value))
            for name, value in element.items()
            if name not in _DROPPED and not name.startswith("aria-")
        }
        element.attrib.clear()
        element.attrib |= attributes
        if "id" in attributes:
            element.set("id", f"{id_}-{attributes['id']}")
        if tip.startswith(_TIP):
            element.set("data-tip", tip.removeprefix(_TIP))
    drawing.set("role", "img")
    drawing.set("aria-label", view.title)
    return ElementTree.tostring(drawing, encoding="unicode")


def _with_tips(spec: Any) -> Any:
    """The same with what a chart shows at a mark written into its drawing.

    A picture has no tooltips, but it keeps what a mark is described as.
    """
    if isinstance(spec, list):
        return [_with_tips(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    tips = spec.get("tooltip")
    if isinstance(tips, list):
        lines = (f"{orjson.dumps(f'{_title(tip)}: ').decode()} + {_value(tip)}" for tip in tips)
        text = f" + {orjson.dumps(_BREAK).decode()} + ".join(lines)
        return spec | {"description": {"value": {"expr": f"'{_TIP}' + {text}"}}}
    return {
        name: part if name in ("data", "datasets") else _with_tips(part)
        for name, part in spec.items()
    }


def _title(tip: Mapping[str, Any]) -> str:
    return str(tip.get("title") or tip["field"])


def _value(tip: Mapping[str, Any]) -> str:
    """An expression of Vega's for a field as a reader is shown it."""
    field = f"datum[{orjson.dumps(tip['field']).decode()}]"
    if tip["type"] == "quantitative":
        return f"format({field}, {orjson.dumps(tip.get('format', '')).decode()})"
    return f"({field} == null ? '–' : {field})"


def interval_panels(title: str, lines: Sequence[str], panels: Sequence[Panel]) -> ChartView:
    """A dot and its interval for everybody, one panel per figure that somebody has.

    Written as Vega-Lite, not through Altair, which copies every panel many times; what all have in
    common is in assets/intervals.json.
    """
    rows = [(panel, _rows(panel)) for panel in panels]
    filled = [(panel, points) for panel, points in rows if points]
    names = list(dict.fromkeys(row["name"] for _, points in filled for row in points))
    spec = orjson.loads(asset("intervals.json"))["chart"]
    spec["title"] = {"text": title, "subtitle": list(lines)}
    spec["concat"] = [
        _panel(panel, points, names, at % spec["columns"] == 0)
        for at, (panel, points) in enumerate(filled)
    ]
    return ChartView(title, spec, f"{'. '.join(lines)}.")


def _rows(panel: Panel) -> list[dict[str, Any]]:
    rows = []
    for name, point in panel.points:
        low, high, interval = point.value, point.value, "none"
        if point.low is not None and point.high is not None:
            low, high = point.low, point.high
            interval = f"{low:.3g} … {high:.3g}"
        row = {"name": name, "value": point.value, "low": low, "high": high}
        rows.append(row | {"interval": interval, "n": point.n})
    return [row for row in rows if row["value"] is not None]


def _panel(
    panel: Panel, rows: Sequence[Mapping[str, Any]], names: Sequence[str], labels: bool
) -> dict[str, Any]:
    spec: dict[str, Any] = orjson.loads(asset("intervals.json"))["panel"]
    spec["title"]["text"] = panel.title
    spec["height"] = max(2, len(names)) * _STEP
    spec["data"] = {"values": rows}
    y = spec["encoding"]["y"]
    y |= {"sort": names, "scale": {"domain": names}}
    y["axis"]["labels"] = labels
    for layer in spec["layer"]:
        layer["encoding"]["x"]["title"] = panel.unit
    layer["encoding"]["tooltip"][1]["title"] = panel.title.lower()  # of the dots, which come last
    return spec
