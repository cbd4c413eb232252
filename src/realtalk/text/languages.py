"""Texts → the languages that they are in, by the letters that their words are made of.

    turn_languages([("Chat_1", "Ana", "oye, ayer fuimos a la playa con los niños, qué rico")])
    → ["es"]            an ISO 639 code, "other" in a script that is not known, "und": too few words
    languages_in(["las llaves están en el jardín", …])    → ("es",)
    languages_in(["鍵は庭にあるよ", …])                     → ("ja",)
    mainly({"en": 60, "es": 38, "fr": 2, "und": 40})      → ("en", "es")
    LanguageIdentifier.load_shipped().guess("kya kar rahe ho") → LanguageGuess("hi-Latn", 0.98)

Every word gives its parts of one to four letters, beginning and end marked, and itself; each part
has a weight for every language, and the largest sum wins. No part is kept as text, only its place
in a table of small whole numbers, so a word that was never seen counts too. Only languages that
are written in the text's script are in question; "hi-Latn" is Hindi in Latin letters. How the table
was made and how well it does: src/realtalk_models/languages/card.md.

A turn of some words is weighed alone; shorter ones of a speaker wait for each other until there
are enough. How often a language is found in a chat then speaks for it in the pieces that could be
of two: a chat that is Danish all over is not Norwegian in between. What follows from the languages
is in `ei.languages`, `ei.encoder_choice` and `terms`.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

import realtalk_models
from realtalk.text.words import ONE_LANGUAGE, amount, language_words, script_of

Scores: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = npt.NDArray[np.int64]

_LONGEST_PART = 4  # letters
_LONGEST_WORD = 24  # letters that are looked at

ENGLISH, OTHER, UNTOLD = "en", "other", "und"
SOME = 0.2  # share of turns in a language from which it is more than a quotation

_ALONE = 8  # words of a turn that is weighed alone; shorter ones ...
_PIECE = 12  # ... are weighed together up to so many
_FEWEST = 6  # words of a whole chat below which no language is named
_MOST = 60  # words of a long turn that are looked at, spread over it
_OPEN = 0.05  # of what is expected of a piece: that it may be of any language after all
_LOOKED_AT = 200  # texts, spread over all of them: enough to choose how words are read
_LOOKS = 3  # at a chat, each with what the last one found


class LanguageGuess(NamedTuple):
    """A language and how likely it is."""

    language: str
    probability: float


class LanguageIdentifier:
    """Weights of parts of words, one column per language."""

    def __init__(self, weights: Path) -> None:
        with np.load(weights, allow_pickle=False) as file:
            self._weights = file["weights"]
            self._scale = float(file["scale"])
            self._bias = file["bias"].astype(np.float64)
            self.languages = tuple(str(name) for name in file["languages"])
            scripts = [str(name) for name in file["scripts"]]
            self._written = dict(zip(scripts, file["written"].astype(bool), strict=True))
        self._sums = lru_cache(16_384)(self._sum)

    @staticmethod
    @cache
    def load_shipped() -> LanguageIdentifier:
        """The one in this package."""
        return LanguageIdentifier(realtalk_models.path("languages") / "identifier.npz")

    def guess(self, text: str) -> LanguageGuess | None:
        """The likeliest language; None where there are no words, or none of a script it knows."""
        scores = self.log_probabilities(language_words(text))
        if scores is None:
            return None
        best = int(scores.argmax())
        return LanguageGuess(self.languages[best], float(np.exp(scores[best])))

    def log_probabilities(self, words: Sequence[str]) -> Scores | None:
        """One entry per language; None where no language is written in the words' script."""
        columns = self._written.get(script_of(words))
        if columns is None:
            return None
        summed = np.zeros(len(self.languages), np.int64)
        count = 0
        for word in words:
            own, parts = self._sums(word)
            summed += own
            count += parts
        logits = summed * (self._scale / np.sqrt(count)) + self._bias
        logits[~columns] = -np.inf
        logits -= logits.max()
        scores: Scores = logits - np.log(np.exp(logits).sum())
        return scores

    def _sum(self, word: str) -> tuple[Places, int]:
        places = parts_of(word, len(self._weights))
        return self._weights[places].sum(axis=0, dtype=np.int64), len(places)


