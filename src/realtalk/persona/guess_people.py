"""Guesses of people → whose replies they took for real, and how far they agree.

    found = people_figures(Run.load("sample-guesses").rows)
    found.taken[0]       → TakenForReal("the person", "real", chance=0.25, all=Estimate(0.61, …), …)
    found.agreement[0]   → JudgesAgree("all 3", "Krippendorff's alpha", Estimate(0.42, …))
    people_tables(found) → simulators, judges, and how far the judges agree

A share is of the rounds in which the reply stood; a simulator that cannot be told from the person
is picked as often as the person is. Intervals draw whole rounds, which several judges share: they
are about other turns of these people, judged by these judges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np

from realtalk.evals.estimating import estimate
from realtalk.evals.tables import figure
from realtalk.evals.values import Lines, Row, Score
from realtalk.metrics.grouped import drawn_sums, group_sums, krippendorff_alpha, ratio
from realtalk.metrics.statistics import Array, Estimate, cohen_kappa, percentile_interval

_PERSON = "the person"
_PEOPLE = {"real": _PERSON, "partner": "a partner", "other": "another speaker"}
_ORDER = ("real", "simulated", "partner", "other")
_MOST_PAIRS = 10  # of judges that are shown one by one
_SHARE = Score("taken", "taken for real", proportion=True)


@dataclass(frozen=True, slots=True)
class TakenForReal:
    """How often one writer's replies were picked, where they stood.

    `difference` is that of people who know the chat less that of those who do not.
    """

    writer: str
    origin: str
    chance: float
    all: Estimate
    acquainted: Estimate
    strangers: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True)
class JudgeRecord:
    """One judge: whether they know the chat, and how often they were right."""

    judge: str
    knows: bool | None
    right: Estimate
    chance: float


@dataclass(frozen=True, slots=True)
class JudgesAgree:
    """How far judges pick the same reply beyond chance."""

    judges: str
    measure: str
    figure: Estimate


@dataclass(frozen=True, slots=True)
class PeopleFigures:
    """All that a table of people's guesses shows."""

    taken: tuple[TakenForReal, ...]
    judges: tuple[JudgeRecord, ...]
    agreement: tuple[JudgesAgree, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def people_figures(rows: Sequence[Row]) -> PeopleFigures:
    """The figures of guesses by one or more judges."""
    known = [row for row in rows if row["picked"] is not None]
    return PeopleFigures(_taken(known), _judges(known), _agreement(known))


def _taken(rows: Sequence[Row]) -> tuple[TakenForReal, ...]:
    stood: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        writers = {_writer(*each) for each in zip(row["origins"], row["writers"], strict=True)}
        picked = _writer(row["picked"], row["writer"])
        for origin, writer in writers:
            taken = float((origin, writer) == picked)
            one = {**row, "group": _round(row), "taken": taken}
            stood.setdefault((origin, writer), []).append(one)
    order = sorted(stood, key=lambda key: (_ORDER.index(key[0]), key[1]))
    return tuple(_one_writer(*key, stood[key]) for key in order)


def _writer(origin: str, writer: str) -> tuple[str, str]:
    return origin, _PEOPLE.get(origin, writer)


def _round(row: Row) -> str:
    return f"{row['group']}\0{row['sample']}"


def _one_writer(origin: str, writer: str, rows: Sequence[Row]) -> TakenForReal:
    acquainted = [row for row in rows if row["knows"] is True]
    strangers = [row for row in rows if row["knows"] is False]
    return TakenForReal(
        writer=writer,
        origin=origin,
        chance=_chance(rows),
        all=_share(rows),
        acquainted=_share(acquainted),
        strangers=_share(strangers),
        difference=_difference(acquainted, strangers),
    )


def _share(rows: Sequence[Row]) -> Estimate:
    return estimate(rows, [_SHARE])[_SHARE.name]


def _chance(rows: Sequence[Row]) -> float:
    return float(np.mean([row["chance"] for row in rows]))


def _difference(first: Sequence[Row], second: Sequence[Row]) -> Estimate:
    """The first share less the second; the same rounds are drawn for both."""
    if not first or not second:
        return Estimate(None, unscored="only one of the two sides judged")
    rounds = list(dict.fromkeys(row["group"] for row in (*first, *second)))
    sides = [_by_round(rows, rounds) for rows in (first, second)]
    one, other = (float(ratio(side.sum(axis=0))) for side in sides)
    drawn = [ratio(each) for each in drawn_sums(sides)]
    low, high = percentile_interval(drawn[0] - drawn[1]) or (None, None)
    return Estimate(one - other, low, high, len(rounds))


def _by_round(rows: Sequence[Row], rounds: Sequence[str]) -> Array:
    """Picks and guesses of every round; rounds that this side did not judge are 0."""
    lines = [[row["taken"], 1.0] for row in rows] + [[0.0, 0.0]] * len(rounds)
    names = [row["group"] for row in rows] + list(rounds)
    sums = dict(zip(dict.fromkeys(names), group_sums(np.array(lines), names), strict=True))
    return np.array([sums[name] for name in rounds])


def _judges(rows: Sequence[Row]) -> tuple[JudgeRecord, ...]:
    records = []
    for judge, own in _by_judge(rows).items():
        right = [{**row, "group": _round(row), "taken": row["accuracy"]} for row in own]
        records.append(JudgeRecord(judge, own[-1]["knows"], _share(right), _chance(own)))
    return tuple(records)


def _by_judge(rows: Sequence[Row]) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["variant"], []).append(row)
    return found


def _agreement(rows: Sequence[Row]) -> tuple[JudgesAgree, ...]:
    said: Mapping[str, dict[str, str]] = {
        judge: {_round(row): row["answer"] for row in own} for judge, own in _by_judge(rows).items()
    }
    if len(said) < 2:
        return ()
    rounds = list(dict.fromkeys(_round(row) for row in rows))
    units = [[own[each] for own in said.values() if each in own] for each in rounds]
    alpha = JudgesAgree(f"all {len(said)}", "Krippendorff's alpha", krippendorff_alpha(units))
    pairs = [
        JudgesAgree(
            f"{one} and {other}",
            "Cohen's kappa",
            cohen_kappa(*([said[who].get(each) for each in rounds] for who in (one, other))),
        )
        for one, other in combinations(said, 2)
    ]
    return (alpha, *pairs[:_MOST_PAIRS])


def people_tables(found: PeopleFigures) -> dict[str, Lines]:
    """What people took for real, judge by judge, and how far they agree."""
    tables: dict[str, Lines] = {"taken for real": _taken_table(found.taken)}
    tables["judges"] = (
        ("judge", "knows the chat", "guesses", "right", "chance"),
        [
            (
                each.judge,
                _knows(each.knows),
                each.right.n,
                figure(each.right),
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


def _taken_table(taken: Sequence[TakenForReal]) -> Lines:
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
    return figure(found) or (f"unscored: {found.unscored}" if found.unscored and found.n else None)
