"""Stored persona runs → Tables 2 and 8, and Figure 7 from a sweep.

    table_2([untuned, tuned])     → Exhibit("table-2", ..., same direction in 7 of 8 columns)
    table_8([untuned, tuned], readings)
    figure_7(Path("sweep"))       → a line a score over the number of context sessions

The paper simulates with GPT-4o-mini and labels with it; whoever was simulated here has another
model and other labels. So means stand beside each other for orientation, and what is compared is
what fine-tuning changes (which way each column moves) and who is easy (order of speakers).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.metrics.statistics import pearson
from realtalk.persona.published import PUBLISHED_SCORES, TABLE_2, TABLE_8
from realtalk.persona.rows import SCORES
from realtalk.persona.summaries import Simulation
from realtalk.persona.tables import READING, sweep
from realtalk.persona.tables import table_2 as rows_2
from realtalk.persona.tables import table_8 as rows_8
from realtalk.reproduce.speakers import Readings, apart, together, told
from realtalk.reproduce.values import Exhibit, Figure, Verdict, not_comparable, not_made
from realtalk.runs.persona import load_persona
from realtalk.stats.figures import styled
from realtalk.stats.values import Grid

__all__ = ["figure_7", "table_2", "table_8"]

_OURS = {kind.published: name for name, kind in SCORES.items() if kind.published}
_LINES = {False: "without fine-tuning", True: "with fine-tuning"}
_NO_RUN = "no persona run was given: name stored ones with --persona"


def _tuned(simulation: Simulation) -> bool:
    """Runs of an adapter are called tuned, by `persona simulate` and in its examples."""
    name = simulation.name.casefold()
    return "tuned" in name and "untuned" not in name


def _grid(made: tuple[Sequence[str], Sequence[Sequence[Any]]]) -> Grid:
    headings, rows = made
    return Grid(list(headings), [list(row) for row in rows])


def table_2(simulations: Sequence[Simulation]) -> Exhibit:
    """Averages over speakers beside the paper's two rows."""
    title = "Table 2: continuing as a speaker, on average"
    if not simulations:
        return Exhibit("table-2", title, not_made(_NO_RUN))
    figures: list[Figure] = []
    for each in simulations:
        line = TABLE_2[_LINES[_tuned(each)]]
        for name in PUBLISHED_SCORES:
            found = each.averages[_OURS[name]]
            figures.append(
                Figure(
                    *(each.name, name, line.mean[name], found.mean, 2),
                    *(found.low, found.high, found.n),
                    unscored=None if found.mean is not None else "no speaker has this score",
                )
            )
    grids = (("Ours above the paper's", _grid(rows_2(list(simulations), published=True))),)
    return Exhibit("table-2", title, _direction(simulations), tuple(figures), grids, (READING,))


def _direction(simulations: Sequence[Simulation]) -> Verdict:
    sides = {tuned: [each for each in simulations if _tuned(each) == tuned] for tuned in _LINES}
    if not (sides[False] and sides[True]):
        return not_comparable(
            "another model and other labels are at work, and only the change by fine-tuning could "
            "be compared: name an untuned and a tuned run"
        )
    before, after = sides[False][0], sides[True][0]
    alike, asked = [], []
    for name in PUBLISHED_SCORES:
        one, other = (each.averages[_OURS[name]].mean for each in (before, after))
        printed = TABLE_2[_LINES[True]].mean[name] - TABLE_2[_LINES[False]].mean[name]
        if one is None or other is None or round(printed, 2) == 0:
            continue
        asked.append(name)
        if (other - one) * printed > 0:
            alike.append(name)
    others = [name for name in asked if name not in alike]
    line = f"fine-tuning moves {len(alike)} of {len(asked)} columns the way the paper has it"
    line += f" (not {', '.join(others)})" if others else ""
    return Verdict("holds" if not others else "differs", line)


