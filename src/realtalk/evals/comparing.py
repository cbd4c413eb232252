"""The same samples answered twice → what differs, by how much, and whether beyond chance.

    compare(mean_rows, regression_rows, benchmark.scores, ("mean", "regression"))
    → Compared(("mean", "regression"), {"mcc": Change(n=160, groups=18, first=0.1, second=0.3,
               difference=Estimate(…), relative=Estimate(…), p=0.02, p_holm=0.06), …}, …)

Only samples that both sides have count, and of them only those that a score applies to on both.
A score that no pair has is left out.
A gate holds one score of a new run against the one that it would replace: it fails where more is
lost than allowed and the loss is beyond chance.

    gate(new, base, "any@5", drop=0.02).passed     → False

Intervals draw whole groups, the test swaps the sides of whole groups, Holm's correction is over
the scores of a family. `strict` takes what is unscored as wrong.

Rows and scores → figures with intervals that draw whole groups.

    estimate(rows, scores)["f1"]          → Estimate(value=0.21, low=0.18, high=0.25, n=728)
    estimate(rows, scores, strict=True)   → the same, unscored rows taken as wrong
    average([0.2, 0.4, None, 0.9])        → Average(value=0.5, sd=0.36, low=0.2, high=0.9, n=3)

Scores that share their parts are drawn together. A row that a score does not apply to is left
out and counted. A proportion has Wilson's interval where draws tell too little: over the groups
where all of them agree, and over the rows where there are too few groups to be drawn. A score
that only a group alone has is averaged over groups, as papers average over people.

The rows of one variant of a run → its figures, over all and slice by slice.

    scores = summarise(rows, benchmark.scores, slices="domain")
    scores.overall["mcc"]     → Estimate(value=0.24, low=0.21, high=0.27, n=…)
    scores.strict["mcc"]      → the same with what is unscored taken as wrong
    scores.slices["College"]["mcc"]

Rows without a truth count nowhere but among the reasons.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.evals.values import COUNTS, Fact, Pairs, Parts, Row, Score, by_column, column
from realtalk.grouping import grouped
from realtalk.metrics.statistics import (
    FEWEST_GROUPS,
    Array,
    Change,
    Estimate,
    Truth,
    bootstrap_interval,
    grouped_changes,
    grouped_estimates,
    holm,
    interval_after,
    wilson,
)
from realtalk.registry import known_name

if TYPE_CHECKING:
    from realtalk.evals.run import Run


@dataclass(frozen=True, slots=True)
class Average(Estimate):
    """Over `n` groups that count the same. Without deviation and interval where there is one."""

    sd: float | None = None


def average(values: Iterable[float | None], left_out: int = 0) -> Average:
    """The mean over groups; those without a figure do not count."""
    numbers = [value for value in values if value is not None]
    if not numbers:
        return Average(None, left_out=left_out)
    mean = float(np.mean(numbers))
    if len(numbers) < 2:
        return Average(mean, n=len(numbers), left_out=left_out)
    low, high = bootstrap_interval((numbers,), np.mean)
    return Average(mean, low, high, len(numbers), left_out, sd=float(np.std(numbers, ddof=1)))


def shared_parts(
    scores: Sequence[Score], *, strict: bool = False
) -> Iterator[tuple[Parts, list[Score]]]:
    """Scores in groups that are made from the same sums."""
    own = ((score.strict if strict else score.parts, score) for score in scores)
    yield from grouped(
        (parts or column(score.name), score) for parts, score in own if parts or not strict
    ).items()


def estimate(
    rows: Sequence[Row], scores: Sequence[Score], *, strict: bool = False
) -> dict[str, Estimate]:
    """Each score over the rows, in the order of `scores`."""
    figures: dict[str, Estimate] = {}
    if not strict:
        figures = {score.name: _of_groups(rows, score.alone) for score in scores if score.alone}
    summed = [score for score in scores if score.alone is None]
    for parts, sharing in shared_parts(summed, strict=strict):
        lines = parts(rows)
        whole = whole_lines(lines)
        groups = [row["group"] for row, keep in zip(rows, whole, strict=True) if keep]
        estimates = grouped_estimates(
            lines[whole],
            groups,
            {score.name: score.figure for score in sharing},
            left_out=len(rows) - len(groups),
            whole=sharing[0].whole,
        )
        for score in sharing:
            figures[score.name] = _proportion(score, estimates[score.name], lines[whole], groups)
    return {score.name: figures[score.name] for score in scores if score.name in figures}


def _of_groups(rows: Sequence[Row], alone: Callable[[Sequence[Row]], Estimate]) -> Estimate:
    figures = [alone(own) for own in by_column(rows, "group").values()]
    if len(figures) == 1:
        return figures[0]
    left_out = sum(figure.left_out for figure in figures)
    return average((figure.value for figure in figures), left_out)


def whole_lines(lines: Array) -> Truth:
    """Which rows a score applies to."""
    return np.asarray(np.isfinite(lines).all(axis=1))


def _proportion(score: Score, estimate: Estimate, lines: Array, groups: Sequence[str]) -> Estimate:
    """With Wilson's interval where draws cannot tell how uncertain a proportion is."""
    if not score.proportion or estimate.value is None:
        return estimate
    count = len(set(groups))
    if count >= FEWEST_GROUPS or score.whole:  # groups were drawn
        values = [estimate.value] * count
        if estimate.value not in (0, 1):
            return estimate
    else:
        values = [float(score.figure(line)) for line in lines]
        if not {0.0, 1.0}.issuperset(values):
            return estimate
    low, high = wilson(values)
    return replace(estimate, low=low, high=high)


