"""Texts of any language → what is compared of them: pieces of words, made alike.

    read = reading(["¿Cuándo operaron a la gata?", …])
    read("¿Cuándo la operan?")                      → ["_ope", "oper", "pera", "eran", "ran_"]
    reading(["鍵は庭にある", …])("洗濯機が")           → ["洗", "濯", "機", "洗濯", "濯機", "機が"]
    reading(["the keys are in the garden", …])       → english_terms
    english_terms("Mara was repairing bicycles")     → ["mara", "repair", "bicycl"]
    common_words(["es"])                             → frozenset({"las", "en", …}), folded
    is_named("Игорь", "На что у Игоря аллергия?")    → True

Accents, vowel points and the other forms of a letter are folded (`folding.fold`). Words that say
little in the languages of the texts are left out. Pieces of four letters do what a list of endings
does for English, in every language that inflects. Scripts without spaces, and Korean, which glues
particles to words, are compared by pairs of signs, the common way where there is no dictionary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from typing import TypeAlias

import regex

from realtalk.text.folding import TOKEN, fold, fold_word, graphemes, is_run, parts
from realtalk.text.inflection import ends, stems, without_prefix
from realtalk.text.languages import ENGLISH, languages_in
from realtalk.text.wordlists import language_lines
from realtalk.text.words import plain_words

ReadWords: TypeAlias = Callable[[str], Sequence[str]]

_ENDINGS = "ingly edly ing es ed ly s e".split()  # noqa: SIM905
_SHORTEST = 3  # letters that must be left of an English word
_DOUBLED = re.compile(r"([bdgmnprt])\1\Z")  # running → run, but calling → call
_NUMBER = regex.compile(r"\p{Nd}+")
_PIECE = 4  # letters
_ENGLISH_WORDS = (ENGLISH, "pcm")  # Nigerian Pidgin has them too, and slang passes for it
_EAST = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}ー"
_RUN_PARTS = regex.compile(rf"[{_EAST}]+|\p{{Hangul}}+|[^{_EAST}\p{{Hangul}}]+")
_HAN = regex.compile(r"\p{Han}")  # a word alone, too; signs of other scripts need a neighbour
_CLUSTER = regex.compile(r"\X")
_ARTICLE = regex.compile(r"^(?:[وف]?[بك]?ال|[وف]?لل)(?=\p{L}{3})|^و(?=\p{L}{4})")


def reading(texts: Sequence[str]) -> ReadWords:
    """How the words of these texts are read: as English if all are, or where little is said."""
    languages = languages_in(texts)
    is_english = all(language in _ENGLISH_WORDS for language in languages)
    return english_terms if is_english else Terms(languages).pieces


@cache
def _common() -> Mapping[str, frozenset[str]]:
    lines = language_lines("realtalk.text", "common_words.txt")
    return {code: frozenset(map(fold_word, words.split())) for code, words in lines.items()}


def common_words(languages: Iterable[str]) -> frozenset[str]:
    """The words that say little in any of these languages, folded."""
    return frozenset[str]().union(*(_common().get(code, frozenset()) for code in languages))


@lru_cache(1 << 12)
def english_terms(text: str) -> Sequence[str]:
    """The English words that carry meaning, in lower case and without their endings."""
    empty = _common()[ENGLISH]
    return tuple(_bare(word) for word in plain_words(text.lower()) if word not in empty)


@lru_cache(maxsize=65536)
def _bare(word: str) -> str:
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return f"{word[:-3]}y"
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            return _DOUBLED.sub(r"\1", word.removesuffix(ending))
    return word


class Terms:
    """How texts of some languages are read."""

    def __init__(self, languages: Sequence[str] = ()) -> None:
        self._common = common_words(languages)
        # In a run without spaces a common word is a boundary; one sign may be part of any word.
        runs = (term for term in self._common if is_run(term) and graphemes(term) > 1)
        within = sorted(runs, key=len, reverse=True)
        self._boundary = regex.compile("|".join(map(regex.escape, within)) or r"(?!)")

    def pieces(self, text: str) -> list[str]:
        """Every piece of four letters, a short word whole; in scripts without spaces, pairs."""
        pieces: list[str] = []
        tokens = [(token.lastgroup == "run", token[0]) for token in TOKEN.finditer(text)]
        for touches, token in (*tokens, *((False, number) for number in _NUMBER.findall(text))):
            if touches:
                pieces += self._pairs(token)
            elif word := self._word(token):
                padded = f"_{word}_"
                last = max(1, len(padded) - _PIECE + 1)
                pieces += [padded[at : at + _PIECE] for at in range(last)]
        return pieces

    def _word(self, token: str) -> str:
        """The word folded, without an Arabic article before it; "" where it says little."""
        word = fold_word(token)
        plain = _ARTICLE.sub("", word)
        return "" if word in self._common or plain in self._common else plain

    def _pairs(self, run: str) -> Iterator[str]:
        for part in self._boundary.sub(" ", fold(run)).split():
            for piece in _RUN_PARTS.findall(part):
                signs = _CLUSTER.findall(piece)
                yield from (sign for sign in signs if len(signs) == 1 or _HAN.match(sign))
                yield from (a + b for a, b in pairwise(signs))


def is_named(name: str, text: str) -> bool:
    """Whether a text names somebody, with whatever the language glues to a name."""
    keys = [(fold_word(part), graphemes(part) < 3) for part in parts(name)]
    for token in TOKEN.finditer(text):
        word = fold_word(token[0])
        for key, few in keys:
            if token.lastgroup == "run":
                if key in word:
                    return True
            elif any(_is_form(key, form, few) for form in (word, *without_prefix(word))):
                return True
    return False


def _is_form(key: str, word: str, few: bool) -> bool:
    return word == key or any(
        word.startswith(stem) and ends(stem, kind, word[len(stem) :], few=few)
        for stem, kind in stems(key)
    )
