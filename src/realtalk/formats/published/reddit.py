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
from realtalk.formats.json_input import NOT_TEXT, Fields, head_text, skip_mark, text_of, zone
from realtalk.formats.published.record import extra_of, undated_notes
from realtalk.formats.reading import Format, Ledger, Leftover, ReadCorpus, ReadOptions
from realtalk.formats.source import FormatFiles, Member, Source
from realtalk.formats.tables import EVENTS, QUESTIONS, ChatRow, Tables, message_frame
from realtalk.text.written_days import parse_stamp

# Posts and comments, as a parser meets them, to messages in document order.
#
#     post = posts.begin(None); comment = posts.begin(post)
#     posts.end(comment, …); posts.end(post, …); posts.close("mara", …)
#     → rows D1:1 and D1:2 (reply to D1:1) of chat post-000001
#
# An entry is listed when it begins, because its replies may come before its score; it is
# filled when it ends.

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
_COLUMNS = ("chat", "session_time", "id", "speaker", "time", "text", "reply_to", "deleted", "extra")


@dataclass(slots=True, eq=False)
class Node:
    """A post or comment; `fields` are taken apart when it ends."""

    parent: Node | None
    fields: Fields = field(default_factory=dict)
    branching: bool = False  # inside its list of comments or replies
    odd: bool = False  # an object or a list stands where its text should
    id: str = ""
    speaker: str = NOBODY
    time: datetime | None = None
    text: str = ""
    deleted: bool = False
    extra: str = ""

    @property
    def text_names(self) -> tuple[str, ...]:
        return _POST_TEXT if self.parent is None else _COMMENT_TEXT


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


class Posts:
    """Rows of all posts so far."""

    def __init__(self, timezone: str | None) -> None:
        self.chats: list[ChatRow] = []
        self.left: list[Leftover] = []
        self.undated = 0
        self._tz = zone(timezone)
        self._nodes: list[Node] = []  # of the post being read
        self._about: Fields = {}  # what goes to the chat instead of its first message
        self._chat_ids = UniqueNames("{}~{}")
        self._rows: list[tuple[Any, ...]] = []
        self._frames: list[pl.DataFrame] = []

    def leave(self, where: str, reason: str) -> None:
        self.left.append(Leftover(where, reason))

    def begin(self, parent: Node | None) -> Node:
        self._nodes.append(Node(parent))
        return self._nodes[-1]

    def end(self, node: Node, where: str) -> None:
        """Fills the node, or takes it back where it says nothing and bears nothing."""
        fields, node.fields = node.fields, {}
        is_post = node.parent is None
        title = fields.get("title") if is_post else None
        text = _take(fields, node.text_names)
        author, stamp = _take(fields, _AUTHOR), _take(fields, _TIME)
        if odd := isinstance(text, bool) or (text is None and node.odd):
            text = None
        is_empty = odd or (author is None and stamp is None)
        if text is None and title is None and is_empty:  # a title says something, too
            if self._nodes[-1] is node:  # nobody replied to it
                self._nodes.pop()
                self.leave(where, NOT_TEXT if odd else "has no text, author or time")
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

    def close(self, filed_under: str, where: str) -> None:
        """Names the entries of the post that has just ended; nothing if it was taken back."""
        nodes, self._nodes = self._nodes, []
        if not nodes:
            return
        post = nodes[0]
        if filed_under:
            self._about["author"] = filed_under
            if post.speaker == NOBODY and not post.deleted:
                post.speaker = filed_under
        chat = self._chat_ids.free(post.id or f"post-{len(self.chats) + 1:06d}")
        speakers = tuple(dict.fromkeys(node.speaker for node in nodes))
        self.chats.append(ChatRow(chat, speakers, extra=extra_of(self._about, where)))
        ids = UniqueNames("{}~{}")
        for place, node in enumerate(nodes, 1):
            node.id = ids.free(node.id or f"D1:{place}")
            reply_to = node.parent and node.parent.id
            row = (chat, post.time, node.id, node.speaker, node.time, node.text, reply_to)
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
        with member.open() as stream:
            skip_mark(stream)
            try:
                _Walk(posts, member.name, options).run(stream)
            # ijson's own message quotes the text around the fault.
            except (ijson.JSONError, ValueError, OverflowError) as error:
                raise RealtalkError("not valid JSON", where=member.where) from error
    if not posts.chats:
        raise RealtalkError("holds no post that can be read", where=str(source.path))
    messages = posts.frame()
    events, questions = pl.DataFrame(schema=EVENTS), pl.DataFrame(schema=QUESTIONS)
    return ReadCorpus(
        tables=Tables(source.name, "reddit", tuple(posts.chats), messages, events, questions),
        ledger=Ledger.of(messages.height + len(posts.left), posts.left),
        notes=undated_notes(posts.undated),
    )


class _Walk:
    """The parser's events of one file, turned into posts and comments with a stack of its own.

    `_open` holds the posts and comments around the current place, outermost first. A
    container that is neither (a list of awards, say) is passed over by counting its depth.
    """

    def __init__(self, posts: Posts, name: str, options: ReadOptions) -> None:
        self._posts = posts
        self._name = name
        self._progress = options.progress
        self._open: list[Node] = []
        self._outer: list[str] = []  # "list" or "authors": what is around a post
        self._undecided = False  # in a map that is a post or the map of authors
        self._author = ""  # the author a post is filed under
        self._key = ""
        self._skip = 0  # depth inside a container that is passed over
        self._count = 0  # posts that have ended

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
                self._open.append(self._posts.begin(node))
                return
            if self._key in BRANCHES:
                self._leave("comments that are not a list")
            self._pass_over(node)
        elif event == "end_map":
            self._open.pop()
            self._posts.end(node, self._place())
            if not self._open:
                self._posts.close(self._author, self._place())
                self._count += 1
                if self._count % _EVERY == 0:
                    self._progress(self._count, 0, "posts")
        elif event == "start_array":
            if self._key in BRANCHES and not node.branching:
                node.branching = True
                return
            if node.branching:
                self._leave("a list where a comment belongs")
            self._pass_over(node)
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
                self._open.append(self._posts.begin(None))
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
            self._open.append(self._posts.begin(None))
            self._inside(event, value)

    def _pass_over(self, node: Node) -> None:
        """Skips an object or a list that is a field, or stands where a comment should."""
        node.odd = node.odd or self._key in node.text_names
        self._skip = 1

    def _place(self) -> str:
        return f"{self._name}: post {self._count + 1}"

    def _leave(self, reason: str) -> None:
        self._posts.leave(self._place(), reason)


FORMAT = Format("Reddit threads as trees (PersonaConvBench)", _FILES.sniff, _read)
