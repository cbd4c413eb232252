"""Threads one after another → one flat table of everything that was written, and by whom.

    forest = Forest.grow(corpus.chats)
    forest.parent[7], forest.depth[7]     → 5, 2        row 7 answers row 5, two steps from its post
    forest.path(7, most=50)               → [4, 5]      from the post to the parent
    forest.written(3, cutoff, apart_from=0, most=10)    → [31, 56]    by author 3, elsewhere, before

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

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from realtalk.chat import Chat, Message, is_nobody, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.files.progress import Progress, silent
from realtalk.threads.values import Shown


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
        seen = {self.post.id}
        for comment in self.comments:
            if comment.id in seen:
                raise RealtalkError("two messages have one id", where=self._at(comment.id))
            seen.add(comment.id)
        for comment in self.comments:
            if comment.parent not in seen:
                raise RealtalkError(
                    "answers a message that is not there", where=self._at(comment.id)
                )
        if len(self._depths) != len(seen):
            lost = next(comment.id for comment in self.comments if comment.id not in self._depths)
            raise RealtalkError("answers itself through its replies", where=self._at(lost))

    def _at(self, id: str) -> str:
        return f"thread {self.id}, message {id}"

    @staticmethod
    def from_chat(chat: Chat) -> Thread:
        """The tree that `reply_to` makes of a chat."""
        messages = list(chat.messages)
        if not messages:
            raise RealtalkError("has no message", where=f"chat {chat.id}")
        ids = {message.id for message in messages}
        root = next((message for message in messages if message.reply_to is None), None)
        if root is None:
            root = next((message for message in messages if message.reply_to not in ids), None)
        if root is None:
            raise RealtalkError("its messages answer one another in a circle", where=chat.id)
        comments = []
        orphans = 0
        for message in messages:
            if message is root:
                continue
            parent = message.reply_to
            if parent is None or parent not in ids:
                parent = root.id
                orphans += 1
            comments.append(
                Comment(
                    message.id,
                    parent,
                    message.speaker,
                    message.time,
                    message.text,
                    _score(message),
                    message.deleted,
                )
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
        notes = (f"{orphans:,} without a parent in the chat answer the post",) if orphans else ()
        return Thread(chat.id, post, tuple(comments), notes)

    @cached_property
    def by_id(self) -> Mapping[str, Post | Comment]:
        """The post and every comment, by id."""
        found: dict[str, Post | Comment] = {self.post.id: self.post}
        found.update((comment.id, comment) for comment in self.comments)
        return found

    @cached_property
    def _children(self) -> Mapping[str, tuple[Comment, ...]]:
        found: dict[str, list[Comment]] = {}
        for comment in self.comments:
            found.setdefault(comment.parent, []).append(comment)
        return {parent: tuple(replies) for parent, replies in found.items()}

    @cached_property
    def _depths(self) -> Mapping[str, int]:
        """Of everything that can be reached from the post; a circle cannot."""
        found = {self.post.id: 0}
        ahead = [self.post.id]
        while ahead:
            parent = ahead.pop()
            for comment in self._children.get(parent, ()):
                if comment.id not in found:
                    found[comment.id] = found[parent] + 1
                    ahead.append(comment.id)
        return found

    def _known(self, id: str) -> Post | Comment:
        found = self.by_id.get(id)
        if found is None:
            raise RealtalkError("no such message", where=self._at(id))
        return found

    def children(self, id: str) -> tuple[Comment, ...]:
        """What answers a message directly, in order."""
        self._known(id)
        return self._children.get(id, ())

    def depth(self, id: str) -> int:
        """Steps from the post, which is at 0."""
        self._known(id)
        return self._depths[id]

    def path(self, id: str) -> tuple[Post | Comment, ...]:
        """The trajectory from the post to a message, both included."""
        node = self._known(id)
        steps: list[Post | Comment] = [node]
        while isinstance(node, Comment):
            node = self.by_id[node.parent]
            steps.append(node)
        return tuple(reversed(steps))

    def walk(self) -> Iterator[Post | Comment]:
        """The post, then depth-first: every comment before its replies."""
        ahead: list[Post | Comment] = [self.post]
        while ahead:
            node = ahead.pop()
            yield node
            ahead.extend(reversed(self._children.get(node.id, ())))

    def replies_by(self, author: str) -> tuple[Comment, ...]:
        """An author's comments, in order; the post is not one."""
        return tuple(comment for comment in self.comments if comment.author == author)


def _score(message: Message) -> float | None:
    score = unpack_extra(message.extra).get("score")
    fit = isinstance(score, int | float) and not isinstance(score, bool)
    return score if fit else None


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
        kept: dict[str, Post] = {}  # by thread
        names: dict[str, int] = {}
        left_out: Counter[str] = Counter()
        posts, thread, parent, depth, author, time = (array("q") for _ in range(6))
        score = array("d")
        ids: list[str] = []
        texts: list[str] = []
        stamps: list[datetime | None] = []
        gone: list[bool] = []
        for done, chat in enumerate(chats, 1):
            if done % _EVERY == 0:
                progress(done, total, "threads")
            try:
                tree = Thread.from_chat(chat)
            except RealtalkError as error:
                left_out[error.what] += 1
                continue
            if tree.id in kept:
                left_out["two threads have one id"] += 1
                continue
            entries: list[Post | Comment] = [tree.post, *tree.comments]
            posts.append(len(ids))
            rows = {entry.id: row for row, entry in enumerate(entries, len(ids))}
            for entry in entries:
                thread.append(len(kept))
                ids.append(entry.id)
                texts.append(entry.text)
                stamps.append(entry.time)
                parent.append(rows[entry.parent] if isinstance(entry, Comment) else -1)
                depth.append(tree.depth(entry.id))
                name = entry.author
                author.append(-1 if is_nobody(name) else names.setdefault(name, len(names)))
                time.append(ticks(entry.time))
                score.append(np.nan if entry.score is None else entry.score)
                gone.append(entry.deleted or not entry.text.strip())
            kept[tree.id] = tree.post
        posts.append(len(ids))
        return Forest(
            tuple(kept),
            tuple(post.domain for post in kept.values()),
            tuple(post.title for post in kept.values()),
            np.array(posts, np.int64),
            np.array(thread, np.int64),
            tuple(ids),
            tuple(texts),
            tuple(stamps),
            tuple(names),
            np.array(parent, np.int64),
            np.array(depth, np.int64),
            np.array(author, np.int64),
            np.array(time, np.int64),
            np.array(score, np.float64),
            np.array(gone, np.bool_),
            dict(left_out),
        )

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
