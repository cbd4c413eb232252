"""Threads one after another → one flat table of everything that was written, and by whom.

    forest = Forest.grow(corpus.chats)
    forest.parent[7], forest.depth[7]     → 5, 2        row 7 answers row 5, two steps from its post
    forest.path(7, most=50)               → [4, 5]      from the post to the parent
    forest.rows_by(3, cutoff, apart_from=0, most=10)    → [31, 56]    by author 3, elsewhere, before

Only one thread is held as a tree at a time; what stays are columns, with texts that the corpus may
hold anyway. A thread that has no right reading (a circle of answers, two messages
with one id, no message) is left out and counted, since the rest does not depend on it.

A chat whose messages answer one another, as a tree that is stored flat.

    Thread.from_chat(chat)
    → Thread("post-000001", Post("D1:1", "mara", …), (Comment("D1:2", "D1:1", "theo", …), …))
    thread.path("D1:3")  → (Post D1:1, Comment D1:2, Comment D1:3)

Comments hold their parent's id, never their parent: comparing, hashing, printing and
walking a thread take no recursion, so a chain of 100,000 replies is as good as any.

Faults of real data: a comment whose parent is not in the chat (deleted, or not collected)
answers the post instead, and `notes` says how many there are. The post is the first
message that answers nothing, or failing that the first whose parent is missing. Comments
that answer one another in a circle, and two messages with one id, are errors: no reading
of them is right.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import NamedTuple, cast

import numpy as np

from realtalk.chat import Chat, Message, is_nobody, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.grouping import grouped
from realtalk.metrics.statistics import Array, Truth, Whole
from realtalk.threads.values import ShownEntry


@dataclass(frozen=True, slots=True)
class Post:
    """What a thread is about. `domain` is its subreddit or forum, "" where unknown."""

    id: str
    author: str
    time: datetime | None
    title: str
    text: str
    domain: str = ""
    score: float | None = None
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class Comment:
    """An answer to the post or to another comment, by the id of what it answers."""

    id: str
    parent: str
    author: str
    time: datetime | None
    text: str
    score: float | None = None
    deleted: bool = False


@dataclass(frozen=True)
class Thread:
    """A post and its comments, each after what it answers or not: the order of the chat."""

    id: str
    post: Post
    comments: tuple[Comment, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        ids = Counter((self.post.id, *(comment.id for comment in self.comments)))
        for fault, wrong in (
            ("two messages have one id", lambda comment: ids[comment.id] > 1),
            ("answers a message that is not there", lambda comment: comment.parent not in ids),
            ("answers itself through its replies", lambda comment: comment.id not in self._depths),
        ):
            if found := next(filter(wrong, self.comments), None):
                raise RealtalkError(fault, where=self._at(found.id))

    def _at(self, id: str) -> str:
        return f"thread {self.id}, message {id}"

    @staticmethod
    def from_chat(chat: Chat) -> Thread:
        """The tree that `reply_to` makes of a chat."""
        messages = list(chat.messages)
        if not messages:
            raise RealtalkError("has no message", where=f"chat {chat.id}")
        ids = {message.id for message in messages}
        loose = [message for message in messages if message.reply_to not in ids]
        if not loose:
            raise RealtalkError("its messages answer one another in a circle", where=chat.id)
        root = next((message for message in loose if message.reply_to is None), loose[0])
        comments = tuple(
            Comment(
                message.id,
                message.reply_to if message.reply_to in ids else root.id,
                message.speaker,
                message.time,
                message.text,
                _score(message),
                message.deleted,
            )
            for message in messages
            if message is not root
        )
        about = unpack_extra(chat.extra)
        post = Post(
            root.id,
            root.speaker,
            root.time,
            str(about.get("title") or ""),
            root.text,
            str(about.get("subreddit") or ""),
            _score(root),
            root.deleted,
        )
        orphans = len(loose) - 1
        notes = (f"{orphans:,} without a parent in the chat answer the post",) if orphans else ()
        return Thread(chat.id, post, comments, notes)

    @cached_property
    def by_id(self) -> Mapping[str, Post | Comment]:
        """The post and every comment, by id."""
        entries: list[Post | Comment] = [self.post, *self.comments]
        return {entry.id: entry for entry in entries}

    @cached_property
    def _children(self) -> Mapping[str, list[Comment]]:
        return grouped((comment.parent, comment) for comment in self.comments)

    @cached_property
    def _depths(self) -> Mapping[str, int]:
        """Of everything that can be reached from the post; a circle cannot."""
        depths = {self.post.id: 0}
        for node in self.walk():
            for comment in self._children.get(node.id, ()):
                depths[comment.id] = depths[node.id] + 1
        return depths

    def _entry(self, id: str) -> Post | Comment:
        if id not in self.by_id:
            raise RealtalkError("no such message", where=self._at(id))
        return self.by_id[id]

    def children(self, id: str) -> tuple[Comment, ...]:
        """What answers a message directly, in order."""
        return tuple(self._children.get(self._entry(id).id, ()))

    def depth(self, id: str) -> int:
        """Steps from the post, which is at 0."""
        return self._depths[self._entry(id).id]

    def path(self, id: str) -> tuple[Post | Comment, ...]:
        """The trajectory from the post to a message, both included."""
        steps = [self._entry(id)]
        while isinstance(node := steps[-1], Comment):
            steps.append(self.by_id[node.parent])
        return tuple(reversed(steps))

    def walk(self) -> Iterator[Post | Comment]:
        """The post, then depth-first: every comment before its replies."""
        ahead: list[Post | Comment] = [self.post]
        while ahead:
            node = ahead.pop()
            yield node
            ahead.extend(reversed(self._children.get(node.id, ())))


def _score(message: Message) -> float | None:
    score = unpack_extra(message.extra).get("score")
    fit = isinstance(score, int | float) and not isinstance(score, bool)
    return score if fit else None


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
    entries: tuple[Post | Comment, ...]
    names: tuple[str, ...]  # of an author
    left_out: Mapping[str, int]  # reason → threads
    posts: Whole  # a thread's first row; one more at the end
    thread: Whole  # of a row
    parent: Whole  # a row, -1 for a post
    depth: Whole
    author: Whole  # -1 for nobody
    time: Whole
    page: Whole  # where a row stands depth-first: each comment before its answers
    score: Array  # nan where unknown
    gone: Truth  # deleted, or without text

    @staticmethod
    def grow(chats: Iterable[Chat], progress: Progress = silent, total: int = 0) -> Forest:
        """Reads threads one by one."""
        starts: dict[str, int] = {}  # by thread
        names: dict[str, int] = {}
        left_out: Counter[str] = Counter()
        entries: list[Post | Comment] = []
        numbers: list[tuple[int, ...]] = []
        for count, chat in enumerate(chats, 1):
            if count % _EVERY == 0:
                progress(count, total, "threads")
            try:
                tree = Thread.from_chat(chat)
            except RealtalkError as error:
                left_out[error.what] += 1
                continue
            if tree.id in starts:
                left_out["two threads have one id"] += 1
                continue
            start = len(entries)
            rows = {id: row for row, id in enumerate(tree.by_id, start)}
            page = {node.id: place for place, node in enumerate(tree.walk(), start)}
            for entry in tree.by_id.values():
                nobody = is_nobody(entry.author)
                numbers.append(
                    (
                        len(starts),
                        rows[entry.parent] if isinstance(entry, Comment) else -1,
                        tree.depth(entry.id),
                        -1 if nobody else names.setdefault(entry.author, len(names)),
                        ticks(entry.time),
                        page[entry.id],
                    )
                )
            starts[tree.id] = start
            entries += tree.by_id.values()
        thread, parent, depth, author, time, order = np.array(numbers, np.int64).reshape(-1, 6).T
        scores = (np.nan if entry.score is None else entry.score for entry in entries)
        return Forest(
            tuple(starts),
            tuple(entries),
            tuple(names),
            dict(left_out),
            np.array([*starts.values(), len(entries)], np.int64),
            thread,
            parent,
            depth,
            author,
            time,
            order,
            np.fromiter(scores, np.float64, len(entries)),
            np.array([entry.deleted or not entry.text.strip() for entry in entries], np.bool_),
        )

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def plain(self) -> Plain:
        """The columns for who looks at one number at a time, for which numpy is slow."""
        columns = (self.thread, self.parent, self.author, self.time)
        return Plain(*(column.tolist() for column in columns))

    def text(self, row: int) -> str:
        return self.entries[row].text

    def key(self, row: int) -> str:
        """A reply's name: thread/comment."""
        return f"{self.threads[self.plain.thread[row]]}/{self.entries[row].id}"

    def name(self, row: int) -> str:
        """Who wrote a row, as the source says."""
        author = self.plain.author[row]
        return self.names[author] if author >= 0 else "[deleted]"

    def rows_of(self, row: int) -> tuple[int, int]:
        """Where the thread of a row begins and ends."""
        thread = self.plain.thread[row]
        return int(self.posts[thread]), int(self.posts[thread + 1])

    def post(self, row: int) -> Post:
        """What the thread of a row is about."""
        return cast(Post, self.entries[self.rows_of(row)[0]])

    def path(self, row: int, most: int) -> list[int]:
        """Rows from the post to the parent: the post, and the nearest `most` - 1 of the others."""
        rows: list[int] = []
        parent = self.plain.parent
        post, _ = self.rows_of(row)
        at = parent[row]
        while at > post and len(rows) < most - 1:
            rows.append(at)
            at = parent[at]
        return [*([post] if row != post else []), *rows[::-1]]

    def around(self, row: int, most: int) -> list[int]:
        """The nearest rows of the thread, whenever written, but for the row and its answers.

        Near is meant in the order of the page, which is theirs.
        """
        start, stop = self.rows_of(row)
        first, half = int(self.page[row]), most // 2
        beside = self.order[first + 1 : stop]
        answers = int(np.argmax(np.append(self.depth[beside], -1) <= self.depth[row]))
        before = self.order[max(start, first - half) : first]
        return [*before.tolist(), *beside[answers : answers + half].tolist()]

    @cached_property
    def order(self) -> Whole:
        """Rows as they stand on the page."""
        return np.argsort(self.page)

    def shown_entry(self, row: int, with_score: bool = False) -> ShownEntry:
        """A row as a model sees it; the same value every time, for it is seen by many."""
        if (row, with_score) not in self._shown_entries:
            entry = self.entries[row]
            title = entry.title if isinstance(entry, Post) else ""
            score = float(self.score[row])
            self._shown_entries[row, with_score] = ShownEntry(
                entry.id,
                self.threads[self.plain.thread[row]],
                self.name(row),
                entry.time,
                "" if entry.text == title else entry.text,
                title,
                score if with_score and not np.isnan(score) else None,
                int(self.depth[row]),
            )
        return self._shown_entries[row, with_score]

    @cached_property
    def _shown_entries(self) -> dict[tuple[int, bool], ShownEntry]:
        return {}

    @cached_property
    def _writings(self) -> list[tuple[list[int], list[int]]]:
        """What each author wrote at a known time, oldest first: rows, and where their runs begin.

        A run is what was written in one thread without anything elsewhere between.
        """
        writings: list[tuple[list[int], list[int]]] = [([], []) for _ in self.names]
        usable = np.flatnonzero((self.author >= 0) & (self.time != NO_TIME) & ~self.gone)
        for row in usable[np.lexsort((usable, self.time[usable]))].tolist():
            rows, runs = writings[self.plain.author[row]]
            goes_on = rows and self.plain.thread[rows[-1]] == self.plain.thread[row]
            runs.append(runs[-1] if goes_on else len(rows))
            rows.append(row)
        return writings

    def rows_by(self, author: int, cutoff: int | None, apart_from: int, most: int) -> list[int]:
        """The last rows that an author wrote before a time, in all threads but one, oldest first.

        Deleted and empty ones are none. Equal times count as not before; None is no cutoff.
        """
        latest: list[int] = []
        rows, runs = self._writings[author]
        stop = self._before(rows, cutoff)
        while stop and len(latest) < most:
            if self.plain.thread[rows[stop - 1]] == apart_from:
                # Past the whole run: 100,000 replies in one thread are one step.
                stop = runs[stop - 1]
                continue
            stop -= 1
            latest.append(rows[stop])
        return latest[::-1]

    def _before(self, rows: Sequence[int], cutoff: int | None) -> int:
        """How many of the rows, oldest first, are from before a time."""
        times = self.plain.time
        return len(rows) if cutoff is None else bisect_left(rows, cutoff, key=times.__getitem__)

    def written_in(self, author: int, thread: int, cutoff: int | None, most: int) -> list[int]:
        """The same within one thread, its post left out: the conversation begins with it."""
        own = self._of_thread.get((thread, author), [])
        return own[: self._before(own, cutoff)][-most:]

    @cached_property
    def _of_thread(self) -> Mapping[tuple[int, int], list[int]]:
        """Comments by thread and author, oldest first."""
        return grouped(
            ((self.plain.thread[row], author), row)
            for author, (rows, _) in enumerate(self._writings)
            for row in rows
            if self.plain.parent[row] >= 0
        )

    def times_of(self, nth: int) -> list[tuple[int, int]]:
        """When authors had written so much, in order, and whose time it is."""
        return sorted(
            (self.plain.time[rows[nth - 1]], author)
            for author, (rows, _) in enumerate(self._writings)
            if len(rows) >= nth
        )


class Plain(NamedTuple):
    """Columns of the forest as plain numbers."""

    thread: list[int]
    parent: list[int]
    author: list[int]
    time: list[int]
