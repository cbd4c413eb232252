"""A run's rows → its figures: every variant over all, and slice by slice.

    found = summarise("regression", rows, scores, slices="domain")
    found.variants["p-conv"].overall["mcc"]     → Estimate(value=0.24, low=0.21, high=0.27, n=…)
    found.variants["p-conv"].strict["mcc"]      → the same with what is unscored taken as wrong
    found.variants["p-conv"].slices["College"]["mcc"]

Rows without a truth count nowhere but among the reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

from realtalk.errors import RealtalkError
from realtalk.evals.estimating import by_variant, estimate
from realtalk.evals.values import Row, Score
from realtalk.metrics.statistics import Estimate


@dataclass(frozen=True, slots=True)
class VariantScores:
    """One variant of a run. `unscored`, `untold` and `left_out` count rows by reason.

    `facts` is what the benchmark tells of the rows beside their scores.
    """

    rows: int
    scored: int
    groups: int
    overall: Mapping[str, Estimate]
    strict: Mapping[str, Estimate]
    slices: Mapping[str, Mapping[str, Estimate]]
    unscored: Mapping[str, int]
    untold: Mapping[str, int]
    left_out: Mapping[str, int]
    calls: int
    tokens_in: int
    tokens_out: int
    facts: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def told(self) -> int:
        """Rows with a truth."""
        return self.rows - sum(self.untold.values())


@dataclass(frozen=True, slots=True)
class Summary:
    """A run's figures. `about` says of what; `notes` is what a table made from it has to say."""

    name: str
    about: Mapping[str, str]
    variants: Mapping[str, VariantScores]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


Facts: TypeAlias = Callable[[Sequence[Row]], Mapping[str, float | None]]


def _no_facts(rows: Sequence[Row]) -> Mapping[str, float | None]:  # noqa: ARG001
    return {}


def summarise(
    name: str,
    rows: Sequence[Row],
    scores: Sequence[Score],
    *,
    slices: str = "",
    order: Sequence[str] = (),
    about: Mapping[str, str] | None = None,
    facts: Facts = _no_facts,
    notes: Sequence[str] = (),
) -> Summary:
    """Every variant that the rows have; `slices` names a column to look at apart."""
    if not rows:
        raise RealtalkError("no rows to score", where=name)
    found = {
        variant: _variant(kept, scores, slices, facts)
        for variant, kept in by_variant(rows, order).items()
    }
    return Summary(name, dict(about or {}), found, tuple(notes))


def _variant(
    rows: Sequence[Row], scores: Sequence[Score], slices: str, facts: Facts
) -> VariantScores:
    told = [row for row in rows if row["untold"] is None]
    good = [row for row in told if row["unscored"] is None]
    overall = estimate(told, scores)
    # Where nothing is unscored, strict is the same: no need to draw again.
    strict = overall if len(good) == len(told) else estimate(told, scores, strict=True)
    names = sorted({row[slices] for row in told}) if slices else []
    return VariantScores(
        rows=len(rows),
        scored=len(good),
        groups=len({row["group"] for row in told}),
        overall=overall,
        strict=strict,
        slices={
            name: estimate([row for row in told if row[slices] == name], scores) for name in names
        },
        unscored=_counted(row["unscored"] for row in told),
        untold=_counted(row["untold"] for row in rows),
        left_out=_counted(reason for row in good for reason in row["left_out"]),
        calls=sum(row["calls"] for row in rows),
        tokens_in=sum(row["tokens_in"] for row in rows),
        tokens_out=sum(row["tokens_out"] for row in rows),
        facts=facts(told),
    )


def _counted(reasons: Iterable[str | None]) -> dict[str, int]:
    return dict(Counter(reason for reason in reasons if reason).most_common())
