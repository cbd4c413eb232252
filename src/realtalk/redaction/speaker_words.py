"""Which forms that a source finds are ordinary words that a speaker is called by.

words = SpeakersWords(names, ordinary)      # of Sole, in an Italian chat
words.are_in("sola")         → True: where it is a name was judged when the speakers went
words.are_in("Sole Bianchi") → False: somebody else
"""

from __future__ import annotations

from realtalk.redaction.names import Names
from realtalk.text.folding import fold_word, parts
from realtalk.text.inflection import without_prefix
from realtalk.text.ordinary import OrdinaryWords
from realtalk.text.unspaced import UNSPACED

_BENT_FROM = 5  # letters of a name that may lose its last one: Bosco, boschi
_FEWEST_SAME, _MOST_OF_AN_ENDING = 3, 4  # letters


class SpeakersWords:
    """The speakers' names that are words as well, with their forms."""

    def __init__(self, speakers: Names, ordinary: OrdinaryWords) -> None:
        self._speakers = speakers
        self._ordinary = ordinary
        named = (*speakers.words, *speakers.runs)
        self._names = {name for name in named if ordinary.is_word(name)}
        self._beginnings = {name if len(name) < _BENT_FROM else name[:-1] for name in self._names}

    def are_in(self, form: str) -> bool:
        """Whether such a word is in a form."""
        for part in parts(form):
            key = fold_word(part)
            if not part[0].isupper() and self._is_form(key):
                return True
            if part == form or not part[0].isupper():  # "Rose Tyler" is somebody else
                spans = self._speakers.find(key)
                if any(self._ordinary.has(key, span.root) for span in spans):
                    return True
        return False

    def _is_form(self, key: str) -> bool:
        """Also with endings that no list of ours has: Bosco and "boschi"."""
        shortest = max(_FEWEST_SAME, len(key) - _MOST_OF_AN_ENDING)
        return (
            any(key[:size] in self._beginnings for size in range(shortest, len(key) + 1))
            or any(rest in self._names for rest in without_prefix(key))
            or (_is_run(key) and any(key in name for name in self._names))
        )


def _is_run(key: str) -> bool:
    return len(key) > 1 and UNSPACED.match(key) is not None
