"""Posts and comments, as a parser meets them, to message columns in document order.

    post = columns.begin(None); comment = columns.begin(post)
    columns.end(comment); columns.end(post); columns.close("mara", "threads.json", 1)
    → rows D1:1 and D1:2 (reply to D1:1) of chat post-000001

A row is taken when an entry begins, because its replies may come before its score; it
is filled when the entry ends.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import polars as pl

from realtalk.corpora.json_input import NOT_TEXT, zone
from realtalk.corpora.published.record import extra_of
from realtalk.corpora.published.stamps import parse_stamp
from realtalk.corpora.reading import Leftover
from realtalk.corpora.tables import ChatRow, message_frame
from realtalk.local.naming import UniqueNames

BRANCHES = frozenset({"comments", "replies", "children"})
_AT_ONCE = 100_000  # entries that wait to become columns; whole posts
NOBODY = "[deleted]"  # whoever deleted their account; Reddit's own spelling
_GONE = frozenset({"[deleted]", "[removed]", "[deleted by user]", "[ removed by reddit ]"})
_POST_TEXT = ("content", "selftext", "body", "text")
_COMMENT_TEXT = ("body", "content", "text")
_AUTHOR = ("author", "user", "username")
_SCORE = ("score", "ups", "upvotes")
_TIME = ("timestamp", "created_utc", "created", "time", "date")
_DOMAIN = ("__sub__", "subreddit", "domain")
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")


@dataclass(slots=True)
class Node:
    """A post or comment whose end has not been read yet."""

    row: int
    parent: int  # the row it replies to, -1 for a post
    fields: dict[str, Any] = field(default_factory=dict)
    branching: bool = False  # inside its list of comments or replies
    nested: set[str] = field(default_factory=set)  # fields that hold an object or a list


def _take(fields: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The first of these fields that is there, taken out."""
    for name in names:
        if name in fields:
            return fields.pop(name)
    return None


def _score(value: Any) -> int | float | None:
    """A score as a number; Reddit dumps also write it as text."""
    if isinstance(value, str):
        if _WHOLE.fullmatch(value):
            return int(value)
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if abs(value) < 2**53 and value == int(value) else value


