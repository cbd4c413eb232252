"""Which forms of speakers' names are ordinary words of the language that a chat is in.

    words = ordinary_words(["c'è il sole", "vado da sola", …])
    words.languages                 → ("it",)
    words.has("sola", "sole")       → True: Sole is called like a word, and "sola" is one
    words.has("mara", "mara")       → False: nothing but a name

Which languages a chat is in, `languages` tells, where some common words are there to see. The words
are counted ones (`ordinary.txt.gz`, made by ordinary_words.py from texts that may be
counted) and those that people are called by (`named_words.txt`). Words that lists of names have,
too ("angel", "ray"), count where the chat shows that they are words: they follow articles.
Everything is folded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import regex

from realtalk.text.folding import fold, fold_word
from realtalk.text.languages import languages_in
from realtalk.text.wordlists import by_language, language_lines
from realtalk.text.words import letter_words

_HERE = "realtalk.text"
_SAMPLE = 2_000  # texts are enough to see common words
_FEWEST = 4  # different common words, without which a chat may be nothing but names
_UNSPACED = frozenset({"ja", "ko", "zh", "th"})  # no spaces, and no list of common words
# Languages that share most of their words, and that few words do not tell apart.
_NEAR = {"en": ("pcm",), "hi": ("ne",)}
_SHOWN = 2  # times that a name must follow an article to be a word
_NOUNS_IN_CAPITALS = frozenset({"de"})


class OrdinaryWords(NamedTuple):
    """The ordinary words of a chat's languages."""

    languages: tuple[str, ...] = ()
    lists: tuple[frozenset[str], ...] = ()
    # Names rather; their endings and beginnings are words.
    doubtful: tuple[frozenset[str], ...] = ()
    small_words: frozenset[str] = frozenset()  # what the chat shows to be words

    @property
    def nouns_in_capitals(self) -> bool:
        """Whether a capital inside a sentence tells nothing."""
        return not _NOUNS_IN_CAPITALS.isdisjoint(self.languages)

    def has(self, form: str, root: str = "") -> bool:
        """Whether a form of a name, or the name that it is a form of, is an ordinary word."""
        if self.is_word(form):
            return True
        if form == root or self.is_word(root):
            return form != root
        return self.may_be(form) and not (root and form.endswith(root))

    def may_be(self, key: str) -> bool:
        """Whether it is a word that is a name far more often."""
        return any(key in words for words in self.doubtful)

    def is_word(self, key: str) -> bool:
        return key in self.small_words or any(key in words for words in self.lists)


def ordinary_words(texts: Sequence[str]) -> OrdinaryWords:
    """The words of the languages that a chat's texts are in; of none where that cannot be told."""
    vocabulary = {fold_word(word) for text in texts[:_SAMPLE] for word in letter_words(text)}
    codes = tuple(
        dict.fromkeys(
            near
            for code in languages_in(texts)
            if code in _UNSPACED or len(vocabulary & _lists(code)[0]) >= _FEWEST
            for near in (code, *_NEAR.get(code, ()))
        )
    )
    return _of_languages(codes, _find_small_words(texts, codes))


def merge_words(some: Iterable[OrdinaryWords]) -> OrdinaryWords:
    """What is a word in any of the chats."""
    chats = list(some)
    codes = dict.fromkeys(code for words in chats for code in words.languages)
    return _of_languages(
        tuple(codes), frozenset[str]().union(*(words.small_words for words in chats))
    )


def _of_languages(codes: tuple[str, ...], small_words: frozenset[str]) -> OrdinaryWords:
    lists = [_lists(code) for code in codes]
    words, doubtful = (tuple(each[place] for each in lists) for place in (1, 2))
    return OrdinaryWords(codes, words, doubtful, small_words)


def _find_small_words(texts: Sequence[str], codes: tuple[str, ...]) -> frozenset[str]:
    """Words in small letters that follow articles: even "angel" is one, if it does so twice."""
    before = articles(codes)
    if not before:
        return frozenset()
    either = "|".join(sorted(before, key=len, reverse=True))
    pattern = regex.compile(
        rf"(?<![\w'’])(?:(?:{either})[ ]|(?:un|[ld])['’])([\p{{L}}\p{{M}}]+)", regex.I
    )
    counts = Counter(word for text in texts for word in pattern.findall(text))
    return frozenset(
        fold_word(word)
        for word, count in counts.items()
        if count >= _SHOWN and not word[0].isupper()
    )


def articles(languages: tuple[str, ...]) -> frozenset[str]:
    """What stands before a thing in these languages and hardly before somebody."""
    return by_language(_HERE, "grammar.txt", "before things", languages)


@cache
def _lists(code: str) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """The commonest words of a language; what is a word wherever it stands in small letters; and
    what lists of names have, too, which "~" parts off.
    """
    frequent, named = (
        language_lines(_HERE, name).get(code, "") for name in ("ordinary.txt.gz", "named_words.txt")
    )
    names, others = (part.split() for part in named.partition(" ~ ")[::2])
    doubtful = frozenset(map(fold_word, others))
    words = (*frequent.partition(" ~")[0].split(), *map(fold_word, names), *map(fold, names))
    return (
        frozenset(frequent.partition(" | ")[0].split()),
        frozenset(words) - doubtful,
        doubtful.union(frequent.partition(" ~ ")[2].split()),
    )
