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
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain
from typing import Any

import polars as pl

from realtalk.files.naming import UniqueNames
from realtalk.formats.json_input import (
    NOT_TEXT,
    Events,
    Fields,
    build_value,
    head_text,
    json_events,
    list_values,
    text_of,
    zone,
)
from realtalk.formats.published.record import extra_of, undated_notes
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import FormatFiles, Member, Source
from realtalk.formats.tables import ChatRow, Tables, message_frame
from realtalk.text.written_days import parse_stamp

# Posts, one at a time, to messages in document order.
#
#     posts.add({"title": "t", "comments": [{"body": "no"}]}, "mara", "threads.json: post 1")
#     → rows D1:1 and D1:2 (reply to D1:1) of chat post-000001

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
_NESTED = (dict, list)
_DEEPEST = sys.maxsize  # a chain of replies may be any length
_COLUMNS = "chat session_time id speaker time text reply_to deleted extra".split()  # noqa: SIM905 - words read better than quotes


@dataclass(slots=True, eq=False)
class _Node:
    """A post or comment, or what stands where one belongs: `reason` says why it is none."""

    parent: _Node | None
    reason: str = ""
    fields: Fields = field(default_factory=dict)
    odd: bool = False  # an object or a list stands where its text should
    answered: bool = False
    id: str = ""
    speaker: str = NOBODY
    time: datetime | None = None
    text: str = ""
    deleted: bool = False
    extra: str = ""


def _nodes(post: Fields) -> list[_Node]:
    """A post and its comments, each before its replies."""
    nodes: list[_Node] = []
    waiting: list[tuple[_Node | None, Any]] = [(None, post)]
    while waiting:
        parent, item = waiting.pop()
        node = _Node(parent)
        nodes.append(node)
        if not isinstance(item, dict):
            kind = "list" if isinstance(item, list) else "bare value"
            node.reason = f"a {kind} where a comment belongs"
            continue
        fields = node.fields
        replies: list[Any] = []
        for key, value in item.items():
            if type(value) not in _NESTED:
                if value is not None:
                    fields[key] = value
            elif key not in BRANCHES:
                node.odd |= key in (_COMMENT_TEXT if parent else _POST_TEXT)
            elif isinstance(value, list):
                replies += value
            else:
                nodes.append(_Node(node, "comments that are not a list"))
        waiting += ((node, reply) for reply in reversed(replies))
    return nodes


def _take(fields: Fields, names: tuple[str, ...]) -> Any:
    """The first of these fields that is there, taken out."""
    for name in names:
        if name in fields:
            return fields.pop(name)
    return None


