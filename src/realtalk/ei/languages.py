"""Turns → the language each is in, as far as labels depend on it; and what follows for a chat.

    turn_languages([("Chat_1", "Ana", "oye, ayer fuimos a la playa con los niños, qué rico")])
    → ["other"]                                   "en", "other" or "und": too few words to tell
    chat_languages(labels)[0]                     → Languages("Chat_1", "embedded", {"other": 412})
    chat_languages(labels)[0].english             → 0.0, of the turns that can be told
    language_notes(chat_languages(labels))        → ["Chat_1: hardly any English in 412 turns; …"]

English is recognised by its commonest words, which make up half of any English chat, slang or
not, and hardly a tenth of one in another language. Neighbouring turns of a speaker are weighed
together until there are enough words. A turn's language stands in the labels' column `language`;
null there means that nobody looked (labels of version 0.1.0). A language identifier can put its
codes ("es", "hi-Latn") in the place of "other" without any change here.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

ENGLISH, OTHER, UNTOLD = "en", "other", "und"

# The commonest words of English chats, apostrophes left out. A few are words of other languages
# too, but no language shares many of them, and each counts once in a piece.
_ENGLISH = frozenset(files("realtalk.ei").joinpath("english.txt").read_text("utf-8").split())
# Laughter and agreement belong to every chat.
_ANYWHERE = re.compile(
    r"(?:[ae]?(?:[hj][aeiu]|[aeu]h)+[hj]?|k{2,}|x+d+|lo+l|o+h+|h*m+|ok(?:ay|ey)?|wo+w)\Z"
)
_NO_WORDS = re.compile(  # addresses, names of accounts, and what looks like program text
    r"https?://\S+|www\.\S+|\S+@\S+|[@#]\w+|<[^<>\s]+>|\w*[_/\\={}()\[\];]\S*"
)
_WORD = re.compile(r"[^\W\d_]+")
_APOSTROPHES = re.compile("['’`´]")

_ALONE = 8  # words of a turn that is weighed alone; shorter ones ...
_PIECE = 12  # ... are weighed together up to so many
_FEWEST = 6  # words of a whole chat below which no language is named
_MOST = 60  # words of a long turn that are looked at, spread over it
# Of texts of eight words and more, 97 % of the English ones score .30 and .2 % at most .10, of
# other languages 1 % and 89 % (`bench/languages.py`). Between them the speaker's others decide.
_SURE, _NOT, _EVEN = 0.30, 0.10, 0.25
_SOME = 0.2  # share of turns in another language that is worth a word; from .8 on it is the rule


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
    def is_latin(self) -> bool:
        letters = "".join(self.words)
        return 2 * sum(map(_is_latin, letters)) >= len(letters)

    @property
    def is_enough(self) -> bool:
        """Whether these words suffice for a decision; another script suffices at once."""
        return self.amount >= _FEWEST or not self.is_latin

    def score(self) -> float:
        """The share of different words that are common in English."""
        if not self.is_latin:
            return 0.0
        some = set(self.words[:: 1 + len(self.words) // _MOST])
        return len(some & _ENGLISH) / len(some)


def turn_languages(turns: Iterable[tuple[str, str, str]]) -> list[str]:
    """The language of each turn, given as (chat, speaker, text)."""
    languages: list[str] = []
    speakers: dict[tuple[str, str], list[_Piece]] = {}
    short: dict[tuple[str, str], _Piece] = {}  # turns that wait for more words
    for at, (chat, speaker, text) in enumerate(turns):
        languages.append(UNTOLD)
        words = _words(text)
        if not words:
            continue
        who, amount = (chat, speaker), sum(map(_amount, words))
        pieces = speakers.setdefault(who, [])
        if amount >= _ALONE:
            pieces.append(_Piece([at], words, amount))
            continue
        waiting = short.setdefault(who, _Piece())
        waiting.add(_Piece([at], words, amount))
        if waiting.amount >= _PIECE:
            pieces.append(short.pop(who))
    rests: dict[str, _Piece] = {}
    for who, waiting in short.items():
        # Too few words alone go with the speaker's others, else with the rest of the chat.
        pieces = speakers[who]
        (pieces[-1] if pieces else rests.setdefault(who[0], _Piece())).add(waiting)
    groups = [*speakers.values(), *([rest] for rest in rests.values() if rest.is_enough)]
    for group in groups:
        for piece, english in zip(group, _are_english(group), strict=True):
            for at in piece.turns:
                languages[at] = ENGLISH if english else OTHER
    return languages


def _are_english(pieces: Sequence[_Piece]) -> list[bool]:
    """Judges piece by piece; an undecided piece follows the others where these all agree."""
    scores = [piece.score() for piece in pieces]
    sure = [score >= _SURE for score in scores if not _NOT < score < _SURE]
    share = sum(sure) / len(sure) if sure else 0.5
    cut = _NOT if share >= 1 - _SOME else _SURE if share <= _SOME else _EVEN
    return [score >= _SURE or score > cut for score in scores]


def _words(text: str) -> list[str]:
    plain = _APOSTROPHES.sub("", unicodedata.normalize("NFKC", text).casefold())
    return [w for w in _WORD.findall(_NO_WORDS.sub(" ", plain)) if _ANYWHERE.match(w) is None]


def _amount(word: str) -> int:
    """How many words a token counts for: one, or its length in scripts without spaces."""
    return 1 if _is_latin(word[0]) else max(1, len(word) // 2)


def _is_latin(letter: str) -> bool:
    return letter <= "\u024f" or "\u1e00" <= letter <= "\u1eff"


@dataclass(frozen=True, slots=True)
class Languages:
    """How many turns of a chat are in which language; nothing where nobody looked."""

    chat: str
    measure: str  # how the turns were labelled
    turns: Mapping[str, int] = field(hash=False)

    @property
    def told(self) -> int:
        """Turns with enough words to tell."""
        return sum(self.turns.values()) - self.turns.get(UNTOLD, 0)

    @property
    def english(self) -> float | None:
        """Their share that is English; None where nothing can be told, or nobody looked."""
        return self.turns.get(ENGLISH, 0) / self.told if self.told else None

    def to_json(self) -> dict[str, Any]:
        return {"chat": self.chat, "english": self.english, "turns": dict(self.turns)}


def merged(languages: Iterable[Languages]) -> tuple[Languages, ...]:
    """The same, once per chat: what is known of its speakers added up."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for each in languages:
        counts.setdefault((each.chat, each.measure), Counter()).update(each.turns)
    return tuple(Languages(*key, dict(turns)) for key, turns in counts.items())


