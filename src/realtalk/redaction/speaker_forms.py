"""Forms of speakers' names that texts hold → rows to tick, and which of them stay.

    forms = SpeakerForms(kept={"rose"})
    forms.add("Person1", "Rose Marsh")
    forms.settle("I rose when Rose rang", [(2, 6, "Person1"), (12, 16, "Person1")])
    → [(12, 16, "Person1")]                   forms.met → {("Person1", "rose"): MetForm(1, …)}

A speaker's name as it is written is always replaced: the whole of it, and its words with capitals
("Rose", "ROSE"). Everything else that was taken for it may be a word as well, so people decide:
small letters, short forms, endings, and single words of a name in a script without capitals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from realtalk.redaction.names import Names
from realtalk.text.folding import TOKEN, fold, fold_word, parts
from realtalk.text.inflection import without_prefix
from realtalk.text.ordinary import OrdinaryWords
from realtalk.text.unspaced import UNSPACED

_KEPT_PLACES = 3  # of a form: as many as a table names
Replacement = tuple[int, int, str | None]


def _capital_key(word: str) -> str:
    """A word as a key of its capitals; one without any cannot be, and stays another form."""
    return f"\0{word.casefold()}"


@dataclass(slots=True)
class MetForm:
    """How often texts hold a form, and the first places."""

    count: int = 0
    places: list[tuple[str, int]] = field(default_factory=list)  # a text, and where in it


class SpeakerForms:
    """The forms that were met while texts were read; those that are kept are left there."""

    def __init__(self, folds: Iterable[str] = ()) -> None:
        """`folds`: folded forms that stay."""
        self._kept = frozenset(folds)
        self._own: dict[str, set[str]] = {}
        self.met: dict[tuple[str, str], MetForm] = {}

    def add(self, person: str, name: str) -> None:
        """A name as its owner writes it."""
        own = self._own.setdefault(person, set())
        own.add(name.strip())
        own.update(map(_capital_key, parts(name)))

    def settle(self, text: str, spans: Iterable[Replacement]) -> list[Replacement]:
        """What is to be replaced of a text, with what may stay noted."""
        return [span for span in spans if not self._stays(text, *span)]

    def _stays(self, text: str, start: int, end: int, person: str | None) -> bool:
        form = text[start:end]
        if person is None or not TOKEN.fullmatch(form):
            return False
        own = self._own.get(person, ())
        if form in own or (form != form.lower() and _capital_key(form) in own):
            return False
        met = self.met.setdefault((person, form), MetForm())
        met.count += 1
        if len(met.places) < _KEPT_PLACES:
            met.places.append((text, start))
        return fold(form) in self._kept


_BENT_FROM = 5  # letters of a name that may lose its last one: Bosco, boschi
_FEWEST_SAME, _MOST_OF_AN_ENDING = 3, 4  # letters


class SpeakersWords:
    """The speakers' names that are words as well, with their forms."""

    def __init__(self, speakers: Names, ordinary: OrdinaryWords) -> None:
        self._speakers = speakers
        self._ordinary = ordinary
        forms = (*speakers.words, *speakers.runs)
        self._names = {name for name in forms if ordinary.is_word(name)}
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
