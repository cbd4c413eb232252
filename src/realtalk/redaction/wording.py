"""In which script, and as of which gender, a corpus speaks of people: its stand-ins follow.

    wording(["Маша пришла домой, Олег спал", …], ["Маша", "Олег"])
    → PersonWords(one="Человек", other="Персона", feminine={"маша"}): Персона1 пришла, Человек2 спал

A chat in Cyrillic gets Cyrillic stand-ins, so that words around them keep their language. Where
verbs and adjectives agree with a name, there are two words, one of each gender; which one a person
gets is read from the verbs beside the name, else from its ending. In Latin script all are "Person".
"""

from __future__ import annotations

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

    one: str = "Person"
    other: str = "Person"
    feminine: frozenset[str] = frozenset()
    endings: tuple[str, ...] = ()

    def word(self, name: str) -> str:
        """The word for somebody of that name."""
        if self.one == self.other:
            return self.one
        key = fold(name)
        first = key.split()[0] if key.split() else key
        if {key, first} & self.feminine:
            return self.other
        known = first in _MEN or f"{first} " in self.feminine
        return self.one if known or not first.endswith(self.endings) else self.other


def wording(texts: Sequence[str], names: Iterable[str]) -> PersonWords:
    """The words for the people of a corpus, from what is said in it."""
    script = _script(texts)
    if script is None:
        return PersonWords()
    one, other = _WORDS[script]
    endings = _FEMININE_END.get(script, ())
    told = _told_by_verbs(texts, names) if script == "Cyrillic" else frozenset()
    return PersonWords(one, other, told, tuple(map(fold, endings)))


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
    named = regex.compile(rf"\b({'|'.join(map(regex.escape, sorted(firsts)))})\b", regex.I)
    counts: Counter[str] = Counter()
    for text in texts[:_SAMPLE]:
        for match in named.finditer(text):
            verb = _VERB.match(text, match.end())
            if verb is None:
                continue
            if verb[1].endswith(("ла", "лась")):
                counts[fold(match[1])] += 1
            elif verb[1].endswith(("л", "лся")):
                counts[fold(match[1])] -= 1
    return frozenset(name if count > 0 else f"{name} " for name, count in counts.items() if count)
