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
leads over one that a speaker skips. What a chart looks like stands in `charts/NAME.json`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from realtalk.describe.figures import ChartSet, fill_chart
from realtalk.describe.figures import style_chart as finished
from realtalk.ei.comparison import CorpusComparison
from realtalk.ei.labels import EMOTIONS
from realtalk.ei.speakers import SpeakerConsistency, session_means, speakers
from realtalk.ei.values import (
    FACETS,
    Facet,
    People,
    facet_number,
    interval_text,
    known_values,
)
from realtalk.files.naming import UniqueNames
from realtalk.files.writing import file_stem
from realtalk.notebook import counted

HEADLINE = (
    "emotion_diversity",
    "sentiment_diversity",
    "empathy",
    "grounding_frequency",
    "intimacy_linear",
    "emotion_alignment",
)
_CHARTS = Path(__file__).with_name("charts")
_COLUMNS = 3  # of panels
_MOST_NAMES = 60  # rows of a heat map that can still be read
_UNITS = {
    "share": "share of turns",
    "bits": "bits",
    "score": "mean score, 0 to 6",
    "per session": "1e-3 per session",
}
_OVERALL = Facet("overall", "All facets", "", "", "share")


def draw_comparison(comparison: CorpusComparison, first: People, second: People) -> ChartSet:
    """Every speaker of both corpora as a dot, with the middle half as a box, facet by facet."""
    import altair as alt

    scored = [
        facet
        for facet in FACETS.values()
        if any(who[facet.name].value is not None for who in (*first, *second))
    ]
    headline = [facet for name in HEADLINE for facet in scored if facet.name == name]
    title = "Emotional intelligence of speakers"
    charts: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    first_name, second_name = comparison.names
    lines = [
        f"{first_name}: n = {comparison.speakers[0]} speakers; "
        f"{second_name}: n = {comparison.speakers[1]}; a speaker counts once a chat",
        "Dots: speakers. Box: middle half, line: median. Bold: p < .05 (Mann-Whitney "
        "over chats, Holm)",
        f"d: Cliff's delta of the chats, above zero where {first_name} has more",
    ]
    for name, facets, heading in (
        ("comparison", headline, title),
        ("comparison_all", scored, f"{title}: all facets"),
    ):
        if not facets:
            left_out[name] = "no facet is scored"
            continue
        panels = [
            _panel(comparison, first, second, facet, labels=place % _COLUMNS == 0)
            for place, facet in enumerate(facets)
        ]
        grid = alt.concat(*panels, columns=_COLUMNS, spacing={"row": 26, "column": 22})
        charts[name] = style_panels(grid, heading, lines)
    return ChartSet(charts, left_out)


def _panel(
    comparison: CorpusComparison,
    first: People,
    second: People,
    facet: Facet,
    labels: bool,
) -> Any:
    names = list(comparison.names)
    if names[0] == names[1]:  # two corpora may have one name; the rows of the picture must not
        names = [f"{name} ({place})" for place, name in enumerate(names, 1)]
    rows = [
        {
            "corpus": name,
            "value": value * facet.scale,
            # A fixed zigzag instead of chance: the same data, the same picture.
            "shift": (place * 7 % 11) / 10 - 0.5,
            "speaker": who.speaker,
            "chat": who.chat,
            "text": interval_text(facet, who[facet.name]),
            "n": who[facet.name].n,
        }
        for name, side in zip(names, (first, second), strict=True)
        for place, (who, value) in enumerate(known_values(side, facet.name))
    ]
    delta, p = comparison[facet.name].delta.value, comparison[facet.name].p_shift_holm
    effect = "" if delta is None else f", d = {delta:+.2f}"
    return fill_chart(
        _CHARTS / "comparison.json",
        rows,
        names=names,
        labels=labels,
        unit=_UNITS[facet.unit].replace("turns", facet.of),
        of=facet.of,
        facet=facet.title.lower(),
        title=f"{_column(facet)}{effect}",
        weight="bold" if p is not None and p < 0.05 else "normal",
    )


