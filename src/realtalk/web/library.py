"""Chats by place: which message stands where, cut into pieces that a page can load.

    library = ChatLibrary(corpus)
    open_chat = library[0]       → OpenChat of the first chat
    open_chat.piece(3)           → rows 150..199, each with its session's heading where one begins
    open_chat.place["D4:12"]     → 171
    open_chat.search("sister")   → Hits(total=12, rows=(Hit(171, "my \\x02sister\\x03 …"), …))

A chat of 100,000 messages is never sent whole: the page holds empty boxes and fills those
in sight. The search index lives in memory, so no chat text is written to disk.

    MessageIndex(messages).search("sist mar")
    → Hits(total=3, rows=(Hit(17, "my \\x02sister\\x03 Mara"),))

Words match by their beginning, without accents and case (SQLite's FTS5). Other scripts than Latin,
Greek and Cyrillic part no words by spaces, glue small words to them (Arabic, Hebrew, Korean), or
write vowels as marks, which it takes for the end of a word: there every word of the query is looked
for anywhere, both sides folded alike. A query that finds nothing is looked for letter by letter.
The marks around a hit are control characters that no message holds.

The messages go in as JSON, thousands per statement: SQLite then works without Python's lock, beside
a server that is starting. An index of beginnings would double the work and spare a query of one
letter 40 ms at 100,000 messages.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import weakref
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import orjson
import regex

from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.errors import RealtalkError
from realtalk.formats.questions import CATEGORIES
from realtalk.formats.tables import from_corpus
from realtalk.pages.aggregates import Aggregates
from realtalk.pages.glance import Sentence, glance
from realtalk.text.folding import fold, fold_with_places
from realtalk.text.words import plain_words
from realtalk.web.troubles import Unknown

MARKS = ("\x02", "\x03")
# Letters of scripts in which a word's beginning is no word's beginning to SQLite, or to its reader.
_ANYWHERE = regex.compile(
    r"[\p{Alphabetic}--[\p{Latin}\p{Greek}\p{Cyrillic}\p{Armenian}\p{Georgian}]]", regex.V1
)
_CONTROL = re.compile(f"[{''.join(MARKS)}\x00]")
_AROUND = 60  # characters shown on each side of a hit
_LONGEST_QUERY = 200
_AT_ONCE = 20_000  # messages per statement; bounds the memory that the JSON takes


class Hit(NamedTuple):
    """A message that was found: its place, and its text around the first hit."""

    place: int
    excerpt: str


class Hits(NamedTuple):
    """How many there are, and the first of them."""

    total: int
    rows: tuple[Hit, ...] = ()


def searchable(message: Message) -> str:
    """What a message says and shows."""
    text = message.text
    if message.attachments:
        text = " ".join((text, *(a.caption for a in message.attachments if a.caption)))
    return _CONTROL.sub("", text) if _CONTROL.search(text) else text


class MessageIndex:
    """The index of one chat; one thread at a time."""

    def __init__(self, messages: Sequence[Message]) -> None:
        # Whoever holds the index sees to it that one thread at a time asks.
        self._database = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, self._database.close)
        self._database.execute(
            "CREATE VIRTUAL TABLE message USING"
            ' fts5(text, tokenize = "unicode61 remove_diacritics 2")'
        )
        self._texts = [searchable(message) for message in messages]
        for first in range(0, len(self._texts), _AT_ONCE):
            part = orjson.dumps(self._texts[first : first + _AT_ONCE]).decode()
            self._database.execute(
                "INSERT INTO message (rowid, text) SELECT key + ?, value FROM json_each(?)",
                (first, part),
            )

    @cached_property
    def _lower(self) -> list[str]:
        return [text.casefold() for text in self._texts]

    @cached_property
    def _folded_texts(self) -> list[str]:
        return [fold(text) for text in self._texts]

    def search(self, query: str, most: int) -> Hits:
        """The first `most` hits in the chat's order, and the number of all."""
        query = _clean_query(query)
        places = self.places(query)
        first, marked = places[:most], []
        if terms := _wanted_anywhere(query):
            marked = [_mark_folded(self._texts[at], terms) for at in first]
        elif match := _match(query):
            rows = self._database.execute(
                "SELECT highlight(message, 0, ?, ?) FROM message WHERE message MATCH ?"
                " ORDER BY rowid LIMIT ?",
                (*MARKS, match, most),
            )
            marked = [text for (text,) in rows]
        marked = marked or [_mark(self._texts[at], query.casefold()) for at in first]
        hits = zip(first, marked, strict=True)
        return Hits(len(places), tuple(Hit(at, _excerpt(text)) for at, text in hits))

    def places(self, query: str) -> list[int]:
        """Where all hits stand, in the chat's order."""
        query = _clean_query(query)
        if terms := _wanted_anywhere(query):
            texts = enumerate(self._folded_texts)
            return [at for at, text in texts if all(word in text for word in terms)]
        if match := _match(query):
            rows = self._database.execute(
                "SELECT rowid FROM message WHERE message MATCH ? ORDER BY rowid", (match,)
            )
            if places := [place for (place,) in rows]:
                return places
        letters = query.casefold()
        return [at for at, text in enumerate(self._lower) if letters in text] if query else []


