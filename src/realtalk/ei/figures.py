"""Pictures of speakers: facets in, Altair charts out.

    draw_comparison(found, human, simulated).charts   → {"comparison": ..., "comparison_all": ...}
    draw_consistency(differences).charts              → {"consistency": ...}
    save_figures(drawn.charts, "figures")             (of realtalk.stats.figures)

"comparison" is the paper's Figure 2, "comparison_all" its Figure 6, "consistency" its
Figure 3. What cannot be drawn is named with its reason in `left_out`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from realtalk.ei.comparison import CorpusComparison
from realtalk.ei.consistency import SpeakerConsistency
from realtalk.ei.values import FACETS, Facet, SpeakerFacets, interval_text, shown
from realtalk.stats.figures import Drawn
from realtalk.stats.figures import styled as finished

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
