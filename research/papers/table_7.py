"""Eleven facets of sixteen speakers → rows of Table 7, its figures as files, and the page's picture.

    table_7_rows(readings)[0]    → ResultRow("Table 7, reflective frequency", …)

Labels are our encoder's, of single messages, as the published figures were made; the paper's come
from GPT-4o-mini and RoBERTa.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from realtalk.cells import Grid
from realtalk.describe.figures import style_chart
from realtalk.ei.values import FACETS
from realtalk.metrics.statistics import Array
from research.papers.alignments import alignment_rows
from research.papers.intimacy import course_rows
from research.papers.published import CIRCLES, TABLE_7, printed_column
from research.papers.rule import ALPHA, Outcome, ResultRow, column_row, not_comparable
from research.papers.speakers import PRINTED, Readings

_CHATS = [chat for chat, _ in TABLE_7]
_COLOURS = ("#0072B2", "#D55E00", "#009E73")


def table_7_rows(readings: Readings) -> Iterator[ResultRow]:
    """A row per facet, and one for all partners of a chat."""
    columns = _columns(readings)
    for facet, column in columns.items():
        where = f"Table 7, {FACETS[facet].title.lower().removesuffix(' frequency')}"
        printed = [row[facet] for row in TABLE_7.values()]
        says = f"{min(printed):g} to {max(printed):g}, 16 speakers in 8 chats"
        if column is None:
            yield not_comparable(where, says, "not all of its speakers could be measured here")
        else:
            yield column_row(where, says, printed, column, _CHATS, FACETS[facet].digits)
    known = {facet: column for facet, column in columns.items() if column is not None}
    if known:
        printed_sides = _sides([printed_column(facet) for facet in known])
        sides = _sides([np.array(column) for column in known.values()])
        yield ResultRow(
            "Table 7, partners",
            "which of the two partners of a chat has more",
            _compare_partners(printed_sides, sides),
            _compare_partners(printed_sides, np.zeros_like(sides)),
        )


def _sides(columns: Sequence[Array]) -> Array:
    """By facet and chat, which partner has more; Table 7 lists both partners together."""
    sides: Array = np.sign([column[1::2] - column[::2] for column in columns])
    return sides


def _compare_partners(printed: Array, ours: Array) -> Outcome:
    """All facets at once: the partners of a chat are swapped in all of them, in all 256 ways."""
    together = printed * ours
    same, other = ((together == side).sum(axis=0) for side in (1, -1))
    ways = [sum(way) for way in product(*zip(same.tolist(), other.tolist(), strict=True))]
    p = float(np.mean([count >= same.sum() for count in ways]))
    text = f"{int(same.sum())} of {int((printed != 0).sum())} as printed (p {p:.3f})"
    return Outcome(text, "agrees in order" if p <= ALPHA else "differs")


def _columns(readings: Readings) -> dict[str, list[float] | None]:
    """Our facets of Table 7's speakers, in its order; None where one of them has no figure."""
    columns: dict[str, list[float] | None] = {}
    for facet in FACETS:
        here = readings.column(facet)
        columns[facet] = [here[key] for key in TABLE_7] if TABLE_7.keys() <= here.keys() else None
    return columns


def table_7_grids(readings: Readings) -> dict[str, Grid]:
    """Every figure beside the printed one, and what explains intimacy's and alignment's levels."""
    here = {(who.chat, who.speaker): who for who in readings.speakers(PRINTED)}
    headings = ["row", "column", "published", "measured", "low", "high", "n", "difference"]
    rows: list[list[Any]] = []
    for (chat, speaker), printed in TABLE_7.items():
        if (chat, speaker) not in here:
            continue
        for name, facet in FACETS.items():
            ours = here[chat, speaker][name].times(facet.scale)
            off = None if ours.value is None else ours.value - printed[name]
            cells = [printed[name], ours.value, ours.low, ours.high, ours.n, off]
            rows.append([f"{speaker} in {chat}", name, *cells])
    grids = {"table-7": Grid(headings, rows)}
    labels = readings.labels.get("messages")
    if labels is not None and (aligned := alignment_rows(labels)) is not None:
        grids |= {"table-7-intimacy": course_rows(labels), "table-7-alignment": aligned}
    return grids


def draw_table_7(readings: Readings) -> Any:
    """Printed beside ours, a panel per facet; a line joins the partners of a chat."""
    import altair as alt

    rows = [
        {
            "facet": FACETS[facet].title,
            "chat": chat,
            "circle": f"circle of friends {CIRCLES[speaker.casefold()]}",
            "printed": TABLE_7[chat, speaker][facet],
            "ours": value,
        }
        for facet, column in _columns(readings).items()
        if column is not None
        for (chat, speaker), value in zip(TABLE_7, column, strict=True)
    ]
    if not rows:
        return None
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "printed:Q", scale=alt.Scale(zero=False), title="Table 7", axis=alt.Axis(tickCount=4)
        ),
        y=alt.Y("ours:Q", scale=alt.Scale(zero=False), title="ours", axis=alt.Axis(tickCount=4)),
        color=alt.Color("circle:N", title=None, scale=alt.Scale(range=list(_COLOURS))),
    )
    panel: Any = alt.layer(
        base.mark_line(opacity=0.5).encode(detail="chat:N"), base.mark_point(filled=True, size=40)
    ).properties(width=150, height=110)
    chart = panel.facet(
        facet=alt.Facet("facet:N", title=None, sort=[facet.title for facet in FACETS.values()]),
        columns=4,
    ).resolve_scale(x="independent", y="independent")
    lines = ["16 speakers in 8 chats; a line joins the two partners of a chat"]
    return style_chart(chart, "Emotional intelligence of speakers: printed and ours", lines)
