"""The same samples answered twice → what differs, by how much, and whether beyond chance.

    compare(mean_rows, regression_rows, benchmark.scores, ("mean", "regression"))
    → Compared(("mean", "regression"), {"mcc": Change(n=160, groups=18, first=0.1, second=0.3,
               difference=Estimate(…), relative=Estimate(…), p=0.02, p_holm=0.06), …}, …)

Only samples that both sides have count, and of them only those that a score applies to on both.
A score that no pair has is left out.
Intervals draw whole groups, the test swaps the sides of whole groups, Holm's correction is over
the scores of a family. `strict` takes what is unscored as wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from realtalk.errors import RealtalkError
from realtalk.evals.estimating import paired_lines, shared_parts
from realtalk.evals.values import Row, Score
from realtalk.metrics.grouped import FEWEST_GROUPS, Change, grouped_changes
from realtalk.metrics.statistics import holm

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


def _changes(
    pairs: Sequence[tuple[Row, Row]], scores: Sequence[Score], *, strict: bool
) -> dict[str, Change]:
    before, after = [first for first, _ in pairs], [second for _, second in pairs]
    changes: dict[str, Change] = {}
    for parts, sharing in shared_parts(scores, strict=strict):
        figures = {score.name: score.figure for score in sharing}
        first_lines, second_lines, groups = paired_lines(before, after, parts)
        changes |= grouped_changes(
            first_lines, second_lines, groups, figures, whole=sharing[0].whole
        )
    ordered = {score.name: changes[score.name] for score in scores if score.name in changes}
    ordered = {name: change for name, change in ordered.items() if change.n}
    family = {score.name: score.family for score in scores}
    for group in dict.fromkeys(family[name] for name in ordered):
        members = [name for name in ordered if family[name] == group]
        corrected = holm([ordered[name].p for name in members])
        for name, p in zip(members, corrected, strict=True):
            ordered[name] = replace(ordered[name], p_holm=p)
    return ordered
