"""One printed result, ours and a dummy's → one of four words, by one rule.

    compare_numbers([30, 31], [30, 31]).word                          → "agrees"
    compare_column(printed, ours, chats).word                         → "agrees in order"
    compare_sentence([Effect(+0.04, clear=False)], "+.04").word       → "cannot be compared"
    ResultRow("Table 6, events", "44, 41, …", ours, dummy).word       → "agrees"

`RULE` is the rule in words, as the page prints it. The dummy knows what is not worth reproducing:
the printed mean of every chat (of a circle of friends, of a column), or a side that never changes.
It goes through the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial, prod
from typing import Any, Literal, TypeAlias

import numpy as np

from realtalk.metrics.statistics import Array

Word: TypeAlias = Literal["agrees", "agrees in order", "differs", "cannot be compared"]
WORDS: tuple[Word, ...] = ("agrees", "agrees in order", "differs", "cannot be compared")
ALPHA = 0.05
DUMMY_TOO = "a dummy gets this too"
_UNCLEAR = "not beyond chance here"
_MOST_ORDERS = 10_000  # more ways to swap speakers are drawn, not listed
_TINY = 1e-9
RULE = (
    "**Counts** (no model needed) *agree* where every number is as printed, or one unit of its "
    "last digit away. A column of counts that is not *agrees in order* by the next rule.",
    "**Columns** (a number per speaker, by our labels or our model) *agree in order* where they "
    "share at least half of the printed column's variance (r² ≥ .5), and where swapping the "
    "speakers inside each chat, in all ways, gives such an order in at most 5 % of the ways. "
    "They *agree* where they are also nearer to the printed numbers than the dummy's are. The "
    "dummy gives both partners of a chat the chat's printed mean. Where speakers have several "
    "chats (Table 8), circles of friends stand in the place of chats. The 5 % are not corrected "
    "for the number of columns: with nothing to find, one column in twenty would pass.",
    "**Sentences** (“A is more than B”) *agree* where every number behind them is on the paper's "
    "side beyond chance (p < .05, whole chats, speakers or users swapped, Holm's correction "
    "inside each table), and a size that the paper states lies in our 95 % interval. They *agree "
    "in order* where every number is on the paper's side, at least one of them beyond chance. "
    "They *cannot be compared* where nothing is beyond chance. Otherwise they *differ*. The "
    "dummy is a side that does not change, or a run of a program that knows nobody.",
    "**That nothing changes** *differs* where something changes beyond chance, else it *agrees*; a "
    "dummy that never changes gets that too.",
    f"A row that the dummy passes as well *cannot be compared*: {DUMMY_TOO}. So does what needs "
    "a model or data that we do not have. A dash is no dummy: the row is of single numbers of the "
    "corpus, or holds the paper against its own tables.",
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one side gets of a printed result: in words and by the rule."""

    text: str
    word: Word
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A printed result, ours, and the dummy's; without a dummy there is nothing it could say."""

    where: str
    says: str
    ours: Outcome
    dummy: Outcome | None = None

    @property
    def _is_trivial(self) -> bool:
        """Whether the dummy passes what we pass."""
        agreeing = WORDS[:2]
        return self.dummy is not None and self.ours.word in agreeing and self.dummy.word in agreeing

    @property
    def word(self) -> Word:
        return "cannot be compared" if self._is_trivial else self.ours.word

    @property
    def reason(self) -> str:
        return DUMMY_TOO if self._is_trivial else self.ours.reason

    @property
    def verdict(self) -> str:
        """The word, with the reason where there is one."""
        return f"{self.word}: {self.reason}" if self.reason else self.word

    def to_json(self) -> dict[str, Any]:
        return {
            "where": self.where,
            "paper": self.says,
            "ours": self.ours.text,
            "word": self.word,
            "reason": self.reason,
            "dummy": None if self.dummy is None else self.dummy.text,
            "dummy_word": None if self.dummy is None else self.dummy.word,
        }


def not_comparable(where: str, says: str, reason: str) -> ResultRow:
    """A result that nothing here can be set beside."""
    return ResultRow(where, says, Outcome("–", "cannot be compared", reason))


def compare_numbers(
    printed: Sequence[float],
    ours: Sequence[float | None],
    digits: int | None = None,
    text: str = "",
) -> Outcome:
    """Counts as printed, to a unit of the last digit; without `digits` they are not rounded."""
    known = [value for value in ours if value is not None]
    if len(known) < len(printed):
        return Outcome(text or "–", "cannot be compared", "not in the published files")
    # A hair more than the unit itself, which binary numbers do not hold exactly.
    unit = 0.0 if digits is None else 10**-digits * (1 + _TINY)
    same = sum(abs(a - b) <= unit for a, b in zip(printed, known, strict=True))
    text = text or f"{same} of {len(printed)} as printed"
    return Outcome(text, "agrees" if same == len(printed) else "differs")


