"""Whom a word names: a speaker's names in every shape in which a chat may hold them.

    names = Names()
    names.add("Mara Lund", "Person1")
    names.find("Marának")   → (NameSpan(0, 7, "Person1"),)        names.find("marathon") → ()
    names.find("hiMara")    → (NameSpan(2, 6, "Person1"),)        names.find("maralund") → whole
    names.add("王小明", "Person2")
    names.find("我和小明去")  → (NameSpan(2, 4, "Person2"),)
    forms = SpeakerForms(kept={"rose"})
    forms.add("Person1", "Rose Marsh")
    forms.settle("I rose when Rose rang", [(2, 6, "Person1"), (12, 16, "Person1")])
    → [(12, 16, "Person1")]                   forms.met → {("Person1", "rose"): [(text, 2)]}

A part of a name counts from two graphemes on, in any case and script; one grapheme is a name
only where it is the whole name and the whole word. In scripts with spaces a name begins a word and
may have an ending (`inflection`), in the others it may stand anywhere. An everyday word that is a
name ("will") is sure with a capital only; the place it stands at decides otherwise (`text`).

A speaker's name as it is written is always replaced: the whole of it, and its words with capitals
("Rose", "ROSE"). Everything else that was taken for it may be a word as well, so people decide:
small letters, short forms, endings, and single words of a name in a script without capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import regex

from realtalk.chat import is_nobody
from realtalk.redaction.standins import STAND_IN
from realtalk.redaction.words import EVERYDAY, LINKS, NO_FORM, TITLES
from realtalk.text.folding import (
    DIGITS,
    TOKEN,
    fold,
    fold_with_places,
    fold_word,
    graphemes,
    is_run,
    parts,
    pieces,
    spelled_out,
)
from realtalk.text.inflection import ends, is_listed, stems, without_prefix
from realtalk.text.ordinary import OrdinaryWords
from realtalk.text.unspaced import UNSPACED, run_forms, stands_alone

_SAME = re.compile(r"(.)\1+")
_DRAWN_OUT = re.compile(r"(.)\1\1")
_USER_NAME = regex.compile(r"^\S*(?:[\d_.]|\p{Ll}\p{Lu})\S*$")
_DIGITS_OF_A_NUMBER = 5
_LONGEST_SHORT = 16  # signs of a short form, and
_LONGEST_END = 16  # of what is glued to a name
_SAME_PHONE = 8  # digits from the end: the country and the first nought are often left out
_Lookup = tuple[dict[str, str], dict[str, dict[int, None]]]


class NameSpan(NamedTuple):
    """Where a person's name lies; `sure` is False for an everyday word in small letters."""

    start: int
    end: int
    person: str
    sure: bool = True
    root: str = ""  # the word of the name, folded, of which it is a form; "": only a part of one


def squash(text: str) -> str:
    """Letters and digits only: how a name looks as a handle, or a number as digits."""
    return "".join(sign for sign in fold(text) if sign.isalnum())


def names_held(names: Iterable[str]) -> Iterator[str]:
    """The names and their parts, folded: what no stand-in may hold."""
    for name in names:
        if STAND_IN.fullmatch(name) or is_nobody(name) or _is_number(name):
            continue
        yield fold(name)
        words = parts(name)
        if not _is_user_name(name, words):
            for part in words:
                if graphemes(part) > 1 and not (len(words) > 1 and _is_no_name(part)):
                    yield fold(part)


def _is_user_name(name: str, words: list[str]) -> bool:
    return len(words) > 1 and _USER_NAME.match(name) is not None


def _is_no_name(part: str) -> bool:
    """Whether a part of a longer name says nothing by itself: "Dr", "de"."""
    key = fold_word(part)
    return key in TITLES or (key in LINKS and not _is_capital(part))


def _digits(text: str) -> str:
    return "".join(sign for sign in text.translate(DIGITS) if sign.isdecimal())


def _is_number(name: str) -> bool:
    """Whether a name is a phone number: people who are in nobody's address book."""
    return len(_digits(name)) >= _DIGITS_OF_A_NUMBER and not parts(name)


