"""Stored persona runs → Tables 2 and 8.

    table_2([untuned, tuned])     → Exhibit("table-2", ..., style is better for 1 of 5 scores; ...)
    table_8([untuned, tuned], readings)

The paper simulates with GPT-4o-mini and labels with it; whoever was simulated here has another
model and other labels. So means stand beside each other for orientation, and what is compared is
what fine-tuning changes (style gets better, content stays, intimacy does not gain: each tested over
speakers, in print as here) and who is easy (order of speakers).
Only speakers who were tested on the chat that Table 8 tests are set beside it; of the others
the tables say that they are not comparable.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

import numpy as np

from realtalk.cells import Grid
from realtalk.evals.run import Run
from realtalk.evals.tables import p_value, run_tables
from realtalk.metrics.grouped import grouped_changes, ratio
from realtalk.metrics.statistics import Estimate, holm, pearson
from realtalk.persona.benchmark import READING
from realtalk.persona.choosing import PUBLISHED_SCORES, TABLE_2, TABLE_8, published_choice
from realtalk.persona.scoring import SCORES
from research.papers.judging import best_split, circle_of
from research.papers.speakers import Readings, apart, together
from research.papers.values import (
    Exhibit,
    PaperFigure,
    Verdict,
    estimate_text,
)

_OURS = {kind.published: name for name, kind in SCORES.items() if kind.published}
_LINES = {False: "without fine-tuning", True: "with fine-tuning"}
_SAME, _BETTER, _NO_GAIN = "does not change", "gets better", "does not get better"
_KINDS = {
    name: _SAME if name in ("lexical", "semantic") else _NO_GAIN if name == "intimacy" else _BETTER
    for name in PUBLISHED_SCORES
}
_ALPHA = 0.05
_NO_RUN = "no persona run was given: name stored ones with --persona"


def _tuned(simulation: Run) -> bool:
    """Runs of an adapter are called tuned, by `persona run` and in its examples."""
    name = simulation.name.casefold()
    return "tuned" in name and "untuned" not in name


def _grid(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> Grid:
    return Grid(list(headings), [list(row) for row in rows])


def _elsewhere(simulation: Run) -> dict[str, str]:
    """Speakers who were tested on another chat than Table 8's, with that other chat."""
    others = {}
    for fact in simulation.facts:
        printed = published_choice(fact["group"], (fact["learn"], fact["test"]))
        if printed is None or printed[1] != fact["test"]:
            others[fact["group"]] = fact["test"]
    return others


def _comparable(simulation: Run) -> Run:
    """The simulation of those who were tested on Table 8's chats."""
    left = _elsewhere(simulation)
    return replace(
        simulation,
        rows=[row for row in simulation.rows if row["group"] not in left],
        facts=[fact for fact in simulation.facts if fact["group"] not in left],
    )


def _left_out(simulations: Sequence[Run]) -> tuple[str, ...]:
    """A note on whom the tables leave out, the same for runs that leave out the same."""
    lines: dict[str, list[str]] = {}
    for each in simulations:
        left = _elsewhere(each)
        if left:
            who = ", ".join(f"{name} ({chat})" for name, chat in left.items())
            kept = len(each.groups) - len(left)
            line = f"{kept} of {len(each.groups)} speakers are compared; not comparable: {who}"
            line += ", tested on another chat than in Table 8"
            lines.setdefault(line, []).append(each.name)
    return tuple(f"{', '.join(names)}: {line}" for line, names in lines.items())


def _printed(speakers: Collection[str], tuned: bool, name: str) -> float | None:
    """Table 2's mean; over fewer than its speakers the mean of their rows in Table 8."""
    known = {who.casefold() for who in speakers}
    rows = [row for row in TABLE_8 if row.speaker.casefold() in known]
    if len(rows) == len(TABLE_8):
        return TABLE_2[_LINES[tuned]].mean[name]
    return fmean((row.tuned if tuned else row.without)[name] for row in rows) if rows else None


