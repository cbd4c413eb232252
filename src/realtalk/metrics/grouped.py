"""Rows in groups → figures made of sums, with intervals that draw whole groups.

    parts = np.array([[1, 1], [0, 1], [1, 1]])          # one line per row: what is summed
    grouped_estimates(parts, ["ann", "ann", "bo"], {"share": ratio})
    → {"share": Estimate(value=0.67, low=0.33, high=1.0, n=3)}
    grouped_changes(before, after, users, {"share": ratio})
    → {"share": Change(n=3, groups=2, first=0.33, second=0.67, difference=Estimate(…),
                       relative=Estimate(…), p=0.5)}

Rows of one person are alike, so persons are drawn, not rows. Accuracy, F1, MCC, RMSE, a mean and
a correlation are all functions of sums: a thousand draws are then one matrix product.

What several raters say of the same units → how far they agree beyond chance.

    krippendorff_alpha([["a", "a"], ["a", "b", "a"], ["b", "b"]])
    → Estimate(value=0.43, low=…, high=…, n=3, left_out=0)

Krippendorff's alpha for names (nominal): 1 is full agreement, 0 what chance gives. Any number of
raters may rate any number of units; a unit that fewer than two rated is left out. The interval
draws units.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from realtalk.metrics.statistics import (
    RESAMPLES,
    SEED,
    Array,
    Estimate,
    percentile_interval,
    quotient,
)

Figure: TypeAlias = Callable[[Array], Array]  # sums of the parts on the last axis → the figure

_SWAPS = 9999
_EXACT = 12  # units; every way of swapping so many is tried
_AT_ONCE = 1 << 22  # numbers drawn at a time
FEWEST_GROUPS = 5  # below, drawing whole groups says little about their spread


@dataclass(frozen=True, slots=True)
class Change:
    """The second side against the first on the same rows.

    `relative` is the second divided by the first, less 1: "198 %" is 1.98. `p` comes from
    swapping the two sides of whole groups, in every way where there are few; None where there are
    too few to tell. `p_holm` is corrected by whoever knows which figures belong together.
    """

    n: int
    groups: int
    first: float | None
    second: float | None
    difference: Estimate
    relative: Estimate
    p: float | None
    p_holm: float | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def ratio(sums: Array) -> Array:
    """The first sum divided by the second: a mean, where the second counts rows."""
    return quotient(sums[..., 0], sums[..., 1])


def grouped_estimates(
    parts: Array,
    groups: Sequence[str],
    figures: Mapping[str, Figure],
    *,
    left_out: int = 0,
    whole: bool = False,
) -> dict[str, Estimate]:
    """Each figure over all rows, with its interval. `left_out` rows are counted, not scored.

    `whole` draws groups however few there are.
    """
    n = len(groups)
    if not n:
        nothing = Estimate(None, left_out=left_out, unscored="nothing to score")
        return dict.fromkeys(figures, nothing)
    sums = _by_group(parts, groups, whole)
    resamples = drawn_sums([sums])[0]
    estimates = {}
    for name, figure in figures.items():
        value = _finite(figure(parts.sum(axis=0)))
        if value is None:
            reason = "it has no value on these rows"
            estimates[name] = Estimate(None, n=n, left_out=left_out, unscored=reason)
            continue
        estimates[name] = Estimate(value, *percentile_interval(figure(resamples)), n, left_out)
    return estimates


def grouped_changes(
    first: Array,
    second: Array,
    groups: Sequence[str],
    figures: Mapping[str, Figure],
    *,
    whole: bool = False,
) -> dict[str, Change]:
    """The same rows scored twice: difference and ratio of each figure, with intervals and p.

    `whole` draws and swaps groups however few there are.
    """
    n = len(groups)
    if not len(first) == len(second) == n:
        raise ValueError(f"{len(first)} rows against {len(second)} in {n} groups")
    if not n:
        nothing = Estimate(None, unscored="no row has both")
        return dict.fromkeys(figures, Change(0, 0, None, None, nothing, nothing, None))
    a, b = _by_group(first, groups, whole), _by_group(second, groups, whole)
    resamples = drawn_sums([a, b])
    swapped = _swap_units(a, b)
    group_count = len(dict.fromkeys(groups))
    changes = {}
    for name, figure in figures.items():
        first_value, second_value = (_finite(figure(side.sum(axis=0))) for side in (a, b))
        if first_value is None or second_value is None:
            nothing = Estimate(None, n=n, unscored="one side has no value")
            changes[name] = Change(
                n, group_count, first_value, second_value, nothing, nothing, None
            )
            continue
        before, after = (figure(side) for side in resamples)
        difference = Estimate(second_value - first_value, *percentile_interval(after - before), n)
        relative = Estimate(None, n=n, unscored="the first side is not above 0")
        if first_value > 0:
            # A draw whose first side is at or below 0 has no share to speak of.
            shares = percentile_interval(quotient(after, before) - 1)
            relative = Estimate(second_value / first_value - 1, *shares, n)
        # Rows of a few groups are alike: swapping them one by one would make chance look small.
        testable = len(a) >= 2 and (whole or group_count >= FEWEST_GROUPS)
        p = _p(abs(second_value - first_value), figure, swapped) if testable else None
        changes[name] = Change(n, group_count, first_value, second_value, difference, relative, p)
    return changes


def _finite(value: Array) -> float | None:
    return float(value) if np.isfinite(value) else None


def _by_group(parts: Array, groups: Sequence[str], whole: bool) -> Array:
    """Sums per group; single rows where there are too few groups to draw from."""
    if len(set(groups)) < FEWEST_GROUPS and not whole:
        return np.asarray(parts, dtype=np.float64)
    return group_sums(parts, groups)


def group_sums(parts: Array, groups: Sequence[str]) -> Array:
    """One line per group, in the order of their first rows."""
    names = {name: place for place, name in enumerate(dict.fromkeys(groups))}
    sums = np.zeros((len(names), parts.shape[1]))
    np.add.at(sums, [names[name] for name in groups], parts)
    return sums


def drawn_sums(sides: Sequence[Array]) -> list[Array]:
    """The sums of each draw; the same units are drawn on every side. No draw of a single unit."""
    units = len(sides[0])
    if units < 2:
        return [np.empty((0, side.shape[1])) for side in sides]
    shares = np.full(units, 1 / units)
    generator = np.random.default_rng(SEED)
    parts: list[list[Array]] = [[] for _ in sides]
    step = max(1, _AT_ONCE // units)
    for start in range(0, RESAMPLES, step):
        size = min(step, RESAMPLES - start)
        times = generator.multinomial(units, shares, size).astype(np.float64)
        for blocks, side in zip(parts, sides, strict=True):
            blocks.append(times @ side)
    return [np.concatenate(blocks) for blocks in parts]


def _swap_units(a: Array, b: Array) -> tuple[Array, Array]:
    """Both sides' sums after swapping whole units: in every way, or of many in random ones."""
    change = b - a
    moved = change[change.any(axis=1)]
    if len(moved) <= _EXACT:
        ways = np.arange(2 ** len(moved))[:, None] >> np.arange(len(moved)) & 1
        moves = ways.astype(np.float64) @ moved
    else:
        generator = np.random.default_rng(SEED)
        carried = []
        step = max(1, _AT_ONCE // len(moved))
        for start in range(0, _SWAPS, step):
            size = min(step, _SWAPS - start)
            swap = generator.integers(0, 2, (size, len(moved)), dtype=np.int8)
            carried.append(swap.astype(np.float64) @ moved)
        moves = np.concatenate(carried)
    return a.sum(axis=0) + moves, b.sum(axis=0) - moves


def _p(seen: float, figure: Figure, swapped: tuple[Array, Array]) -> float | None:
    """How often chance alone makes the two sides differ as much."""
    before, after = (figure(side) for side in swapped)
    apart = np.abs(after - before)
    apart = apart[np.isfinite(apart)]
    if not apart.size:
        return None
    # A hair less, so that the same sums in another order count as the same. How much a sum can
    # be off grows with what is summed: an RMSE of votes runs into thousands.
    hair = 1e-12 * max(1.0, float(np.max(np.abs(before), initial=0.0, where=np.isfinite(before))))
    as_much = int((apart >= seen - hair).sum())
    if len(before) != _SWAPS:
        return as_much / apart.size  # every way was tried, that which was seen among them
    return (as_much + 1) / (apart.size + 1)


def krippendorff_alpha(units: Sequence[Sequence[Hashable]]) -> Estimate:
    """The agreement over units, each of which is what its raters say."""
    rated = [Counter(unit) for unit in units if len(unit) > 1]
    left_out = len(units) - len(rated)
    if not rated:
        return Estimate(None, left_out=left_out, unscored="no unit has two raters")
    values = list(dict.fromkeys(value for unit in rated for value in unit))
    # What is summed over units: disagreement, then how often each value is given.
    lines = np.array(
        [[_apart(unit), *(unit[value] for value in values)] for unit in rated], np.float64
    )
    value = float(_alpha(lines.sum(axis=0)))
    if not np.isfinite(value):
        return Estimate(None, n=len(rated), left_out=left_out, unscored="only one value is given")
    interval = percentile_interval(_alpha(drawn_sums([lines])[0]))
    return Estimate(value, *interval, len(rated), left_out)


def _apart(unit: Counter[Hashable]) -> float:
    """Pairs of raters who differ, each rating weighing the same whatever the unit's number."""
    raters = unit.total()
    return (raters**2 - sum(count**2 for count in unit.values())) / (raters - 1)


def _alpha(sums: Array) -> Array:
    counts = sums[..., 1:]
    total = counts.sum(axis=-1)
    expected = (total**2 - (counts**2).sum(axis=-1)) / (total - 1)
    return 1 - quotient(sums[..., 0], expected)