class Columns:
    """Rows of all posts so far."""

    def __init__(self, timezone: str | None) -> None:
        self.chats: list[ChatRow] = []
        self.left: list[Leftover] = []
        self._tz = zone(timezone)
        self._frames: list[pl.DataFrame] = []
        self._framed = 0  # entries in them
        self._start = 0  # first row of the post being read
        self._about: dict[str, Any] = {}  # what goes to the chat instead of its first message
        self._given: list[str] = []  # ids as given, of the post being read
        self._chat_ids = UniqueNames("{}~{}")
        self._undated = 0
        self._parent: list[int] = []
        self._chat: list[str] = []
        self._id: list[str] = []
        self._reply: list[str | None] = []
        self._speaker: list[str] = []
        self._time: list[datetime | None] = []
        self._text: list[str] = []
        self._deleted: list[bool] = []
        self._extra: list[str] = []
        # Those that have a value as soon as an entry begins.
        self._begun: tuple[list[Any], ...] = (
            self._parent,
            self._given,
            self._speaker,
            self._time,
            self._text,
            self._deleted,
            self._extra,
        )

    @property
    def size(self) -> int:
        return self._framed + len(self._text)

    def leave(self, where: str, reason: str) -> None:
        self.left.append(Leftover(where, reason))

    def begin(self, parent: Node | None) -> Node:
        node = Node(len(self._text), -1 if parent is None else parent.row)
        empty = (node.parent, "", NOBODY, None, "", False, "")
        for column, value in zip(self._begun, empty, strict=True):
            column.append(value)
        return node

    def end(self, node: Node, where: str) -> None:
        """Fills the node's row, or takes it back where it says nothing and bears nothing."""
        row, fields = node.row, node.fields
        is_post = node.parent < 0
        title = fields.get("title") if is_post else None
        names = _POST_TEXT if is_post else _COMMENT_TEXT
        text = _take(fields, names)
        odd = isinstance(text, bool) or (text is None and not node.nested.isdisjoint(names))
        author = _take(fields, _AUTHOR)
        stamp = _take(fields, _TIME)
        text = None if odd else text
        is_empty = odd or (author is None and stamp is None)
        if text is None and title is None and is_empty:  # a title says something, too
            if row == len(self._text) - 1:  # nobody replied to it
                for column in self._begun:
                    column.pop()
                self.leave(where, NOT_TEXT if odd else "has no text, author or time")
                return
            self._deleted[row] = True
        text = text if isinstance(text, str) else "" if text is None else str(text)
        if is_post and not text.strip() and title is not None:
            text = str(title)
        self._text[row] = text
        self._deleted[row] = self._deleted[row] or text.strip().lower() in _GONE
        if author is not None and str(author).strip():
            self._speaker[row] = str(author)
        time = parse_stamp(stamp, self._tz)
        self._undated += time is None and stamp is not None
        self._time[row] = time
        self._given[row - self._start] = str(fields.pop("id", ""))
        given = _take(fields, _SCORE)
        score = _score(given)
        if given is not None and score is None:
            fields["score_text"] = given
        if is_post:
            self._about = fields
            domain = _take(fields, _DOMAIN)
            if domain is not None:
                fields["subreddit"] = domain
            fields = {}
            if score is not None:
                self._about["score"] = score
        if score is not None:
            fields["score"] = score
        simple = len(fields) == 1 and type(score) is int
        self._extra[row] = f'{{"score":{score}}}' if simple else extra_of(fields, where)

    def close(self, filed_under: str, where: str) -> None:
        """Names the rows of the post that has just ended; nothing if it was taken back."""
        start, stop = self._start, len(self._text)
        if start == stop:
            return
        if filed_under:
            self._about["author"] = filed_under
            if self._speaker[start] == NOBODY and not self._deleted[start]:
                self._speaker[start] = filed_under
        given = self._given[0]
        chat = self._chat_ids.free(given or f"post-{len(self.chats) + 1:06d}")
        ids = UniqueNames("{}~{}")
        for place, name in enumerate(self._given, 1):
            self._id.append(ids.free(name or f"D1:{place}"))
        self._reply += [
            None if parent < 0 else self._id[parent] for parent in self._parent[start:stop]
        ]
        self._chat += [chat] * (stop - start)
        speakers = tuple(dict.fromkeys(self._speaker[start:stop]))
        self.chats.append(ChatRow(chat, speakers, extra=extra_of(self._about, where)))
        self._given.clear()
        self._about, self._start = {}, stop
        if stop >= _AT_ONCE:
            self._put_away()

    def frame(self) -> pl.DataFrame:
        """Every entry so far."""
        if self._text or not self._frames:
            self._put_away()
        return pl.concat(self._frames, rechunk=True)

    def _put_away(self) -> None:
        """Makes columns of the entries of whole posts, which take a third of the memory."""
        self._frames.append(self._frame())
        self._framed += len(self._text)
        self._start = 0
        named: tuple[list[Any], ...] = (self._chat, self._id, self._reply)
        for column in (*named, *self._begun):
            column.clear()

    def _frame(self) -> pl.DataFrame:
        frame = message_frame(
            {
                "chat": self._chat,
                "id": self._id,
                "speaker": self._speaker,
                "time": pl.Series("time", self._time, dtype=pl.Datetime("us")),
                "text": self._text,
                "reply_to": pl.Series("reply_to", self._reply, dtype=pl.String),
                "deleted": self._deleted,
                "extra": self._extra,
            }
        )
        return frame.with_columns(
            pl.lit(1, dtype=pl.Int32).alias("session"),
            pl.col("time").first().over("chat").alias("session_time"),
        )

    def notes(self) -> tuple[str, ...]:
        if not self._undated:
            return ()
        return (f"{self._undated:,} time stamps could not be read; those messages have none",)
