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

import re
from typing import IO, Any

import ijson
import polars as pl

from realtalk.corpora.json_input import head_text, skip_mark
from realtalk.corpora.published.gathering import members_of
from realtalk.corpora.published.reddit_columns import BRANCHES, Columns, Node
from realtalk.corpora.reading import Format, Ledger, Reading, ReadOptions
from realtalk.corpora.source import Member, Source, holding
from realtalk.corpora.tables import EVENTS, QUESTIONS, Tables
from realtalk.errors import RealtalkError

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


def _read(source: Source, options: ReadOptions) -> Reading:
    members = members_of(source, _SUFFIXES, _is_ours, "no thread file found")
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
    left = tuple(columns.left)
    ledger = Ledger("entries", columns.size + len(left), columns.size, 0, left)
    tables = Tables(
        source.name,
        "reddit",
        tuple(columns.chats),
        columns.frame(),
        pl.DataFrame(schema=EVENTS),
        pl.DataFrame(schema=QUESTIONS),
    )
    return Reading(tables=tables, ledger=ledger, notes=columns.notes())


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
                self._finish_post()
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

    def _finish_post(self) -> None:
        self._columns.close(self._author, self._place())
        self._posts += 1
        if self._posts % _EVERY == 0:
            self._progress(self._posts, 0, "posts")


FORMAT = Format("Reddit threads as trees (PersonaConvBench)", holding(_SUFFIXES, _is_ours), _read)
