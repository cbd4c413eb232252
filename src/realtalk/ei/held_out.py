"""The people of chats on two sides → folds in which nobody stands on both sides of the border.

    circles([{"mara", "theo"}, {"ines"}, {"theo", "juno"}])     → [0, 1, 0]
    folds, learned = hold_out(people, sides, sizes)
    folds, learned[0]     → [0, 1, 0, 1], [False, True, False, True]: chats that fold 0 learns from

A person is one over both sides, as they write and as a model writes them.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from realtalk.chat import Chat, is_nobody, person_key

_FOLDS = 5


def person_keys(chat: Chat) -> frozenset[str]:
    """Who writes in a chat or is written as; accounts that are gone are nobody."""
    return frozenset(person_key(who) for who in chat.speakers if not is_nobody(who))


def circles(people: Sequence[frozenset[Hashable]]) -> list[int]:
    """The people of every chat → its circle: who shares a chat, directly or through others."""
    circle = list(range(len(people)))
    home: dict[Hashable, int] = {}
    for at, those in enumerate(people):
        for who in those:
            other, mine = circle[home.setdefault(who, at)], circle[at]
            circle = [other if each == mine else each for each in circle]
    return circle


def hold_out(
    people: Sequence[frozenset[str]], sides: Any, sizes: Sequence[int]
) -> tuple[Any, list[Any]]:
    """The fold of every chat, and by fold which chats may be learned from.

    Where everybody knows everybody through others, chats are held out with whoever is in them: a
    fold leaves fewer chats to learn from, and where none are left on a side it is not asked.
    """
    folds = _folds(circles(people), sides, sizes)
    found = np.full(len(people), -1)
    learned: list[Any] = []
    for fold in range(int(folds.max()) + 1):
        asked = folds == fold
        known = frozenset(who for at, those in enumerate(people) if asked[at] for who in those)
        free = ~asked & np.array([known.isdisjoint(each) for each in people])
        if all(len(set(sides[which])) == 2 for which in (asked, free)):
            found[asked] = len(learned)
            learned.append(free)
    return found, learned


def _folds(circle: Sequence[int], sides: Any, sizes: Sequence[int]) -> Any:
    """Whole circles of people into folds of both sides and of like size, where there are enough."""
    groups: dict[int, list[int]] = {}
    for at, number in enumerate(circle):
        groups.setdefault(number, []).append(at)
    whose = {number: set(sides[group].tolist()) for number, group in groups.items()}
    on_both = sum(len(each) == 2 for each in whose.values())
    on_one = [sum(each == {side} for each in whose.values()) for side in (0, 1)]
    count = min(_FOLDS, on_both + min(on_one))
    folds = np.zeros(len(sides), dtype=np.int64)
    if count < 2:
        for side in (0, 1):  # neighbours together: chats of one circle mostly follow each other
            mine = np.flatnonzero(sides == side)
            folds[mine] = np.arange(len(mine)) * min(_FOLDS, *np.bincount(sides)) // len(mine)
        return folds
    filled = np.zeros((count, 2))
    # Circles on both sides first: what is on one side alone then fills the folds without that side.
    turns = {number: sum(sizes[at] for at in group) for number, group in groups.items()}
    for number in sorted(groups, key=lambda each: (-len(whose[each]), -turns[each], each)):
        emptiest = int(filled[:, sorted(whose[number])].sum(axis=1).argmin())
        for at in groups[number]:
            folds[at] = emptiest
            filled[emptiest, sides[at]] += sizes[at]
    return folds
