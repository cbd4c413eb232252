"""Texts and a question → how well each text fits it by its words.

    ranking = Bm25(["Mara buys a red bicycle", "Theo repairs the radio"])
    ranking.scores("who repaired a radio?")     → [0.0, 0.94]

Memories ask a `Ranking` and know nothing of how it ranks: `Bm25` is the one that needs no
model, another can be put in its place. Texts in English are read by `words`; how others are is
told by their languages (`encoders.terms`), and a question is read as the texts are.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from realtalk.chat import Chat

_WORD = re.compile(r"\w+")
EMPTY = frozenset(
    """a about after all am an and any are as at be been before but by can could did do does for
    from had has have he her hers him his how i if in into is it its just me my not of on or our
    she so than that the their them then there they this to up was we were what when where which
    while who whose why will with would you your""".split()  # noqa: SIM905 - words read better
)
_ENDINGS = ("ingly", "edly", "ing", "es", "ed", "ly", "s", "e")
_SHORTEST = 3  # letters that must be left of a word
_DOUBLED = re.compile(r"([bdgmnprt])\1\Z")  # running → run, but calling → call


class Ranking(Protocol):
    """Texts that can be searched: one score each, higher is better, 0 is nothing in common."""

    def scores(self, query: str) -> npt.NDArray[np.float64]: ...


RankingOf: TypeAlias = Callable[[Sequence[str]], Ranking]
ReadWords: TypeAlias = Callable[[str], list[str]]


def words(text: str) -> list[str]:
    """The words that carry meaning, in lower case and without their endings."""
    return [_bare(word) for word in _WORD.findall(text.lower()) if word not in EMPTY]


@lru_cache(maxsize=65536)
def _bare(word: str) -> str:
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return f"{word[:-3]}y"
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return _DOUBLED.sub(r"\1", word.removesuffix(ending))
    return word


class Bm25:
    """BM25 over texts; how their words are read follows from their language, unless given."""

    def __init__(self, texts: Sequence[str], read: ReadWords | None = None) -> None:
        from realtalk.encoders.terms import reading  # which reads English by `words`

        self._size = len(texts)
        self._read = read or reading(texts)
        corpus = [self._read(text) for text in texts]
        self._known = {word for text in corpus for word in text}
        if self._known:
            from bm25s import BM25

            # It tells every step at the level of debugging to whoever listens to all logs.
            logging.getLogger("bm25s").setLevel(logging.WARNING)
            self._index = BM25(k1=1.2, b=0.75)
            self._index.index(corpus, show_progress=False)

    @property
    def reads_english(self) -> bool:
        """Whether words are whole English words, and not pieces of other ones."""
        return self._read is words

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
    words_used = {word.lower() for word in _WORD.findall(text)}
    added = []
    for speaker in chat.speakers:
        names = chat.names_of(speaker)
        if any(set(_WORD.findall(name.lower())) & words_used for name in names):
            added += [name for name in names if not set(_WORD.findall(name.lower())) <= words_used]
    return " ".join([text, *added])
