"""What a reproduced table is made of: figures beside the printed ones, and what to say of them.

    PaperFigure("Chat_6", "commonsense", published=12, measured=10).state → "differs"
    PaperFigure("REALTALK", "tokens", 17109.8, 17109.8, digits=1).state   → "exact"
    judged(figures)    → Verdict("differs", "39 of 40 figures are as printed; ...")

A figure is *exact* where it comes out as printed, and *within rounding* where it is one unit of
the last printed digit away: the paper rounds figures that it had rounded before. Counts are not
rounded, so they are exact or differ. What could not be measured is unscored and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from realtalk.paper.recorded import KNOWN_FAILURES
from realtalk.stats.grids import Grid

__all__ = [
    "Exhibit",
    "FigureState",
    "PaperFigure",
    "Parity",
    "Statement",
    "Verdict",
    "VerdictKind",
    "judged",
    "not_comparable",
    "not_made",
]

FigureState: TypeAlias = Literal["exact", "within rounding", "differs", "unscored"]
VerdictKind: TypeAlias = Literal[
    "exact", "within rounding", "correlated", "differs", "holds", "not comparable", "not made"
]


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """One number of the paper and ours. `digits` None: a count, which is not rounded."""

    row: str
    column: str
    published: float
    measured: float | None
    digits: int | None = None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    unscored: str | None = None

    @property
    def difference(self) -> float | None:
        return None if self.measured is None else self.measured - self.published

    @property
    def state(self) -> FigureState:
        if self.measured is None:
            return "unscored"
        if self.digits is None:
            return "exact" if self.measured == self.published else "differs"
        if self.shown(self.measured) == self.shown(self.published):
            return "exact"
        # A hair more than the unit itself, which binary numbers do not hold exactly.
        near = abs(self.measured - self.published) <= 10**-self.digits * (1 + 1e-9)
        return "within rounding" if near else "differs"

    def shown(self, value: float) -> str:
        """A number as the paper prints this figure; what rounds to nothing has no sign."""
        text = f"{value:,.{self.digits or 0}f}"
        return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text

    def to_json(self) -> dict[str, Any]:
        return {
            **{"row": self.row, "column": self.column, "published": self.published},
            **{"measured": self.measured, "low": self.low, "high": self.high, "n": self.n},
            **{"difference": self.difference, "state": self.state, "unscored": self.unscored},
        }


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the figures say together, in a word and in a line."""

    kind: VerdictKind
    line: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.line}" if self.line else self.kind


@dataclass(frozen=True, slots=True)
class Parity:
    """Something of the paper that has to come out here; `held` None: not tested.

    `known` is why it is recorded as failing, None where it is recorded as holding.
    """

    name: str
    wanted: str
    reached: str
    held: bool | None

    @property
    def known(self) -> str | None:
        return KNOWN_FAILURES.get(self.name)

    @property
    def broken(self) -> bool:
        """Whether it fails and is not recorded as failing."""
        return self.held is False and self.known is None

    @property
    def mended(self) -> bool:
        """Whether it is recorded as failing and holds."""
        return self.held is True and self.known is not None

    def to_json(self) -> dict[str, Any]:
        return {
            **{"parity": self.name, "wanted": self.wanted, "reached": self.reached},
            **{"held": self.held, "recorded": self.known is None, "because": self.known},
        }


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the paper, what its own tables or data give, and whether they agree."""

    where: str
    says: str
    found: str
    agrees: bool

    def to_json(self) -> dict[str, Any]:
        return {
            "where": self.where,
            "says": self.says,
            "found": self.found,
            "agrees": self.agrees,
        }


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One table or figure of the paper: beside the figures, more tables, notes and charts."""

    id: str
    title: str
    verdict: Verdict
    figures: tuple[PaperFigure, ...] = ()
    grids: tuple[tuple[str, Grid], ...] = ()
    notes: tuple[str, ...] = ()
    parities: tuple[Parity, ...] = ()
    charts: tuple[tuple[str, Any], ...] = ()  # name and Altair chart

    def to_json(self) -> dict[str, Any]:
        return {
            **{"id": self.id, "title": self.title, "verdict": self.verdict.kind},
            "because": self.verdict.line,
            "figures": [figure.to_json() for figure in self.figures],
            "tables": [
                {"title": title, "headings": grid.headings, "rows": grid.rows}
                for title, grid in self.grids
            ],
            "notes": list(self.notes),
            "parities": [parity.to_json() for parity in self.parities],
            "charts": [name for name, _ in self.charts],
        }


def judged(figures: Sequence[PaperFigure]) -> Verdict:
    """The verdict of figures that are compared one by one."""
    states = [figure.state for figure in figures]
    scored = len(states) - states.count("unscored")
    if not scored:
        return not_made("nothing of it could be measured")
    exact, near = states.count("exact"), states.count("within rounding")
    parts = [f"{exact} of {scored} figures are as printed"]
    if near:
        parts.append(f"{near} a rounding away")
    if missing := len(states) - scored:
        parts.append(f"{missing} unscored")
    if exact == scored:
        return Verdict("exact", ", ".join(parts))
    if exact + near == scored:
        return Verdict("within rounding", ", ".join(parts))
    return Verdict("differs", ", ".join(parts))


def not_comparable(because: str) -> Verdict:
    return Verdict("not comparable", f"because {because}")


def not_made(because: str) -> Verdict:
    return Verdict("not made", because)
