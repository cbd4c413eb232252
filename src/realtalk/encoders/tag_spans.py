"""Chances of tags, piece by piece → spans of a text, whole words of them.

    decoder = SpanDecoder(["person", "place"], {"person": [.5, .9], "place": [.5, .9]})
    words = decoder.weigh("hey Anna Lund", [(0, 3), (4, 8), (9, 12), (12, 13)], chances)
    decoder.spans(words)
    → [TaggedSpan(4, 13, "person", .93)]
    lists = NameWords.load(Path("names/words.npz"))
    lists.features_of("ask Ingrid or mark", [(4, 10), (14, 18)])    → [[1, 0, 0], [1, 6, 0]]

Tags are O, then begin and go on of each kind. A word is a name as a whole: its chance is the mean
over its pieces; in scripts without spaces a piece is a word. Persons, places and organisations are
taken for each other more often than for nothing: their chances are added, and the likeliest names
the kind. A chance becomes a score by the kind's two thresholds: .5 at the first, .75 at the second.
Below, down to a part of the first, it is still told: what is unsure is listed. Of names a chance is
read beside how often a word's pieces are in names at all, and whether it has a capital: a tagger
that learned from news takes what it never saw for a name, and chats are full of that. How much each
of these tells differs between languages: a capital says less in German than in English.

Beside the tags a word is looked up in lists: listed as a name; how common a listed word is
otherwise; how common one is that is not listed (log2 of a count). Words are kept as hashes of their
small letters, so no list can be read off the file. In Arabic letters a word is looked up without
"to", "in", "and", "the" before it, too. Where there are no spaces, two to four signs in a row are
looked up, elsewhere also two and three words in a row ("new york"); the longest that is listed
counts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
import numpy.typing as npt
import regex

Chances: TypeAlias = npt.NDArray[np.float32]
Numbers: TypeAlias = npt.NDArray[np.float64]
Places: TypeAlias = Sequence[tuple[int, int]]  # in a text: where each begins and ends

# How a word is written, for models whose vocabulary is in small letters: 0 nothing to see (a script
# without capitals, punctuation), 1 small, 2 a capital first, 3 capitals, 4 mixed, 5 digits.
CASES = 6

NAMES = frozenset({"person", "place", "organisation"})  # other kinds have digits
REPLACED_FROM = 0.5  # score

_WEAK = 0.3  # of the first threshold
_RUN = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Hangul}\p{Line_Break=SA}ー]")
_OPENING = " \t\n\"'“‘«(¿¡-–—*_"
_ENDING = ".!?…:;"
_IN_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]")


@dataclass(frozen=True, slots=True)
class TaggedSpan:
    """A piece of a text and what it may name; from .5 on it is to be replaced."""

    start: int
    end: int
    kind: str
    score: float
    is_listed: bool = False  # all its words are in lists of names
    common: int = 0  # how often people write it as a plain word: log2 of a count


class WeighedWords(NamedTuple):
    """A text's words, and what tells which of them are names."""

    text: str
    places: Places
    kinds: npt.NDArray[np.intp]  # the likeliest of each
    chances: Numbers  # of that kind, or of any name
    odds: Numbers | None  # the log of those of a name, where weights are known
    begins: npt.NDArray[np.bool_]  # whether a name of each kind begins there
    lists: Numbers | None  # what lists of names say