def count_row(where: str, says: str, printed: Sequence[float], ours: Sequence[float]) -> ResultRow:
    """A column of counts, one per chat; the dummy gives every chat the printed mean."""
    alone = [""] * len(printed)
    mean = [float(np.mean(printed))] * len(printed)

    def outcome(values: Sequence[float]) -> Outcome:
        exact = compare_numbers(printed, values)
        if exact.word == "agrees":
            return exact
        order = compare_column(printed, values, alone)
        word: Word = "agrees in order" if order.word in WORDS[:2] else "differs"
        return Outcome(f"{exact.text}; {order.text}", word)

    return ResultRow(where, says, outcome(ours), outcome(mean))


def compare_column(
    printed: Sequence[float], ours: Sequence[float], groups: Sequence[str], digits: int = 2
) -> Outcome:
    """A number per speaker; `groups` are the chats, or whatever else the dummy knows."""
    theirs, mine = np.array(printed, dtype=np.float64), np.array(ours, dtype=np.float64)
    overall = correlation(theirs, mine)
    their_inside, my_inside = (values - group_means(values, groups) for values in (theirs, mine))
    within, p = correlation(their_inside, my_inside), order_p(their_inside, my_inside, groups)
    off, dummy_off = (
        float(np.abs(values - theirs).mean()) for values in (mine, group_means(theirs, groups))
    )
    ordered = overall is not None and overall > 0 and overall**2 >= 0.5 and p <= ALPHA
    word: Word = "differs"
    if ordered:
        word = "agrees" if off < dummy_off else "agrees in order"
    alone = len(set(groups)) == 1
    inner = "" if alone else f", inside {_number(within)} (p {p:.3f})"
    text = f"r {_number(overall)}{f' (p {p:.3f})' if alone else inner}, off by {off:.{digits}f}"
    return Outcome(text, word)


def column_row(
    where: str,
    says: str,
    printed: Sequence[float],
    ours: Sequence[float],
    groups: Sequence[str],
    digits: int = 2,
) -> ResultRow:
    """A column of ours and the dummy's, which knows the printed mean of every group."""
    means = group_means(np.array(printed, dtype=np.float64), groups).tolist()
    sides = (compare_column(printed, side, groups, digits) for side in (ours, means))
    return ResultRow(where, says, *sides)


@dataclass(frozen=True, slots=True)
class Effect:
    """A number behind a sentence: above 0 on the paper's side; `clear`: beyond chance."""

    toward: float
    clear: bool
    fits: bool = True  # whether a size that the paper states lies in the interval


def compare_sentence(effects: Sequence[Effect], text: str) -> Outcome:
    """A sentence that says which side has more."""
    if not any(effect.clear for effect in effects):
        return Outcome(text, "cannot be compared", _UNCLEAR)
    if any(effect.toward <= 0 for effect in effects):
        return Outcome(text, "differs")
    whole = all(effect.clear and effect.fits for effect in effects)
    return Outcome(text, "agrees" if whole else "agrees in order")


def compare_absence(effects: Sequence[Effect], text: str, *, gains_only: bool = False) -> Outcome:
    """A sentence that says that nothing changes, or that nothing gains."""
    moved = [effect for effect in effects if effect.clear]
    if gains_only:
        moved = [effect for effect in moved if effect.toward > 0]
    if not moved:
        return Outcome(text, "agrees")
    return Outcome(text, "differs", "here it gains" if gains_only else "here it changes")


NO_CHANGE = Effect(0.0, clear=False)


def still_dummy(text: str = "no difference") -> Outcome:
    """A dummy for a sentence: a side that never changes."""
    return compare_sentence([NO_CHANGE], text)


def correlation(first: Array, second: Array) -> float | None:
    """Pearson's r; None where one side never changes."""
    a, b = first - first.mean(), second - second.mean()
    width = float(np.sqrt((a @ a) * (b @ b)))
    return None if width <= _TINY * len(a) else float(a @ b) / width


def group_means(values: Array, groups: Sequence[str]) -> Array:
    """The mean of the speaker's group in the place of every speaker's own value."""
    names = np.array(groups)
    means: Array = np.array([values[names == name].mean() for name in names])
    return means


def order_p(printed: Array, ours: Array, groups: Sequence[str]) -> float:
    """In which share of the ways to swap speakers inside groups ours goes with print as well.

    Both sides are differences from their group's mean. All ways are taken where they are few.
    """
    names = np.array(groups)
    places = [np.flatnonzero(names == name) for name in dict.fromkeys(groups)]
    if float(np.ptp(ours)) <= _TINY:
        return 1.0
    reached = float(printed @ ours) - _TINY
    if prod(factorial(len(own)) for own in places) <= _MOST_ORDERS:
        # The products of one group in each of its orders; a way takes one order of each group.
        sums = [
            [float(printed[own] @ ours[list(order)]) for order in permutations(own)]
            for own in places
        ]
        return float(np.mean([sum(way) >= reached for way in product(*sums)]))
    rng = np.random.default_rng(0)
    hits = 1
    for _ in range(_MOST_ORDERS - 1):
        way = ours.copy()
        for own in places:
            way[own] = ours[rng.permutation(own)]
        hits += float(printed @ way) >= reached
    return hits / _MOST_ORDERS


def _number(value: float | None) -> str:
    return "none" if value is None else f"{value:.2f}"
