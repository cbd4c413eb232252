"""Texts → the languages they are in, as far as their commonest words tell, and those words.

    languages_in(["las llaves están en el jardín", …])    → ("es",)
    languages_in(["the keys are in the garden", …])       → ("en",)
    languages_in(["鍵は庭にあるよ", …])                     → ("ja",)
    common_words(["es"])                                  → frozenset({"las", "en", …})

A text's commonest words are a third to half of it, and no two languages share many of them: the
list that covers most tells the language. Scripts without spaces, and Korean, tell by themselves.
This serves to choose how words are read, and to pass over those that say little; labels, which
need more, have a way of their own (`ei.languages`). The English list is that of `lexical`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files

import regex

from realtalk.corpora.redaction.folding import TOKEN, fold_word, is_plain
from realtalk.encoders.lexical import EMPTY

ENGLISH, UNKNOWN = "en", "und"
_LOOKED_AT = 400  # texts, spread over all of them
_LEAST = 0.15  # of the words that a list must cover, ...
_OF_BEST = 0.6  # ... and of what the best list covers: a chat may be in two languages
_FEW = 6  # words of Latin letters that tell nothing
_HARDLY, _ENOUGH = 0.1, 40  # English covers more than this of so many words, whatever is said
# Each run of signs counts as so many common words: about what a list covers of other languages.
_OF_RUN = 0.4
_SIGNS = 2  # of a word in such scripts
_SCRIPTS = {
    "ja": regex.compile(r"[\p{Hiragana}\p{Katakana}]"),
    "ko": regex.compile(r"\p{Hangul}"),
    "th": regex.compile(r"\p{Thai}"),
    "lo": regex.compile(r"\p{Lao}"),
    "km": regex.compile(r"\p{Khmer}"),
    "my": regex.compile(r"\p{Myanmar}"),
    "zh": regex.compile(r"\p{Han}"),
}
_KANA = 0.1  # of the signs of a Japanese text, at least; Chinese has none


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    text = files("realtalk.encoders").joinpath("common_words.txt").read_text("utf-8")
    lines = (line.split() for line in text.splitlines() if line and line[0] != "#")
    lists = {code: frozenset(map(fold_word, words)) for code, *words in lines}
    return {ENGLISH: EMPTY, **lists}


def common_words(languages: Iterable[str]) -> frozenset[str]:
    """The words that say little in any of these languages, folded."""
    return frozenset[str]().union(*(_lists().get(code, frozenset()) for code in languages))


def languages_in(texts: Sequence[str]) -> tuple[str, ...]:
    """The languages that fill a text, the surest first; empty where too little is said."""
    words: Counter[str] = Counter()
    signs: Counter[str] = Counter()
    for text in texts[:: 1 + len(texts) // _LOOKED_AT]:
        for token in TOKEN.finditer(text):
            if token.lastgroup == "run":
                signs.update({code: len(sign.findall(token[0])) for code, sign in _SCRIPTS.items()})
            else:
                words[fold_word(token[0])] += 1
    if signs["ja"] >= _KANA * (signs["ja"] + signs["zh"]):
        signs["ja"] += signs.pop("zh", 0)
    else:
        signs["zh"] += signs.pop("ja", 0)
    total = words.total() + signs.total() / _SIGNS
    if not total:
        return ()
    shares = {
        code: sum(words[word] for word in known & words.keys()) / total
        for code, known in _lists().items()
    }
    for code, count in signs.items():
        shares[code] = max(shares.get(code, 0.0), _OF_RUN * count / _SIGNS / total)
    best = max(shares.values())
    if total < _ENOUGH and best < 2 * shares[ENGLISH]:
        return (ENGLISH,)  # so few words may share some with another list by chance
    foreign = sum(count for word, count in words.items() if not is_plain(word))
    if best < _LEAST or (total < _FEW and not foreign and not signs.total()):
        enough = total >= _ENOUGH and shares[ENGLISH] < _HARDLY
        return (UNKNOWN,) if enough or 2 * foreign > total else ()
    chosen = [code for code, share in shares.items() if share >= max(_LEAST, _OF_BEST * best)]
    return tuple(sorted(chosen, key=lambda code: (-shares[code], code)))