def draw_consistency(speakers: Sequence[SpeakerConsistency]) -> ChartSet:
    """How far each speaker's facets lie apart between two chats: a heat map."""
    if not speakers:
        return ChartSet({}, {"consistency": "no speaker appears in two chats"})
    shown_rows = sorted(speakers, key=lambda who: who.overall.value or 0.0, reverse=True)
    shown_rows = shown_rows[:_MOST_NAMES]
    people = len({who.speaker for who in speakers})
    rows: list[dict[str, Any]] = []
    for who in shown_rows:
        chats = " / ".join(who.chats)
        cells = [
            *zip(FACETS.values(), who.facets, who.scaled, strict=True),
            (_OVERALL, who.overall, who.overall.value),
        ]
        rows += [
            {
                "speaker": f"{who.speaker} ({chats})" if people < len(speakers) else who.speaker,
                "facet": _column(facet),
                "part": scaled,
                "label": facet_number(facet, estimate.value),
                "clear": bool(estimate.low) and facet is not _OVERALL,
                "text": interval_text(facet, estimate),
                "chats": chats,
                "n": estimate.n,
                "reason": estimate.unscored or "",
            }
            for facet, estimate, scaled in cells
        ]
    lines = [
        f"n = {counted(people, 'speaker')}, {len(speakers)} pairs of chats; "
        "numbers: absolute difference in the facet's unit (intimacy: 1e-3 per session)",
        "Bold: the 95 % interval of the difference leaves out zero",
    ]
    if len(speakers) > len(shown_rows):
        lines.append(f"Shown: the {len(shown_rows)} pairs that differ most")
    chart = fill_chart(
        _CHARTS / "consistency.json",
        rows,
        facets=[_column(facet) for facet in (*FACETS.values(), _OVERALL)],
        names=list(dict.fromkeys(row["speaker"] for row in rows)),
        gradient=min(160, max(68, len(shown_rows) * 34)),
    )
    return ChartSet({"consistency": style_panels(chart, "The same person in two chats", lines)}, {})


def _column(facet: Facet) -> str:
    return facet.title.replace(" progression,", ",")


def style_panels(chart: Any, title: str, lines: Sequence[str]) -> Any:
    """The look of all figures, with the smaller axis titles that many panels need."""
    return finished(chart, title, lines, offset=14, axis_title=12, axis_padding=6)


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


def draw_timelines(labels: pl.DataFrame, known: People = ()) -> ChartSet:
    """Both pictures of every chat. `known` saves measuring the speakers again."""
    known_speakers = {(who.chat, who.speaker): who for who in known or speakers(labels)}
    means = session_means(labels)
    stems = UniqueNames("{}_{}")
    charts: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    for (chat,), part in labels.group_by("chat", maintain_order=True):
        stem = stems.free(file_stem(str(chat)))  # two may share one once odd characters are gone
        names = _most_active(part)
        if part.filter(pl.col("emotion").is_not_null(), pl.col("speaker").is_in(names)).is_empty():
            left_out[f"emotions_{stem}"] = "no turn has a scored emotion"
        else:
            charts[f"emotions_{stem}"] = _emotions(str(chat), part, names)
        points = means.filter(pl.col("chat") == chat, pl.col("speaker").is_in(names))
        if points["session"].n_unique() < 2:
            left_out[f"intimacy_{stem}"] = "fewer than two sessions have a scored intimacy"
        else:
            pairs = ((str(chat), name) for name in names)
            who = [known_speakers[pair] for pair in pairs if pair in known_speakers]
            charts[f"intimacy_{stem}"] = _intimacy(str(chat), points, who, _rest(part))
    return ChartSet(charts, left_out)


def _most_active(part: pl.DataFrame) -> list[str]:
    sizes = part.group_by("speaker", maintain_order=True).len()
    rank = pl.col("len").rank("ordinal", descending=True)
    return sizes.filter(rank <= _MOST_SPEAKERS)["speaker"].to_list()


