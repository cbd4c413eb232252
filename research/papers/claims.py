"""What PersonaConvBench claims → what predictions of its tasks say of each claim.

    compared = settings_compared(rows, "sentiment")
    compared["p-nonconv", "p-conv"]["mcc"].p_holm    → 0.03, over all pairs of settings and scores
    judge_claim(CLAIMS[2], compared).verdict         → "holds"
    gained_more(clean, released, "sentiment", ("p-nonconv", "p-conv"))["mcc"]
    → Estimate(…): how much more the conversation gives where the leaks are on

The paper's main table prints five models with the conversation and without it. That the person's
own history helps is said in its abstract alone. A claim holds where the difference is on its side
beyond chance: its interval, which draws whole users, leaves 0 out, and so does the test, which
swaps whole users and is corrected over everything that is tested of a task.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from realtalk.evals.comparing import compare, match_rows, paired_lines, shared_parts
from realtalk.evals.tables import better_side
from realtalk.evals.values import Row, by_column
from realtalk.metrics.statistics import (
    Array,
    Change,
    Estimate,
    drawn_sums,
    holm,
    percentile_interval,
)
from realtalk.threads.published import TABLE, published_gain
from realtalk.threads.scoring import SCORES, scores_of
from realtalk.threads.values import SETTINGS, TASKS, Task
from research.papers.shared_rows import SHARED_SCORES

Pair: TypeAlias = tuple[str, str]  # settings; the second is against the first
Changes: TypeAlias = Mapping[str, Change]  # by score
ClaimVerdict: TypeAlias = Literal[
    "holds", "in part", "not beyond chance", "the other way", "not made"
]

TALK: Pair = ("p-nonconv", "p-conv")
PERSON: Pair = ("np-conv", "p-conv")
# Settings that differ in one thing: the conversation, or whose history it is.
PAIRS: tuple[Pair, ...] = (TALK, ("np-nonconv", "np-conv"), PERSON, ("np-nonconv", "p-nonconv"))


@dataclass(frozen=True, slots=True)
class Claim:
    """The second of two settings is better than the first, by every score that is named.

    `gain` is by how much at least, relative to the first, where the paper says so.
    """

    says: str
    task: Task
    scores: tuple[str, ...]
    pair: Pair
    gain: float | None = None


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with the differences it is judged by."""

    claim: Claim
    changes: Changes
    verdict: ClaimVerdict


def _claims() -> Iterator[Claim]:
    for task in TASKS:
        printed = [score for score in scores_of(task) if score.published]
        for score in printed:
            says = f"{task.replace('_', ' ')}: {score.title} is better with the conversation"
            yield Claim(says, task, (score.name,), TALK)
        if task == "sentiment":
            gain = published_gain("GPT-4.1", "mcc")
            yield Claim("sentiment: by 198 % in MCC", task, ("mcc",), TALK, gain)
    for task in TASKS:
        names = tuple(score.name for score in scores_of(task) if score.published)
        says = f"{task.replace('_', ' ')}: the person's own history helps"
        yield Claim(says, task, names, PERSON)


CLAIMS: tuple[Claim, ...] = tuple(_claims())


def printed(claim: Claim) -> str:
    """What the paper prints for it."""
    if claim.pair != TALK:
        return "no figure (abstract)"
    column = SCORES[claim.scores[0]].published
    if claim.gain is not None:
        best = max(model["p-nonconv"][column] for model in TABLE.values())
        over = max(model["p-conv"][column] for model in TABLE.values()) / best - 1
        return f"{claim.gain:+.0%} over itself, {over:+.0%} over the best without"
    gains = [published_gain(model, column) for model in TABLE]
    better = sum(gain * SCORES[claim.scores[0]].better > 0 for gain in gains)
    ends = sorted((min(gains), max(gains)), key=abs)
    return f"{better} of {len(gains)} models, {ends[0]:+.0%} to {ends[1]:+.0%}"


