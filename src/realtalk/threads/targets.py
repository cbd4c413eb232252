"""Everything that was written → the replies to ask about, split in time.

    chosen = choose(forest, "sentiment", CLEAN, limit=1000)
    chosen.rows, chosen.test     → [12, 31, 40, …], [False, False, True, …]
    chosen.skipped               → {"has no score": 4, "its user has fewer than 3": 31_204}

A reply is eligible whatever became of it: the draw of `limit` goes by a hash of seed and key.
Equal times are not before one another, so replies of one time are never on two sides of a split.

Which replies the released code asks about, and what it shows of them.

    one_a_thread(forest, eligible, "impact")   → rows: each post author's most extreme reply
    without_lower_half(forest, rows)           → without the lower half of the positive ones
    cut_short(conversation)                    → the post to 500 characters, the parent to 100

Only its habits are in these; values.py names each. Replies are the post author's own, in the
author's own thread.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from realtalk.errors import RealtalkError
from realtalk.metrics.statistics import Truth, Whole
from realtalk.threads.forest import NO_TIME, Forest
from realtalk.threads.values import Protocol, ShownEntry, Task

_PEOPLE = 3  # a thread must have more
_REPLIES = 2  # of the post's author: must be more
_SCORE = 3  # the target's absolute score must be larger
_BRANCHES = 1  # of a thread in which the author takes part and somebody answers: next_text
_POST_TEXT = 500
_PARENT_TEXT = 100


def _authors_own(forest: Forest) -> Truth:
    """Comments of a thread's post author, deleted ones apart."""
    by_post = forest.author[forest.posts[:-1]][forest.thread]
    own: Truth = (forest.parent >= 0) & (forest.author == by_post) & (by_post >= 0) & ~forest.gone
    return own


def _rank(forest: Forest, rows: Whole, task: Task) -> Whole:
    """Rows by thread; in each the code's first choice first."""
    size = np.zeros(len(rows)) if task == "next_text" else np.abs(forest.score[rows])
    return rows[np.lexsort((rows, -forest.time[rows], -size, forest.thread[rows]))]


def one_a_thread(forest: Forest, eligible: Whole, task: Task) -> Whole:
    """One target per thread of the eligible rows, where the code asks about the thread at all."""
    own = _authors_own(forest)
    count = len(forest.threads)
    is_target = np.bincount(forest.thread[own], minlength=count) > _REPLIES
    if task == "next_text":
        is_target &= _branches(forest, own) > _BRANCHES
    else:
        # Nobody (-1) is one more participant: the code counts "[deleted]" as a name.
        pairs = np.unique(np.stack([forest.thread, forest.author]), axis=1)
        is_target &= np.bincount(pairs[0], minlength=count) > _PEOPLE
    rows = eligible[own[eligible] & is_target[forest.thread[eligible]]]
    if task != "next_text":
        rows = rows[~_wordless(forest)[forest.parent[rows]]]
    ranked = _rank(forest, rows, task)
    _, firsts = np.unique(forest.thread[ranked], return_index=True)
    best: Whole = ranked[firsts]
    return best if task == "next_text" else best[np.abs(forest.score[best]) > _SCORE]


def _wordless(forest: Forest) -> Truth:
    """Deleted, or a post that has a title only: no target answers one of them."""
    wordless = forest.gone.copy()
    for row in forest.posts[:-1].tolist():
        wordless[row] |= forest.text(row) == forest.post(row).title
    return wordless


def _branches(forest: Forest, own: Truth) -> Whole:
    """Answers to the post that were answered and under which the author wrote, a thread."""
    order = forest.order
    top = np.empty_like(order)  # on a page, the last answer to the post above a comment is its own
    places = np.where(forest.depth[order] == 1, np.arange(len(order)), 0)
    top[order] = order[np.maximum.accumulate(places)]
    top_answers = np.unique(top[own])
    answered = np.isin(top_answers, forest.parent)
    return np.bincount(forest.thread[top_answers[answered]], minlength=len(forest.threads))


