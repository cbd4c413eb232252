"""Words or a thought → messages that hold them, best first.

    WordSearch(collection).rows("red bicycle", chats, person="Mara", period=Period())
    → [FoundMessage(chat, session, message, 7.1), …]
    nearest(memories, "what she rides to work", …)    → the same, whatever words were used

Words are ranked by BM25 over all English chats together, and over all others, each read in its own
language; where none is found, the letters are looked for. Meaning is ranked by the memory
`retrieved`, chat by chat.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
import numpy.typing as npt

from realtalk.assistant.collection import Collection, ListedChat
from realtalk.assistant.periods import Period
from realtalk.chat import Message, Question, Session
from realtalk.encoders.lexical import Bm25, best_first
from realtalk.memory.index import document_text
from realtalk.memory.retrieved import BuiltRetrieved
from realtalk.text.terms import ReadWords, english_terms, reading

_BY_CHANCE = 0.3  # of the best score: what has less shares a piece of a word, and not the word


@dataclass(frozen=True, slots=True)
class FoundMessage:
    """A message, where it stands, and how well it fits."""

    chat: ListedChat
    session: Session
    message: Message
    score: float

    @property
    def time(self) -> datetime | None:
        return self.message.time or self.session.time


class WordSearch:
    """Every message of every chat, by its words; the index is made for the first search."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    @cached_property
    def _messages(self) -> list[FoundMessage]:
        return [
            FoundMessage(chat, session, message, 0.0)
            for chat in self._collection.chats
            for session, message in chat.spoken()
        ]

    @cached_property
    def _texts(self) -> list[str]:
        return [document_text(each.message) for each in self._messages]

    @cached_property
    def _indexes(self) -> list[tuple[list[int], Bm25]]:
        """Places of messages that are read alike, and their words."""
        english: list[int] = []
        groups: list[tuple[list[int], ReadWords]] = [(english, english_terms)]
        first = 0
        for chat in self._collection.chats:
            places = list(range(first, first := first + sum(1 for _ in chat.spoken())))
            read = reading([self._texts[at] for at in places])
            if read is english_terms:
                english += places
            else:
                groups.append((places, read))
        return [(at, Bm25([self._texts[n] for n in at], read)) for at, read in groups if at]

    def _scores(self, wanted: str) -> npt.NDArray[np.float64]:
        scores = np.zeros(len(self._texts))
        for places, index in self._indexes:
            own = index.scores(wanted)
            # Pieces of words are shared by chance, which words are not.
            least = 0.0 if index.reads_english else _BY_CHANCE * own.max(initial=0.0)
            scores[places] = np.where(own >= least, own, 0.0)
        return scores

    def rows(
        self, words: str, chats: Sequence[ListedChat], person: str, period: Period
    ) -> list[FoundMessage]:
        """The messages that hold one of the words, those with more and rarer ones first."""
        scores = self._scores(words)
        places = [at for at in best_first(scores) if scores[at] > 0]
        if not places:
            wanted = words.strip().casefold()
            places = [at for at, text in enumerate(self._texts) if wanted in text.casefold()]
        kept = frozenset(chats)
        return [
            FoundMessage(found.chat, found.session, found.message, float(scores[at]))
            for at in places
            if (found := self._messages[at]).chat in kept and _is_meant(found, person, period)
        ]


def nearest(
    memories: Mapping[ListedChat, BuiltRetrieved], text: str, person: str, period: Period
) -> list[FoundMessage]:
    """Every message of the chats, nearest to the text first."""
    question = asked(text)
    found = [
        each
        for chat, memory in memories.items()
        for each in _scored(chat, memory.scores(question).tolist())
        if _is_meant(each, person, period)
    ]
    return sorted(found, key=lambda each: -each.score)


def asked(text: str) -> Question:
    """A question of now: "last week" counts from today."""
    return Question("", text, None, "", asked=datetime.now())


def _scored(chat: ListedChat, scores: Sequence[float]) -> Iterator[FoundMessage]:
    """Messages with their scores; of two with one id the first, as the index has them."""
    seen: set[str] = set()
    for session, message in chat.spoken():
        if message.id not in seen:
            yield FoundMessage(chat, session, message, scores[len(seen)])
            seen.add(message.id)


def _is_meant(found: FoundMessage, person: str, period: Period) -> bool:
    return (not person or found.message.speaker == person) and period.holds(found.time)
