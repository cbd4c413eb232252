"""The rows of one variant of a run → its figures, over all and slice by slice.

    scores = summarise(rows, benchmark.scores, slices="domain")
    scores.overall["mcc"]     → Estimate(value=0.24, low=0.21, high=0.27, n=…)
    scores.strict["mcc"]      → the same with what is unscored taken as wrong
    scores.slices["College"]["mcc"]

Rows without a truth count nowhere but among the reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from realtalk.evals.estimating import estimate
from realtalk.evals.values import COUNTS, Fact, Row, Score, by_column
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
    facts: Mapping[str, Fact] = field(default_factory=dict)

    @property
    def with_truth(self) -> int:
        """Rows with a truth."""
        return self.rows - sum(self.untold.values())

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def summarise(
    rows: Sequence[Row],
    scores: Sequence[Score],
    *,
    slices: str = "",
    averages: Mapping[str, Sequence[Score]] | None = None,
    facts: Mapping[str, Fact] | None = None,
) -> VariantScores:
    """Figures over all rows; of every value of the column `slices`; and by other `averages`."""
    true = [row for row in rows if row["untold"] is None]
    good = [row for row in true if row["unscored"] is None]
    overall = estimate(true, scores)
    parts = by_column(true, slices) if slices else {}
    return VariantScores(
        rows=len(rows),
        scored=len(good),
        groups=len({row["group"] for row in true}),
        overall=overall,
        # Where nothing is unscored, strict is the same: no need to draw again.
        strict=overall if len(good) == len(true) else estimate(true, scores, strict=True),
        slices={
            **{name: estimate(true, others) for name, others in (averages or {}).items()},
            **{name: estimate(parts[name], scores) for name in sorted(parts)},
        },
        unscored=_count_reasons(row["unscored"] for row in true),
        untold=_count_reasons(row["untold"] for row in rows),
        left_out=_count_reasons(reason for row in good for reason in row["left_out"]),
        facts=facts or {},
        **{name: sum(row[name] for row in rows) for name in COUNTS},
    )


def _count_reasons(reasons: Iterable[str | None]) -> dict[str, int]:
    return dict(Counter(reason for reason in reasons if reason).most_common())