def _score(value: Any) -> int | float | None:
    """A score as a number; Reddit dumps also write it as text."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if abs(value) < 2**53 and value == int(value) else value


class Posts:
    """Rows of all posts so far."""

    def __init__(self, timezone: str | None) -> None:
        self.chats: list[ChatRow] = []
        self.left: list[Leftover] = []
        self.undated = 0
        self._tz = zone(timezone)
        self._about: Fields = {}  # what goes to the chat instead of its first message
        self._chat_ids = UniqueNames("{}~{}")
        self._rows: list[tuple[Any, ...]] = []
        self._frames: list[pl.DataFrame] = []

    def _fill(self, node: _Node, where: str) -> None:
        """Takes the fields apart; what says nothing and bears nothing is no message."""
        fields = node.fields
        is_post = node.parent is None
        title = fields.get("title") if is_post else None
        text = _take(fields, _POST_TEXT if is_post else _COMMENT_TEXT)
        author, stamp = _take(fields, _AUTHOR), _take(fields, _TIME)
        if odd := isinstance(text, bool) or (text is None and node.odd):
            text = None
        is_empty = odd or (author is None and stamp is None)
        if text is None and title is None and is_empty:  # a title says something, too
            if not node.answered:
                node.reason = NOT_TEXT if odd else "has no text, author or time"
                return
            node.deleted = True
        node.text = text_of(text)
        if title is not None and not node.text.strip():
            node.text = str(title)
        node.deleted = node.deleted or node.text.strip().lower() in _GONE
        if text_of(author).strip():
            node.speaker = str(author)
        node.time = parse_stamp(stamp, self._tz)
        self.undated += node.time is None and stamp is not None
        node.id = str(fields.pop("id", ""))
        stated = _take(fields, _SCORE)
        score = _score(stated)
        if stated is not None and score is None:
            fields["score_text"] = stated
        scored = {} if score is None else {"score": score}
        if is_post:
            domain = _take(fields, _DOMAIN)
            self._about = fields | ({} if domain is None else {"subreddit": domain}) | scored
            fields = {}
        simple = not fields and type(score) is int
        node.extra = f'{{"score":{score}}}' if simple else extra_of(fields | scored, where)

    def add(self, post: Fields, filed_under: str, where: str) -> None:
        """Takes a post with all below it; nothing of it where nobody says anything."""
        nodes = _nodes(post)
        for node in reversed(nodes):  # replies first: who is answered is kept
            if not node.reason:
                self._fill(node, where)
            if node.parent and not node.reason:
                node.parent.answered = True
        self.left += (Leftover(where, node.reason) for node in nodes if node.reason)
        nodes = [node for node in nodes if not node.reason]
        if not nodes:
            return
        first = nodes[0]
        if filed_under:
            self._about["author"] = filed_under
            if first.speaker == NOBODY and not first.deleted:
                first.speaker = filed_under
        chat = self._chat_ids.free(first.id or f"post-{len(self.chats) + 1:06d}")
        speakers = tuple(dict.fromkeys(node.speaker for node in nodes))
        self.chats.append(ChatRow(chat, speakers, extra=extra_of(self._about, where)))
        ids = UniqueNames("{}~{}")
        for place, node in enumerate(nodes, 1):
            node.id = ids.free(node.id or f"D1:{place}")
            reply_to = node.parent and node.parent.id
            row = (chat, first.time, node.id, node.speaker, node.time, node.text, reply_to)
            self._rows.append((*row, node.deleted, node.extra))
        if len(self._rows) >= _AT_ONCE:
            self._put_away()

    def frame(self) -> pl.DataFrame:
        """Every entry so far."""
        if self._rows:
            self._put_away()
        return pl.concat(self._frames, rechunk=True)

    def _put_away(self) -> None:
        """Makes columns of the entries of whole posts, which take a third of the memory."""
        columns = dict(zip(_COLUMNS, zip(*self._rows, strict=True), strict=True))
        self._frames.append(message_frame({**columns, "session": [1] * len(self._rows)}))
        self._rows = []


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


_FILES = FormatFiles((".json", ".jsonl", ".ndjson"), _is_ours, "no thread file found")


def _read(source: Source, options: ReadOptions) -> ReadCorpus:
    members = _FILES.members(source)
    posts = Posts(options.timezone)
    for member in members:
        count = 0
        with json_events(member, several=True) as events:
            for author, post in _filed_posts(events):
                where = f"{member.name}: post {count + 1}"
                if isinstance(post, dict):
                    posts.add(post, author, where)
                    count += 1
                    if count % _EVERY == 0:
                        options.progress(count, 0, "posts")
                else:
                    posts.left.append(Leftover(where, "a bare value where a post belongs"))
    if not posts.chats:
        raise source.error("holds no post that can be read")
    messages = posts.frame()
    return ReadCorpus(
        tables=Tables(source.name, "reddit", tuple(posts.chats), messages),
        ledger=Ledger.of(messages.height, posts.left),
        notes=undated_notes(posts.undated),
    )


def _filed_posts(events: Events) -> Iterator[tuple[str, Any]]:
    """Every post, and the author it is filed under: of a list, a map of authors, or lines."""
    for begin in events:
        first = next(events) if begin[0] == "start_map" else ("", "")
        second = next(events) if first[0] == "map_key" else ("", "")
        if second[0] != "start_array" or first[1] in BRANCHES:
            begun = (event for event in (first, second) if event[0])
            yield from _posts("", begin, chain(begun, events))
            continue
        # The first entry of an outermost map decides: an author with posts, or a post's field.
        yield from _posts(first[1], second, events)
        for end, author in events:
            if end == "end_map":
                break
            yield from _posts(author, next(events), events)


def _posts(author: str, begin: tuple[str, Any], events: Events) -> Iterator[tuple[str, Any]]:
    if begin[0] == "start_array":
        posts = list_values(events, _DEEPEST)
    else:
        posts = iter([build_value(*begin, events, _DEEPEST)])
    for post in posts:
        yield from ((author, inner) for inner in (post if isinstance(post, list) else [post]))


FORMAT = Format("Reddit threads as trees (PersonaConvBench)", _FILES.sniff, _read)