def chat_languages(labels: pl.DataFrame) -> tuple[Languages, ...]:
    """The languages of every chat in a table of labels."""
    by_chat: dict[tuple[str, str], Counter[str]] = {}
    rows = labels.select("chat", "measure").iter_rows()
    for key, language in zip(rows, languages_of(labels), strict=True):
        counts = by_chat.setdefault(key, Counter())
        if language is not None:
            counts[language] += 1
    return tuple(Languages(*key, dict(counts)) for key, counts in by_chat.items())


def languages_of(labels: pl.DataFrame) -> list[str | None]:
    """The language of each turn in a table of labels, None where nobody looked."""
    known = "language" in labels.columns
    return labels["language"].to_list() if known else [None] * labels.height


# What is to be thought of labels of another language, by the way of measuring. A judge's
# model is not ours to speak of.
_DOUBTS = {
    "embedded": "the encoder learned English, and what it says here is not to be trusted. A "
    "language model may do better: --measures judge",
    "hub": "the paper's classifiers learned English; trust others as far as they know the language",
}


def language_notes(languages: Iterable[Languages]) -> list[str]:
    """A line for every kind of doubt: chats hardly in English, partly so, and not known."""
    lines: list[str] = []
    by_measure: dict[str, list[Languages]] = {}
    for each in languages:
        by_measure.setdefault(each.measure, []).append(each)
    for measure, chats in by_measure.items():
        if measure not in _DOUBTS:
            continue
        known = [each for each in chats if each.english is not None]
        hardly = [each for each in known if 1 - (each.english or 0.0) > 1 - _SOME]
        partly = [each for each in known if each not in hardly and 1 - (each.english or 0) > _SOME]
        doubt = _DOUBTS[measure]
        if hardly:
            turns = sum(sum(each.turns.values()) for each in hardly)
            lines.append(f"{_names(hardly)}: hardly any English in {turns:,} turns; {doubt}")
        if partly:
            known_turns = sum(each.told for each in partly)
            others = known_turns - sum(each.turns.get(ENGLISH, 0) for each in partly)
            lines.append(
                f"{_names(partly)}: {others:,} of {known_turns:,} turns are not in English "
                f"({others / known_turns:.0%}); {doubt}"
            )
        unseen = [each for each in chats if not each.turns]
        if unseen:
            lines.append(
                f"{_names(unseen)}: not known whether this is English, which these labels are "
                "for: they were made by a version that did not look"
            )
    return lines


def _names(chats: Sequence[Languages], most: int = 3) -> str:
    more = len(chats) - most
    named = ", ".join(each.chat for each in chats[:most])
    return f"{named} and {more:,} more" if more > 0 else named


def languages_json(languages: Sequence[Languages]) -> dict[str, Any]:
    """Every chat's share of English, and the lines that are printed about it."""
    return {"chats": [each.to_json() for each in languages], "notes": language_notes(languages)}