def _periods(part: pl.DataFrame) -> tuple[pl.DataFrame, list[str], str]:
    """Every turn with its `period`, and all periods in their order, those without a turn too.

    Periods are sessions, or longer where those are too many.
    """
    turns = part.sort("turn", maintain_order=True)
    session = pl.col("session")
    numbers, place = turns["session"].unique().to_list(), turns["session"].rle_id()
    by_session = turns.with_columns(session.cast(pl.String).alias("period"))
    if max(numbers) - min(numbers) < _MOST_PERIODS:
        return by_session, [str(at) for at in range(min(numbers), max(numbers) + 1)], "session"
    if turns["time"].null_count() == 0:
        for name, length, form in _PERIODS:
            begins = turns["time"].dt.truncate(length)
            bounds = pl.lit(begins.min()), pl.lit(begins.max())
            every = pl.select(pl.datetime_range(*bounds, length)).to_series()
            if len(every) <= _MOST_PERIODS:
                timed = turns.with_columns(begins.dt.strftime(form).alias("period"))
                return timed, every.dt.strftime(form).to_list(), name
    width = -(-place.n_unique() // _MOST_PERIODS)
    if width == 1:  # numbers far apart, and no times to say how far
        return by_session, by_session["period"].unique(maintain_order=True).to_list(), "session"
    ends = (end.over(place // width).cast(pl.String) for end in (session.first(), session.last()))
    frame = turns.with_columns(pl.concat_str(*ends, separator="-").alias("period"))
    return frame, frame["period"].unique(maintain_order=True).to_list(), f"{width} sessions"


def _emotions(chat: str, part: pl.DataFrame, names: list[str]) -> Any:
    timed, periods, unit = _periods(part)
    felt = timed.filter(pl.col("emotion").is_not_null(), pl.col("speaker").is_in(names))
    emotions = set(felt["emotion"].to_list())
    # A classifier of the user's own may have other emotions: they follow in grey.
    order = [name for name in _COLOURS if name in emotions] + sorted(emotions - set(EMOTIONS))
    rows = (
        felt.group_by("speaker", "period", "emotion")
        .len("turns")
        .with_columns(pl.col("turns").sum().over("speaker", "period").alias("of"))
        .with_columns((pl.col("turns") / pl.col("of")).alias("share"))
        .sort("speaker", pl.col("period").replace_strict(periods, range(len(periods))), "emotion")
        .with_columns(pl.col("emotion").replace_strict(order, range(len(order))).alias("rank"))
    )
    chart = fill_chart(
        _CHARTS / "emotions.json",
        rows.to_dicts(),
        names=names,
        periods=periods,
        unit=unit,
        unit_title=unit.capitalize(),
        angle=0 if unit == "session" else -45,
        emotions=order[::-1],
        colours=[_COLOURS.get(name, "#777777") for name in order[::-1]],
    )
    turns = {name: felt.filter(pl.col("speaker") == name).height for name in names}
    line = "; ".join(
        f"{_isolate_name(name)}: n = {number:,} turns" for name, number in turns.items()
    )
    missing = part["emotion"].null_count()
    more = [f"{missing:,} turns without a scored emotion are left out"] if missing else []
    return style_panels(
        chart, f"Emotions by {unit}", [f"{chat}, by {unit}", line, *more, *_rest(part)]
    )


def _rest(part: pl.DataFrame) -> list[str]:
    hidden = part["speaker"].n_unique() - _MOST_SPEAKERS
    if hidden < 1:
        return []
    return [f"{counted(hidden, 'speaker')} with fewer or as many turns not shown"]


def _isolate_name(name: str) -> str:
    """A name written from right to left would turn the figures after it around, or over others."""
    turned = any(unicodedata.bidirectional(letter) in _TURNING for letter in name)
    return f"{_LEFT_TO_RIGHT}{name}{_LEFT_TO_RIGHT}" if turned else name


def _intimacy(chat: str, points: pl.DataFrame, who: People, rest: Sequence[str]) -> Any:
    # Sessions in a row are joined by a line; over one that is skipped there is none.
    run = (pl.col("session").diff() != 1).fill_null(value=False).cum_sum().over("speaker")
    fits: list[dict[str, Any]] = []
    for speaker in who:
        slope = speaker["intimacy_linear"].value
        if slope is None:
            continue
        own = points.filter(pl.col("speaker") == speaker.speaker)
        at = float(np.mean(own["intimacy"].to_numpy()) - slope * np.mean(own["order"].to_numpy()))
        fits += [
            {"speaker": speaker.speaker, "session": session, "fit": at + slope * order}
            for session, order in own.select("session", "order").iter_rows()
        ]
    names = [speaker.speaker for speaker in who]
    counts = sorted(points["n"].to_list())
    chart = fill_chart(
        _CHARTS / "intimacy.json",
        points.with_columns(run.alias("run")).to_dicts(),
        fits={"values": fits},
        names=names,
        colours=_SPEAKERS[: len(names)],
        # The numbers of turns that the legend shows: the fewest, the middle, the most.
        sizes=sorted({counts[0], counts[len(counts) // 2], counts[-1]}),
    )
    if not fits:
        chart.layer = chart.layer[:2]
    facet = FACETS["intimacy_linear"]
    skipped = any(speaker.sessions < points["session"].n_unique() for speaker in who)
    lines = [
        f"{chat}; thick: least squares over the sessions in which a speaker speaks",
        "Slope in 1e-3 per session [95 %]"
        + ("; a line bends where its speaker skips a session" if skipped else ""),
    ]
    for speaker in who:
        slopes = speaker[facet.name]
        text = slopes.unscored or interval_text(facet, slopes)
        size = f"(n = {slopes.n:,} turns in {speaker.sessions} sessions)"
        lines.append(f"{_isolate_name(speaker.speaker)}: {text} {size}")
    return style_panels(chart, "Intimacy by session", [*lines, *rest])