def table_2(simulations: Sequence[Run]) -> Exhibit:
    """Averages over speakers beside the paper's two rows."""
    if not simulations:
        return Exhibit("table-2", Verdict.not_made(_NO_RUN))
    kept = [run for each in simulations if (run := _comparable(each)).rows]
    notes = _left_out(simulations)
    if not kept:
        because = "nobody was tested on the chat that Table 8 tests"
        return Exhibit("table-2", Verdict.not_comparable(because), notes=notes)
    figures: list[PaperFigure] = []
    for each in kept:
        for name in PUBLISHED_SCORES:
            printed = _printed(each.groups, _tuned(each), name)
            if printed is not None:
                ours = each.variants[""].overall[_OURS[name]]
                reason = None if ours.value is not None else "no speaker has this score"
                estimate = Estimate(ours.value, ours.low, ours.high, ours.n, unscored=reason)
                figures.append(PaperFigure.of(each.name, name, printed, estimate, 2))
    verdict, claims = _claimed(kept)
    grids = [
        *claims,
        (
            "Ours above the paper's",
            _grid(*run_tables({e.name: e for e in kept}, groups=False)[0].lines),
        ),
    ]
    if notes:
        notes += (
            "set beside them are the means of the same speakers in Table 8, whose means over all "
            "ten Table 2 prints",
        )
    return Exhibit("table-2", verdict, figures, grids, (*notes, READING))


def _claimed(simulations: Sequence[Run]) -> tuple[Verdict, list[tuple[str, Grid]]]:
    """What §6.1 says of fine-tuning, each column tested over speakers, here and in Table 8."""
    sides = {tuned: [each for each in simulations if _tuned(each) == tuned] for tuned in _LINES}
    if not (sides[False] and sides[True]):
        because = (
            "another model and other labels are at work, and only the change by fine-tuning could "
            "be compared: name an untuned and a tuned run"
        )
        return Verdict.not_comparable(because), []
    before, after = (sides[tuned][0].variants[""].slices for tuned in (False, True))
    shared = [who for who in before if who in after]
    printed = {row.speaker.casefold(): row for row in TABLE_8}
    rows = [printed[who.casefold()] for who in shared]
    ours = _tested(
        {
            name: [
                (before[who][_OURS[name]].value, after[who][_OURS[name]].value) for who in shared
            ]
            for name in PUBLISHED_SCORES
        }
    )
    theirs = _tested(
        {name: [(row.without[name], row.tuned[name]) for row in rows] for name in PUBLISHED_SCORES}
    )
    if any(each.p_holm is None for each in ours.values()):
        return Verdict.not_comparable("too few speakers were simulated both ways to test it"), []
    lines: list[dict[str, Any]] = []
    kept: dict[str, list[str]] = {}
    worse = False
    for name, kind in _KINDS.items():
        here, there = _holds(ours[name], kind), _holds(theirs[name], kind)
        kept.setdefault(kind, []).extend([name] * here)
        worse = worse or (there and not here)
        lines.append(
            {
                "score": name,
                "the paper says": kind,
                "Table 8: change": theirs[name].text,
                "here: change": ours[name].text,
                "speakers better / worse": f"{ours[name].better} / {ours[name].worse}",
                "holds here": "yes" if here else "no",
                "holds in Table 8": "yes" if there else "no",
            }
        )
    moved = [
        f"{name} is {'better' if ours[name].toward > 0 else 'worse'} for "
        f"{max(ours[name].better, ours[name].worse)} of {len(shared)}"
        for name, kind in _KINDS.items()
        if kind == _SAME and name not in kept[kind]
    ]
    style = [name for name, kind in _KINDS.items() if kind == _BETTER]
    line = (
        f"style is better beyond chance for {len(kept[_BETTER])} of {len(style)} scores"
        + (f" ({', '.join(kept[_BETTER])})" if kept[_BETTER] else "")
        + f", by Table 8's own figures for {sum(_holds(theirs[name], _BETTER) for name in style)}"
        + ("; content changes, where the paper's does not: " if moved else "; content does not")
        + (" and ".join(moved) if moved else " change")
        + f"; intimacy {'does not gain' if kept[_NO_GAIN] else 'gains'}"
        + f"; over {len(shared)} of its {len(TABLE_8)} speakers"
    )
    title = "What fine-tuning changes: p by swapping speakers, Holm within content and EI"
    return Verdict("differs" if worse else "holds", line), [(title, Grid.of(lines))]


@dataclass(frozen=True, slots=True)
class _Moved:
    """What fine-tuning does to one score; `toward` is above 0 where it gets better."""

    change: float
    toward: float
    better: int
    worse: int
    p_holm: float | None

    @property
    def text(self) -> str:
        return f"{self.change:+.2f}, p {p_value(self.p_holm) or 'not tested'}"

    @property
    def clear(self) -> bool:
        return self.p_holm is not None and self.p_holm < _ALPHA