def _clean_query(query: str) -> str:
    return _CONTROL.sub("", query[:_LONGEST_QUERY]).strip()


def _wanted_anywhere(query: str) -> list[str]:
    """The words of a query in such a script, folded; none of another query."""
    return list(filter(None, map(fold, query.split()))) if _ANYWHERE.search(query) else []


def _mark_folded(text: str, terms: Sequence[str]) -> str:
    """The text with marks around the first place of each word that was found folded."""
    folded, places = fold_with_places(text)
    spans = []
    for word in terms:
        at = folded.find(word)
        if at >= 0:
            spans.append((places[at][0], places[at + len(word) - 1][1]))
    end, parts = 0, []
    for first, last in sorted(spans):
        if first >= end:
            parts += [text[end:first], MARKS[0], text[first:last], MARKS[1]]
            end = last
    return "".join((*parts, text[end:]))


def _match(query: str) -> str:
    """The query's words for SQLite, each by its beginning; "" where it has none."""
    return " ".join(f'"{word}"*' for word in plain_words(query))


def _mark(text: str, query: str) -> str:
    # Folding may change the length of a text; then the hit is shown without marks.
    at = text.casefold().find(query) if len(text.casefold()) == len(text) else -1
    end = at + len(query)
    return text if at < 0 else f"{text[:at]}{MARKS[0]}{text[at:end]}{MARKS[1]}{text[end:]}"


def _excerpt(marked: str) -> str:
    """The neighbourhood of the first hit, on one line; a mark that is cut open is closed."""
    at = max(marked.find(MARKS[0]), 0)
    first, last = max(0, at - _AROUND), at + 2 * _AROUND
    part = marked[first:last]
    if part.count(MARKS[0]) > part.count(MARKS[1]):
        part += MARKS[1]
    return f"{'…' if first else ''}{' '.join(part.split())}{'…' if last < len(marked) else ''}"


PIECE = 50  # messages a piece
_LONG = 5_000  # messages; the index of a shorter chat is made in no time


class Row(NamedTuple):
    """A message in its place."""

    place: int
    message: Message
    session: Session
    opens: bool  # the first of its session
    follows: bool  # the one before is by the same speaker, in the same session


class DayHit(NamedTuple):
    """A day on which somebody wrote: its first message's place, and how many there are."""

    day: date
    place: int
    messages: int


