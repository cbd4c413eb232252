"""A chat whose messages answer one another, as a tree that is stored flat.

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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from realtalk.chat import Chat, Message, unpack_extra
from realtalk.errors import RealtalkError


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