def _holds(moved: _Moved, kind: str) -> bool:
    if kind == _SAME:
        return not moved.clear
    gains = moved.clear and moved.toward > 0
    return gains if kind == _BETTER else not gains


def _tested(
    columns: Mapping[str, Sequence[tuple[float | None, float | None]]],
) -> dict[str, _Moved]:
    """Both sides of every speaker swapped in every way, for each score."""
    found: dict[str, _Moved] = {}
    for name, pairs in columns.items():
        known = [(one, two) for one, two in pairs if one is not None and two is not None]
        one, other = (np.array([[pair[at], 1.0] for pair in known]).reshape(-1, 2) for at in (0, 1))
        groups = [str(at) for at in range(len(known))]
        change = grouped_changes(one, other, groups, {name: ratio})[name]
        sign = SCORES[_OURS[name]].better
        moves = np.sign([round(sign * (two - one), 9) for one, two in known])
        value = change.difference.value or 0.0
        better, worse = int((moves > 0).sum()), int((moves < 0).sum())
        found[name] = _Moved(value, sign * value, better, worse, change.p)
    for family in ("content", "EI"):
        own = [name for name in found if SCORES[_OURS[name]].family == family]
        for name, p in zip(own, holm([found[name].p_holm for name in own]), strict=True):
            found[name] = replace(found[name], p_holm=p)
    return found


def table_8(simulations: Sequence[Run], readings: Readings | None) -> Exhibit:
    """Speaker by speaker; the column of persona consistency needs no simulation."""
    figures = list(apart(readings)) if readings is not None else []
    grids = []
    lines: list[str] = []
    kind = together(figures, "for persona consistency")
    if kind is not None:
        lines.append(kind.line)
    for each in simulations:
        kept = _comparable(each)
        if kept.rows:
            lines_8 = run_tables({each.name: kept})[2].lines
            grids.append((f"{each.name}, every speaker", _grid(*lines_8)))
        own = _speakers(each)
        figures += own
        grids.append((f"{each.name}: order of speakers", _orders(own)))
    if not simulations:
        lines.append(f"its scores are not made ({_NO_RUN})")
    if not figures:
        return Exhibit("table-8", Verdict.not_made(_NO_RUN))
    verdict = Verdict(kind.kind if kind else "not comparable", "; ".join(lines))
    notes = (*_left_out(simulations), READING) if simulations else ()
    return Exhibit("table-8", verdict, figures, grids, notes)


def _speakers(simulation: Run) -> list[PaperFigure]:
    printed = {row.speaker.casefold(): row for row in TABLE_8}
    left = _elsewhere(simulation)
    figures = []
    for who, scores in simulation.variants[""].slices.items():
        row = printed.get(who.casefold())
        if row is None:
            continue
        values: Mapping[str, float] = row.tuned if _tuned(simulation) else row.without
        for name in PUBLISHED_SCORES:
            score = scores[_OURS[name]]
            if who in left:
                reason = f"not comparable: tested on another chat ({left[who]})"
                score = Estimate(None, unscored=reason)
            title = f"{row.speaker}, {simulation.name}"
            figures.append(PaperFigure.of(title, name, values[name], score, 2))
    return figures


def _orders(figures: Sequence[PaperFigure]) -> Grid:
    """How our order of speakers goes with the printed one, and how a dummy's by circle does."""
    rows = []
    for name in PUBLISHED_SCORES:
        own = [each for each in figures if each.column == name and each.measured is not None]
        r = pearson([each.measured for each in own], [each.published for each in own])
        rows.append(
            {
                "score": name,
                "r with the printed column [95 %]": estimate_text(r),
                "a dummy by circle": _dummy(own),
                "speakers": r.n,
            }
        )
    return Grid.of(rows)


def _dummy(own: Sequence[PaperFigure]) -> str | None:
    """The r of the two values that know only a speaker's circle of friends."""
    if not own:
        return None
    printed = np.array([each.published for each in own])
    places = np.array([float(circle_of(each.row.partition(",")[0])) for each in own])
    r = pearson(best_split(printed, places)[1].tolist(), printed.tolist())
    return None if r.value is None else f"{r.value:.2f}"
