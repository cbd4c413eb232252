"""Mentions of all sources → what is replaced all over the corpus, and how sure that is.

    CapitalsRule().mentions(["I told Ingrid", "so Ingrid came", "hey Bea!"])
    → Mention(text=0, start=7, end=13, kind="person", score=.6, source="capitals"), …, Bea once
    BirthdayRule().mentions(["geb. am 12.03.1990", "see you on 12.03."])   → the first date
    candidates(placed, [CapitalsRule()], {"alexander": "Person1"}, shown)
    → NameCandidate("Ingrid", "person", count=3, …), NameCandidate("Sasha", …, same_as="Person1")
    person_called("Саша", {"александр": "Person1", "мария": "Person2"})  → "Person1"
    list(misspelt(["Alexadner", "Marathon"], ["alexander"]))      → [("Alexadner", "alexander")]

A mention is the one shape in which rules and models hand in what they found. A source reads all
texts of a corpus at once, since a name in one is evidence for another. The texts it gets are
already without speakers, phones, links and the like: their stand-ins are nobody's names.

Somebody who is only spoken of is capitalised, follows a greeting or a word in small letters (not
"in", "the" and their like) in two texts or more, is never written small, and is no month, place or
brand that we know. Right after a greeting, a title or a word such as "sister", once is enough.
German writes every noun with a capital: there only greetings, titles and relations tell a name.

A date is one of birth where it stands beside a word that says so ("born March 12, 1990",
"ДР 05.11.87", "生日 1990年3月12日"): after it, or right before it, with few signs and no end of a
sentence between. Other dates identify nobody and stay.

A form that was found once counts everywhere, in all its forms (`review` makes them one row).
What several sources find is as sure as the surest says. Where the chat shows whose it is, a
nickname ("Bill" for William) or a misspelt name joins its person: exactly one person can be meant.
A slip counts only where that is safe: the name has seven letters or more, both begin and end alike,
and one letter inside is missing, added, another, or has changed places with its neighbour. Martin
and Martina stay two. What is not sure is marked, for `review`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple, Protocol

import regex

from realtalk.encoders.tag_spans import REPLACED_FROM
from realtalk.grouping import grouped
from realtalk.redaction.standins import STAND_IN, words_outside
from realtalk.redaction.words import (
    BEFORE_OTHERS,
    BIRTH,
    EVERYDAY,
    GREETINGS,
    HONORIFICS,
    MONTHS,
    NO_FORM,
    NOT_PEOPLE,
    RELATIONS,
    WORDS,
)
from realtalk.text.folding import TOKEN, fold, fold_word, parts
from realtalk.text.inflection import is_listed
from realtalk.text.wordlists import data_text

# Kinds of mentions, and what `keep` calls each of them.
Texts = Sequence[str]
Persons = Mapping[str, str]  # whose a folded name is
MENTION_KINDS = dict(
    pair.split("=")
    for pair in """
    person=people place=places organisation=organisations address=addresses birthday=birthdays
    number=numbers
    """.split()  # noqa: SIM905 - words read better than quotes
)


class Mention(NamedTuple):
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

    def mentions(self, texts: Texts) -> Iterable[Mention]:
        """Everything that it finds, in the order in which stand-ins are to be given."""
        ...


_SEEN_AT_LEAST = 2  # mid-sentence, in different texts
_SURE, _GUESSED = 0.8, 0.6  # after a title or a greeting; from capitals alone
_NOUNS_IN_CAPITALS = WORDS["german"]
_GERMAN = 0.08  # of all words, from which on a corpus counts as German
_BEFORE = re.compile(r",? |\. ")
_GOES_ON = re.compile(r" [^\W\d_a-z]")  # behind the first of several: "Hey Mr Fox", "Hi New York"


class CapitalsRule:
    """The rule, as a source of mentions."""

    def mentions(self, texts: Texts) -> Iterator[Mention]:
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
                        is_called = before.casefold() in GREETINGS | RELATIONS
                        if titled or (is_called and not _GOES_ON.match(text, end)):
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


_MONTH, _CUE = (
    "|".join(sorted(map(regex.escape, words), key=len, reverse=True)) for words in (MONTHS, BIRTH)
)
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

    def mentions(self, texts: Texts) -> Iterator[Mention]:
        for number, text in enumerate(texts):
            if not _DIGIT.search(text):
                continue
            spans = {m.span("date") for p in (_AFTER_CUE, _BEFORE_CUE) for m in p.finditer(text)}
            for start, end in sorted(spans):
                yield Mention(number, start, end, "birthday", 0.9, "birthdays")


@cache
def _nicknames() -> Mapping[str, set[str]]:
    formal: dict[str, set[str]] = defaultdict(set)
    for line in data_text("realtalk.redaction", "nicknames.txt").splitlines():
        names, _, short = line.partition(":")
        for nickname in short.split():
            formal[fold_word(nickname)].update(map(fold_word, names.split()))
    return formal


def person_called(word: str, persons: Persons) -> str | None:
    """Who of the persons, by folded parts of their names, must be meant; None: nobody, or two."""
    formal = _nicknames().get(fold_word(word), ())
    matches = {persons[name] for name in formal if name in persons}
    return matches.pop() if len(matches) == 1 else None


_LONG_NAME = 7  # letters
_SAME_START, _SAME_END = 2, 2


def misspelt(words: Iterable[str], names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The words that are a name with one slip, and that name, folded as it came."""
    long = (name for name in names if len(name) >= _LONG_NAME and is_listed(name))
    by_ends = grouped((_ends(name), name) for name in long)
    for word in words:
        key = fold_word(word)
        if len(key) < _LONG_NAME - 1:
            continue
        matches = [name for name in by_ends.get(_ends(key), ()) if _one_slip(key, name)]
        if len(matches) == 1:
            yield word, matches[0]