class OpenChat:
    """One chat, ready to be read at any place."""

    def __init__(self, number: int, chat: Chat, categories: Sequence[str]) -> None:
        self.number = number
        self.chat = chat
        self.categories = tuple(categories)
        self._lock = threading.Lock()

    @property
    def messages(self) -> tuple[Message, ...]:
        return self.chat.messages

    @cached_property
    def place(self) -> dict[str, int]:
        """Where a message id stands; of two with one id, the first."""
        places: dict[str, int] = {}
        for at, message in enumerate(self.messages):
            places.setdefault(message.id, at)
        return places

    @cached_property
    def glance(self) -> tuple[Sentence, ...]:
        """The chat in a few figures, as the page of it opens."""
        tables = from_corpus(Corpus("", "", (self.chat,)))
        return tuple(glance(Aggregates.build(tables, words=False)))

    @cached_property
    def starts(self) -> tuple[tuple[int, Session], ...]:
        """Where each session begins; sessions without messages are left out."""
        places, at = [], 0
        for session in self.chat.sessions:
            if session.messages:
                places.append((at, session))
            at += len(session.messages)
        return tuple(places)

    @cached_property
    def days(self) -> tuple[DayHit, ...]:
        """Every run of messages of one day, in the chat's order; without times there is none."""
        times = [
            message.time or part.time for part in self.chat.sessions for message in part.messages
        ]
        dated = [(at, time.date()) for at, time in enumerate(times) if time is not None]
        runs = ((day, list(run)) for day, run in groupby(dated, key=itemgetter(1)))
        return tuple(DayHit(day, run[0][0], len(run)) for day, run in runs)

    @property
    def pieces(self) -> int:
        return -(-len(self.messages) // PIECE)

    def session_at(self, place: int) -> Session:
        """The session that a place belongs to."""
        at = bisect_right(self.starts, place, key=itemgetter(0)) - 1
        return self.starts[max(at, 0)][1]

    def piece(self, number: int) -> list[Row]:
        """The rows of one piece; empty beyond the end."""
        first = number * PIECE
        rows = []
        for place in range(first, min(first + PIECE, len(self.messages))):
            message = self.messages[place]
            session = self.session_at(place)
            opens = message is session.messages[0]
            before = self.messages[place - 1] if place and not opens else None
            follows = before is not None and before.speaker == message.speaker
            rows.append(Row(place, message, session, opens, follows))
        return rows

    def search(self, query: str, most: int = 60) -> Hits:
        """Messages that hold every word of the query, oldest first."""
        with self._lock:
            return self._index.search(query, most)

    def places(self, query: str) -> list[int]:
        """Where every message stands that holds every word of the query."""
        with self._lock:
            return self._index.places(query)

    @cached_property
    def _index(self) -> MessageIndex:
        return MessageIndex(self.messages)


class ChatLibrary:
    """Every chat of a corpus that holds a message."""

    def __init__(self, corpus: Corpus) -> None:
        names = CATEGORIES.get(corpus.format) or CATEGORIES["realtalk"]
        chats = [chat for chat in corpus.chats if any(s.messages for s in chat.sessions)]
        if not chats:
            raise RealtalkError("holds no message to read", where=corpus.name)
        self.corpus = replace(corpus, chats=tuple(chats))
        self.open_chats = tuple(
            OpenChat(number, chat, tuple(names.values())) for number, chat in enumerate(chats)
        )

    @property
    def name(self) -> str:
        return self.corpus.name

    def prepare(self) -> None:
        """Makes the indexes of long chats, the longest first, while nobody waits for them yet."""

        def make() -> None:
            for open_chat in sorted(self.open_chats, key=lambda chat: -len(chat.messages)):
                if len(open_chat.messages) >= _LONG:
                    open_chat.search("")

        threading.Thread(target=make, daemon=True).start()

    def __getitem__(self, number: int) -> OpenChat:
        if not 0 <= number < len(self.open_chats):
            raise Unknown(
                "no such chat", fix=f"they are numbered from 0 to {len(self.open_chats) - 1}"
            )
        return self.open_chats[number]
