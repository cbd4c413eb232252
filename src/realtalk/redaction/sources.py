"""A tagger's spans and the rules' guesses → mentions on which both had their say.

    redact(corpus, sources=name_sources())     # the tagger and the rules; without it, these alone
    source = TaggedNames(tagger)               # any SpanTagger; ours is encoders.name_tagger
    source.mentions(["ask ingrid", "der Hund bellt"])
    → Mention(text=0, start=4, end=10, kind="person", score=.9, source="tagger")

A tagger sees a text at a time, a chat has many: what it finds in a form is weighed by all places of
that form, so that a word that it took for a name once in twenty times is a word, and so is one in
small letters that mostly follows "the". What rules guess from capital letters counts only where the
tagger sees something there, too: in German every noun has a capital. What falls below is listed for
review, and stays.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Protocol

import regex

from realtalk.encoders.shipped import has_weights
from realtalk.encoders.tag_spans import NAMES, TaggedSpan, begins_sentence
from realtalk.grouping import grouped
from realtalk.redaction.candidates import (
    BirthdayRule,
    CapitalsRule,
    Mention,
    MentionSource,
    has_year,
)
from realtalk.redaction.redact import RULES
from realtalk.redaction.standins import STAND_IN, words_outside
from realtalk.redaction.words import (
    EVERYDAY,
    GREETINGS,
    HONORIFICS,
    NOT_PEOPLE,
    RELATIONS,
    TITLES,
    UNITS,
    WORDS,
)
from realtalk.text.folding import TOKEN, fold_word, graphemes, is_run, parts

_DOUBTED = 0.45  # a guess of which the tagger sees nothing: listed, not replaced
_SEEN_AS_OTHER = 0.5  # from where on a place or an employer is no person
# How many digits, and letters and digits, what is no name has at least: no price, no "5th".
_WITH_DIGITS = {"address": (1, 5), "birthday": (4, 4), "number": (4, 5)}
_COMMON, _PLAIN = 2, 4  # logs of counts: where a capital tells little, where small letters do
# What is measured or counted: "286 kg / 630 lbs", "24/7 monitor", "54cm frame".
_AMOUNT = rf"\d+(?:[.,]\d+)?[ ]?(?:{'|'.join(sorted(UNITS))})?"
_COUNTS = regex.compile(
    rf"{_AMOUNT}(?:[ ]?[/x×+\-–][ ]?{_AMOUNT})*(?<!\d{{4}})(?<!\d-\d{{3}})(?:[ ]\p{{L}}+)?", regex.I
)
_BETWEEN_SENTENCES = regex.compile(r"(?<=\p{Ll}{2})[.!?]\s+")
_ARTICLES = WORDS["articles"]
_BEFORE_NAMES = TITLES | HONORIFICS | RELATIONS | GREETINGS
_AROUND = " ,.;:-'’"
_SURELY = 0.9  # from where on "jan" is somebody, and no month


class SpanTagger(Protocol):
    """Whatever marks names in texts, sure or not."""

    def tag(self, texts: Sequence[str]) -> Sequence[Sequence[TaggedSpan]]:
        """The spans of every text, in order."""
        ...


class TaggedNames:
    """A tagger and a rule for persons, as one source of mentions."""

    def __init__(self, tagger: SpanTagger, rule: MentionSource | None = None) -> None:
        self._tagger = tagger
        self._rule = rule or CapitalsRule()

    def mentions(self, texts: Sequence[str]) -> Iterator[Mention]:
        spans = [
            [piece for span in tags for piece in _usable(text, span)]
            for text, tags in zip(texts, self._tagger.tag(texts), strict=True)
        ]
        checked = _check(self._rule.mentions(texts), texts, spans)
        guesses = grouped((guess.text, guess) for guess in checked)
        weighed = _weigh(texts, spans)
        for number, (text, pieces) in enumerate(zip(texts, spans, strict=True)):
            here = [
                Mention(
                    number,
                    span.start,
                    span.end,
                    span.kind,
                    weighed[text[span.start : span.end]],
                    "tagger",
                    is_doubted=_is_doubted(text, span),
                )
                for span in pieces
            ]
            yield from sorted([*here, *guesses.get(number, ())], key=lambda mention: mention.start)


def _usable(text: str, span: TaggedSpan) -> Iterator[TaggedSpan]:
    """A span without the stand-ins in it, where what is left can be of its kind."""
    start = span.start
    bounds = [match.span() for match in STAND_IN.finditer(text) if match.end() > span.start]
    if span.kind in NAMES:  # "ask Ulf. Ingrid knows" names two
        bounds += [
            match.span() for match in _BETWEEN_SENTENCES.finditer(text, span.start, span.end)
        ]
    for first, last in (*sorted(bounds), (span.end, span.end)):
        end = min(first, span.end)
        piece = _bare(text, start, end) if span.kind in NAMES else (start, end)
        form = text[slice(*piece)]
        begin = piece[0] + len(form) - len(form.lstrip(_AROUND))
        form = form.strip(_AROUND)
        # A date and nothing else: of an event, not of a birth.
        alone = span.kind == "birthday" and form == text.strip(_AROUND)
        if form and not alone and _can_be(form, span):
            score = min(span.score, _DOUBTED) if _is_plain(form, span) else span.score
            yield replace(span, start=begin, end=begin + len(form), score=score)
        start = last
        if start >= span.end:
            return


def _is_plain(form: str, span: TaggedSpan) -> bool:
    """Whether a form is rather a word, or counts something: it is listed for review, and stays."""
    if span.kind == "address":
        return form == form.lower() and _COUNTS.fullmatch(form) is not None
    plain = form.islower() and not span.is_listed and span.common >= _PLAIN
    looked_up = len(parts(form)) == 1 and len(form) == span.end - span.start
    return span.kind in NAMES and plain and looked_up and span.score < _SURELY


def _is_doubted(text: str, span: TaggedSpan) -> bool:
    """Whether too little but the tagger's word speaks for a name, to call it sure.

    In small letters, and in scripts that have no others, it must be in lists and no plain word. A
    capital tells something inside a sentence, and where not all letters are capitals.
    """
    form = text[span.start : span.end]
    if span.kind not in NAMES:
        return _COUNTS.fullmatch(form) is not None
    if form == form.lower():
        return not span.is_listed or span.common > 0
    if form.isupper() and span.kind == "person":
        return True
    return not span.is_listed and (
        span.common >= _COMMON or (len(parts(form)) == 1 and begins_sentence(text, span.start))
    )


def _bare(text: str, start: int, end: int) -> tuple[int, int]:
    """A name without what stands around it: "Frau", "my sister", "and"."""
    words = list(TOKEN.finditer(text, start, end))
    first, last = 0, len(words)
    while first < last and _is_around(words[first][0], _BEFORE_NAMES):
        first += 1
    while first < last and _is_around(words[last - 1][0], frozenset()):
        last -= 1
    if not first and last == len(words):
        return start, end
    return (words[first].start(), words[last - 1].end()) if first < last else (start, start)


def _is_around(word: str, titles: frozenset[str]) -> bool:
    key = fold_word(word)
    return key in titles or (word.islower() and key in EVERYDAY)


def _can_be(form: str, span: TaggedSpan) -> bool:
    if span.kind in _WITH_DIGITS:
        digits, signs = (sum(map(is_one, form)) for is_one in (str.isdigit, str.isalnum))
        least_digits, least_signs = _WITH_DIGITS[span.kind]
        if span.kind == "birthday" and not has_year(form):
            return False
        return digits >= least_digits and signs >= least_signs
    words = parts(form)
    keys = [fold_word(word) for word in words]
    if all(key in EVERYDAY for key in keys):
        return False
    if len(words) > 1:
        return True
    if graphemes(words[0]) < 2 and not is_run(words[0]):
        return False
    if span.kind == "person":
        return keys[0] not in NOT_PEOPLE or span.score >= _SURELY
    return keys[0] not in WORDS["times"]


def _weigh(texts: Sequence[str], spans: Sequence[Sequence[TaggedSpan]]) -> dict[str, float]:
    """How sure a form is a name of any kind, from the places where it was found and all others."""
    scores = grouped(
        (text[span.start : span.end], span.score)
        for text, pieces in zip(texts, spans, strict=True)
        for span in pieces
    )
    counts: Counter[str] = Counter()
    after_article: Counter[str] = Counter()
    for text in texts:
        before = ""
        for word, _, _ in words_outside(text):
            if word in scores:
                counts[word] += 1
                after_article[word] += before.lower() in _ARTICLES
            before = word
    weighed = {}
    for form, values in scores.items():
        mean = sum(values) / max(len(values), counts[form])
        weighed[form] = (max(values) + mean) / 2
        if form.islower() and after_article[form] * 2 > counts[form]:
            weighed[form] = min(weighed[form], _DOUBTED)
    return weighed


def _check(
    guesses: Iterable[Mention], texts: Sequence[str], spans: Sequence[Sequence[TaggedSpan]]
) -> Iterator[Mention]:
    """The rule's guesses: as they are where the tagger sees somebody, too, else doubted."""
    listed = list(guesses)
    kinds_of: dict[str, set[str]] = defaultdict(set)  # form → kinds that the tagger sees there
    for guess in listed:
        form = texts[guess.text][guess.start : guess.end]
        for span in spans[guess.text]:
            if span.start < guess.end and guess.start < span.end:
                is_other = span.kind != "person" and span.score >= _SEEN_AS_OTHER
                kinds_of[form].add(span.kind if is_other else "person")
    for guess in listed:
        kinds = kinds_of[texts[guess.text][guess.start : guess.end]]
        if "person" in kinds:
            yield guess
        elif not kinds:
            yield guess._replace(score=min(guess.score, _DOUBTED))


def tagger_shipped() -> bool:
    """Whether the tagger's layers and the encoder whose words it reads are there."""
    return all(map(has_weights, ("names", "ei_multilingual")))


@cache
def name_sources() -> tuple[MentionSource, ...]:
    """The sources of mentions that redaction uses by default; the model is loaded once."""
    if not tagger_shipped():
        return RULES
    from realtalk.encoders.name_tagger import NameTagger

    return TaggedNames(NameTagger()), BirthdayRule()
