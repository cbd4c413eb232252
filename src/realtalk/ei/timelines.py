"""One chat over time: labels in, two Altair charts per chat out.

    draw_timelines(labels).charts
    → {"emotions_Chat_1_Mara_Theo": ..., "intimacy_Chat_1_Mara_Theo": ...}

The emotions are shares of a speaker's turns per session, or per week, month or year where
there are too many sessions to tell apart; a period without a turn keeps its place. The intimacy
of a session is the mean over a speaker's turns, with the fitted line whose slope is the facet
`intimacy_linear`. Sessions stand side by side however long the pause between them, and no line
leads over one that a speaker skips.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any

import polars as pl

from realtalk.ei.figures import styled
from realtalk.ei.labels import EMOTIONS
from realtalk.ei.speakers import session_means, speakers
from realtalk.ei.values import FACETS, SpeakerFacets, interval_text
from realtalk.local.writing import file_stem
from realtalk.stats.figures import Drawn

_WIDTH, _HEIGHT = 680, 150
_MOST_SPEAKERS = 6
_MOST_PERIODS = 60
_TURNING = frozenset({"R", "AL", "AN", "RLE", "RLO", "RLI"})
_LEFT_TO_RIGHT = "\u200e"
# From the unpleasant to the pleasant, so that place and colour say the same; the colours are
# of Paul Tol's schemes for colour-blind readers.
_COLOURS = {
    "anger": "#882255",
    "disgust": "#AA4499",
    "fear": "#332288",
    "sadness": "#4477AA",
    "pessimism": "#88CCEE",
    "surprise": "#BBBBBB",
    "anticipation": "#DDCC77",
    "trust": "#117733",
    "optimism": "#44AA99",
    "love": "#CC6677",
    "joy": "#EE7733",
}
# Okabe and Ito's, without the yellow that white paper swallows.
_SPEAKERS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#444444"]
_PERIODS = (("week", "1w", "%d %b %Y"), ("month", "1mo", "%b %Y"), ("year", "1y", "%Y"))


def draw_timelines(labels: pl.DataFrame, known: Sequence[SpeakerFacets] = ()) -> Drawn:
    """Both pictures of every chat. `known` saves measuring the speakers again."""
    known_speakers = {(who.chat, who.speaker): who for who in known or speakers(labels)}
    means = session_means(labels)
    charts: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for (chat,), part in labels.group_by("chat", maintain_order=True):
        stem = _free(file_stem(str(chat)), charts, left_out)
        names = _most_active(part)
        felt = part.filter(pl.col("emotion").is_not_null(), pl.col("speaker").is_in(names))
        if felt.is_empty():
            left_out[f"emotions_{stem}"] = "no turn has a scored emotion"
        else:
            charts[f"emotions_{stem}"] = _emotions(str(chat), part, felt, names)
        points = means.filter(pl.col("chat") == chat, pl.col("speaker").is_in(names))
        if points["session"].n_unique() < 2:
            left_out[f"intimacy_{stem}"] = "fewer than two sessions have a scored intimacy"
        else:
            who = [
                known_speakers[str(chat), name]
                for name in names
                if (str(chat), name) in known_speakers
            ]
            charts[f"intimacy_{stem}"] = _intimacy(str(chat), points, who, _rest(part))
    return Drawn(charts, left_out)


def _free(stem: str, *taken: dict[str, Any]) -> str:
    """Two chats may share a file name once odd characters are gone."""
    number, name = 1, stem
    while any(f"{kind}_{name}" in names for names in taken for kind in ("emotions", "intimacy")):
        number += 1
        name = f"{stem}_{number}"
    return name


def _most_active(part: pl.DataFrame) -> list[str]:
    counted = part.group_by("speaker", maintain_order=True).len()
    most = counted.sort("len", descending=True, maintain_order=True)["speaker"]
    chosen = set(most.head(_MOST_SPEAKERS).to_list())
    return [name for name in counted["speaker"].to_list() if name in chosen]


def _periods(part: pl.DataFrame) -> tuple[pl.DataFrame, list[str], str]:
    """Every turn with its `period`, and all periods in their order, those without a turn too.

    Periods are sessions, or longer where those are too many.
    """
    turns = part.sort("turn", maintain_order=True)
    place = pl.col("session").rle_id().cast(pl.Int32)
    sessions = turns.with_columns(
        place.alias("place"), pl.col("session").cast(pl.String).alias("period")
    )
    number = int(sessions["place"].n_unique())
    numbers = turns["session"].to_list()
    if max(numbers) - min(numbers) < _MOST_PERIODS:
        return sessions, [str(each) for each in range(min(numbers), max(numbers) + 1)], "session"
    if turns["time"].null_count() == 0:
        for name, length, form in _PERIODS:
            begins = turns["time"].dt.truncate(length)
            every = pl.select(
                pl.datetime_range(pl.lit(begins.min()), pl.lit(begins.max()), length)
            ).to_series()
            if len(every) <= _MOST_PERIODS:
                timed = turns.with_columns(begins.dt.strftime(form).alias("period"))
                return timed, every.dt.strftime(form).to_list(), name
    width = -(-number // _MOST_PERIODS)
    if width == 1:  # numbers far apart, and no times to say how far
        return sessions, sessions["period"].unique(maintain_order=True).to_list(), "session"
    grouped = sessions.with_columns(pl.col("place") // width)
    first = pl.col("session").first().over("place").cast(pl.String)
    last = pl.col("session").last().over("place").cast(pl.String)
    named = grouped.with_columns((first + "-" + last).alias("period"))
    return named, named["period"].unique(maintain_order=True).to_list(), f"{width} sessions"


def _emotions(chat: str, part: pl.DataFrame, felt: pl.DataFrame, names: Sequence[str]) -> Any:
    import altair as alt

    timed, periods, unit = _periods(part)
    counted = (
        timed.filter(pl.col("emotion").is_not_null(), pl.col("speaker").is_in(names))
        .group_by("speaker", "period", "emotion")
        .len("turns")
        .with_columns(pl.col("turns").sum().over("speaker", "period").alias("of"))
        .with_columns((pl.col("turns") / pl.col("of")).alias("share"))
        .sort("speaker", pl.col("period").replace_strict(periods, range(len(periods))), "emotion")
    )
    seen = set(counted["emotion"].to_list())
    # A classifier of the user's own may have other emotions: they follow in grey.
    order = [name for name in _COLOURS if name in seen] + sorted(seen - set(EMOTIONS))
    rows = counted.with_columns(
        pl.col("emotion").replace_strict({n: i for i, n in enumerate(order)}).alias("rank")
    ).to_dicts()
    bars = (
        alt.Chart({"values": rows})
        .mark_bar(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X(
                "period:N",
                sort=periods,
                title=unit.capitalize() if unit != "session" else "Session",
                scale=alt.Scale(domain=periods, paddingInner=0.08),
                axis=alt.Axis(
                    labelAngle=0 if unit == "session" else -45, labelOverlap="greedy", ticks=False
                ),
            ),
            y=alt.Y(
                "share:Q",
                title="Share of turns",
                stack="zero",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format=".0%", tickCount=4, grid=False),
            ),
            color=alt.Color(
                "emotion:N",
                title="Emotion",
                sort=order[::-1],
                scale=alt.Scale(
                    domain=order[::-1], range=[_COLOURS.get(n, "#777777") for n in order[::-1]]
                ),
                legend=alt.Legend(symbolType="square", symbolSize=140),
            ),
            order=alt.Order("rank:Q"),
            tooltip=[
                alt.Tooltip("speaker:N"),
                alt.Tooltip("period:N", title=unit),
                alt.Tooltip("emotion:N"),
                alt.Tooltip("share:Q", format=".0%"),
                alt.Tooltip("turns:Q"),
                alt.Tooltip("of:Q", title="of turns"),
            ],
        )
        .properties(width=_WIDTH, height=_HEIGHT)
    )
    chart = bars.facet(
        row=alt.Row(
            "speaker:N",
            title=None,
            sort=list(names),
            header=alt.Header(
                labelAngle=0,
                labelOrient="top",
                labelAnchor="start",
                labelFontSize=14,
                labelPadding=2,
            ),
        ),
        spacing=14,
    )
    turns = {name: felt.filter(pl.col("speaker") == name).height for name in names}
    line = "; ".join(f"{_isolated(name)}: n = {number:,} turns" for name, number in turns.items())
    missing = part["emotion"].null_count()
    more = [f"{missing:,} turns without a scored emotion are left out"] if missing else []
    return styled(chart, f"Emotions by {unit}", [f"{chat}, by {unit}", line, *more, *_rest(part)])


def _rest(part: pl.DataFrame) -> list[str]:
    hidden = part["speaker"].n_unique() - _MOST_SPEAKERS
    if hidden < 1:
        return []
    return [f"{hidden} speaker{'' if hidden == 1 else 's'} with fewer or as many turns not shown"]


def _isolated(name: str) -> str:
    """A name written from right to left would turn the figures after it around, or over others."""
    turned = any(unicodedata.bidirectional(letter) in _TURNING for letter in name)
    return f"{_LEFT_TO_RIGHT}{name}{_LEFT_TO_RIGHT}" if turned else name


def _intimacy(
    chat: str, points: pl.DataFrame, who: Sequence[SpeakerFacets], rest: Sequence[str]
) -> Any:
    import altair as alt
    import numpy as np

    names = [each.speaker for each in who]
    # Sessions in a row are joined by a line; over one that is skipped there is none.
    run = (pl.col("session").diff() != 1).fill_null(value=False).cum_sum().over("speaker")
    rows = points.with_columns(run.alias("run")).to_dicts()
    ends: list[dict[str, Any]] = []
    for each in who:
        own = points.filter(pl.col("speaker") == each.speaker)
        slope = each["intimacy_linear"].value
        if slope is None:
            continue
        x, y = own["order"].to_numpy(), own["intimacy"].to_numpy()
        at = float(np.mean(y) - slope * np.mean(x))
        for session, order in zip(own["session"].to_list(), own["order"].to_list(), strict=True):
            ends.append({"speaker": each.speaker, "session": session, "fit": at + slope * order})
    x_axis = alt.X(
        "session:Q",
        title="Session",
        scale=alt.Scale(nice=False, zero=False, padding=12),
        axis=alt.Axis(format="d", tickMinStep=1, grid=False),
    )
    colour = alt.Color(
        "speaker:N",
        title=None,
        sort=names,
        scale=alt.Scale(domain=names, range=_SPEAKERS[: len(names)]),
        legend=alt.Legend(symbolType="circle", symbolSize=120, labelFontSize=13, symbolOpacity=1),
    )
    shape = alt.Shape("speaker:N", sort=names, scale=alt.Scale(domain=names), legend=None)
    y_axis = alt.Y(
        "intimacy:Q",
        title="Intimacy, mean of the session",
        scale=alt.Scale(zero=False, nice=True),
        axis=alt.Axis(gridColor="#eeeeee", domain=False),
    )
    data = alt.Chart({"values": rows})
    faint = data.mark_line(opacity=0.25, strokeWidth=1.2).encode(
        x=x_axis, y=y_axis, color=colour, detail="run:N"
    )
    dots = data.mark_point(filled=True, opacity=0.8).encode(
        x=x_axis,
        y=y_axis,
        color=colour,
        shape=shape,
        size=alt.Size(
            "n:Q",
            title="Turns",
            scale=alt.Scale(range=[25, 220]),
            legend=alt.Legend(values=_sizes(points), format="d", symbolFillColor="#777777"),
        ),
        tooltip=[
            alt.Tooltip("speaker:N"),
            alt.Tooltip("session:Q"),
            alt.Tooltip("intimacy:Q", format=".3f"),
            alt.Tooltip("n:Q", title="turns"),
        ],
    )
    layers: list[Any] = [faint, dots]
    if ends:
        fitted = alt.Chart({"values": ends}).mark_line(strokeWidth=3)
        layers.append(fitted.encode(x=x_axis, y="fit:Q", color=colour))
    facet = FACETS["intimacy_linear"]
    skipped = any(each.sessions < points["session"].n_unique() for each in who)
    lines = [
        f"{chat}; thick: least squares over the sessions in which a speaker speaks",
        "Slope in 1e-3 per session [95 %]"
        + ("; a line bends where its speaker skips a session" if skipped else ""),
    ]
    for each in who:
        slope_found = each[facet.name]
        text = slope_found.unscored or interval_text(facet, slope_found)
        counted = f"(n = {slope_found.n:,} turns in {each.sessions} sessions)"
        lines.append(f"{_isolated(each.speaker)}: {text} {counted}")
    lines += rest
    plain: Any = alt.layer(*layers)
    return styled(plain.properties(width=_WIDTH, height=300), "Intimacy by session", lines)


def _sizes(points: pl.DataFrame) -> list[int]:
    """The numbers of turns that the legend shows: the fewest, the middle, the most."""
    counts = sorted(points["n"].to_list())
    return sorted({counts[0], counts[len(counts) // 2], counts[-1]})
