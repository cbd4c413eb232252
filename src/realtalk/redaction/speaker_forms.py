"""Forms of speakers' names that texts hold → rows to tick, and which of them stay.

    forms = SpeakerForms(kept={"rose"})
    forms.add("Person1", "Rose Marsh")
    forms.settled("I rose when Rose rang", [(2, 6, "Person1"), (12, 16, "Person1")])
    → [(12, 16, "Person1")]                   forms.met → {("Person1", "rose"): MetForm(1, …)}

A speaker's name as it is written is always replaced: the whole of it, and its words with capitals
("Rose", "ROSE"). Everything else that was taken for it may be a word as well, so people decide:
small letters, short forms, endings, and single words of a name in a script without capitals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from realtalk.text.folding import TOKEN, fold, parts

_KEPT_PLACES = 3  # of a form: as many as a table names
_Taken = tuple[int, int, str | None]


def _capitalised(word: str) -> str:
    """A word as a key of its capitals; one without any cannot be, and stays another form."""
    return f"\0{word.casefold()}"


@dataclass(slots=True)
class MetForm:
    """How often texts hold a form, and the first places."""

    count: int = 0
    places: list[tuple[str, int]] = field(default_factory=list)  # a text, and where in it


class SpeakerForms:
    """The forms that were met while texts were read; those that are kept are left there."""

    def __init__(self, kept: Iterable[str] = ()) -> None:
        """`kept`: folded forms."""
        self._kept = frozenset(kept)
        self._own: dict[str, set[str]] = {}
        self.met: dict[tuple[str, str], MetForm] = {}

    def add(self, person: str, name: str) -> None:
        """A name as its owner writes it."""
        own = self._own.setdefault(person, set())
        own.add(name.strip())
        own.update(map(_capitalised, parts(name)))

    def settled(self, text: str, spans: Iterable[_Taken]) -> list[_Taken]:
        """What is to be replaced of a text, with what may stay noted."""
        return [span for span in spans if not self._stays(text, *span)]

    def _stays(self, text: str, start: int, end: int, person: str | None) -> bool:
        form = text[start:end]
        if person is None or not TOKEN.fullmatch(form):
            return False
        own = self._own.get(person, ())
        if form in own or (form != form.lower() and _capitalised(form) in own):
            return False
        met = self.met.setdefault((person, form), MetForm())
        met.count += 1
        if len(met.places) < _KEPT_PLACES:
            met.places.append((text, start))
        return fold(form) in self._kept