def parts_of(word: str, buckets: int) -> Places:
    """The places in the table of all parts of a word."""
    marked = f"<{word[:_LONGEST_WORD]}>"
    parts = {f"{marked}|"}  # the whole word
    for size in range(1, _LONGEST_PART + 1):
        parts |= {marked[at : at + size] for at in range(len(marked) - size + 1)}
    parts -= {"<", ">"}
    return np.array(sorted(zlib.crc32(part.encode()) % buckets for part in parts), np.int64)


@dataclass(slots=True)
class _Piece:
    turns: list[int] = field(default_factory=list)
    words: list[str] = field(default_factory=list)
    amount: int = 0  # words; of scripts without spaces about what would be words

    def add(self, other: _Piece) -> None:
        self.turns += other.turns
        self.words += other.words
        self.amount += other.amount

    @property
    def is_enough(self) -> bool:
        """Whether these words suffice for a decision; another script suffices at once."""
        return self.amount >= _FEWEST or script_of(self.words) != "LATIN"

    def scores(self, identifier: LanguageIdentifier) -> Scores | None:
        return identifier.log_probabilities(self.words[:: 1 + len(self.words) // _MOST])


def languages_in(texts: Sequence[str]) -> tuple[str, ...]:
    """The main languages of texts, the commonest first; empty where too little is said."""
    some = texts[:: 1 + len(texts) // _LOOKED_AT]
    return mainly(Counter(turn_languages(("", "", text) for text in some)))


def mainly(turns: Mapping[str, int]) -> tuple[str, ...]:
    """The languages of more than a quotation, by how many turns are in each."""
    counts = {name: n for name, n in turns.items() if name != UNTOLD and n}
    ordered = sorted(counts, key=lambda name: (-counts[name], name))
    least = SOME * sum(counts.values())
    return tuple(name for at, name in enumerate(ordered) if not at or counts[name] > least)


def turn_languages(turns: Iterable[tuple[str, str, str]]) -> list[str]:
    """The language of each turn, given as (chat, speaker, text)."""
    languages: list[str] = []
    speakers: dict[tuple[str, str], list[_Piece]] = {}
    short: dict[tuple[str, str], _Piece] = {}  # turns that wait for more words
    for at, (chat, speaker, text) in enumerate(turns):
        languages.append(UNTOLD)
        words = language_words(text)
        if not words:
            continue
        who, size = (chat, speaker), sum(map(amount, words))
        pieces = speakers.setdefault(who, [])
        if size >= _ALONE:
            pieces.append(_Piece([at], words, size))
            continue
        waiting = short.setdefault(who, _Piece())
        waiting.add(_Piece([at], words, size))
        if waiting.amount >= _PIECE:
            pieces.append(short.pop(who))
    rests: dict[str, _Piece] = {}
    for who, waiting in short.items():
        # Too few words alone go with the speaker's others, else with the rest of the chat.
        pieces = speakers[who]
        (pieces[-1] if pieces else rests.setdefault(who[0], _Piece())).add(waiting)
    chats: dict[str, list[_Piece]] = {}
    for (chat, _), pieces in speakers.items():
        chats.setdefault(chat, []).extend(pieces)
    for chat, rest in rests.items():
        if rest.is_enough:
            chats[chat].append(rest)
    for pieces in chats.values():
        for piece, name in zip(pieces, _identify(pieces), strict=True):
            for at in piece.turns:
                languages[at] = name
    return languages


def _identify(pieces: Sequence[_Piece]) -> list[str]:
    """The language of every piece of a chat."""
    identifier = LanguageIdentifier.load_shipped()
    scores = [piece.scores(identifier) for piece in pieces]
    places = [at for at, own in enumerate(scores) if own is not None]
    names = [ONE_LANGUAGE.get(script_of(piece.words), OTHER) for piece in pieces]
    if not places:
        return names
    alone = np.stack([own for own in scores if own is not None])
    weights = np.array([min(pieces[at].amount, _MOST) for at in places], np.float64)
    posterior = alone
    for _ in range(_LOOKS):
        shares = weights @ np.exp(posterior) / weights.sum()
        expected = np.log((1 - _OPEN) * shares + _OPEN / len(identifier.languages))
        posterior = alone + expected
        posterior = posterior - np.logaddexp.reduce(posterior, axis=1, keepdims=True)
    for at, best in zip(places, posterior.argmax(axis=1).tolist(), strict=True):
        names[at] = identifier.languages[best]
    return names
