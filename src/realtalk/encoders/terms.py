"""Texts of any language → what is compared of them: pieces of words, made alike.

    read = reading(["¿Cuándo operaron a la gata?", …])
    read("¿Cuándo la operan?")                      → ["_ope", "oper", "pera", "eran", "ran_"]
    reading(["鍵は庭にある", …])("洗濯機が")           → ["洗", "濯", "機", "洗濯", "濯機", "機が"]
    reading(["the keys are in the garden", …])       → lexical.words, as ever
    is_named("Игорь", "На что у Игоря аллергия?")    → True

Accents, vowel points and the other forms of a letter are folded (`folding.fold`). Words that say
little in the languages of the texts are left out. Pieces of four letters do what a list of endings
does for English, in every language that inflects. Scripts without spaces, and Korean, which glues
particles to words, are compared by pairs of signs, the common way where there is no dictionary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import regex

from realtalk.corpora.redaction.folding import TOKEN, fold, fold_word, graphemes, parts
from realtalk.corpora.redaction.inflection import ends, stems, without_prefix
from realtalk.encoders.common_words import common_words
from realtalk.encoders.identifying import ENGLISH, languages_in
from realtalk.encoders.lexical import ReadWords, words

_NUMBER = regex.compile(r"\p{Nd}+")
_PIECE = 4  # letters
_ENGLISH_WORDS = (ENGLISH, "pcm")  # Nigerian Pidgin has them too, and slang passes for it
_EAST = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}ー"
_RUN_PARTS = regex.compile(rf"[{_EAST}]+|\p{{Hangul}}+|[^{_EAST}\p{{Hangul}}]+")
_HAN = regex.compile(r"\p{Han}")  # a word alone, too; signs of other scripts need a neighbour
_CLUSTER = regex.compile(r"\X")
_ARTICLE = regex.compile(r"^(?:[وف]?[بك]?ال|[وف]?لل)(?=\p{L}{3})|^و(?=\p{L}{4})")


def reading(texts: Sequence[str]) -> ReadWords:
    """How the words of these texts are read: as English where they are, or where little is said."""
    languages = languages_in(texts)
    is_english = not languages or languages[0] in _ENGLISH_WORDS
    return words if is_english else Terms(languages).pieces


class Terms:
    """How texts of some languages are read."""

    def __init__(self, languages: Sequence[str] = ()) -> None:
        self._common = common_words(languages)
        # In a run without spaces a common word is a boundary; one sign may be part of any word.
        within = sorted((each for each in self._common if _is_run(each)), key=len, reverse=True)
        self._boundary = regex.compile("|".join(map(regex.escape, within)) or r"(?!)")

    def pieces(self, text: str) -> list[str]:
        """Every piece of four letters, a short word whole; in scripts without spaces, pairs."""
        found: list[str] = []
        for is_run, token in _tokens(text):
            if is_run:
                found += self._pairs(token)
            elif word := self._word(token):
                padded = f"_{word}_"
                last = max(1, len(padded) - _PIECE + 1)
                found += [padded[at : at + _PIECE] for at in range(last)]
        return found

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


def _tokens(text: str) -> Iterator[tuple[bool, str]]:
    """Words and numbers, and runs of scripts that have no spaces, each marked as such."""
    for token in TOKEN.finditer(text):
        yield token.lastgroup == "run", token[0]
    for number in _NUMBER.findall(text):
        yield False, number


def _is_run(word: str) -> bool:
    found = TOKEN.match(word)
    return found is not None and found.lastgroup == "run" and graphemes(word) > 1