def paired_lines(pairs: Pairs, parts: Parts) -> tuple[Array, Array, list[str]]:
    """The lines of rows that both sides have, and their groups."""
    first, second = (parts([pair[side] for pair in pairs]) for side in (0, 1))
    whole = whole_lines(first) & whole_lines(second)
    if whole.all():
        return first, second, [row["group"] for row, _ in pairs]
    # What a row weighs may depend on which others of its group count.
    return paired_lines([pair for pair, keep in zip(pairs, whole, strict=True) if keep], parts)


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


_SMALL_P = 0.05


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The second side against the first.

    `alone` counts the samples that only the first or only the second side has: they are left out.
    `further` is what the benchmark tells beside the changes.
    """

    names: tuple[str, str]
    changes: Mapping[str, Change]
    strict: Mapping[str, Change]
    alone: tuple[int, int] = (0, 0)
    further: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


Verdict = Literal["passed", "within chance", "failed"]
_EQUAL = 1e-9  # of two figures that were added up in another order


@dataclass(frozen=True, slots=True)
class Gate:
    """Whether a new run may take the place of a base, by one score in every variant of both.

    A loss of at most `drop` passes. A larger one fails only where the whole 95 % interval is a
    loss: else it is within chance, and passes.
    """

    score: str
    drop: float
    better: int  # -1 where less is better
    names: tuple[str, str]  # of the base and of the new run
    changes: Mapping[str, Change]

    def verdict(self, variant: str) -> Verdict:
        difference = self.changes[variant].difference
        # The least that is lost, as far as the interval allows.
        bound = difference.high if self.better > 0 else difference.low
        if difference.value is None or -self.better * difference.value <= self.drop + _EQUAL:
            return "passed"
        return "failed" if bound is not None and -self.better * bound > _EQUAL else "within chance"

    @property
    def passed(self) -> bool:
        return all(self.verdict(variant) != "failed" for variant in self.changes)

    @property
    def lines(self) -> list[str]:
        """What is found, a line per variant."""
        lines = []
        for variant, change in self.changes.items():
            span = interval_after(change.difference, "{:+.3f}".format)
            where = f" at {variant}" if variant else ""
            lines.append(
                f"{self.verdict(variant)}: {self.score}{where} {change.first:.3f} → "
                f"{change.second:.3f}, difference {change.difference.value:+.3f}{span}; allowed "
                f"drop {self.drop:g}, n={change.n:,} of {change.groups:,} groups"
            )
        return lines

    def to_json(self) -> dict[str, Any]:
        return {
            **{"passed": self.passed, "score": self.score, "drop": self.drop},
            **dict(zip(("base", "new"), self.names, strict=True)),
            "variants": {
                variant: {"verdict": self.verdict(variant), **change.to_json()}
                for variant, change in self.changes.items()
            },
        }


def gate(new: Run, base: Run, score: str, drop: float, variant: str | None = None) -> Gate:
    """Whether a run may take the base's place: by one score, losing `drop` at most."""
    directed = {each.name: each for each in base.scores if each.better}
    known_name("score of the run", score, directed)
    if not 0 <= drop < math.inf:
        raise RealtalkError(f"`drop=` must be 0 or more, not {drop:g}")
    names = (base.name, new.name)
    compared = base.changes(new, variant, names, only=score)
    changes = {name: each.changes[score] for name, each in compared.items() if each.changes}
    if not changes:
        raise RealtalkError(f"no {base.benchmark.sample} of both runs has a {score}")
    return Gate(score, drop, directed[score].better, names, changes)