class SpanDecoder:
    """For one model's kinds and thresholds."""

    def __init__(
        self,
        kinds: Sequence[str],
        thresholds: Mapping[str, Sequence[float]],
        weights: Sequence[float] = (),
        words: NameWords | None = None,
        by_language: Mapping[str, Sequence[float]] | None = None,
    ) -> None:
        """`by_language` is what a language's weights are beside those of all."""
        self._kinds = tuple(kinds)
        self._words = words
        self._weights = np.array(weights, np.float64)  # of nothing, then of each feature
        self._by_language = {
            lang: self._weights + np.array(more, np.float64)
            for lang, more in (by_language or {}).items()
        }
        self._alike = tuple(at for at, kind in enumerate(kinds) if kind in NAMES)
        self._from = np.array([thresholds[kind][0] for kind in kinds], np.float32)
        self._sure = np.array([thresholds[kind][1] for kind in kinds], np.float32)
        alike = self._is_name = np.array([kind in NAMES for kind in kinds])
        # Row of a kind: which kinds' chances count for it.
        self._mixed = np.where(alike[:, None] & alike[None, :], 1, np.eye(len(kinds)))
        self._least = float(self._from.min()) * _WEAK

    def weigh(
        self,
        text: str,
        offsets: Places,
        chances: Chances,
        prior: Chances | None = None,
        lang: str = "",
    ) -> WeighedWords | None:
        """What tells of a text's words whether they are names; nothing where none can be one.

        `prior` is the log of the odds that a piece is in a name. Most texts name nobody.
        """
        if not len(offsets):
            return None
        firsts = words_in(text, offsets)
        places = word_places(offsets, firsts)
        lists = None if self._words is None else self._words.features_of(text, places)
        if not (1 - chances[:, 0] >= self._least).any() and (
            lists is None or not lists[:, 0].any()
        ):
            return None
        if prior is None:
            prior = np.zeros(len(offsets), np.float32)
        values, kinds = features(text, places, firsts, chances, prior, self._alike, lists)
        best = kinds.argmax(1)
        chance = (kinds @ self._mixed.T)[np.arange(len(best)), best]
        odds = None
        if len(self._weights):
            weights = self._by_language.get(lang, self._weights)
            odds = weights[0] + values @ weights[1:]
        begins = chances[firsts, 1::2] > kinds / 2
        return WeighedWords(text, places, best, chance, odds, begins, lists)

    def spans(self, words: WeighedWords | None, rarer: float = 0.0) -> list[TaggedSpan]:
        """What a text names, in order.

        `rarer` is added to the log of a word's odds: below zero where names are rare.
        """
        if words is None:
            return []
        best, chance, places = words.kinds, words.chances, words.places
        if words.odds is not None:
            of_names = 1 / (1 + np.exp(-(words.odds + rarer)))
            chance = np.where(self._is_name[best], of_names, chance)
        firsts = self._from[best]
        spans: list[TaggedSpan] = []
        run: list[int] = []

        def close() -> None:
            named = [at for at in run if any(map(str.isalnum, words.text[slice(*places[at])]))]
            if named:
                kind = int(best[run[0]])
                score = self._score(kind, float(chance[named].mean()))
                # Whether lists have all words of a name that goes; how common they are.
                listed, common = False, 0
                if words.lists is not None and score >= REPLACED_FROM:
                    listed = bool(words.lists[named, 0].all())
                    common = int(words.lists[named, 1:].max())
                start, end = places[run[0]][0], places[run[-1]][1]
                spans.append(TaggedSpan(start, end, self._kinds[kind], score, listed, common))
            run.clear()

        for at in np.flatnonzero(chance >= firsts * _WEAK).tolist():
            if run:
                last, kind = run[-1], best[at]
                # Signs that touch are one name even where one of them is less sure: 王小|明.
                apart = places[last][1] < places[at][0]
                unlike = apart and (chance[at] >= firsts[at]) != (chance[last] >= firsts[at])
                if last + 1 < at or kind != best[last] or words.begins[at, kind] or unlike:
                    close()
            run.append(at)
        close()
        return spans

    def _score(self, kind: int, chance: float) -> float:
        first, sure = float(self._from[kind]), float(self._sure[kind])
        if chance < first:
            return 0.5 * chance / first
        if chance < sure:
            return 0.5 + 0.25 * (chance - first) / (sure - first)
        return 0.75 + 0.25 * min(1.0, (chance - sure) / max(1 - sure, 1e-6))


def features(
    text: str,
    places: Places,
    firsts: Sequence[int],
    chances: Chances,
    prior: Chances,
    alike: Sequence[int],
    lists: Numbers | None = None,
) -> tuple[Numbers, Chances]:
    """What tells of each word whether it is a name; the chance of each kind."""
    sizes = np.diff([*firsts, len(chances)])[:, None]
    kinds = np.add.reduceat(chances[:, 1::2] + chances[:, 2::2], firsts, axis=0) / sizes
    chance = np.clip(kinds[:, list(alike)].sum(1), 0.002, 0.998).astype(np.float64)
    odds = np.log(chance / (1 - chance))
    mean_prior = np.add.reduceat(prior, firsts) / sizes[:, 0]
    least = np.minimum.reduceat(prior, firsts)
    cases = [case_of(text[slice(*place)]) for place in places]
    capital = np.array([case in (2, 3, 4) for case in cases], np.float64)
    starts = [start for start, _ in places]
    inside = np.array(
        [has and not begins_sentence(text, at) for has, at in zip(capital, starts, strict=True)],
        np.float64,
    )
    small = np.array([case == 1 for case in cases], np.float64)
    of_case = [capital, small, capital * odds, small * odds, inside, inside * odds]
    table = np.stack([odds, mean_prior, least, *of_case], axis=1)
    if lists is not None:
        listed = lists[:, 0]
        # What a list says counts otherwise where a word is small, or its script has no capitals.
        plain = listed * (1 - capital - small)
        both = np.stack([listed * small, plain, listed * odds], axis=1)
        table = np.concatenate([table, lists, both], axis=1)
    return table, kinds


def word_places(offsets: Places, firsts: Sequence[int]) -> list[tuple[int, int]]:
    """Where each word stands, of whose pieces these are the first."""
    ends = [*firsts[1:], len(offsets)]
    return [(offsets[a][0], offsets[b - 1][1]) for a, b in zip(firsts, ends, strict=True)]


def begins_sentence(text: str, start: int) -> bool:
    """Whether a sentence may begin there, so that a capital tells nothing."""
    before = text[:start].rstrip(_OPENING)
    return not before or before[-1] in _ENDING or "\n" in text[len(before) : start]


