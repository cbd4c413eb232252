"""Pictures of a corpus: figures in, Altair charts and files out.

    drawn = draw(describe(tables))
    drawn.charts      → {"response_gaps": Chart, "runs": Chart, "activity": Chart}
    drawn.left_out    → {"activity": "no message has a time"}
    save_figures(drawn.charts, "figures")
    → [figures/response_gaps.png, figures/response_gaps.svg, figures/response_gaps.html, ...]

The pages are interactive and hold everything they need: they open without a network. What a chart
looks like stands in `charts/NAME.json`, in Vega-Lite's grammar; what it shows is filled in here.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from realtalk.cells import WEEKDAYS, duration
from realtalk.files.writing import write_bytes
from realtalk.notebook import counted

if TYPE_CHECKING:
    from realtalk.describe.values import CorpusStats

_CHARTS = Path(__file__).with_name("charts")
_SHOWN_RUN = 20  # longer runs share one bar
_LEGIBLE_TICKS = (
    (1 / 60, "1 s"),
    (1 / 6, "10 s"),
    (1.0, "1 min"),
    (10.0, "10 min"),
    (60.0, "1 h"),
    (360.0, "6 h"),
    (1440.0, "1 d"),
    (10080.0, "1 w"),
    (43200.0, "30 d"),
    (525600.0, "1 y"),
)
_BEFORE_FIRST = 10 ** (-1 / 4) / 60  # where the bar of gaps below a second begins


class ChartSet(NamedTuple):
    """Charts by name, and why others were not drawn."""

    charts: dict[str, Any]  # of Altair
    left_out: dict[str, str]


def draw(stats: CorpusStats) -> ChartSet:
    """Every figure that the corpus can fill."""
    charts: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for name, reason, make in (
        ("response_gaps", _no_gaps(stats), response_gaps),
        ("runs", _no_runs(stats), runs),
        ("activity", None if stats.timed_messages else "no message has a time", activity),
    ):
        if reason is None:
            charts[name] = make(stats)
        else:
            left_out[name] = reason
    return ChartSet(charts, left_out)


def _no_gaps(stats: CorpusStats) -> str | None:
    if stats.response_gaps.n > 1:
        return None
    if not stats.timed_messages:
        return "no message has a time"
    return "fewer than two answers within a session have a time"


def _no_runs(stats: CorpusStats) -> str | None:
    if stats.runs.n < 2:
        return "fewer than two turns"
    if stats.runs.max == 1:
        return "every turn is one message"
    return None


def fill_chart(file: Path, rows: list[dict[str, Any]], **values: Any) -> Any:
    """The Altair chart of a Vega-Lite file, with rows and values where it says "$name".

    Its layers hold what the file says as it is: Altair's own reader tries every part as each kind
    of thing that could stand there, which takes a page of charts many seconds.
    """
    import altair as alt

    spec = _filled(file, **values, rows=alt.InlineData(values=rows))
    if "facet" in spec:
        return alt.FacetChart(**spec | {"spec": alt.UnitSpecWithFrame(**spec["spec"])})
    layers = (
        layer | {"encoding": alt.Encoding(**layer["encoding"])} for layer in spec.pop("layer")
    )
    return alt.LayerChart(**spec, layer=[alt.UnitSpec(**layer) for layer in layers])


def _filled(file: Path, **values: Any) -> Any:
    def fill(fields: dict[str, Any]) -> dict[str, Any]:
        return {
            name: values[entry[1:]] if isinstance(entry, str) and entry[:1] == "$" else entry
            for name, entry in fields.items()
        }

    return json.loads(file.read_text("utf-8"), object_hook=fill)


def response_gaps(stats: CorpusStats) -> Any:
    """How long the other speaker took to answer, on a log scale, with the median marked."""
    n = stats.response_gaps.n
    filled = next(index for index, bin_ in enumerate(stats.gap_bins) if bin_.count)
    # Two decades at least, so that some of the axis labels fall inside.
    bins = stats.gap_bins[min(filled, max(0, len(stats.gap_bins) - 8)) :]
    first, last = bins[0].low or _BEFORE_FIRST, bins[-1].high
    ticks = [(at, name) for at, name in _LEGIBLE_TICKS if first <= at <= last]
    if first == _BEFORE_FIRST:
        # Beside "< 1 s" there is no room for "1 s".
        ticks[:1] = [(first * 10 ** (1 / 8), "< 1 s")]
    names = ",".join(f"'{index}':'{name}'" for index, (_, name) in enumerate(ticks))
    values = [at for at, _ in ticks]
    most = max(bin_.count for bin_ in bins)
    median = stats.response_gaps.median or 0.0
    near_the_end = median * 10 > last
    chart = fill_chart(
        _CHARTS / "response_gaps.json",
        [
            {
                "low": bin_.low or _BEFORE_FIRST,
                "high": bin_.high,
                "gaps": bin_.count,
                "share": bin_.count / n,
                "from": duration(bin_.low),
                "to": duration(bin_.high),
            }
            for bin_ in bins
        ],
        domain=[first, last],
        ticks=values,
        labels=f"{{{names}}}[indexof({values}, datum.value)]",
        # Left alone, an axis this short has halves on it.
        counts={"format": ",d"} | ({"values": list(range(most + 1))} if most < 8 else {}),
        median={"values": [{"at": median, "label": f"median {duration(median)}"}]},
        align="right" if near_the_end else "left",
        shift=-6 if near_the_end else 6,
    )
    if median < first:
        chart.layer = chart.layer[:1]
    parts = [
        f"n = {n:,} changes of speaker within sessions",
        f"mean {duration(stats.response_gaps.mean or 0)}",
        f"median {duration(median)}",
        f"longest {duration(stats.response_gaps.max or 0)}",
    ]
    return _style_corpus_chart(chart, "Response gaps", stats, "; ".join(parts))


def runs(stats: CorpusStats) -> Any:
    """How many messages a speaker sends in a row; the count axis is logarithmic."""
    n = stats.runs.n
    counts: Counter[int] = Counter()
    for length, count in stats.run_counts:
        counts[min(length, _SHOWN_RUN + 1)] += count
    names = {length: str(length) for length in range(1, min(max(counts), _SHOWN_RUN) + 1)}
    if _SHOWN_RUN + 1 in counts:
        names[_SHOWN_RUN + 1] = f"> {_SHOWN_RUN}"
    most = max(counts.values())
    chart = fill_chart(
        _CHARTS / "runs.json",
        [
            {"length": names[length], "turns": count, "label": f"{count:,}", "share": count / n}
            for length, count in sorted(counts.items())
        ],
        lengths=list(names.values()),
        # Bars on a log axis have no natural foot; one half keeps a count of one visible.
        domain=[0.5, most * 2],
        ticks=[10**power for power in range(len(str(most)))],
    )
    line = (
        f"n = {n:,} turns; mean {stats.runs.mean:.2f}, "
        f"median {stats.runs.median:g}, longest {stats.runs.max:g}"
    )
    return _style_corpus_chart(chart, "Messages in a row", stats, line)


def activity(stats: CorpusStats) -> Any:
    """When messages are sent: weekday by hour."""
    n = stats.timed_messages
    rows = [
        {"day": day, "hour": hour, "messages": count, "share": count / n}
        for day, counts in zip(WEEKDAYS, stats.week, strict=True)
        for hour, count in enumerate(counts)
    ]
    line = f"n = {n:,} messages"
    if untimed := stats.total("messages_without_time"):
        line += f"; {untimed:,} without a time are left out"
    chart = fill_chart(_CHARTS / "activity.json", rows, days=list(WEEKDAYS))
    return _style_corpus_chart(chart, "Activity by weekday and hour", stats, line)


def _style_corpus_chart(chart: Any, title: str, stats: CorpusStats, line: str) -> Any:
    who = f"{stats.name}: {counted(len(stats.per_chat), 'chat')}"
    return style_chart(chart, title, [who, line], limit=680)


def style_chart(
    chart: Any,
    title: str,
    lines: Sequence[str],
    *,
    offset: int = 12,
    axis_title: int = 13,
    axis_padding: int = 10,
    limit: int | None = None,
) -> Any:
    """A finished chart: title, what it counts, and the look of all figures."""
    import altair as alt

    return chart.properties(
        padding=14,
        background="white",
        title={"text": title, "subtitle": list(lines)},
        # Saving a picture stays; sending the data to a web editor goes.
        usermeta={"embedOptions": {"actions": {"export": True, "editor": False}}},
        # At once: each of Altair's own methods for a part copies the whole chart.
        config=_filled(
            _CHARTS / "look.json",
            limit=limit or alt.Undefined,
            offset=offset,
            axis_title=axis_title,
            axis_padding=axis_padding,
        ),
    )


def save_figures(charts: Mapping[str, Any], folder: Path | str) -> list[Path]:
    """Each chart as PNG (twice the size on screen), SVG and an offline HTML page."""
    import altair as alt
    import vl_convert

    folder = Path(folder)
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    paths: list[Path] = []
    for name, chart in charts.items():
        spec = chart.to_dict()
        drawn: dict[str, Any] = {
            "png": vl_convert.vegalite_to_png(spec, vl_version=version, scale=2),
            "svg": vl_convert.vegalite_to_svg(spec, vl_version=version),
            "html": vl_convert.vegalite_to_html(spec, vl_version=version, bundle=True),
        }
        for ending, content in drawn.items():
            data = content.encode() if isinstance(content, str) else content
            paths.append(write_bytes(folder / f"{name}.{ending}", data))
    return paths
