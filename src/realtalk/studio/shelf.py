"""Chats by place: which message stands where, cut into pieces that a page can load.

    shelf = Shelf(corpus)
    book = shelf[0]              → Book of the first chat
    book.piece(3)                → rows 150..199, each with its session's heading where one begins
    book.place["D4:12"]          → 171
    book.search("sister")        → Hits(total=12, rows=(Hit(171, "my \\x02sister\\x03 …"), …))

A chat of 100,000 messages is never sent whole: the page holds empty boxes and fills those
in sight. The search index lives in memory, so no chat text is written to disk.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import groupby

from realtalk.chat import Chat, Corpus, Message, Session
from realtalk.corpora.questions import CATEGORIES
from realtalk.corpora.tables import from_corpus
from realtalk.errors import RealtalkError
from realtalk.portrait.aggregates import Aggregates
from realtalk.portrait.glance import Sentence, glance
from realtalk.studio.searching import Hits, MessageIndex
from realtalk.studio.troubles import Unknown

PIECE = 50  # messages a piece
_LONG = 5_000  # messages; the index of a shorter chat is made in no time


@dataclass(frozen=True, slots=True)
class Row:
    """A message in its place."""

    place: int
    message: Message
    session: Session
    opens: bool  # the first of its session
    follows: bool  # the one before is by the same speaker, in the same session


@dataclass(frozen=True, slots=True)
class DayHit:
    """A day on which somebody wrote: its first message's place, and how many there are."""

    day: date
    place: int
    messages: int


class Book:
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
        found, at = [], 0
        for session in self.chat.sessions:
            if session.messages:
                found.append((at, session))
            at += len(session.messages)
        return tuple(found)

    @cached_property
    def days(self) -> tuple[DayHit, ...]:
        """Every run of messages of one day, in the chat's order; without times there is none."""
        times = [each.time or part.time for part in self.chat.sessions for each in part.messages]
        dated = [(at, time.date()) for at, time in enumerate(times) if time is not None]
        runs = [list(run) for _, run in groupby(dated, key=lambda each: each[1])]
        return tuple(DayHit(run[0][1], run[0][0], len(run)) for run in runs)

    @cached_property
    def _openings(self) -> list[int]:
        return [start for start, _ in self.starts]

    @property
    def pieces(self) -> int:
        return -(-len(self.messages) // PIECE)

    def session_at(self, place: int) -> Session:
        """The session that a place belongs to."""
        at = bisect_right(self._openings, place) - 1
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
            return self._searched.search(query, most)

    def places(self, query: str) -> list[int]:
        """Where every message stands that holds every word of the query."""
        with self._lock:
            return self._searched.places(query)

    @cached_property
    def _searched(self) -> MessageIndex:
        return MessageIndex(self.messages)


class Shelf:
    """Every chat of a corpus that holds a message."""

    def __init__(self, corpus: Corpus) -> None:
        self.name = corpus.name
        self.format = corpus.format
        names = CATEGORIES.get(corpus.format) or CATEGORIES["realtalk"]
        chats = [chat for chat in corpus.chats if any(s.messages for s in chat.sessions)]
        if not chats:
            raise RealtalkError("holds no message to read", where=corpus.name)
        self.books = tuple(
            Book(number, chat, tuple(names.values())) for number, chat in enumerate(chats)
        )

    def prepare(self) -> None:
        """Makes the indexes of long chats, the longest first, while nobody waits for them yet."""
        long = [book for book in self.books if len(book.messages) >= _LONG]
        long.sort(key=lambda book: -len(book.messages))

        def make() -> None:
            for book in long:
                book.search("")

        threading.Thread(target=make, daemon=True).start()

    def __getitem__(self, number: int) -> Book:
        if not 0 <= number < len(self.books):
            raise Unknown("no such chat", fix=f"they are numbered from 0 to {len(self.books) - 1}")
        return self.books[number]
