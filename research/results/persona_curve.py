"""Adapters that learned from more and more of a speaker's turns → how many are enough.

    curve(runs)    → a Markdown table, a sentence and a picture

A point is compared with untuned on the turns of those speakers who wrote as many: the difference
with its interval over speakers, and which share it is of what all their turns give them. Style is
how often a turn is taken for the speaker's, content ROUGE-1 and token matching, EI the mean gain
over the six scores in standard deviations of a turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl

from realtalk.describe.figures import style_chart
from realtalk.evals.comparing import RunComparison, average
from realtalk.evals.run import Run
from research.papers.markdown import table as markdown
from research.results.persona_tables import compare, with_rows

NONE, ALL = "n0", "nall"
ENOUGH = 0.9  # of what all turns give
MEASURED = {"style": "taken_for", "content": "rouge_1", "wording": "semantic", "EI": ""}
TITLES = {
    "style": "taken for the speaker",
    "content": "ROUGE-1",
    "wording": "token matching F1",
    "EI": "gain over six EI scores (SD)",
}


@dataclass(frozen=True)
class Point:
    """One number of turns: speakers, their gains over untuned, and what all turns give them."""

    turns: str
    speakers: int
    gains: Mapping[str, tuple[float, float | None, float | None]]
    shares: Mapping[str, float | None]


def points(runs: Mapping[str, Run], way: str) -> list[Point]:
    """Every size that was learned from, the smallest first."""
    names = [name.removesuffix(f"-{way}") for name in runs if name.endswith(f"-{way}")]
    sizes = sorted((n for n in names if n[:1] == "n" and n[1:].isdigit() and n != NONE), key=_size)
    if f"{NONE}-{way}" not in runs or f"{ALL}-{way}" not in runs:
        return []
    found = []
    for size in [*sizes, ALL]:
        run = runs[f"{size}-{way}"]
        who = set(run.groups)
        point, whole = (against(runs, way, each, who) for each in (size, ALL))
        gains = {what: gain(point, what) for what in MEASURED}
        shares = {
            what: None if not (most := gain(whole, what)[0]) or most < 0 else gains[what][0] / most
            for what in MEASURED
        }
        title = "all" if size == ALL else size[1:]
        found.append(Point(title, len(who), gains, shares))
    return found


def against(runs: Mapping[str, Run], way: str, size: str, who: set[str]) -> RunComparison:
    """A size against untuned, for these speakers."""
    first, second = (runs[f"{name}-{way}"].with_name(name) for name in (NONE, size))
    sides = ([row for row in run.rows if row["group"] in who] for run in (first, second))
    return compare(
        *(with_rows(run, rows) for run, rows in zip((first, second), sides, strict=True))
    )


def gain(found: RunComparison, what: str) -> tuple[float, float | None, float | None]:
    if MEASURED[what]:
        change = found.changes[MEASURED[what]].difference
        return change.value or 0.0, change.low, change.high
    mean = average(found.further["gains"].values())
    return mean.value or 0.0, mean.low, mean.high


def _size(name: str) -> int:
    return int(name[1:])


def curve(runs: Mapping[str, Run], out: Path) -> str:
    """Each way of writing: the table, then what it says."""
    parts = []
    drawn: list[dict[str, Any]] = []
    for way in ("greedy", "sampled"):
        found = points(runs, way)
        if not found:
            continue
        rows = [
            (each.turns, each.speakers, *(_cell(each, what) for what in MEASURED)) for each in found
        ]
        headings = ("own turns", "speakers", *TITLES.values())
        parts.append(f"### {way}\n\n{markdown(headings, rows)}\n\n{answer(found)}")
        drawn += [
            {
                **{"way": way, "turns": each.turns, "score": TITLES[what]},
                **dict(zip(("gain", "low", "high"), each.gains[what], strict=True)),
            }
            for each in found
            for what in MEASURED
        ]
    if not parts:
        return "Not made yet."
    draw(drawn, out)
    parts.append("![gain over untuned by own turns learned from](persona-curve.svg)")
    return "\n\n".join(parts)


def _cell(point: Point, what: str) -> str:
    value, low, high = point.gains[what]
    interval = "" if low is None or high is None else f" [{low:+.3f}, {high:+.3f}]"
    share = point.shares[what]
    told = "" if share is None or point.turns == "all" else f", {share:.0%} of all"
    return f"{value:+.3f}{interval}{told}"


def answer(found: Sequence[Point]) -> str:
    """How many are enough, in a sentence."""
    told = []
    for what in ("style", "content", "EI"):
        whole = found[-1].gains[what]
        if whole[1] is None or whole[1] <= 0:
            told.append(f"for {what} all turns together gain nothing that is beyond chance")
            continue
        enough = [p.turns for p in found[:-1] if (p.shares[what] or 0) >= ENOUGH]
        told.append(
            f"for {what} {enough[0]} own turns give {ENOUGH:.0%} of what all give"
            if enough
            else f"for {what} no smaller number gives {ENOUGH:.0%} of what all give"
        )
    fewest = min(point.speakers for point in found)
    return (
        f"How many are enough: {'; '.join(told)}. A share is among the speakers who wrote as many "
        f"({fewest} at the largest number)."
    )


def draw(rows: Sequence[Mapping[str, Any]], out: Path) -> None:
    import vl_convert

    order = list(dict.fromkeys(row["turns"] for row in rows))
    frame = pl.DataFrame(rows, infer_schema_length=None)
    place = alt.X("turns:N", sort=order, title=None, axis=alt.Axis(labelAngle=0))
    plain = alt.Chart(frame).encode(x=place, color=alt.Color("way:N", title=None))
    bars = plain.mark_rule(opacity=0.5).encode(y=alt.Y("low:Q", title=None), y2="high:Q")
    lines = bars + plain.mark_line(point=True).encode(y=alt.Y("gain:Q", title=None))
    chart = style_chart(
        lines.properties(width=220, height=140)
        .facet(facet=alt.Facet("score:N", title=None), columns=2)
        .resolve_scale(y="independent"),
        "How many own turns are enough",
        ["gain over untuned by own turns learned from; bars are 95 % intervals over speakers"],
    )
    (out / "persona-curve.svg").write_text(vl_convert.vegalite_to_svg(chart.to_dict()), "utf-8")
