"""Reddit threads as nested trees (PersonaConvBench and kin) to a Corpus, one chat per post.

    {"mara": [{"title": "Is it me?", "content": "Nobody …", "score": 12, "author": "mara",
               "timestamp": "2021-11-03T07:37:48Z", "__sub__": "cats",
               "comments": [{"body": "no", "author": "theo", "score": 3, "timestamp": …,
                             "replies": [{"body": "phew", …, "replies": []}]}]}]}
    → Chat("post-000001", ("mara", "theo"), one session of D1:1 (the post), D1:2 ← D1:3)

Also a plain list of posts and one post per line (.jsonl), packed or not. The file is
streamed and no step recurses, so a reply chain may be any length. A thread is one session
however long it ran: its order is the document's (each comment before its replies), its
structure is `reply_to`, and pauses mean nothing across branches. The post's text is its
content, or its title where it has none; the title is in the chat's extra with subreddit,
score and the author it is filed under. Comments keep their score in extra.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, Any

import ijson
import polars as pl

from realtalk.errors import RealtalkError
from realtalk.files.naming import UniqueNames
from realtalk.formats.json_input import NOT_TEXT, Fields, head_text, skip_mark, zone
from realtalk.formats.published.record import extra_of
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import Member, Source, holding, taken
from realtalk.formats.tables import EVENTS, QUESTIONS, ChatRow, Tables, message_frame
from realtalk.text.written_days import parse_stamp

# Posts and comments, as a parser meets them, to message columns in document order.
#
#     post = columns.begin(None); comment = columns.begin(post)
#     columns.end(comment); columns.end(post); columns.close("mara", "threads.json", 1)
#     → rows D1:1 and D1:2 (reply to D1:1) of chat post-000001
#
# A row is taken when an entry begins, because its replies may come before its score; it
# is filled when the entry ends.

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
    fields: Fields = field(default_factory=dict)
    branching: bool = False  # inside its list of comments or replies
    nested: set[str] = field(default_factory=set)  # fields that hold an object or a list


def _take(fields: Fields, names: tuple[str, ...]) -> Any:
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
        self._about: Fields = {}  # what goes to the chat instead of its first message
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


_SUFFIXES = (".json", ".jsonl", ".ndjson")
_POST = re.compile(r'"title"\s*:')
_TREE = re.compile(r'"comments"\s*:\s*\[')
_COMMENT = re.compile(r'"(?:body|replies)"\s*:')
_REST = re.compile(r'"(?:score|author|timestamp|created_utc)"\s*:')
_EVERY = 2000  # posts between two signs of progress


def _is_ours(member: Member) -> bool:
    text = head_text(member)
    if not text.lstrip().startswith(("{", "[")):
        return False
    if not (_POST.search(text) and _REST.search(text)):
        return False
    # A first post longer than the head shows no comment yet; then its own fields must do.
    return bool(_TREE.search(text)) and bool(_COMMENT.search(text) or '"__sub__"' in text)


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    members = taken(source, _SUFFIXES, _is_ours, missing="no thread file found")
    columns = Columns(options.timezone)
    for member in members:
        with member.open() as stream:
            skip_mark(stream)
            try:
                _Walk(columns, member.name, options).run(stream)
            # ijson's own message quotes the text around the fault.
            except (ijson.JSONError, ValueError, OverflowError) as error:
                raise RealtalkError("not valid JSON", where=member.where) from error
    if not columns.size:
        raise RealtalkError("holds no post that can be read", where=str(source.path))
    ledger = Ledger.of(columns.size + len(columns.left), columns.left)
    tables = Tables(
        source.name,
        "reddit",
        tuple(columns.chats),
        columns.frame(),
        pl.DataFrame(schema=EVENTS),
        pl.DataFrame(schema=QUESTIONS),
    )
    return ReadCorpus(tables=tables, ledger=ledger, notes=columns.notes())


class _Walk:
    """The parser's events of one file, turned into posts and comments with a stack of its own.

    `_open` holds the posts and comments around the current place, outermost first. A
    container that is neither (a list of awards, say) is passed over by counting its depth.
    """

    def __init__(self, columns: Columns, name: str, options: ReadOptions) -> None:
        self._columns = columns
        self._name = name
        self._progress = options.progress
        self._open: list[Node] = []
        self._outer: list[str] = []  # "list" or "authors": what is around a post
        self._undecided = False  # in a map that is a post or the map of authors
        self._author = ""  # the author a post is filed under
        self._key = ""
        self._skip = 0  # depth inside a container that is passed over
        self._posts = 0

    def run(self, stream: IO[bytes]) -> None:
        """Reads to the end; several JSON values in one file (.jsonl) are one stream."""
        events = ijson.basic_parse(stream, use_float=True, multiple_values=True, buf_size=1 << 20)
        for event, value in events:
            if self._skip:
                if event in ("start_map", "start_array"):
                    self._skip += 1
                elif event in ("end_map", "end_array"):
                    self._skip -= 1
            elif event == "map_key":
                self._key = value
            elif self._open:
                self._inside(event, value)
            else:
                self._outside(event, value)

    def _inside(self, event: str, value: Any) -> None:
        node = self._open[-1]
        if event == "start_map":
            if node.branching:
                self._open.append(self._columns.begin(node))
                return
            if self._key in BRANCHES:
                self._leave("comments that are not a list")
            node.nested.add(self._key)
            self._skip = 1
        elif event == "end_map":
            self._open.pop()
            self._columns.end(node, self._place())
            if not self._open:
                self._columns.close(self._author, self._place())
                self._posts += 1
                if self._posts % _EVERY == 0:
                    self._progress(self._posts, 0, "posts")
        elif event == "start_array":
            if self._key in BRANCHES and not node.branching:
                node.branching = True
                return
            if node.branching:
                self._leave("a list where a comment belongs")
            node.nested.add(self._key)
            self._skip = 1
        elif event == "end_array":
            node.branching = False
        elif node.branching:
            self._leave("a bare value where a comment belongs")
        elif value is not None:
            node.fields[self._key] = value

    def _outside(self, event: str, value: Any) -> None:
        if self._undecided:
            self._decide(event, value)
        elif event == "start_map" and not self._outer:
            self._undecided = True
        elif event in ("start_map", "start_array"):
            if self._outer and self._outer[-1] == "authors":
                self._author = self._key
            if event == "start_map":
                self._open.append(self._columns.begin(None))
            else:
                self._outer.append("list")
        elif event in ("end_map", "end_array"):
            if self._outer.pop() == "authors":
                self._author = ""
        else:
            self._leave("a bare value where a post belongs")

    def _decide(self, event: str, value: Any) -> None:
        """The first entry of an outermost map decides: an author with posts, or a post's field."""
        self._undecided = False
        if event == "end_map":
            self._leave("an empty object")
        elif event == "start_array" and self._key not in BRANCHES:
            self._outer += ["authors", "list"]
            self._author = self._key
        else:
            self._open.append(self._columns.begin(None))
            self._inside(event, value)

    def _place(self) -> str:
        return f"{self._name}: post {self._posts + 1}"

    def _leave(self, reason: str) -> None:
        self._columns.leave(self._place(), reason)


FORMAT = Format("Reddit threads as trees (PersonaConvBench)", holding(_SUFFIXES, _is_ours), _read)