def without_lower_half(forest: Forest, rows: Whole) -> Whole:
    """The rows without the lower half of those that have a positive score."""
    positive = rows[forest.score[rows] > 0]
    ordered = positive[np.lexsort((positive, forest.score[positive]))]
    return rows[~np.isin(rows, ordered[: len(ordered) // 2])]


def next_largest(forest: Forest, row: int, task: Task) -> int | None:
    """The reply that the code solves as an example: the next choice of the author's thread."""
    rows = np.arange(*forest.rows_of(row))
    own = (forest.author[rows] == forest.author[row]) & (forest.parent[rows] >= 0)
    own &= ~forest.gone[rows] & (rows != row)
    if task != "next_text":
        own &= np.isfinite(forest.score[rows])
    ranked = _rank(forest, rows[own], task)
    return int(ranked[0]) if len(ranked) else None


def cut_short(conversation: tuple[ShownEntry, ...]) -> tuple[ShownEntry, ...]:
    """The post and the parent alone, each cut as the code's prompt cuts it."""
    ends = conversation if len(conversation) < 2 else (conversation[0], conversation[-1])
    return tuple(
        entry if len(entry.text) <= most else replace(entry, text=entry.text[:most] + "...")
        for entry, most in zip(ends, (_POST_TEXT, _PARENT_TEXT), strict=False)
    )


class TargetRows(NamedTuple):
    """Targets as rows of the forest, by time and key."""

    rows: Whole
    test: Truth
    learned: Whole  # the whole train part, before `train_limit`: what examples are taken from
    skipped: Mapping[str, int]  # reason → comments


def choose(
    forest: Forest,
    task: Task,
    rules: Protocol,
    limit: int | None = None,
    train_limit: int | None = None,
    seed: int = 0,
) -> TargetRows:
    """The targets of a task, by the protocol's rules."""
    skipped: Counter[str] = Counter()
    rows = _eligible(forest, task, rules, skipped)
    if "target-by-outcome" in rules.leaks:
        rows = _less(rows, one_a_thread(forest, rows, task), "leak target-by-outcome", skipped)
    if "positives-halved" in rules.leaks and task != "next_text":
        rows = _less(rows, without_lower_half(forest, rows), "leak positives-halved", skipped)
    if not len(rows):
        reasons = ", ".join(f"{reason}: {n:,}" for reason, n in skipped.most_common(3))
        raise RealtalkError(
            "no reply can be asked about" + (f" ({reasons})" if reasons else ""),
            fix="threads need authors, times and scores, "
            f"and people who replied {rules.least} times or more",
        )
    rows = rows[np.lexsort((rows, forest.time[rows]))]
    test = _last(forest, rows, rules)
    keep = np.ones(len(rows), np.bool_)
    for part, most in ((test, limit), (~test, train_limit)):
        places = np.flatnonzero(part).tolist()
        if most is not None and len(places) > most:
            keep[sorted(places, key=lambda at: _lot(forest, int(rows[at]), seed))[most:]] = False
            skipped["not drawn"] += len(places) - most
    return TargetRows(rows[keep], test[keep], rows[~test], dict(skipped))


def _eligible(forest: Forest, task: Task, rules: Protocol, skipped: Counter[str]) -> Whole:
    rows: Whole = np.flatnonzero(forest.parent >= 0)
    for reason, fits in (
        ("has no named author", forest.author >= 0),
        ("is deleted or empty", ~forest.gone),
        ("has no time", forest.time != NO_TIME),
        *((("has no score", np.isfinite(forest.score)),) if task != "next_text" else ()),
    ):
        rows = _less(rows, rows[fits[rows]], reason, skipped)
    parent = forest.time[forest.parent[rows]]
    before = (parent != NO_TIME) & (parent < forest.time[rows])
    rows = _less(rows, rows[before], "its parent is not known to be from before it", skipped)
    many = np.bincount(forest.author[rows], minlength=len(forest.names)) >= rules.least
    reason = f"its user has fewer than {rules.least}"
    return _less(rows, rows[many[forest.author[rows]]], reason, skipped)


def _less(before: Whole, after: Whole, reason: str, skipped: Counter[str]) -> Whole:
    if len(before) > len(after):
        skipped[reason] += len(before) - len(after)
    return after


def _last(forest: Forest, rows: Whole, rules: Protocol) -> Truth:
    """The last share of all replies; or of each user's, at least one, with one left to learn."""
    times = forest.time[rows]
    if rules.split == "global":
        after: Truth = times >= times[min(len(rows) - 1, int(len(rows) * (1 - rules.test_share)))]
        return after
    places: dict[int, list[int]] = {}
    for place, author in enumerate(forest.author[rows].tolist()):
        places.setdefault(author, []).append(place)
    test = np.zeros(len(rows), np.bool_)
    for own in places.values():
        count = max(1, int(len(own) * rules.test_share + 0.5))
        first = max(min(1, len(own) - 1), len(own) - count)
        test[own] = times[own] >= times[own[first]]
    return test


def _lot(forest: Forest, row: int, seed: int) -> bytes:
    """A draw of the seed and the reply's name alone."""
    name = f"{seed}\0{forest.key(row)}"
    return hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
