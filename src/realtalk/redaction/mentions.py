"""Who or what a text speaks of: the one shape in which rules and models hand in what they found.

    CapitalsRule().mentions(["I told Ingrid", "so Ingrid came", "hey Bea!"])
    → Mention(text=0, start=7, end=13, kind="person", score=.6, source="capitals"), …, Bea once
    BirthdayRule().mentions(["geb. am 12.03.1990", "see you on 12.03."])   → the first date

A source reads all texts of a corpus at once, since a name in one is evidence for another. The texts
it gets are already without speakers, phones, links and the like: their stand-ins are nobody's
names. What becomes of mentions is decided once, for all sources (`candidates`).

Somebody who is only spoken of is capitalised, follows a greeting or a word in small letters (not
"in", "the" and their like) in two texts or more, is never written small, and is no month, place or
brand that we know. Right after a greeting, a title or a word such as "sister", once is enough.
German writes every noun with a capital: there only greetings, titles and relations tell a name.

A date is one of birth where it stands beside a word that says so ("born March 12, 1990",
"ДР 05.11.87", "生日 1990年3月12日"): after it, or right before it, with few signs and no end of a
sentence between. Other dates identify nobody and stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import regex

from realtalk.redaction.kinds import words_outside
from realtalk.redaction.words import (
    BEFORE_OTHERS,
    BIRTH,
    GREETINGS,
    HONORIFICS,
    MONTHS,
    NOT_PEOPLE,
    RELATIONS,
    WORDS,
)

# Kinds of mentions, and what `keep` calls each of them.
MENTION_KINDS = {
    "person": "people",
    "place": "places",
    "organisation": "organisations",
    "address": "addresses",
    "birthday": "birthdays",
    "number": "numbers",
}


@dataclass(frozen=True, slots=True)
class Mention:
    """A piece of a text that names somebody or something."""

    text: int  # which of the texts
    start: int
    end: int
    kind: str
    score: float  # how sure the source is, from 0 to 1
    source: str
    is_doubted: bool = False  # never sure, whatever the score


class MentionSource(Protocol):
    """Whatever finds mentions: a rule, or a model."""

    def mentions(self, texts: Sequence[str]) -> Iterable[Mention]:
        """Everything that it finds, in the order in which stand-ins are to be given."""
        ...


_SEEN_AT_LEAST = 2  # mid-sentence, in different texts
_SURE, _GUESSED = 0.8, 0.6  # after a title or a greeting; from capitals alone
_NOUNS_IN_CAPITALS = WORDS["german"]
_GERMAN = 0.08  # of all words, from which on a corpus counts as German
_BEFORE = re.compile(r",? |\. ")


class CapitalsRule:
    """The rule, as a source of mentions."""

    def mentions(self, texts: Sequence[str]) -> Iterator[Mention]:
        inside: Counter[str] = Counter()
        places: dict[str, list[tuple[int, int]]] = {}
        addressed: set[str] = set()
        small: set[str] = set()
        german = words = 0
        for number, text in enumerate(texts):
            here: set[str] = set()
            before, ended = "", 0
            for word, start, end in words_outside(text):
                words += 1
                if word.islower():
                    small.add(word)
                    german += word in _NOUNS_IN_CAPITALS
                elif len(word) > 2 and word.istitle():
                    between = text[ended:start]
                    titled = before.casefold() in HONORIFICS and _BEFORE.fullmatch(between)
                    if titled or (
                        (before.casefold() in GREETINGS or before.islower())
                        and before not in BEFORE_OTHERS
                        and between in (" ", ", ")
                    ):
                        here.add(word)
                        places.setdefault(word, []).append((number, start))
                        is_called = before.casefold() in GREETINGS | RELATIONS and _ends(text, end)
                        if titled or is_called:
                            addressed.add(word)
                before, ended = word, end
            inside.update(sorted(here, key=text.find))
        only_addressed = german > _GERMAN * words
        for word, count in inside.items():
            sure = word in addressed
            if (
                (sure or (count >= _SEEN_AT_LEAST and not only_addressed))
                and word.lower() not in small
                and word.casefold() not in NOT_PEOPLE
                and word.casefold().removesuffix("s") not in NOT_PEOPLE
            ):
                score = _SURE if sure else _GUESSED
                for number, start in places[word]:
                    yield Mention(number, start, start + len(word), "person", score, "capitals")


def _ends(text: str, at: int) -> bool:
    """Whether a word that ends there is not the first of several: "Hey Mr Fox", "Hi New York"."""
    return not re.match(r" [^\W\d_a-z]", text[at : at + 2])


_MONTH = "|".join(sorted(map(regex.escape, MONTHS), key=len, reverse=True))
_NUMBERS = r"\d{1,4}[ ]?[./\-][ ]?\d{1,2}[ ]?[./\-][ ]?\d{1,4}"
_SIGNS = (
    r"\d{2,4}[ ]?[年년][ ]?\d{1,2}[ ]?[月월][ ]?\d{1,2}[ ]?[日일号號]?"
    r"|\d{1,2}[ ]?[月월][ ]?\d{1,2}[ ]?[日일号號]?"
)
_OF = r"(?:de|del|di|of|ve|al)?"
_NAMED = (
    rf"\d{{1,2}}(?:st|nd|rd|th|\.|º|er|ος|an)?[ ]?{_OF}[ ]?(?:{_MONTH})\.?"
    rf"(?:,?[ ]?{_OF}[ ]?\d{{2,4}})?"
    rf"|(?:{_MONTH})\.?[ ]\d{{1,2}}(?:st|nd|rd|th)?(?:,?[ ]\d{{4}})?"
)
_DATE = rf"(?<![\d.])(?:{_SIGNS}|{_NUMBERS}|{_NAMED})(?!\d)"
_CUE = "|".join(sorted(map(regex.escape, BIRTH), key=len, reverse=True))
_BOUND = r"(?<![\p{L}\p{M}])"
# "date of birth is the", "родился в Казани,": a few words may stand between.
_AFTER_CUE = regex.compile(rf"{_BOUND}(?:{_CUE})[^.!?\n]{{0,24}}?(?P<date>{_DATE})", regex.I)
_BEFORE_CUE = regex.compile(
    rf"(?P<date>{_DATE})[ ]?[,(\-–:]?[ ]?(?:{_CUE})(?![\p{{L}}\p{{M}}])", regex.I
)
_DIGIT = regex.compile(r"\d")

_YEAR = regex.compile(r"(?<!\d)(?:1[3-9]|2[05])\d\d(?!\d)|\d{1,2}[ ]?[年년]|['’]\d\d(?!\d)")
_SHORT = regex.compile(r"(?<!\d)\d{1,2}([ ]?[./\-][ ]?)\d{1,2}\1\d{1,2}(?!\d)")


def has_year(date: str) -> bool:
    """Whether a date has one year: "18-19" and "10.00-16.00" are dates of no birth."""
    return len(_YEAR.findall(date)) == 1 or _SHORT.search(date) is not None


class BirthdayRule:
    """The rule, as a source of mentions."""

    def mentions(self, texts: Sequence[str]) -> Iterator[Mention]:
        for number, text in enumerate(texts):
            if not _DIGIT.search(text):
                continue
            spans = {m.span("date") for p in (_AFTER_CUE, _BEFORE_CUE) for m in p.finditer(text)}
            for start, end in sorted(spans):
                yield Mention(number, start, end, "birthday", 0.9, "birthdays")
