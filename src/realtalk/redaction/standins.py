"""What stands in a text where something was taken out, the same for the same thing.

    made = StandIns(avoid=["mara", "theo"])
    made.make("person", "Mara Lund")      → "Person1"
    made.make("phone", "0170 1234567")    → "<phone-1>"
    StandIns(avoid=["link"]).make("link", "https://x.example")   → "<l-1>"

A stand-in holds no speaker's name: where somebody is called Link or Son, one letter stands for
the kind ("<l-1>", "X_1"), and a number that is somebody's name is passed over. The word for a
person is of the corpus's own script, so that words around it keep their language: "Человек1" in a
chat in Cyrillic. Where verbs and adjectives agree with a name, there are two words, one of each
gender ("Персона1 пришла"); which one somebody gets is read from the verbs beside the name, else
from its ending.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import regex

from realtalk.redaction.words import WORDS
from realtalk.text.folding import fold

_LATIN = ("Person", "Person")
# By script a word for a person; the second is feminine where the language of most has genders.
_WORDS = {
    "Cyrillic": ("Человек", "Персона"),
    "Arabic": ("شخص", "شخصية"),
    "Hebrew": ("אדם", "דמות"),
    "Devanagari": ("व्यक्ति", "व्यक्ति"),
    "Bengali": ("ব্যক্তি", "ব্যক্তি"),
    "Greek": ("Κάποιος", "Κάποια"),
    "Hangul": ("인물", "인물"),
    "Thai": ("บุคคล", "บุคคล"),
    "Armenian": ("Անձ", "Անձ"),
    "Georgian": ("პირი", "პირი"),
    "Han": ("人物", "人物"),  # Chinese and, with Kana, Japanese
}
PERSON_WORDS = tuple(dict.fromkeys([*_LATIN, *(word for pair in _WORDS.values() for word in pair)]))
_FEWEST = 60  # letters from which on a script is told
_MOST = 0.6  # of all letters
_SAMPLE = 2_000  # texts are enough
_LETTERS = {name: regex.compile(rf"\p{{{name}}}") for name in _WORDS} | {
    "Han": regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}]")
}
_ANY = regex.compile(r"\p{L}")
# Men's names that end like women's, and short names of both.
_MEN = WORDS["men"]
_FEMININE_END = {
    "Cyrillic": ("а", "я"),
    "Arabic": ("ة", "اء", "ى"),
    "Hebrew": ("ה", "ית"),
    "Greek": ("α", "η", "ά", "ή", "ώ"),
}
_VERB = regex.compile(r"[ ](?:\p{Ll}{1,3}[ ])?(\p{Ll}{3,})")


@dataclass(frozen=True, slots=True)
class PersonWords:
    """The words that stand for a person, and who takes the feminine one."""

    masculine: str = "Person"
    feminine: str = "Person"
    names: frozenset[str] = frozenset()  # a woman's as it is, a man's with a blank
    endings: tuple[str, ...] = ()

    def word(self, name: str) -> str:
        """The word for somebody of that name."""
        if self.masculine == self.feminine:
            return self.masculine
        key = fold(name)
        first = key.split()[0] if key.split() else key
        if {key, first} & self.names:
            return self.feminine
        is_man = first in _MEN or f"{first} " in self.names
        return self.masculine if is_man or not first.endswith(self.endings) else self.feminine


def wording(texts: Sequence[str], names: Iterable[str]) -> PersonWords:
    """The words for the people of a corpus, from what is said in it."""
    script = _script(texts)
    if script is None:
        return PersonWords()
    masculine, feminine = _WORDS[script]
    endings = _FEMININE_END.get(script, ())
    genders = _told_by_verbs(texts, names) if script == "Cyrillic" else frozenset()
    return PersonWords(masculine, feminine, genders, tuple(map(fold, endings)))


def _script(texts: Sequence[str]) -> str | None:
    letters = 0
    counts: Counter[str] = Counter()
    for text in texts[:_SAMPLE]:
        if text.isascii():
            letters += sum(map(str.isalpha, text))
            continue
        letters += len(_ANY.findall(text))
        for name, pattern in _LETTERS.items():
            counts[name] += len(pattern.findall(text))
    name, most = next(iter(counts.most_common(1)), ("", 0))
    return name if most >= _FEWEST and most > _MOST * letters else None


def _told_by_verbs(texts: Sequence[str], names: Iterable[str]) -> frozenset[str]:
    """First names after which verbs end like a woman's (as they are) or a man's (with a blank)."""
    firsts = {name.split()[0] for name in names if name.split()}
    if not firsts:
        return frozenset()
    pattern = regex.compile(rf"\b({'|'.join(map(regex.escape, sorted(firsts)))})\b", regex.I)
    counts: Counter[str] = Counter()
    for text in texts[:_SAMPLE]:
        for match in pattern.finditer(text):
            verb = _VERB.match(text, match.end())
            if verb is None:
                continue
            if verb[1].endswith(("ла", "лась")):
                counts[fold(match[1])] += 1
            elif verb[1].endswith(("л", "лся")):
                counts[fold(match[1])] -= 1
    return frozenset(name if count > 0 else f"{name} " for name, count in counts.items() if count)


# Kinds that are written in brackets, and the letter of each where its word holds a name.
_KINDS = {kind: kind[0] for kind in ("phone", "email", "link", "address", "number", "file")} | {
    "place": "w",
    "organisation": "o",
    "birthday": "b",
}
# How each kind is written, and how where that holds a speaker's name.
_SHAPES = {
    "person": ("Person{}", "X_{}"),
    "handle": ("@handle{}", "@h_{}"),
    **{kind: (f"<{kind}-{{}}>", f"<{letter}-{{}}>") for kind, letter in _KINDS.items()},
}
_BRACKETS = "|".join((*_KINDS, *_KINDS.values()))
_PERSONS = "|".join((*PERSON_WORDS, "X_"))
SORTS = tuple(_SHAPES)  # of things that are replaced, as counts name them
_NUMBER = "[1-9][0-9]*"  # "@h_000" is somebody's handle
STAND_IN_SHAPE = rf"<(?:{_BRACKETS})-{_NUMBER}>|@(?:handle|h_){_NUMBER}|@?(?:{_PERSONS}){_NUMBER}"
STAND_IN = re.compile(STAND_IN_SHAPE)
_PARTS = re.compile(r"[<@]?(.+?)-?([0-9]+)>?")
_KIND_OF = (
    {"handle": "handle", "h_": "handle"}
    | dict.fromkeys((*PERSON_WORDS, "X_"), "person")
    | {code: kind for kind, letter in _KINDS.items() for code in (kind, letter)}
)


class StandIns:
    """Gives every thing its stand-in, and remembers for which."""

    def __init__(self, avoid: Iterable[str] = (), persons: PersonWords | None = None) -> None:
        """`avoid`: folded names and parts of names that no stand-in may hold."""
        self._names = frozenset(avoid)
        self._persons = persons or PersonWords()
        self._given: dict[tuple[str, str], str] = {}
        self._next: dict[str, int] = {}
        self._shapes = {
            kind: letter if self._holds_name(plain.lower()) else plain
            for kind, (plain, letter) in _SHAPES.items()
        }
        self.originals: dict[str, dict[str, None]] = {}

    def _holds_name(self, folded: str) -> bool:
        return any(name in folded for name in self._names)

    def reserve(self, text: str) -> None:
        """Numbers that a text already uses are not given again."""
        for match in STAND_IN.finditer(text):
            kind, number = kind_and_number(match[0])
            self._next[kind] = max(self._next.get(kind, 1), number + 1)

    def make(self, kind: str, original: str, key: str | None = None) -> str:
        if STAND_IN.fullmatch(original):
            return original
        identity = (kind, unicodedata.normalize("NFC", original).casefold() if key is None else key)
        if identity not in self._given:
            number = self._next.get(kind, 1)
            while str(number) in self._names:
                number += 1
            self._next[kind] = number + 1
            self._given[identity] = self._shape(kind, original).format(number)
        self.note(self._given[identity], original)
        return self._given[identity]

    def _shape(self, kind: str, original: str) -> str:
        if kind != "person" or self._shapes[kind] != _SHAPES[kind][0]:
            return self._shapes[kind]
        word = self._persons.word(original)
        return "X_{}" if self._holds_name(fold(word)) else f"{word}{{}}"

    def note(self, stand_in: str, original: str) -> None:
        self.originals.setdefault(stand_in, {})[original] = None


def kind_and_number(stand_in: str) -> tuple[str, int]:
    """Which kind of thing a stand-in stands for, and which of them."""
    match = _PARTS.fullmatch(stand_in)
    assert match is not None
    return _KIND_OF[match[1]], int(match[2])


def kind_of(stand_in: str) -> str:
    """Which kind of thing a stand-in stands for."""
    return kind_and_number(stand_in)[0]