def _ends(key: str) -> tuple[str, str]:
    return key[:_SAME_START], key[-_SAME_END:]


def _one_slip(word: str, name: str) -> bool:
    pairs = enumerate(zip(word, name, strict=False))
    same = next(
        (at for at, (letter, sought) in pairs if letter != sought), min(len(word), len(name))
    )
    rest, target = word[same:], name[same:]
    swapped = rest[:2] == target[1::-1] and rest[2:] == target[2:]
    one_letter = rest[1:] == target[1:] or rest[1:] == target or rest == target[1:]
    return word != name and (one_letter or swapped)


SURE_FROM = 0.8  # nine of ten are right (bench/names_review.py)
_SMALL_FROM = 0.75  # what is a name in small letters, too, if it is one elsewhere
SPEAKERS = "speakers"  # the source of what was taken for a speaker's name
SHOWN = 3  # places that a table names
_AROUND = 100  # signs of context on each side, at most
_SENTENCE_ENDS = re.compile(r"[.!?…](?=\s)\s*|[。！？؟।]\s*|\n\s*")
_Found = dict[tuple[str, str], list[Mention]]  # by form and kind
_OFTEN_SMALL = 0.5  # share of a word in small letters that must be mentions, to replace it so


@dataclass(frozen=True, slots=True)
class NameCandidate:
    """Something that may be replaced, in the form in which it was found."""

    form: str
    kind: str
    count: int  # of the corpus's places where the form stands
    score: float
    source: str
    places: tuple[str, ...] = ()  # ids of the first messages
    context: str = ""
    same_as: str = ""  # somebody whose name it is too
    small: bool = False  # also where it is written in small letters
    is_doubted: bool = False  # not sure, whatever the score

    @property
    def is_replaced(self) -> bool:
        return self.score >= REPLACED_FROM

    @property
    def is_sure(self) -> bool:
        return self.score >= SURE_FROM and not self.is_doubted


def candidates(
    placed: Sequence[tuple[str, str]],
    sources: Iterable[MentionSource],
    persons: Persons,
    originals: Texts,
) -> list[NameCandidate]:
    """What the sources find in texts, given with their messages' ids; in the order of the sources.

    `persons` are speakers' names, folded; `originals` are the same texts as they were written, of
    which people are shown sentences.
    """
    texts, ids = [text for text, _ in placed], [place for _, place in placed]
    mentions = (
        (texts[mention.text][mention.start : mention.end].strip(), mention)
        for source in sources
        for mention in source.mentions(texts)
    )
    by_form = grouped(
        ((form, mention.kind), mention)
        for form, mention in mentions
        if form and not STAND_IN.search(form)
    )
    words = _SeenWords(texts, by_form)
    names = [
        _candidate(form, kind, by_form[form, kind], texts, originals, ids, words)
        for form, kind in _one_kind(by_form)
    ]
    whole_names = dict(persons)
    for candidate in names:
        if candidate.kind == "person":
            for part in parts(candidate.form):
                whole_names.setdefault(fold_word(part), candidate.form)
    names = [_with_person(candidate, persons, whole_names) for candidate in names]
    folds = {fold(candidate.form) for candidate in names if candidate.kind == "person"}
    for word, whose, score, origin in _of_known(words, whole_names, persons):
        if fold(word) not in folds:
            where = _where(word, originals, ids)
            count = words.count[word]
            names.append(NameCandidate(word, "person", count, score, origin, *where, whose))
    return names


