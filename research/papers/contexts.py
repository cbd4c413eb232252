"""Persona runs with more and more context → Figure 7.

    figure_7(Path("sweep"))      a folder of `sweep simulate`: sweep/1, sweep/3, ...
    figure_7(Path("shared"))     or of shared rows: shared/sweep1-tuned, shared/sweep1-untuned, ...

The paper draws one speaker, untuned on the left and tuned on the right, and prints no numbers; what
it says of the picture is tested turn by turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from realtalk.cells import Grid
from realtalk.describe.figures import style_chart
from realtalk.errors import RealtalkError
from realtalk.evals.comparing import match_rows
from realtalk.evals.run import Run
from realtalk.evals.tables import figure, p_value
from realtalk.evals.values import Row
from realtalk.metrics.grouped import Change, grouped_changes, ratio
from realtalk.metrics.statistics import holm
from realtalk.persona.benchmark import KIND, READING
from realtalk.persona.choosing import PUBLISHED_SCORES, published_choice
from realtalk.persona.scoring import SCORES
from research.papers.values import Exhibit, Verdict

_FOLDER = re.compile(r"(?:sweep)?(\d+)(?:-(.+))?")
_OURS = {kind.published: name for name, kind in SCORES.items() if kind.published}
_ALPHA = 0.05
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7")


def figure_7(folder: Path | None) -> Exhibit:
    """Scores over the number of context sessions, one line per way of continuing."""
    if folder is None:
        return Exhibit("figure-7", Verdict.not_made("no sweep was given: name one with --sweep"))
    runs = _load(folder)
    verdict, tested = _more_helps(runs)
    return Exhibit(
        "figure-7",
        verdict,
        grids=(("Message-level EI by number of sessions", _grid(runs)), *tested),
        notes=(
            "the paper draws one speaker and prints no numbers; what it says of the picture, that "
            "more context does not improve message-level EI, is tested on the fewest and the most "
            "sessions. No difference beyond chance is not proof of none: these are few turns",
            *_chats(runs),
            READING,
        ),
        chart=_lines(runs),
    )


def _more_helps(
    runs: Mapping[str, Mapping[int, Run]],
) -> tuple[Verdict, list[tuple[str, Grid]]]:
    """The most sessions of context against the fewest, swapping whole sessions of the test chat."""
    rows: list[dict[str, Any]] = []
    gains, smallest, lengths = [], 1.0, ""
    for name, ways in runs.items():
        few, many = min(ways), max(ways)
        if few == many:
            continue
        lengths = f"{many} sessions against {few}"
        changes = _changes(ways[few].rows, ways[many].rows)
        if any(change.p is None for change in changes.values()):
            return Verdict.not_comparable("too few sessions were continued to test it"), []
        for score, change in changes.items():
            kind, p = SCORES[score], change.p_holm if change.p_holm is not None else 1.0
            value = change.difference.value or 0.0
            if kind.family == "EI":
                smallest = min(smallest, change.p if change.p is not None else 1.0)
                if p < _ALPHA and kind.better * value > 0:
                    gains.append(f"{kind.title} ({name})")
            rows.append(
                {
                    "continued by": name,
                    "score": kind.title,
                    f"change, {lengths}": f"{value:+.3f}",
                    "p": p_value(change.p),
                    "Holm": p_value(p),
                    "turns": change.n,
                    "test sessions": change.groups,
                }
            )
    if not rows:
        return Verdict.not_comparable("it takes two numbers of sessions to compare"), []
    shown = p_value(smallest) or ""
    line = f"{lengths}: " + (
        f"better with more: {', '.join(gains)}"
        if gains
        else f"no EI score is better beyond chance, as the paper says (smallest p {shown})"
    )
    title = "More context against less: p by swapping test sessions, Holm within content and EI"
    return Verdict("differs" if gains else "holds", line), [(title, Grid.of(rows))]


def _changes(few: Sequence[Row], many: Sequence[Row]) -> dict[str, Change]:
    """Every printed score of the turns that both have, a session of a chat being drawn whole."""
    changes: dict[str, Change] = {}
    pairs = match_rows(few, many)
    for score in _OURS.values():
        known = [pair for pair in pairs if all(row[score] is not None for row in pair)]
        one, other = (np.array([[float(pair[at][score]), 1.0] for pair in known]) for at in (0, 1))
        groups = [f"{row['chat']} {row['session']}" for row, _ in known]
        if known:
            changes[score] = grouped_changes(one, other, groups, {score: ratio})[score]
    for family in ("content", "EI"):
        own = [name for name in changes if SCORES[name].family == family]
        for name, p in zip(own, holm([changes[name].p for name in own]), strict=True):
            changes[name] = replace(changes[name], p_holm=p)
    return changes


def _load(folder: Path) -> dict[str, dict[int, Run]]:
    """Runs by way of continuing and number of sessions."""
    simulations: dict[str, dict[int, Run]] = {}
    for place in sorted(folder.glob("*")):
        named = _FOLDER.fullmatch(place.name)
        if named is not None and place.is_dir():
            run = Run.load(place, KIND)
            name = named[2] or run.name
            simulations.setdefault(name, {})[int(named[1])] = run
    if not simulations:
        raise RealtalkError(
            "no sweep here", where=str(folder), fix="make one with: realtalk sweep simulate"
        )
    # Untuned first, as in the paper.
    order = sorted(simulations, key=lambda name: (not name.startswith("untuned"), name))
    return {name: dict(sorted(simulations[name].items())) for name in order}


def _grid(simulations: Mapping[str, Mapping[int, Run]]) -> Grid:
    """One line per way and number of sessions, with the six scores that the paper draws."""
    drawn = [SCORES[_OURS[name]] for name in PUBLISHED_SCORES[2:]]
    lines: list[list[Any]] = []
    for name, ways in simulations.items():
        for sessions, run in sorted(ways.items()):
            found = run.variants[""]
            cells = (figure(found.overall[each.name], each.digits) for each in drawn)
            lines.append([name, sessions, f"{found.scored:,} of {found.rows:,}", *cells])
    titles = (score.title for score in drawn)
    return Grid(["continued by", "sessions", "turns", *titles], lines)


def _chats(simulations: Mapping[str, Mapping[int, Run]]) -> tuple[str, ...]:
    """Which chat each speaker is tested on, and where the paper tests another."""
    lines: dict[str, None] = {}
    for each in (simulation for ways in simulations.values() for simulation in ways.values()):
        for fact in each.facts:
            printed = published_choice(fact["group"], (fact["learn"], fact["test"]))
            other = printed is not None and printed[1] != fact["test"]
            line = f"{fact['group']} is tested on {fact['test']}"
            lines[f"{line}, in the paper on {printed[1]}" if other and printed else line] = None
    return tuple(lines)


def _lines(simulations: Mapping[str, Mapping[int, Run]]) -> Any:
    import altair as alt

    rows = []
    for name, ways in simulations.items():
        for number, each in ways.items():
            for score in PUBLISHED_SCORES:
                mean = each.variants[""].overall[_OURS[score]].value
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
    who = ", ".join(first.groups)
    return style_chart(chart, "More and more context", [f"{who}: {len(first):,} turns"])
