"""Which replies the released code asks about, and what it shows of them.

    one_a_thread(forest, eligible, "impact")   → rows: each post author's most extreme reply
    halved(forest, rows)                       → without the lower half of the positive ones
    cut_short(conversation)                    → the post to 500 characters, the parent to 100

Only its habits are here; protocols.py names each. Replies are the post author's own, in the
author's own thread.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from realtalk.threads.forest import Forest, Real, Truth, Whole
from realtalk.threads.values import Shown, Task

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


def _ranked(forest: Forest, rows: Whole, task: Task) -> Whole:
    """Rows by thread; in each the code's first choice first."""
    size = _size(forest, rows, task)
    return rows[np.lexsort((rows, -forest.time[rows], -size, forest.thread[rows]))]


def _size(forest: Forest, rows: Whole, task: Task) -> Real:
    if task == "next_text":
        return np.zeros(len(rows))
    return np.abs(forest.score[rows])


def one_a_thread(forest: Forest, eligible: Whole, task: Task) -> Whole:
    """One target per thread of the eligible rows, where the code asks about the thread at all."""
    own = _authors_own(forest)
    count = len(forest.threads)
    replies = np.bincount(forest.thread[own], minlength=count)
    wanted = replies > _REPLIES
    if task == "next_text":
        wanted &= _branches(forest, own) > _BRANCHES
    else:
        # Nobody (-1) is one more participant: the code counts "[deleted]" as a name.
        pairs = np.unique(np.stack([forest.thread, forest.author]), axis=1)
        wanted &= np.bincount(pairs[0], minlength=count) > _PEOPLE
    rows = eligible[own[eligible] & wanted[forest.thread[eligible]]]
    if task != "next_text":
        rows = rows[~_wordless(forest)[forest.parent[rows]]]
    ranked = _ranked(forest, rows, task)
    _, firsts = np.unique(forest.thread[ranked], return_index=True)
    chosen: Whole = ranked[firsts]
    if task != "next_text":
        chosen = chosen[np.abs(forest.score[chosen]) > _SCORE]
    return chosen


def _wordless(forest: Forest) -> Truth:
    """Deleted, or a post that has a title only: no target answers one of them."""
    found = forest.gone.copy()
    for post, title in zip(forest.posts.tolist(), forest.titles, strict=False):
        found[post] |= forest.texts[post] == title
    return found


def _branches(forest: Forest, own: Truth) -> Whole:
    """Answers to the post that were answered and under which the author wrote, a thread."""
    top = np.full(len(forest), -1, np.int64)
    for row in np.argsort(forest.depth, kind="stable").tolist():  # parents first
        if forest.depth[row] == 1:
            top[row] = row
        elif forest.depth[row] > 1:
            top[row] = top[forest.parent[row]]
    taken = np.unique(top[own & (top >= 0)])
    answered = np.isin(taken, forest.parent)
    return np.bincount(forest.thread[taken[answered]], minlength=len(forest.threads))


def halved(forest: Forest, rows: Whole) -> Whole:
    """The rows without the lower half of those that have a positive score."""
    positive = rows[forest.score[rows] > 0]
    ordered = positive[np.lexsort((positive, forest.score[positive]))]
    dropped = ordered[: len(ordered) // 2]
    return rows[~np.isin(rows, dropped)]


def next_largest(forest: Forest, row: int, task: Task) -> int | None:
    """The reply that the code solves as an example: the next choice of the author's thread."""
    start, stop = (int(forest.posts[forest.thread[row] + more]) for more in (0, 1))
    rows = np.arange(start, stop)
    own = (forest.author[rows] == forest.author[row]) & (forest.parent[rows] >= 0)
    own &= ~forest.gone[rows] & (rows != row)
    if task != "next_text":
        own &= np.isfinite(forest.score[rows])
    ranked = _ranked(forest, rows[own], task)
    return int(ranked[0]) if len(ranked) else None


def cut_short(conversation: tuple[Shown, ...]) -> tuple[Shown, ...]:
    """The post and the parent alone, each cut as the code's prompt cuts it."""
    if not conversation:
        return ()
    post = replace(conversation[0], text=_cut(conversation[0].text, _POST_TEXT))
    if len(conversation) == 1:
        return (post,)
    return (post, replace(conversation[-1], text=_cut(conversation[-1].text, _PARENT_TEXT)))


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[:most] + "..."
