"""Languages → their commonest words, which say little.

    common_words(["es"])           → frozenset({"las", "en", …}), folded
    common_words(["es", "en"])     → those of both, for a chat in two languages

Which languages a text is in, `identifying` tells, whose codes stand in `common_words.txt`. The
English list is that of `lexical`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from realtalk.corpora.redaction.folding import fold_word
from realtalk.encoders.identifying import ENGLISH
from realtalk.encoders.lexical import EMPTY


@cache
def _lists() -> Mapping[str, frozenset[str]]:
    text = files("realtalk.encoders").joinpath("common_words.txt").read_text("utf-8")
    lines = (line.split() for line in text.splitlines() if line and line[0] != "#")
    lists = {code: frozenset(map(fold_word, words)) for code, *words in lines}
    return {ENGLISH: EMPTY, **lists}


def common_words(languages: Iterable[str]) -> frozenset[str]:
    """The words that say little in any of these languages, folded."""
    return frozenset[str]().union(*(_lists().get(code, frozenset()) for code in languages))
