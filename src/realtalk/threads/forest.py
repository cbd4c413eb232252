"""Threads one after another → one flat table of everything that was written, and by whom.

    forest = Forest.grow(corpus.chats)
    forest.parent[7], forest.depth[7]     → 5, 2        row 7 answers row 5, two steps from its post
    forest.path(7, most=50)               → [4, 5]      from the post to the parent
    forest.written(3, cutoff, apart_from=0, most=10)    → [31, 56]    by author 3, elsewhere, before

Only one thread is held as a tree at a time; what stays are columns, with texts that the corpus may
hold anyway. A thread that has no right reading (a circle of answers, two messages
with one id, no message) is left out and counted, since the rest does not depend on it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from realtalk.chat import Chat, is_nobody
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.threads.tree import Comment, Post, Thread
from realtalk.threads.values import Shown

Whole: TypeAlias = npt.NDArray[np.int64]
Real: TypeAlias = npt.NDArray[np.float64]
Truth: TypeAlias = npt.NDArray[np.bool_]

NO_TIME = np.iinfo(np.int64).min  # in the column of times: the source has none
_EPOCH = datetime(1970, 1, 1)
_TICK = timedelta(microseconds=1)
_EVERY = 1000  # threads between two signs of progress


def ticks(time: datetime | None) -> int:
    """A time as microseconds; times with a zone are taken to UTC, as others are stored."""
    if time is None:
        return NO_TIME
    if time.tzinfo is not None:
        time = time.astimezone(UTC).replace(tzinfo=None)
    return (time - _EPOCH) // _TICK


@dataclass(frozen=True)
class Forest:
    """One row per post or comment; rows of one thread stand together, its post first."""

    threads: tuple[str, ...]
    domains: tuple[str, ...]  # of a thread
    titles: tuple[str, ...]
    posts: Whole  # a thread's first row; one more at the end
    thread: Whole  # of a row
    ids: tuple[str, ...]
    texts: tuple[str, ...]
    stamps: tuple[datetime | None, ...]
    names: tuple[str, ...]  # of an author
    parent: Whole  # a row, -1 for a post
    depth: Whole
    author: Whole  # -1 for nobody
    time: Whole
    score: Real  # nan where unknown
    gone: Truth  # deleted, or without text
    left_out: Mapping[str, int]  # reason → threads

    @staticmethod
    def grow(chats: Iterable[Chat], progress: Progress = silent, total: int = 0) -> Forest:
        """Reads threads one by one."""
        growing = _Growing()
        for done, chat in enumerate(chats, 1):
            growing.add(chat)
            if done % _EVERY == 0:
                progress(done, total, "threads")
        return growing.done()

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def plain(self) -> Plain:
        """The columns for who looks at one number at a time, which takes numpy five times as long.

        Lists would be as fast, but hold a value of Python for every number.
        """
        return Plain(
            _plain(self.thread),
            _plain(self.parent),
            _plain(self.author),
            _plain(self.time),
            array("q", map(len, self.texts)),
        )

    def name(self, row: int) -> str:
        """Who wrote a row, as the source says."""
        author = self.plain.author[row]
        return self.names[author] if author >= 0 else "[deleted]"

    def path(self, row: int, most: int) -> list[int]:
        """Rows from the post to the parent: the post, and the nearest `most` - 1 of the others."""
        found: list[int] = []
        parent = self.plain.parent
        post = int(self.posts[self.plain.thread[row]])
        at = parent[row]
        while at >= 0 and at != post and len(found) < most - 1:
            found.append(at)
            at = parent[at]
        if row != post:
            found.append(post)
        found.reverse()
        return found

    def around(self, row: int, most: int) -> list[int]:
        """The nearest rows of the thread, whenever written, but for the row and its answers.

        Near is meant in the order of the page: each comment before its answers.
        """
        order, place, after = self._page
        start, stop = (int(self.posts[self.thread[row] + more]) for more in (0, 1))
        first, last = int(place[row]), int(after[row])
        half = most // 2
        chosen = [*order[max(start, first - half) : first], *order[last : min(stop, last + half)]]
        return [int(each) for each in chosen]

    def placed(self, rows: Iterable[int]) -> list[int]:
        """Rows of one thread in the order of the page, each once."""
        place = self._page[1]
        return sorted(set(rows), key=lambda row: int(place[row]))

    @cached_property
    def _page(self) -> tuple[Whole, Whole, Whole]:
        """Rows depth-first; each row's place there, and the place after its last answer."""
        children: list[list[int]] = [[] for _ in range(len(self))]
        for row, parent in enumerate(self.parent.tolist()):
            if parent >= 0:
                children[parent].append(row)
        order: list[int] = []
        for post in self.posts[:-1].tolist():
            ahead = [post]
            while ahead:
                row = ahead.pop()
                order.append(row)
                ahead.extend(reversed(children[row]))
        place = np.empty(len(self), np.int64)
        place[order] = np.arange(len(self))
        sizes = np.ones(len(self), np.int64).tolist()
        for row in reversed(order):  # answers before what they answer
            parent = int(self.parent[row])
            if parent >= 0:
                sizes[parent] += sizes[row]
        return np.array(order, np.int64), place, place + np.array(sizes, np.int64)

    def shown(self, row: int, with_score: bool = False) -> Shown:
        """A row as a model sees it; the same value every time, for it is seen by many."""
        found = self._shown.get((row, with_score))
        if found is None:
            thread = self.plain.thread[row]
            title = self.titles[thread] if self.plain.parent[row] < 0 else ""
            text = self.texts[row]
            score = float(self.score[row]) if with_score else None
            found = self._shown[row, with_score] = Shown(
                self.ids[row],
                self.threads[thread],
                self.name(row),
                self.stamps[row],
                "" if text == title else text,
                title,
                None if score is None or np.isnan(score) else score,
                int(self.depth[row]),
            )
        return found

    @cached_property
    def _shown(self) -> dict[tuple[int, bool], Shown]:
        return {}

    @cached_property
    def _writings(self) -> _Writings:
        usable = np.flatnonzero((self.author >= 0) & (self.time != NO_TIME) & ~self.gone)
        order = usable[np.lexsort((usable, self.time[usable], self.author[usable]))]
        author, thread = self.author[order], self.thread[order]
        places = np.arange(len(order))
        new = np.ones(len(order), np.bool_)
        new[1:] = (author[1:] != author[:-1]) | (thread[1:] != thread[:-1])
        runs = np.maximum.accumulate(np.where(new, places, 0))
        starts = np.searchsorted(author, np.arange(len(self.names) + 1))
        return _Writings(
            _plain(order), _plain(self.time[order]), _plain(thread), _plain(runs), _plain(starts)
        )

    def written(self, author: int, cutoff: int | None, apart_from: int, most: int) -> list[int]:
        """The last rows that an author wrote before a time, in all threads but one, oldest first.

        Deleted and empty ones are none. Equal times count as not before; None is no cutoff.
        """
        found: list[int] = []
        kept = self._writings
        start, stop = kept.starts[author], kept.starts[author + 1]
        if cutoff is not None:
            stop = bisect_left(kept.times, cutoff, start, stop)
        at = stop - 1
        while at >= start and len(found) < most:
            if kept.thread[at] == apart_from:
                # Past the whole run: 100,000 replies in one thread are one step.
                at = kept.runs[at] - 1
                continue
            found.append(kept.order[at])
            at -= 1
        found.reverse()
        return found

    def written_in(self, author: int, thread: int, cutoff: int | None, most: int) -> list[int]:
        """The same within one thread, its post left out: the conversation begins with it."""
        own = self._of_thread.get((thread, author), [])
        times = self.plain.time
        stop = len(own) if cutoff is None else bisect_left(own, cutoff, key=times.__getitem__)
        return own[max(0, stop - most) : stop]

    @cached_property
    def _of_thread(self) -> Mapping[tuple[int, int], list[int]]:
        """Comments by thread and author, oldest first."""
        found: dict[tuple[int, int], list[int]] = {}
        plain = self.plain
        for row in self._writings.order:
            if plain.parent[row] >= 0:
                found.setdefault((plain.thread[row], plain.author[row]), []).append(row)
        return found

    def times_of(self, nth: int) -> tuple[list[int], list[int]]:
        """When authors had written so much: times in order, and whose they are."""
        kept = self._writings
        found = sorted(
            (kept.times[start + nth - 1], author)
            for author, (start, stop) in enumerate(pairwise(kept.starts))
            if stop - start >= nth
        )
        return [time for time, _ in found], [author for _, author in found]


