"""Persona runs with more and more context → Figure 7.

    figure_7(Path("sweep"))      a folder of `persona sweep`: sweep/1, sweep/3, ...
    figure_7(Path("shared"))     or of shared rows: shared/sweep1-tuned, shared/sweep1-untuned, ...

The paper draws one speaker, untuned on the left and tuned on the right, and prints no numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.paper.values import Exhibit, Verdict
from realtalk.persona.benchmark import load_persona
from realtalk.persona.published import PUBLISHED_SCORES, published_choice
from realtalk.persona.rows import SCORES
from realtalk.persona.summaries import Simulation
from realtalk.persona.tables import READING, sweep, title_of
from realtalk.stats.figures import styled
from realtalk.stats.grids import Grid

_FOLDER = re.compile(r"(?:sweep)?(\d+)(?:-(.+))?")
_OURS = {kind.published: name for name, kind in SCORES.items() if kind.published}
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


def figure_7(folder: Path | None) -> Exhibit:
    """Scores over the number of context sessions, one line per way of continuing."""
    if folder is None:
        return Exhibit("figure-7", Verdict.not_made("no sweep was given: name one with --sweep"))
    simulations = _load(folder)
    return Exhibit(
        "figure-7",
        Verdict.not_comparable("the paper draws it for one speaker and prints no numbers"),
        grids=(("Message-level EI by number of sessions", _grid(simulations)),),
        notes=(*_chats(simulations), READING),
        chart=_lines(simulations),
    )


def _load(folder: Path) -> dict[str, dict[int, Simulation]]:
    """Simulations by way of continuing and number of sessions."""
    simulations: dict[str, dict[int, Simulation]] = {}
    for place in sorted(folder.glob("*")):
        named = _FOLDER.fullmatch(place.name)
        if named is not None and place.is_dir():
            run = load_persona(place)
            name = named[2] or run.name
            simulations.setdefault(name, {})[int(named[1])] = run.simulation
    if not simulations:
        raise RealtalkError(
            "no sweep here", where=str(folder), fix="make one with: realtalk persona sweep"
        )
    # Untuned first, as in the paper.
    order = sorted(simulations, key=lambda name: (not name.startswith("untuned"), name))
    return {name: dict(sorted(simulations[name].items())) for name in order}


def _grid(simulations: Mapping[str, Mapping[int, Simulation]]) -> Grid:
    """One line per way and number of sessions, with the six scores that the paper draws."""
    drawn = [title_of(_OURS[name]) for name in PUBLISHED_SCORES[2:]]
    lines: list[list[Any]] = []
    for name, ways in simulations.items():
        headings, rows = sweep(ways)
        places = [headings.index(title) for title in ("sessions", "turns", *drawn)]
        lines += [[name, *(row[place] for place in places)] for row in rows]
    return Grid(["continued by", "sessions", "turns", *drawn], lines)


def _chats(simulations: Mapping[str, Mapping[int, Simulation]]) -> tuple[str, ...]:
    """Which chat each speaker is tested on, and where the paper tests another."""
    lines: dict[str, None] = {}
    for each in (simulation for ways in simulations.values() for simulation in ways.values()):
        for who, scores in each.speakers.items():
            printed = published_choice(who, (scores.learn, scores.test))
            other = printed is not None and printed[1] != scores.test
            line = f"{who} is tested on {scores.test}"
            lines[f"{line}, in the paper on {printed[1]}" if other and printed else line] = None
    return tuple(lines)


def _lines(simulations: Mapping[str, Mapping[int, Simulation]]) -> Any:
    import altair as alt

    rows = []
    for name, ways in simulations.items():
        for number, each in ways.items():
            for score in PUBLISHED_SCORES:
                mean = each.averages[_OURS[score]].mean
                if mean is not None:
                    rows.append({"way": name, "sessions": number, "score": score, "mean": mean})
    colours = alt.Scale(
        domain=list(simulations), range=list(_COLOURS[: len(simulations)] or _COLOURS)
    )
    base = alt.Chart({"values": rows}).encode(
        x=alt.X("sessions:Q", title="Sessions of context", axis=alt.Axis(tickMinStep=1)),
        y=alt.Y("mean:Q", title=None, scale=alt.Scale(zero=False)),
        color=alt.Color("way:N", title=None, scale=colours),
    )
    panel: Any = alt.layer(
        base.mark_line(),
        base.mark_point(filled=True, size=50).encode(
            tooltip=["way:N", "score:N", "sessions:Q", alt.Tooltip("mean:Q", format=".3f")]
        ),
    ).properties(width=200, height=120)
    chart = panel.facet(
        facet=alt.Facet("score:N", title=None, sort=list(PUBLISHED_SCORES)), columns=3
    ).resolve_scale(y="independent")
    first = next(iter(next(iter(simulations.values())).values()))
    who = ", ".join(first.speakers)
    return styled(chart, "More and more context", [f"{who}: {first.turns:,} turns"])
