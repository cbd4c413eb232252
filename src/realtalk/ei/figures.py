"""Pictures of speakers: facets in, Altair charts out.

    draw_comparison(found, human, simulated).charts   → {"comparison": ..., "comparison_all": ...}
    draw_consistency(differences).charts              → {"consistency": ...}
    save_figures(drawn.charts, "figures")             (of realtalk.describe.figures)

"comparison" is the paper's Figure 2, "comparison_all" its Figure 6, "consistency" its
Figure 3. What cannot be drawn is named with its reason in `left_out`.

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

from realtalk.describe.figures import Drawn
from realtalk.describe.figures import styled as finished
from realtalk.ei.comparison import CorpusComparison
from realtalk.ei.consistency import SpeakerConsistency
from realtalk.ei.labels import EMOTIONS
from realtalk.ei.speakers import session_means, speakers
from realtalk.ei.values import FACETS, Facet, SpeakerFacets, interval_text, shown
from realtalk.files.writing import file_stem

HEADLINE = (
    "emotion_diversity",
    "sentiment_diversity",
    "empathy",
    "grounding_frequency",
    "intimacy_linear",
    "emotion_alignment",
)
# Okabe and Ito's colours, which stay apart for colour-blind readers.
_BLUE, _VERMILION = "#0072B2", "#D55E00"
_PALE_TO_DARK = ["#f7f9fc", "#a6cde3", "#3a87c0", "#08306b"]
_PANEL, _ROW = 230, 46
_MOST_NAMES = 60  # rows of a heat map that can still be read
_UNITS = {
    "share": "share of turns",
    "bits": "bits",
    "score": "mean score, 0 to 6",
    "per session": "1e-3 per session",
}
_OVERALL = Facet("overall", "All facets", "", "", "share")


def draw_comparison(
    comparison: CorpusComparison, first: Sequence[SpeakerFacets], second: Sequence[SpeakerFacets]
) -> Drawn:
    """Every speaker of both corpora as a dot, with the middle half as a box, facet by facet."""
    charts: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for name, wanted, title in (
        ("comparison", HEADLINE, "Emotional intelligence of speakers"),
        ("comparison_all", tuple(FACETS), "Emotional intelligence of speakers: all facets"),
    ):
        panels = [
            facet
            for facet in (FACETS[each] for each in wanted)
            if any(who[facet.name].value is not None for who in (*first, *second))
        ]
        if panels:
            charts[name] = _panels(comparison, first, second, panels, title)
        else:
            left_out[name] = "no facet is scored"
    return Drawn(charts, left_out)


def _panels(
    comparison: CorpusComparison,
    first: Sequence[SpeakerFacets],
    second: Sequence[SpeakerFacets],
    facets: Sequence[Facet],
    title: str,
) -> Any:
    import altair as alt

    columns = 3
    panels = [
        _panel(comparison, first, second, facet, labels=place % columns == 0)
        for place, facet in enumerate(facets)
    ]
    lines = [
        f"{comparison.names[0]}: n = {comparison.speakers[0]} speakers; "
        f"{comparison.names[1]}: n = {comparison.speakers[1]}; a speaker counts once a chat",
        "Dots: speakers. Box: middle half, line: median. Bold: p < .05 (Mann-Whitney "
        "over chats, Holm)",
        f"d: Cliff's delta of the chats, above zero where {comparison.names[0]} has more",
    ]
    grid = alt.concat(*panels, columns=columns, spacing={"row": 26, "column": 22})
    return styled(grid, title, lines)


def _panel(
    comparison: CorpusComparison,
    first: Sequence[SpeakerFacets],
    second: Sequence[SpeakerFacets],
    facet: Facet,
    labels: bool,
) -> Any:
    import altair as alt

    # Two corpora may have one name; the rows of the picture must not.
    names = (
        comparison.names
        if comparison.names[0] != comparison.names[1]
        else tuple(f"{name} ({place})" for place, name in enumerate(comparison.names, 1))
    )
    rows = []
    for name, side in zip(names, (first, second), strict=True):
        known = [who for who in side if who[facet.name].value is not None]
        for place, who in enumerate(known):
            rows.append(
                {
                    "corpus": name,
                    "value": (who[facet.name].value or 0.0) * facet.scale,
                    # A fixed zigzag instead of chance: the same data, the same picture.
                    "shift": (place * 7 % 11) / 10 - 0.5,
                    "speaker": who.speaker,
                    "chat": who.chat,
                    "text": interval_text(facet, who[facet.name]),
                    "n": who[facet.name].n,
                }
            )
    facet_comparison = comparison[facet.name]
    clear = facet_comparison.p_shift_holm is not None and facet_comparison.p_shift_holm < 0.05
    effect = (
        "" if facet_comparison.delta.value is None else f", d = {facet_comparison.delta.value:+.2f}"
    )
    x = alt.X(
        "value:Q",
        title=_UNITS[facet.unit].replace("turns", facet.of),
        scale=alt.Scale(zero=False, nice=True, padding=8),
        axis=alt.Axis(tickCount=5, gridColor="#eeeeee", domain=False, labelFlush=False),
    )
    y = alt.Y(
        "corpus:N",
        title=None,
        sort=list(names),
        scale=alt.Scale(domain=list(names)),
        axis=alt.Axis(labels=labels, ticks=False, domain=False, labelLimit=140, labelFontSize=13),
    )
    colour = alt.Color(
        "corpus:N",
        scale=alt.Scale(domain=list(names), range=[_BLUE, _VERMILION]),
        legend=None,
    )
    base = alt.Chart({"values": rows})
    box = base.mark_boxplot(
        extent="min-max",
        size=26,
        opacity=0.28,
        median={"color": "#222222", "thickness": 2, "opacity": 1},
        rule={"opacity": 0.5},
    ).encode(x=x, y=y, color=colour)
    dots = base.mark_circle(size=34, opacity=0.75, stroke="white", strokeWidth=0.5).encode(
        x=x,
        y=y,
        yOffset=alt.YOffset("shift:Q", scale=alt.Scale(domain=[-1.2, 1.2])),
        color=colour,
        tooltip=[
            alt.Tooltip("speaker:N"),
            alt.Tooltip("chat:N"),
            alt.Tooltip("text:N", title=facet.title.lower()),
            alt.Tooltip("n:Q", title=facet.of),
        ],
    )
    panel: Any = alt.layer(box, dots)
    return panel.properties(
        width=_PANEL,
        height=2 * _ROW,
        title={
            "text": f"{_column(facet)}{effect}",
            "fontSize": 13,
            "anchor": "start",
            "fontWeight": "bold" if clear else "normal",
            "offset": 6,
        },
    )


def draw_consistency(speakers: Sequence[SpeakerConsistency]) -> Drawn:
    """How far each speaker's facets lie apart between two chats: a heat map."""
    if not speakers:
        return Drawn({}, {"consistency": "no speaker appears in two chats"})
    import altair as alt

    shown_rows = sorted(speakers, key=lambda who: who.overall.value or 0.0, reverse=True)
    shown_rows = shown_rows[:_MOST_NAMES]
    several = len({who.speaker for who in speakers}) < len(speakers)
    rows: list[dict[str, Any]] = []
    for who in shown_rows:
        name = f"{who.speaker} ({' / '.join(who.chats)})" if several else who.speaker
        cells = [
            *zip(FACETS.values(), who.facets, who.scaled, strict=True),
            (_OVERALL, who.overall, who.overall.value),
        ]
        for facet, each, scaled in cells:
            rows.append(
                {
                    "speaker": name,
                    "facet": _column(facet),
                    "part": scaled,
                    "label": shown(facet, each.value),
                    "clear": bool(each.low) and facet is not _OVERALL,
                    "text": interval_text(facet, each),
                    "chats": " / ".join(who.chats),
                    "n": each.n,
                    "reason": each.unscored or "",
                }
            )
    order = [_column(facet) for facet in (*FACETS.values(), _OVERALL)]
    names = list(dict.fromkeys(row["speaker"] for row in rows))
    x = alt.X(
        "facet:N",
        title=None,
        sort=order,
        axis=alt.Axis(orient="top", labelAngle=-38, labelLimit=260, ticks=False, domain=False),
    )
    y = alt.Y(
        "speaker:N",
        title=None,
        sort=names,
        axis=alt.Axis(ticks=False, domain=False, labelLimit=320, labelFontSize=13),
    )
    base = alt.Chart({"values": rows})
    cells_ = base.mark_rect(stroke="white", strokeWidth=2).encode(
        x=x,
        y=y,
        color=alt.Color(
            "part:Q",
            title=["Difference, as part of the", "range over all speakers"],
            scale=alt.Scale(range=_PALE_TO_DARK, domain=[0, 1], interpolate="lab", clamp=True),
            legend=alt.Legend(
                format=".0%", gradientLength=min(160, max(68, len(shown_rows) * 34)), titleLimit=240
            ),
        ),
        tooltip=[
            alt.Tooltip("speaker:N"),
            alt.Tooltip("chats:N"),
            alt.Tooltip("facet:N"),
            alt.Tooltip("text:N", title="difference [95 %]"),
            alt.Tooltip("part:Q", title="part of the range", format=".0%"),
            alt.Tooltip("n:Q"),
            alt.Tooltip("reason:N", title="unscored because"),
        ],
    )
    numbers: list[Any] = [
        base.transform_filter(f"datum.clear == {clear}")
        .mark_text(fontSize=12, fontWeight=700 if clear == "true" else 400)
        .encode(
            x=x,
            y=y,
            text="label:N",
            color=alt.condition("datum.part > 0.55", alt.value("white"), alt.value("#222222")),
        )
        for clear in ("true", "false")
    ]
    people = len({who.speaker for who in speakers})
    lines = [
        f"n = {people} speaker{'' if people == 1 else 's'}, {len(speakers)} pairs of chats; "
        "numbers: absolute difference in the facet's unit (intimacy: 1e-3 per session)",
        "Bold: the 95 % interval of the difference leaves out zero",
    ]
    if len(speakers) > len(shown_rows):
        lines.append(f"Shown: the {len(shown_rows)} pairs that differ most")
    plain: Any = alt.layer(cells_, *numbers)
    chart = plain.properties(width=alt.Step(54), height=alt.Step(34))
    return Drawn({"consistency": styled(chart, "The same person in two chats", lines)}, {})


def _column(facet: Facet) -> str:
    return facet.title.replace(" progression,", ",")


def styled(chart: Any, title: str, lines: Sequence[str]) -> Any:
    """The look of all figures, with the smaller axis titles that many panels need."""
    return finished(chart, title, lines, offset=14, axis_title=12, axis_padding=6)


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