def settings_compared(rows: Sequence[Row], task: Task) -> dict[Pair, Changes]:
    """Pairs of settings that differ in one thing, corrected over all of them and all scores."""
    found = by_column(rows, "variant", SETTINGS)
    changes = {
        pair: compare(
            found[pair[0]], found[pair[1]], SHARED_SCORES[task], names=pair, what="reply"
        ).changes
        for pair in PAIRS
        if pair[0] in found and pair[1] in found
    }
    places = [(pair, name) for pair, each in changes.items() for name in each]
    corrected = holm([changes[pair][name].p for pair, name in places])
    made: dict[Pair, dict[str, Change]] = {pair: {} for pair in changes}
    for (pair, name), p in zip(places, corrected, strict=True):
        made[pair][name] = replace(changes[pair][name], p_holm=p)
    return dict(made)


def judge_claim(claim: Claim, compared: Mapping[Pair, Changes] | None) -> JudgedClaim:
    """By the differences between settings of its task; None where the task was not predicted."""
    every = (compared or {}).get(claim.pair, {})
    changes = {name: every[name] for name in claim.scores if name in every}
    known = {name: each for name, each in changes.items() if each.difference.value is not None}
    if not known:
        return JudgedClaim(claim, changes, "not made")
    sides = [better_side(SCORES[name], each, claim.pair) for name, each in known.items()]
    right, wrong = (sides.count(setting) for setting in claim.pair[::-1])
    verdict: ClaimVerdict = "not beyond chance"
    if right == len(sides):
        verdict = "holds" if _large_enough(claim, known) else "in part"
    elif right:
        verdict = "in part"
    elif wrong:
        verdict = "the other way"
    return JudgedClaim(claim, changes, verdict)


def _large_enough(claim: Claim, changes: Changes) -> bool:
    """Whether the interval of the relative change reaches what the paper says."""
    if claim.gain is None:
        return True
    highs = [each.relative.high for each in changes.values()]
    return all(high is not None and high >= claim.gain for high in highs)


def gained_more(
    clean: Sequence[Row], leaky: Sequence[Row], task: Task, pair: Pair
) -> dict[str, Estimate]:
    """The gain of a setting under leaky rules less that under clean ones; whole users are drawn.

    The replies are others, people may be the same: those are drawn for both at once.
    """
    halves = [_answered(rows, pair) for rows in (clean, leaky)]
    estimates: dict[str, Estimate] = {}
    for parts, sharing in shared_parts(SHARED_SCORES[task]):
        sides: list[tuple[Array, list[str]]] = []
        for pairs in halves:
            one, other, groups = paired_lines(pairs, parts)
            sides += [(one, groups), (other, groups)]
        people = {name: at for at, name in enumerate(dict.fromkeys(sides[0][1] + sides[2][1]))}
        sums = [np.zeros((len(people), lines.shape[1])) for lines, _ in sides]
        for made, (lines, groups) in zip(sums, sides, strict=True):
            np.add.at(made, [people[name] for name in groups], lines)
        drawn = drawn_sums(sums)
        n = len(sides[0][1]) + len(sides[2][1])
        for score in sharing:
            more = _more([score.figure(each.sum(axis=0)) for each in sums])
            if not np.isfinite(more):
                estimates[score.name] = Estimate(None, n=n, unscored="one side has no value")
                continue
            interval = percentile_interval(_more([score.figure(each) for each in drawn]))
            estimates[score.name] = Estimate(float(more), *interval, n)
    return estimates


def _answered(rows: Sequence[Row], pair: Pair) -> list[tuple[Row, Row]]:
    """Replies that both settings have an answer for."""
    found = by_column(rows, "variant", SETTINGS)
    both = match_rows(found.get(pair[0], []), found.get(pair[1], []))
    return [each for each in both if all(row["unscored"] is None is row["untold"] for row in each)]


def _more(figures: Sequence[Array]) -> Array:
    """Second less first of the second half, less the same of the first half."""
    gain: Array = (figures[3] - figures[2]) - (figures[1] - figures[0])
    return gain
