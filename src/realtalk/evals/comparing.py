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
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from realtalk.errors import RealtalkError
from realtalk.evals.estimating import paired_lines, shared_parts
from realtalk.evals.values import Pairs, Row, Score
from realtalk.metrics.grouped import FEWEST_GROUPS, Change, grouped_changes
from realtalk.metrics.statistics import holm, interval_after
from realtalk.registry import known_name

if TYPE_CHECKING:
    from realtalk.evals.run import Run

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