@dataclass(frozen=True, slots=True)
class Plain:
    """Columns of the forest as plain numbers."""

    thread: array[int]
    parent: array[int]
    author: array[int]
    time: array[int]
    length: array[int]  # characters of the text


@dataclass(frozen=True, slots=True)
class _Writings:
    """Rows that a named author wrote at a known time, by author, then time."""

    order: array[int]
    times: array[int]
    thread: array[int]
    runs: array[int]  # where the run of one thread began that a place stands in
    starts: array[int]  # of an author; one more at the end


def _plain(column: Whole) -> array[int]:
    return array("q", column.astype(np.int64, copy=False).tobytes())


class _Growing:
    """Columns that grow by a thread at a time."""

    def __init__(self) -> None:
        self._threads: list[str] = []
        self._domains: list[str] = []
        self._titles: list[str] = []
        self._posts: list[int] = []
        self._names: dict[str, int] = {}
        self._thread = array("q")
        self._ids: list[str] = []
        self._texts: list[str] = []
        self._stamps: list[datetime | None] = []
        self._parent = array("q")
        self._depth = array("q")
        self._author = array("q")
        self._time = array("q")
        self._score = array("d")
        self._gone: list[bool] = []
        self._left_out: Counter[str] = Counter()
        self._taken: set[str] = set()

    def add(self, chat: Chat) -> None:
        try:
            thread = Thread.from_chat(chat)
        except RealtalkError as error:
            self._left_out[error.what] += 1
            return
        if thread.id in self._taken:
            self._left_out["two threads have one id"] += 1
            return
        self._taken.add(thread.id)
        number = len(self._threads)
        self._threads.append(thread.id)
        self._domains.append(thread.post.domain)
        self._titles.append(thread.post.title)
        first = len(self._ids)
        self._posts.append(first)
        rows = {thread.post.id: first}
        rows.update((each.id, first + at) for at, each in enumerate(thread.comments, 1))
        self._row(number, thread.post, -1, 0)
        for comment in thread.comments:
            self._row(number, comment, rows[comment.parent], thread.depth(comment.id))

    def _row(self, thread: int, entry: Post | Comment, parent: int, depth: int) -> None:
        self._thread.append(thread)
        self._ids.append(entry.id)
        self._texts.append(entry.text)
        self._stamps.append(entry.time)
        name = entry.author
        nobody = is_nobody(name)
        self._author.append(-1 if nobody else self._names.setdefault(name, len(self._names)))
        self._parent.append(parent)
        self._depth.append(depth)
        self._time.append(ticks(entry.time))
        self._score.append(np.nan if entry.score is None else entry.score)
        self._gone.append(entry.deleted or not entry.text.strip())

    def done(self) -> Forest:
        def whole(values: Sequence[int]) -> Whole:
            return np.array(values, np.int64)

        return Forest(
            tuple(self._threads),
            tuple(self._domains),
            tuple(self._titles),
            whole([*self._posts, len(self._ids)]),
            whole(self._thread),
            tuple(self._ids),
            tuple(self._texts),
            tuple(self._stamps),
            tuple(self._names),
            whole(self._parent),
            whole(self._depth),
            whole(self._author),
            whole(self._time),
            np.array(self._score, np.float64),
            np.array(self._gone, np.bool_),
            dict(self._left_out),
        )
