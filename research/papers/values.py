"""What a reproduced table is made of: figures beside the printed ones, and what to say of them.

    PaperFigure("Chat_6", "commonsense", published=12, measured=10).state → "differs"
    PaperFigure("REALTALK", "tokens", 17109.8, 17109.8, digits=1).state   → "exact"
    judged(figures)    → Verdict("differs", "39 of 40 figures are as printed; ...")
    Exhibit("table-6", judged(figures), figures).title                    → "Table 6: ..."

A figure is *exact* where it comes out as printed, and *within rounding* where it is one unit of
the last printed digit away: the paper rounds figures that it had rounded before. Counts are not
rounded, so they are exact or differ. What could not be measured is unscored and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from realtalk.cells import Grid
from realtalk.metrics.statistics import Estimate
from research.papers.recorded import KNOWN_FAILURES

TITLES = {  # every part of the paper that is reproduced, in its order, then the other paper's
    "table-1": "Table 1: corpora beside each other",
    "section-5.1": "§5.1: how people take turns",
    "figure-2": "Figure 2: people beside simulated speakers",
    "figure-3": "Figure 3: the same person in two chats",
    "table-2": "Table 2: continuing as a speaker, on average",
    "table-3": "Table 3: what is remembered of a chat",
    "table-5": "Table 5: chat by chat",
    "table-6": "Table 6: questions and events",
    "figure-4": "Figure 4: gaps between speakers",
    "figure-5": "Figure 5: messages in a row",
    "table-7": "Table 7: every speaker's emotional intelligence",
    "figure-6": "Figure 6: people beside simulated speakers, all facets",
    "table-8": "Table 8: continuing as each speaker",
    "figure-7": "Figure 7: more and more context",
    "personaconvbench": "PersonaConvBench: threads with and without the conversation",
}

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

    @classmethod
    def of(
        cls, row: str, column: str, published: float, ours: Estimate, digits: int
    ) -> PaperFigure:
        """A printed number beside an estimate."""
        interval = ours.low, ours.high
        return cls(row, column, published, ours.value, digits, *interval, ours.n, ours.unscored)

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
        plain = asdict(self)
        del plain["digits"]
        return plain | {"difference": self.difference, "state": self.state}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the figures say together, in a word and in a line."""

    kind: VerdictKind
    line: str

    @classmethod
    def not_comparable(cls, because: str) -> Verdict:
        return cls("not comparable", f"because {because}")

    @classmethod
    def not_made(cls, because: str) -> Verdict:
        return cls("not made", because)

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
            "parity": self.name,
            "wanted": self.wanted,
            "reached": self.reached,
            "held": self.held,
            "recorded": self.known is None,
            "because": self.known,
        }


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of the paper, what its own tables or data give, and whether they agree."""

    where: str
    says: str
    found: str
    agrees: bool

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One table or figure of the paper: beside the figures, more tables, notes and charts."""

    id: str  # one of TITLES
    verdict: Verdict
    figures: Sequence[PaperFigure] = ()
    grids: Sequence[tuple[str, Grid]] = ()
    notes: Sequence[str] = ()
    parities: Sequence[Parity] = ()
    chart: Any = None  # of Altair

    @property
    def title(self) -> str:
        return TITLES[self.id]

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "title": self.title,
            "verdict": self.verdict.kind,
            "because": self.verdict.line,
            "figures": [figure.to_json() for figure in self.figures],
            "tables": [
                {"title": title, "headings": grid.headings, "rows": grid.rows}
                for title, grid in self.grids
            ],
            "notes": list(self.notes),
            "parities": [parity.to_json() for parity in self.parities],
            "charts": [] if self.chart is None else [self.id],
        }


def estimate_text(estimate: Estimate, digits: int = 2) -> str:
    """ "0.95 [0.86, 0.98]", or why there is none."""
    if estimate.value is None:
        return estimate.unscored or "unscored"
    text = f"{estimate.value:.{digits}f}"
    if estimate.low is not None and estimate.high is not None:
        text += f" [{estimate.low:.{digits}f}, {estimate.high:.{digits}f}]"
    return text


def judged(figures: Sequence[PaperFigure]) -> Verdict:
    """The verdict of figures that are compared one by one."""
    states = [figure.state for figure in figures]
    scored = len(states) - states.count("unscored")
    if not scored:
        return Verdict.not_made("nothing of it could be measured")
    exact, near = states.count("exact"), states.count("within rounding")
    parts = [f"{exact} of {scored} figures are as printed"]
    if near:
        parts.append(f"{near} a rounding away")
    if missing := len(states) - scored:
        parts.append(f"{missing} unscored")
    rounded: VerdictKind = "within rounding" if exact + near == scored else "differs"
    return Verdict("exact" if exact == scored else rounded, ", ".join(parts))