@dataclass(slots=True)
class Names:
    """Names and the persons they mean; the first to have a name keeps it."""

    capitals_only: bool = False  # for names that were only guessed
    words: dict[str, tuple[str, bool]] = field(default_factory=dict)  # person; an everyday word?
    squashed: dict[str, str] = field(default_factory=dict)
    titled: dict[str, list[str]] = field(default_factory=dict)  # a person's names with a title
    small: set[str] = field(default_factory=set)  # guessed names that count in small letters too
    _stems: dict[str, list[tuple[str, str, bool, str]]] = field(default_factory=dict)
    _short: dict[str, str] = field(default_factory=dict)
    _drawn_out: dict[str, str] = field(default_factory=dict)
    runs: dict[str, str] = field(default_factory=dict)
    _signs: dict[str, str] = field(default_factory=dict)  # names that are no words: "🦊", "A.J."
    _phones: dict[str, str] = field(default_factory=dict)
    nobody: set[str] = field(default_factory=set)  # words that were looked at and name nobody
    _seen: dict[str, tuple[NameSpan, ...]] = field(default_factory=dict)
    _phone_pattern: regex.Pattern[str] | None = None
    _lookups: dict[str, _Lookup] = field(default_factory=dict)

    def add(self, name: str, person: str, *, own: bool = True) -> None:
        """A name and its parts. `own`: of this chat, where the parts of a user name are names too.

        Elsewhere the words of "the_cat_lady" count only with a capital: of a thousand user
        names there would be little left of a language.
        """
        if STAND_IN.fullmatch(name) or is_nobody(name):
            return
        self._forget()
        if _is_number(name):
            digits = _digits(name)
            self.squashed.setdefault(digits, person)
            self._phones.setdefault(digits[-_SAME_PHONE:], person)
            return
        words = parts(name.partition("@")[0] if "@" in name[1:] else name)
        user = _is_user_name(name, words)
        if graphemes(squash(name)) > 1:
            self.squashed.setdefault(squash(name), person)
        has_form = False
        for part in words:
            if any(sign.isdigit() for sign in part):
                self.squashed.setdefault(squash(part), person)
                has_form = True
            elif is_run(part):
                has_form |= self._add_run(part, person, whole=len(words) == 1)
            elif len(words) > 1 and graphemes(part) < 2:
                continue
            elif len(words) > 1 and _is_no_name(part):
                self.titled.setdefault(person, []).append(name.casefold())
            else:
                # A part of "throw_away99" may be a word: only its capital makes it a name.
                word = user and not (own and fold_word(part) not in NO_FORM)
                self.add_word(part, person, short=not user, everyday=word)
                has_form = True
        self._add_joined(words, person)
        if len(words) > 1 and " " not in name.strip() and UNSPACED.search(name):
            self._signs.setdefault(fold(name.strip()), person)  # "阿may", of two scripts
        if not has_form:
            self._add_sign(name.strip(), person)

    def add_word(
        self, part: str, person: str, *, short: bool = False, everyday: bool = False
    ) -> None:
        """One word, and what is made of it; `everyday`: only as it is and with a capital."""
        for key in {fold_word(part), fold_word(spelled_out(part))}:
            is_sign = len(key) == 1 and is_listed(key)
            self.words.setdefault(key, (person, everyday or is_sign or key in EVERYDAY))
            if len(key) < 2:
                continue
            self._drawn_out.setdefault(_SAME.sub(r"\1", key), key)
            few = graphemes(part) <= 2
            if not everyday:
                for stem, kind in stems(key):
                    self._stems.setdefault(stem, []).append((person, kind, few, key))
            # Of a name in small letters, which may be any word, three letters are too few.
            first = 2 if _is_capital(part) else 4
            for end in range(first, min(len(key), _LONGEST_SHORT)) if short else ():
                self._short.setdefault(key[:end], person)

    def _forget(self) -> None:
        """What words were found to mean, before a name came in."""
        self.nobody.clear()
        self._seen.clear()
        self._phone_pattern = None
        self._lookups.clear()

    @property
    def is_empty(self) -> bool:
        """Whether nothing was added that a text could hold."""
        return not (self.words or self.runs or self._signs)

    def add_other(self, name: str, person: str, *, small: bool = False) -> None:
        """A name that was only found in texts: its parts, without short forms that are guessed."""
        self._forget()
        words = parts(name)
        for part in words:
            if is_run(part):
                self._add_run(part, person, whole=len(words) == 1)
            elif len(words) == 1 or (graphemes(part) > 1 and not _is_no_name(part)):
                self.add_word(part, person)
                if small and fold_word(part) not in EVERYDAY:
                    self.small.add(fold_word(part))
        if len(words) > 1:
            self.squashed.setdefault(squash(name), person)
            self._add_sign(name.strip(), person)

    def add_phrase(self, name: str, stand_in: str, *, small: bool = False) -> None:
        """A place, an employer, a date: only as a whole, a single word with endings."""
        self._forget()
        words = parts(name)
        is_word = len(words) == 1 and squash(words[0]) == squash(name) and words[0].isalpha()
        if is_run(words[0] if is_word else name) and (is_word or TOKEN.fullmatch(name)):
            self.runs.setdefault(fold(name), stand_in)
        elif is_word:
            self.add_word(words[0], stand_in)
            if small:
                self.small.add(fold_word(words[0]))
        else:
            self._add_sign(name.strip(), stand_in)

    def _add_joined(self, words: list[str], person: str) -> None:
        """As in handles and tags: "maralund", "LundMara", "minhkhai", "mlund"."""
        if not 1 < len(words) < 6:
            return
        compounds = {
            "".join(words[i:j]) for i in range(len(words)) for j in range(i + 2, len(words) + 1)
        }
        compounds.add("".join(reversed(words)))
        if len(words[-1]) > 2:
            compounds.add(words[0][0] + words[-1])
        for word in compounds:
            for key in {fold_word(word), fold_word(spelled_out(word))}:
                if len(key) > 3 and key not in NO_FORM:
                    self.words.setdefault(key, (person, False))
                    self._drawn_out.setdefault(_SAME.sub(r"\1", key), key)
        if all(map(is_run, words)):
            self.runs.setdefault(fold("".join(words)), person)
            self.runs.setdefault(fold("".join(reversed(words))), person)

    def _add_run(self, part: str, person: str, *, whole: bool) -> bool:
        is_long = graphemes(part) > 1
        for form in run_forms(fold(part), whole=is_long):
            self.runs.setdefault(form, person)
        if whole and not is_long:
            self._signs.setdefault(fold(part), person)
        return whole or is_long

    def _add_sign(self, name: str, person: str) -> None:
        key = fold(name)
        if not key.strip() or (len(key) == 1 and key.isdigit()):
            return  # "¯" is a space with a mark to Unicode
        self._signs.setdefault(key, person)
        letters = squash(name)
        if len(letters) > 1 and letters.isalpha():
            self.words.setdefault(fold_word(letters), (person, letters in EVERYDAY))

    def phones(self, text: str) -> Iterator[NameSpan]:
        """Who is known by a phone number, with or without its country: "IMG_0170_1234567"."""
        if not self._phones:
            return
        if self._phone_pattern is None:
            ends = "|".join(r"[\W_]{0,3}".join(last) for last in self._phones)
            # Before the last digits there may be some more, and after them none.
            self._phone_pattern = regex.compile(
                rf"(?<!\d)[+(]{{0,2}}(?:\d[\W_]{{0,3}}){{0,8}}?(?:{ends})(?!\d)"
            )
        for match in self._phone_pattern.finditer(text.translate(DIGITS)):
            person = self._phones[_digits(match[0])[-_SAME_PHONE:]]
            yield NameSpan(match.start(), match.end(), person)

    def find(self, token: str) -> tuple[NameSpan, ...]:
        """The names in a word, or in a run of a script without spaces."""
        spans = self._seen.get(token)
        if spans is None:
            spans = self._seen[token] = tuple(self._find(token))
            if not spans:
                self.nobody.add(token)
        return spans

    def _find(self, token: str) -> Iterator[NameSpan]:
        if not token.isascii() and is_run(token):
            yield from self.matches("runs", token)
            return
        done = 0
        for start, end in pieces(token):
            if end - start == 1 and len(token) > 1:
                continue  # "AClass" is not about A
            if start >= done and (person := self._person(token[start:end])):
                yield NameSpan(start, end, *person)
                done = end

    def _person(self, word: str) -> tuple[str, bool, str] | None:
        key, capital = fold_word(word), _is_capital(word)
        if not key or (self.capitals_only and not capital and key not in self.small):
            return None
        if entry := self.words.get(key):
            # "A" begins sentences, and "I" is everybody.
            sure = not entry[1] or (capital and (len(key) > 1 or key not in EVERYDAY))
            return entry[0], sure, key
        bases = [key, *without_prefix(key)]
        for base in bases[1:]:
            if len(base) > 1 and (entry := self.words.get(base)):
                return entry[0], True, base
        if key in EVERYDAY:
            return None
        if key in NO_FORM:
            # "Marks Hund": the whole name with its commonest ending is rather the name.
            if key[-1] == "s" and len(key) > 3 and (entry := self.words.get(key[:-1])):
                return entry[0], not entry[1], key[:-1]
            short = self._short.get(key) if len(key) > 2 else None
            return None if short is None else (short, False, "")
        if _DRAWN_OUT.search(key) or (len(key) > 3 and key[-1] == key[-2]):
            squeezed = _SAME.sub(r"\1", key)
            if (whole := self._drawn_out.get(squeezed)) is not None:
                person, everyday = self.words[whole]
                return person, capital or not everyday, whole
            key = squeezed
        for base in bases:
            for at in range(len(base) - 1, max(0, len(base) - _LONGEST_END), -1):
                for person, kind, few, root in self._stems.get(base[:at], ()):
                    if ends(base[:at], kind, base[at:], few=few):
                        return person, True, root
        # "Al" and "Jo" with a capital only, and not as "AL".
        if len(key) > 2 or (len(word) == 2 and word.istitle()):
            short = self._short.get(key)
            return None if short is None else (short, True, "")
        return None

    def matches(self, which: str, text: str) -> Iterator[NameSpan]:
        """Names that are found anywhere: `runs`, `signs` that are no words, or `inside` a tag."""
        if not any(self._places(which, fold(text))):
            return
        folded, places = fold_with_places(text)
        for start, name, person in self._places(which, folded):
            yield NameSpan(places[start][0], places[start + len(name) - 1][1], person, root=name)

    def _places(self, which: str, folded: str) -> Iterator[tuple[int, str, str]]:
        """Where names stand, the longest first, and whose they are."""
        at, (persons, sizes) = 0, self._lookup(which)
        if sizes.keys().isdisjoint(folded):
            return
        while at < len(folded):
            size = 1
            for longest in sizes.get(folded[at], ()):
                name = folded[at : at + longest]
                if name in persons and (which != "signs" or stands_alone(folded, at, name)):
                    yield at, name, persons[name]
                    size = longest
                    break
            at += size

    def _lookup(self, which: str) -> _Lookup:
        """Whose the names are that are looked for, and how long those are that begin so."""
        if which not in self._lookups:
            persons = self.runs if which == "runs" else self._signs
            if which == "inside":  # longer names only, and none that is an everyday word
                some = ((key, *whose) for key, whose in self.words.items() if len(key) > 3)
                persons = {key: person for key, person, everyday in some if not everyday}
            sizes: dict[str, dict[int, None]] = {}
            for name in sorted(persons, key=len, reverse=True):
                sizes.setdefault(name[0], {})[len(name)] = None
            self._lookups[which] = persons, sizes
        return self._lookups[which]


def _is_capital(word: str) -> bool:
    """Whether a word begins with a capital; scripts without any have nothing but."""
    return not word[0].islower()


Replacement = tuple[int, int, str | None]


def _capital_key(word: str) -> str:
    """A word as a key of its capitals; one without any cannot be, and stays another form."""
    return f"\0{word.casefold()}"


class SpeakerForms:
    """The forms that were met while texts were read; those that are kept are left there."""

    def __init__(self, folds: Iterable[str] = ()) -> None:
        """`folds`: folded forms that stay."""
        self._kept = frozenset(folds)
        self._own: dict[str, set[str]] = {}
        # Of a person and a form the places: a text, and where in it.
        self.met: dict[tuple[str, str], list[tuple[str, int]]] = {}

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
        self.met.setdefault((person, form), []).append((text, start))
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
            or (len(key) > 1 and UNSPACED.match(key) and any(key in name for name in self._names))
        )
