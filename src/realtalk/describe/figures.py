"""Pictures of a corpus: figures in, Altair charts and files out.

    drawn = draw(describe(tables))
    drawn.charts      → {"response_gaps": Chart, "runs": Chart, "activity": Chart}
    drawn.left_out    → {"activity": "no message has a time"}
    save_figures(drawn.charts, "figures")
    → [figures/response_gaps.png, figures/response_gaps.svg, figures/response_gaps.html, ...]

The pages are interactive and hold everything they need: they open without a network.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from realtalk.cells import WEEKDAYS, duration
from realtalk.files.writing import write_bytes

if TYPE_CHECKING:
    import altair as alt

    from realtalk.describe.values import CorpusStats

# Okabe and Ito's colours, which stay apart for colour-blind readers.
_BLUE, _VERMILION = "#0072B2", "#D55E00"
_PALE_TO_DARK = ["#f3f6fa", "#a6cde3", "#3a87c0", "#08306b"]
_WIDTH, _HEIGHT = 640, 320
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


@dataclass(frozen=True, slots=True)
class Drawn:
    """Charts by name, and why others were not drawn."""

    charts: dict[str, alt.LayerChart]
    left_out: dict[str, str]


def draw(stats: CorpusStats) -> Drawn:
    """Every figure that the corpus can fill."""
    charts: dict[str, alt.LayerChart] = {}
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
    return Drawn(charts, left_out)


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


def response_gaps(stats: CorpusStats) -> alt.LayerChart:
    """How long the other speaker took to answer, on a log scale, with the median marked."""
    import altair as alt

    n = stats.response_gaps.n
    filled = next(index for index, each in enumerate(stats.gap_bins) if each.count)
    # Two decades at least, so that some of the axis labels fall inside.
    bins = stats.gap_bins[min(filled, max(0, len(stats.gap_bins) - 8)) :]
    data = _rows(
        [
            {
                "low": each.low or _BEFORE_FIRST,
                "high": each.high,
                "gaps": each.count,
                "share": each.count / n,
                "from": duration(each.low),
                "to": duration(each.high),
            }
            for each in bins
        ]
    )
    first, last = bins[0].low or _BEFORE_FIRST, bins[-1].high
    ticks = [(at, name) for at, name in _LEGIBLE_TICKS if first <= at <= last]
    if first == _BEFORE_FIRST:
        # Beside "< 1 s" there is no room for "1 s".
        ticks[:1] = [(first * 10 ** (1 / 8), "< 1 s")]
    names = "{" + ",".join(f"'{index}':'{name}'" for index, (_, name) in enumerate(ticks)) + "}"
    values = [at for at, _ in ticks]
    most = max(each.count for each in bins)
    # Left alone, an axis this short has halves on it.
    few: dict[str, Any] = {"values": list(range(most + 1))} if most < 8 else {}
    bars = (
        alt.Chart(data)
        .mark_rect(color=_BLUE, stroke="white", strokeWidth=1)
        .encode(
            x=alt.X(
                "low:Q",
                title="Time until the other speaker answers (log scale)",
                scale=alt.Scale(type="log", domain=[first, last], nice=False),
                axis=alt.Axis(
                    values=values,
                    labelExpr=f"{names}[indexof({values}, datum.value)]",
                    grid=False,
                    labelOverlap="greedy",
                ),
            ),
            x2="high:Q",
            y=alt.Y("gaps:Q", title="Answers", axis=alt.Axis(format=",d", **few)),
            y2=alt.datum(0),
            tooltip=[
                alt.Tooltip("from:N", title="from"),
                alt.Tooltip("to:N", title="to"),
                alt.Tooltip("gaps:Q", title="answers", format=","),
                alt.Tooltip("share:Q", title="share", format=".1%"),
            ],
        )
    )
    layers: list[Any] = [bars]
    median = stats.response_gaps.median or 0.0
    if median >= first:
        mark: Any = alt.Chart(_rows([{"at": median, "label": f"median {duration(median)}"}]))
        near_the_end = median * 10 > last
        layers += [
            mark.mark_rule(color=_VERMILION, strokeWidth=2, strokeDash=[6, 3]).encode(x="at:Q"),
            *(
                mark.mark_text(
                    color=_VERMILION,
                    align="right" if near_the_end else "left",
                    dx=-6 if near_the_end else 6,
                    dy=4,
                    baseline="top",
                    fontSize=13,
                    fontWeight="bold",
                    **halo,
                ).encode(x="at:Q", y=alt.value(0), text="label:N")
                # Once as a white outline, so that the words can be read on a bar.
                for halo in ({"stroke": "white", "strokeWidth": 4, "strokeJoin": "round"}, {})
            ),
        ]
    parts = [
        f"n = {n:,} changes of speaker within sessions",
        f"mean {duration(stats.response_gaps.mean or 0)}",
        f"median {duration(median)}",
        f"longest {duration(stats.response_gaps.max or 0)}",
    ]
    return _styled(layers, "Response gaps", stats, "; ".join(parts))


def runs(stats: CorpusStats) -> alt.LayerChart:
    """How many messages a speaker sends in a row; the count axis is logarithmic."""
    import altair as alt

    n = stats.runs.n
    shown: dict[int, int] = {}
    for length, count in stats.run_counts:
        shown[min(length, _SHOWN_RUN + 1)] = shown.get(min(length, _SHOWN_RUN + 1), 0) + count
    order = [str(length) for length in range(1, min(max(shown), _SHOWN_RUN) + 1)]
    rest = f"> {_SHOWN_RUN}"
    if _SHOWN_RUN + 1 in shown:
        order.append(rest)
    data = _rows(
        [
            {
                "length": str(length) if length <= _SHOWN_RUN else rest,
                "turns": count,
                "label": f"{count:,}",
                "share": count / n,
            }
            for length, count in sorted(shown.items())
        ]
    )
    # Bars on a log axis have no natural foot; one half keeps a count of one visible.
    y = alt.Y(
        "turns:Q",
        title="Turns (log scale)",
        scale=alt.Scale(type="log", domain=[0.5, max(shown.values()) * 2], nice=False),
        axis=alt.Axis(
            values=[10**power for power in range(len(str(max(shown.values()))))], format=",d"
        ),
    )
    x = alt.X(
        "length:N",
        title="Messages that one speaker sends in a row",
        sort=order,
        scale=alt.Scale(domain=order),
        axis=alt.Axis(labelAngle=0),
    )
    base = alt.Chart(data)
    bars = base.mark_bar(color=_BLUE).encode(
        x=x,
        y=y,
        y2=alt.datum(0.5),
        tooltip=[
            alt.Tooltip("length:N", title="messages in a row"),
            alt.Tooltip("turns:Q", title="turns", format=","),
            alt.Tooltip("share:Q", title="share", format=".1%"),
        ],
    )
    labels = base.mark_text(dy=-7, fontSize=10, color="#333333").encode(x=x, y=y, text="label:N")
    line = (
        f"n = {n:,} turns; mean {stats.runs.mean:.2f}, "
        f"median {stats.runs.median:g}, longest {stats.runs.max:g}"
    )
    return _styled([bars, labels], "Messages in a row", stats, line)


def activity(stats: CorpusStats) -> alt.LayerChart:
    """When messages are sent: weekday by hour."""
    import altair as alt

    n = stats.timed_messages
    data = _rows(
        [
            {"day": day, "hour": hour, "messages": count, "share": count / n}
            for day, row in zip(WEEKDAYS, stats.week, strict=True)
            for hour, count in enumerate(row)
        ]
    )
    chart = (
        alt.Chart(data)
        .mark_rect(stroke="white", strokeWidth=1)
        .encode(
            x=alt.X(
                "hour:O",
                title="Hour of the day, by the chat's own clock",
                axis=alt.Axis(labelAngle=0, labelOverlap=True),
            ),
            y=alt.Y("day:N", title=None, sort=list(WEEKDAYS)),
            color=alt.Color(
                "messages:Q",
                title="Messages",
                scale=alt.Scale(range=_PALE_TO_DARK, domainMin=0, interpolate="lab"),
                legend=alt.Legend(format=",d", tickMinStep=1, gradientLength=200),
            ),
            tooltip=[
                alt.Tooltip("day:N"),
                alt.Tooltip("hour:O"),
                alt.Tooltip("messages:Q", format=","),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    line = f"n = {n:,} messages"
    if untimed := stats.total("messages_without_time"):
        line += f"; {untimed:,} without a time are left out"
    return _styled([chart], "Activity by weekday and hour", stats, line, height=224)


def _rows(rows: list[dict[str, Any]]) -> Any:
    """Data that travels inside the chart."""
    return {"values": rows}


def _styled(
    layers: list[Any], title: str, stats: CorpusStats, line: str, *, height: int = _HEIGHT
) -> alt.LayerChart:
    import altair as alt

    chats = len(stats.per_chat)
    who = f"{stats.name}: {chats:,} chat{'' if chats == 1 else 's'}"
    plain: Any = alt.layer(*layers).properties(width=_WIDTH, height=height)
    chart: alt.LayerChart = styled(plain, title, [who, line], limit=_WIDTH + 40)
    return chart


def styled(
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
    width = {} if limit is None else {"limit": limit}
    return (
        chart.properties(
            padding=14,
            background="white",
            title={"text": title, "subtitle": list(lines)},
            # Saving a picture stays; sending the data to a web editor goes.
            usermeta={"embedOptions": {"actions": {"export": True, "editor": False}}},
        )
        .configure(font="DejaVu Sans, Verdana, Helvetica, Arial, sans-serif")
        .configure_title(
            anchor="start",
            fontSize=18,
            subtitleFontSize=13,
            subtitleColor="#444444",
            subtitlePadding=5,
            offset=offset,
            **width,
        )
        .configure_axis(
            labelFontSize=12,
            titleFontSize=axis_title,
            titlePadding=axis_padding,
            titleFontWeight="normal",
        )
        .configure_legend(labelFontSize=12, titleFontSize=12)
        .configure_view(strokeWidth=0)
    )


def save_figures(charts: Mapping[str, Any], folder: Path | str) -> list[Path]:
    """Each chart as PNG (twice the size on screen), SVG and an offline HTML page."""
    import altair as alt
    import vl_convert

    folder = Path(folder)
    version = ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
    written: list[Path] = []
    for name, chart in charts.items():
        spec = chart.to_dict()
        makers: tuple[tuple[str, Callable[..., str | bytes], dict[str, Any]], ...] = (
            ("png", vl_convert.vegalite_to_png, {"scale": 2}),
            ("svg", vl_convert.vegalite_to_svg, {}),
            ("html", vl_convert.vegalite_to_html, {"bundle": True}),
        )
        for ending, make, options in makers:
            content = make(spec, vl_version=version, **options)
            data = content.encode() if isinstance(content, str) else content
            written.append(write_bytes(folder / f"{name}.{ending}", data))
    return written