def table_8(simulations: Sequence[Simulation], found: Readings | None) -> Exhibit:
    """Speaker by speaker; the column of persona consistency needs no simulation."""
    title = "Table 8: continuing as each speaker"
    figures = list(apart(found)) if found is not None else []
    grids = []
    lines: list[str] = []
    kind = together(figures, "for persona consistency")
    if kind is not None:
        lines.append(kind.line)
    for each in simulations:
        grids.append((f"{each.name}, every speaker", _grid(rows_8(each, published=True))))
        own = _speakers(each)
        figures += own
        grids.append((f"{each.name}: order of speakers", _orders(own)))
    if not simulations:
        lines.append(f"its scores are not made ({_NO_RUN})")
    if not figures:
        return Exhibit("table-8", title, not_made(_NO_RUN))
    verdict = Verdict(kind.kind if kind else "not comparable", "; ".join(lines))
    notes = (READING,) if simulations else ()
    return Exhibit("table-8", title, verdict, tuple(figures), tuple(grids), notes)


def _speakers(simulation: Simulation) -> list[Figure]:
    printed = {row.speaker.casefold(): row for row in TABLE_8}
    made = []
    for who, each in simulation.speakers.items():
        row = printed.get(who.casefold())
        if row is None:
            continue
        values: Mapping[str, float] = row.tuned if _tuned(simulation) else row.without
        for name in PUBLISHED_SCORES:
            found = each.scores[_OURS[name]]
            made.append(
                Figure(
                    *(f"{row.speaker}, {simulation.name}", name, values[name], found.value, 2),
                    *(found.low, found.high, found.n, found.unscored),
                )
            )
    return made


def _orders(figures: Sequence[Figure]) -> Grid:
    """How our order of speakers goes with the printed one, score by score."""
    rows: list[list[Any]] = []
    for name in PUBLISHED_SCORES:
        own = [each for each in figures if each.column == name]
        r = pearson([each.measured for each in own], [each.published for each in own])
        rows.append([name, told(r), r.n])
    return Grid(["score", "r with the printed column [95 %]", "speakers"], rows)


def figure_7(folder: Path | None) -> Exhibit:
    """Scores over the number of context sessions, from a folder of `persona sweep`."""
    title = "Figure 7: more and more context"
    if folder is None:
        return Exhibit("figure-7", title, not_made("no sweep was given: name one with --sweep"))
    numbers = sorted(int(place.name) for place in folder.glob("*") if place.name.isdecimal())
    if not numbers:
        raise RealtalkError(
            "no sweep here", where=str(folder), fix="make one with: realtalk persona sweep"
        )
    found = {number: load_persona(folder / str(number)).simulation for number in numbers}
    verdict = not_comparable("the paper draws it for one speaker and prints no numbers")
    grids = (("Scores by number of sessions", _grid(sweep(found))),)
    charts = (("figure-7", _lines(found)),)
    return Exhibit("figure-7", title, verdict, (), grids, (READING,), charts=charts)


def _lines(found: Mapping[int, Simulation]) -> Any:
    import altair as alt

    rows = []
    for number, each in found.items():
        for name in PUBLISHED_SCORES:
            average = each.averages[_OURS[name]]
            if average.mean is not None:
                rows.append({"sessions": number, "score": name, "mean": average.mean})
    base = alt.Chart({"values": rows}).encode(
        x=alt.X("sessions:Q", title="Sessions of context", axis=alt.Axis(tickMinStep=1)),
        y=alt.Y("mean:Q", title=None, scale=alt.Scale(zero=False)),
    )
    panel: Any = alt.layer(
        base.mark_line(color="#0072B2"),
        base.mark_point(color="#0072B2", filled=True, size=50).encode(
            tooltip=["score:N", "sessions:Q", alt.Tooltip("mean:Q", format=".3f")]
        ),
    ).properties(width=200, height=120)
    chart = panel.facet(
        facet=alt.Facet("score:N", title=None, sort=list(PUBLISHED_SCORES)), columns=3
    ).resolve_scale(y="independent")
    turns = next(iter(found.values())).turns
    who = ", ".join(next(iter(found.values())).speakers)
    return styled(chart, "More and more context", [f"{who}: {turns:,} turns"])