class _SeenWords:
    """The words of all texts, as they are written."""

    def __init__(self, texts: Texts, by_form: _Found) -> None:
        self.count: Counter[str] = Counter()
        for text in texts:
            self.count.update(word for word, _, _ in words_outside(text))
        self.small = {word for word in self.count if word.islower()}
        # Words in small letters inside of mentions, sure or not.
        self._covered: Counter[str] = Counter()
        places = {(m.text, m.start, form) for (form, _), some in by_form.items() for m in some}
        for _, _, form in places:
            self._covered.update(part for part in parts(form) if part.islower())

    def is_name_when_small(self, form: str) -> bool:
        """Whether most of what is written like the form, but small, is in a mention."""
        small = [part.lower() for part in parts(form)]
        return all(self._covered[part] >= _OFTEN_SMALL * self.count[part] for part in small)


def _candidate(
    form: str,
    kind: str,
    mentions: list[Mention],
    texts: Texts,
    originals: Texts,
    ids: Texts,
    words: _SeenWords,
) -> NameCandidate:
    best = max(mentions, key=lambda mention: mention.score)
    text, at = originals[best.text], best.start
    if text[at : at + len(form)] != form:  # what stood before it was replaced
        match = _as_word(form).search(text)
        text, at = (text, match.start()) if match else (texts[best.text], at)
    single = words.count.get(form, 0)
    count = len({(mention.text, mention.start) for mention in mentions})
    places = tuple(dict.fromkeys(ids[mention.text] for mention in mentions if ids[mention.text]))
    return NameCandidate(
        form,
        kind,
        max(single, count),
        best.score,
        best.source,
        places[:SHOWN],
        sentence_around(text, at, at + len(form)),
        # "will" and "mark" in small letters are words; "mara" is a name if most of it was found,
        # and so is what is surely one elsewhere.
        small=(form.islower() or best.score >= _SMALL_FROM)
        and fold_word(form) not in EVERYDAY
        and words.is_name_when_small(form),
        is_doubted=all(mention.is_doubted for mention in mentions),
    )


def _one_kind(by_form: _Found) -> Iterator[tuple[str, str]]:
    """A form has the kind that most of its mentions have, by how sure they are."""
    weights: dict[str, dict[str, float]] = defaultdict(dict)
    for (form, kind), mentions in by_form.items():
        kinds = weights[fold(form)]
        kinds[kind] = kinds.get(kind, 0.0) + sum(mention.score for mention in mentions)
    for form, kind in by_form:
        kinds = weights[fold(form)]
        if max(kinds, key=kinds.__getitem__) == kind:
            yield form, kind


def _with_person(candidate: NameCandidate, persons: Persons, whole_names: Persons) -> NameCandidate:
    """A nickname of one of the speakers is theirs, else of the one other who can be meant."""
    if candidate.kind != "person" or len(parts(candidate.form)) != 1:
        return candidate
    whose = person_called(candidate.form, persons) or person_called(candidate.form, whole_names)
    return replace(candidate, same_as=whose) if whose and whose != candidate.form else candidate


def _of_known(
    words: _SeenWords, whole_names: Persons, persons: Persons
) -> Iterator[tuple[str, str, float, str]]:
    """Capitalised words that no source found, and that are somebody's nickname or misspelt name."""
    rest = [
        word
        for word in words.count
        if len(word) > 2
        and word.istitle()
        and word.lower() not in words.small
        and fold_word(word) not in NO_FORM
        and fold_word(word) not in NOT_PEOPLE
        and fold_word(word) not in whole_names
        and TOKEN.fullmatch(word)
    ]
    for word in rest:
        if whose := person_called(word, persons):
            yield word, whose, 0.7, "nicknames"
    for word, name in misspelt(rest, whole_names):
        yield word, whole_names[name], 0.6, "misspelling"


def _as_word(form: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(form)}(?!\w)")


def _where(word: str, texts: Texts, ids: Texts) -> tuple[tuple[str, ...], str]:
    pattern = _as_word(word)
    places: list[str] = []
    context = ""
    for text, place in zip(texts, ids, strict=True):
        if word in text and (match := pattern.search(text)):
            context = context or sentence_around(text, match.start(), match.end())
            places += [place] if place else []
            if len(places) == SHOWN:
                break
    return tuple(dict.fromkeys(places)), context


def sentence_around(text: str, start: int, end: int) -> str:
    """The sentence in which a form stands, with the form in brackets; a long one is cut."""
    ends = [match.end() for match in _SENTENCE_ENDS.finditer(text)]
    first = max((at for at in ends if at <= start), default=0)
    last = min((at for at in ends if at >= end), default=len(text))
    before = after = ""
    if start - first > _AROUND:
        first, before = text.find(" ", start - _AROUND, start) + 1 or start - _AROUND, "…"
    if last - end > _AROUND:
        space = text.rfind(" ", end, end + _AROUND)
        last, after = space if space > end else end + _AROUND, "…"
    sentence = f"{before}{text[first:start]}[{text[start:end]}]{text[end:last]}".rstrip()
    return " ".join(f"{sentence}{after}".split())
