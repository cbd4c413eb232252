"""What stands in a text where something was taken out, the same for the same thing.

    made = StandIns(avoid=["mara", "theo"])
    made.make("Person", "Mara Lund")      → "Person1"
    made.make("phone", "0170 1234567")    → "<phone-1>"
    StandIns(avoid=["link"]).make("link", "https://x.example")   → "<l-1>"

A stand-in holds no speaker's name: where somebody is called Link or Son, one letter stands for
the kind ("<l-1>", "X_1"), and a number that is somebody's name is passed over. The word for a
person is of the corpus's own script (`wording`): "Человек1" in a chat in Cyrillic.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from realtalk.redaction.wording import PERSON_WORDS, PersonWords
from realtalk.text.folding import fold

# Kinds that are written in brackets, and the letter of each where its word holds a name.
_KINDS = {kind: kind[0] for kind in ("phone", "email", "link", "address", "number", "file")} | {
    "place": "w",
    "organisation": "o",
    "birthday": "b",
}
# How each kind is written, and how where that holds a speaker's name.
_SHAPES = {
    "Person": ("Person{}", "X_{}"),
    "handle": ("@handle{}", "@h_{}"),
    **{kind: (f"<{kind}-{{}}>", f"<{letter}-{{}}>") for kind, letter in _KINDS.items()},
}
_BRACKETS = "|".join((*_KINDS, *_KINDS.values()))
_PERSONS = "|".join((*PERSON_WORDS, "X_"))
SORTS = tuple(kind.lower() for kind in _SHAPES)  # of things that are replaced, as counts name them
_NUMBER = "[1-9][0-9]*"  # "@h_000" is somebody's handle
STAND_IN = re.compile(
    rf"<({_BRACKETS})-({_NUMBER})>|@(handle|h_)({_NUMBER})|@?({_PERSONS})({_NUMBER})"
)
# The same without groups.
STAND_IN_SHAPE = rf"<(?:{_BRACKETS})-{_NUMBER}>|@(?:handle|h_){_NUMBER}|@?(?:{_PERSONS}){_NUMBER}"
_KIND_OF = (
    {"handle": "handle", "h_": "handle", "X_": "Person"}
    | dict.fromkeys(PERSON_WORDS, "Person")
    | {written: kind for kind, letter in _KINDS.items() for written in (kind, letter)}
)


class StandIns:
    """Gives every thing its stand-in, and remembers for which."""

    def __init__(self, avoid: Iterable[str] = (), persons: PersonWords | None = None) -> None:
        """`avoid`: folded names and parts of names that no stand-in may hold."""
        held = frozenset(avoid)
        self._persons = persons or PersonWords()
        self._given: dict[tuple[str, str], str] = {}
        self._next: dict[str, int] = {}
        self._names = held
        self._shapes = {
            kind: plain if not any(name in plain.lower() for name in held) else letter
            for kind, (plain, letter) in _SHAPES.items()
        }
        self.originals: dict[str, dict[str, None]] = {}

    def reserve(self, text: str) -> None:
        """Numbers that a text already uses are not given again."""
        for match in STAND_IN.finditer(text):
            kind, number = kind_of(match[0]), int(match[2] or match[4] or match[6])
            self._next[kind] = max(self._next.get(kind, 1), number + 1)

    def make(self, kind: str, original: str, key: str | None = None) -> str:
        if STAND_IN.fullmatch(original):
            return original
        known = (kind, unicodedata.normalize("NFC", original).casefold() if key is None else key)
        if known not in self._given:
            number = self._next.get(kind, 1)
            while str(number) in self._names:
                number += 1
            self._next[kind] = number + 1
            self._given[known] = self._shape(kind, original).format(number)
        self.note(self._given[known], original)
        return self._given[known]

    def _shape(self, kind: str, original: str) -> str:
        if kind != "Person" or self._shapes[kind] != _SHAPES[kind][0]:
            return self._shapes[kind]
        word = self._persons.word(original)
        folded = fold(word)
        return f"{word}{{}}" if not any(name in folded for name in self._names) else "X_{}"

    def note(self, stand_in: str, original: str) -> None:
        self.originals.setdefault(stand_in, {})[original] = None


def kind_of(stand_in: str) -> str:
    """Which kind of thing a stand-in stands for."""
    match = STAND_IN.fullmatch(stand_in)
    assert match is not None
    return _KIND_OF[match[1] or match[3] or match[5]]