def words_in(text: str, offsets: Places) -> list[int]:
    """Which pieces begin a word: all but those that go on where letters touch."""
    firsts = [0]
    for at in range(1, len(offsets)):
        start, before = offsets[at][0], offsets[at - 1][1]
        if start < before:  # the mark of a word's beginning lies on its first sign
            continue
        touch = start == before and _IN_WORD.match(text[start]) and _IN_WORD.match(text[start - 1])
        if touch and not (_RUN.match(text[start]) or _RUN.match(text[start - 1])):
            continue
        firsts.append(at)
    return firsts


@lru_cache(1 << 16)
def case_of(piece: str) -> int:
    """The case of a word, or of a piece of one."""
    letters = [sign for sign in piece if sign.isalpha()]
    if not letters:
        return 5 if any(sign.isdigit() for sign in piece) else 0
    upper = sum(sign.isupper() for sign in letters)
    if not upper:
        return 1 if any(sign.islower() for sign in letters) else 0
    if upper == len(letters) and len(letters) > 1:
        return 3
    return 2 if letters[0].isupper() and upper == 1 else 4


def word_case(text: str, start: int, end: int) -> int:
    """The case of the word that a piece is of; whether the piece begins it is seen by itself."""
    while start and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return case_of(text[start:end])


SIGNS = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}ー]{2,}")  # no spaces there
WORD = regex.compile(r"[\p{L}\p{M}]{2,}")
LISTED = 128  # a value's highest bit; the lower four are the log2 of a count
_COUNT = 15
_TOGETHER = (4, 3, 2)  # signs of a name
_ARABIC = regex.compile(r"(?:[وف]?(?:[لبك]|ال|لل)|[وف])(?=\p{Arabic}{3})")


@dataclass(frozen=True, slots=True)
class NameWords:
    values: Mapping[int, int]  # of hashes

    @classmethod
    def load(cls, path: Path) -> NameWords:
        with np.load(path, allow_pickle=False) as file:
            hashes = np.cumsum(file["steps"], dtype=np.uint32).tolist()
            return cls(dict(zip(hashes, file["values"].tolist(), strict=True)))

    @classmethod
    def of(cls, listed: set[str], counts: Mapping[str, int]) -> NameWords:
        """Of names, and of words with how often they are plain."""
        values = {hash_of(word): min(_COUNT, n.bit_length()) for word, n in counts.items()}
        for word in listed:
            values[hash_of(word)] = values.get(hash_of(word), 0) | LISTED
        return cls(values)

    def save(self, path: Path) -> None:
        """Steps between hashes instead of hashes: they are smaller when packed."""
        hashes = np.array(sorted(self.values), np.uint32)
        steps = np.diff(hashes, prepend=np.uint32(0))
        values = np.array([self.values[int(hash_)] for hash_ in hashes], np.uint8)
        np.savez_compressed(path, steps=steps, values=values)

    def features_of(self, text: str, places: Places) -> Numbers:
        """One row per word, which stands at these places of a text."""
        rows = np.zeros((len(places), 3))
        among = [*self._among_signs(text), *self._among_words(text)]
        for at, (start, end) in enumerate(places):
            values = [self._value(form) for form in _forms(text[start:end])]
            values += [value for first, last, value in among if first < end and start < last]
            best = max(values, key=lambda value: (value & LISTED, -(value & _COUNT)), default=0)
            common = float(best & _COUNT)
            rows[at] = (1, common, 0) if best & LISTED else (0, 0, common)
        return rows

    def _value(self, form: str) -> int:
        return self.values.get(hash_of(form), 0)

    def _among_signs(self, text: str) -> Iterator[tuple[int, int, int]]:
        for match in SIGNS.finditer(text):
            at, end = match.span()
            while at < end - 1:
                fits = (size for size in _TOGETHER if at + size <= end)
                size = next((n for n in fits if self._value(text[at : at + n]) & LISTED), 0)
                if size:
                    yield at, at + size, self._value(text[at : at + size])
                at += size or 1

    def _among_words(self, text: str) -> Iterator[tuple[int, int, int]]:
        words = [match.span() for match in WORD.finditer(text)]
        at = 0
        while at < len(words) - 1:
            step = 1
            for size in (3, 2):
                part = words[at : at + size]
                spaced = all(text[a[1] : b[0]] in (" ", "-") for a, b in pairwise(part))
                name = " ".join(text[slice(*place)] for place in part)
                if len(part) == size and spaced and (value := self._value(name)) & LISTED:
                    yield part[0][0], part[-1][1], value
                    step = size
                    break
            at += step


def hash_of(word: str) -> int:
    return crc32(unicodedata.normalize("NFC", word).casefold().encode())


def _forms(word: str) -> Iterator[str]:
    if len(word) < 2 or not word[0].isalpha() or SIGNS.match(word):
        return
    yield word
    if (before := _ARABIC.match(word)) is not None:
        yield word[before.end() :]