def compare(
    first: Sequence[Row],
    second: Sequence[Row],
    scores: Sequence[Score],
    names: tuple[str, str] = ("first", "second"),
    what: str = "sample",
) -> RunComparison:
    """Rows of one variant on either side; `what` a sample is called, for errors."""
    shared = match_rows(first, second)
    pairs = [pair for pair in shared if all(row["untold"] is None for row in pair)]
    if not pairs:
        raise RealtalkError(
            f"{names[0]} and {names[1]} share no {what}",
            fix="compare runs of one corpus with the same settings, limit and seed",
        )
    changes = _changes(pairs, scores, strict=False)
    strict = changes
    if any(row["unscored"] is not None for pair in pairs for row in pair):
        strict = _changes(pairs, scores, strict=True)
    alone = (len(first) - len(shared), len(second) - len(shared))
    return RunComparison(names, changes, strict, alone)


def comparison_notes(compared: RunComparison, groups: str) -> list[str]:
    """What a table of differences has to say; `groups` is what they are called: chats, users."""
    counts = [change.groups for change in compared.changes.values() if change.n]
    few = sum(count < FEWEST_GROUPS for count in counts)
    notes = []
    if few:
        notes.append(
            f"fewer than {FEWEST_GROUPS} {groups} for {few} of {len(counts)} scores: the "
            "intervals draw rows, and whether the difference holds for other "
            f"{groups} cannot be told"
        )
    least = min((count for count in counts if count >= FEWEST_GROUPS), default=0)
    if least and 2 ** (1 - least) > _SMALL_P:
        notes.append(f"{least} {groups} cannot give a p below {2 ** (1 - least):.3f}")
    return notes


def match_rows(first: Sequence[Row], second: Sequence[Row]) -> list[tuple[Row, Row]]:
    """The rows of samples that both sides have, in the order of the first."""
    others = {(row["group"], row["sample"]): row for row in second}
    return [(row, others[key]) for row in first if (key := (row["group"], row["sample"])) in others]


def _changes(pairs: Pairs, scores: Sequence[Score], *, strict: bool) -> dict[str, Change]:
    changes: dict[str, Change] = {}
    for parts, sharing in shared_parts(scores, strict=strict):
        figures = {score.name: score.figure for score in sharing}
        lines = paired_lines(pairs, parts)
        changes |= grouped_changes(*lines, figures, whole=sharing[0].whole)
    ordered = {score.name: changes[score.name] for score in scores if score.name in changes}
    ordered = {name: change for name, change in ordered.items() if change.n}
    family = {score.name: score.family for score in scores}
    for group in dict.fromkeys(family[name] for name in ordered):
        members = [name for name in ordered if family[name] == group]
        corrected = holm([ordered[name].p for name in members])
        for name, p in zip(members, corrected, strict=True):
            ordered[name] = replace(ordered[name], p_holm=p)
    return ordered
