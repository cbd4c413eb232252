"""Figures of guesses → tables for people.

guess_table([run.summary])             one line per run and judge, chance beside accuracy
speaker_table(run.summary, "")         one line per speaker
people_tables(people_figures(rows))    simulators, judges, and how far the judges agree
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from realtalk.evals.summaries import Summary
from realtalk.evals.tables import Lines, figure, slice_table, summary_table
from realtalk.metrics.statistics import Estimate
from realtalk.persona.guess_people import PeopleFigures, TakenForReal
from realtalk.persona.guess_rows import GUESS_SCORES

READING = (
    "Accuracy is how often the real reply is found, with 95 % intervals that draw whole speakers "
    "(of fewer than five their turns); strict: an answer that cannot be read is wrong. Took "
    "partner, other, simulated: how often such a reply is picked instead, where one stands there."
)


def guess_table(summaries: Sequence[Summary]) -> Lines:
    """Runs side by side; a judge is named where people judged."""
    headings, rows = summary_table(
        summaries,
        GUESS_SCORES,
        solver="guesser",
        variant="judge",
        samples="turns",
        groups="speakers",
        facts=("chance",),
    )
    if any(row[1] for row in rows):
        return headings, rows
    return (headings[0], *headings[2:]), [(row[0], *row[2:]) for row in rows]


def speaker_table(summary: Summary, judge: str) -> Lines:
    """Every speaker of one run or judge."""
    return slice_table(summary, judge, GUESS_SCORES, slices="speaker", samples="turns")


def people_tables(found: PeopleFigures) -> dict[str, Lines]:
    """What people took for real, judge by judge, and how far they agree."""
    tables: dict[str, Lines] = {"taken for real": _taken(found.taken)}
    tables["judges"] = (
        ("judge", "knows the chat", "guesses", "right", "chance"),
        [
            (
                each.judge,
                _knows(each.knows),
                each.right.n,
                _share(each.right),
                f"{each.chance:.2f}",
            )
            for each in found.judges
        ],
    )
    if found.agreement:
        tables["agreement between judges"] = (
            ("judges", "measure", "agreement", "rounds"),
            [
                (each.judges, each.measure, _cell(each.figure), each.figure.n)
                for each in found.agreement
            ],
        )
    return tables


def _taken(taken: Sequence[TakenForReal]) -> Lines:
    """Those who know the chat beside those who do not, where both judged."""
    both = any(each.difference.value is not None for each in taken)
    sides = ("who know the chat", "who do not", "difference") if both else ()
    rows: list[tuple[Any, ...]] = []
    for each in taken:
        cells = [each.acquainted, each.strangers, each.difference] if both else []
        rows.append(
            (each.writer, each.all.n, f"{each.chance:.2f}", _cell(each.all), *map(_cell, cells))
        )
    return ("whose reply", "guesses", "chance", "all judges", *sides), rows


def _knows(knows: bool | None) -> str:
    return "–" if knows is None else "yes" if knows else "no"


def _cell(found: Estimate) -> str | None:
    return _share(found) or (f"unscored: {found.unscored}" if found.unscored and found.n else None)


def _share(found: Estimate) -> str | None:
    return figure(found, GUESS_SCORES[0])
