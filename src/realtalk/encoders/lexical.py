"""Texts and a question → how well each text fits it by its words.

    ranking = Bm25(["Mara buys a red bicycle", "Theo repairs the radio"])
    ranking.scores("who repaired a radio?")     → [0.0, 0.94]

Memories ask a `Ranking` and know nothing of how it ranks: `Bm25` is the one that needs no
model, another can be put in its place. How words are read follows from the languages of the texts
(`text.terms`), and a question is read as the texts are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from realtalk.chat import Chat
from realtalk.text.terms import ReadWords, english_terms, reading
from realtalk.text.words import plain_words


class Ranking(Protocol):
    """Texts that can be searched: one score each, higher is better, 0 is nothing in common."""

    def scores(self, query: str) -> npt.NDArray[np.float64]: ...


RankingOf: TypeAlias = Callable[[Sequence[str]], Ranking]


class Bm25:
    """BM25 over texts; how their words are read follows from their language, unless given."""

    def __init__(self, texts: Sequence[str], read: ReadWords | None = None) -> None:
        self._size = len(texts)
        self._read = read or reading(texts)
        corpus = [self._read(text) for text in texts]
        self._known = {word for text in corpus for word in text}
        if self._known:
            from bm25s import BM25
            from tqdm import tqdm

            tqdm.monitor_interval = 0  # a bar starts a thread even where it is not shown
            # It tells every step at the level of debugging to whoever listens to all logs.
            logging.getLogger("bm25s").setLevel(logging.WARNING)
            self._index = BM25(k1=1.2, b=0.75)
            self._index.index(corpus, show_progress=False)

    @property
    def reads_english(self) -> bool:
        """Whether words are whole English words, and not pieces of other ones."""
        return self._read is english_terms

    def scores(self, query: str) -> npt.NDArray[np.float64]:
        """One score per text."""
        query_words = [word for word in dict.fromkeys(self._read(query)) if word in self._known]
        if not query_words:
            return np.zeros(self._size)
        return np.asarray(self._index.get_scores(query_words), np.float64)


def best_first(scores: npt.NDArray[np.float64]) -> list[int]:
    """Places by falling score; of equals, the earlier one."""
    return [int(at) for at in np.argsort(-scores, kind="stable")]


def with_aliases(chat: Chat, text: str) -> str:
    """A question with the other names of the speakers that it names, so that both are found."""
    words_used = {word.lower() for word in plain_words(text)}
    added = []
    for speaker in chat.speakers:
        names = chat.names_of(speaker)
        if any(set(plain_words(name.lower())) & words_used for name in names):
            added += [name for name in names if not set(plain_words(name.lower())) <= words_used]
    return " ".join([text, *added])
