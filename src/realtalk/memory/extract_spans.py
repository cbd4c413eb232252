"""Short spans of messages that may answer a question, and which one is likeliest.

    read(chat, "Where did Mara meet Theo's sister?", context)   → ContextReading of the context
    best_spans(reading, "Where did Mara ...", 1)
    → [Span("the harbour museum", "D2:7", score=1.9)]

A candidate is one to six words in a row inside a clause, of the best messages. Its score is a
weighted sum of a few plain properties: how the memory ranks the message, how much of the
question its sentence repeats, how rare its words are in the context, whether it begins and ends
where a phrase does. The weights were fitted on LoCoMo's questions (mean F1 of the best span,
BM25 contexts of 1,000 tokens) and are small in number; REALTALK was not used.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from realtalk.chat import Chat, Message
from realtalk.memory.values import Context
from realtalk.metrics.answers import stem

_READ = 8  # best messages whose spans are candidates
_LONGEST = 6  # words
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_BREAK = re.compile(r"[.!?;:,\n()\[\]\"“”—–…]|\s-\s")
_STOP = frozenset(
    """a an the and or but so if then than that this these those i i'm i've i'll i'd me my mine we
    we're us our you you're your he he's him his she she's her it it's its they they're them their
    is am are was were be been being do does did done have has had having will would can could
    should shall may might must not no yes yeah yep ok okay oh hey hi lol haha of in on at to from
    for with by about as into over after before up down out off just really very too also like
    well still even only some any all more most much many lot lots there here what which who whom
    whose where when why how get got go going gonna went think know thing things actually pretty
    kind don't didn't can't that's what's there's thanks thank sure nice great cool good hope let
    let's one because since while always never ever maybe probably totally definitely""".split()  # noqa: SIM905 - words read better than quotes
)

_NAMING = frozenset({"who", "whose", "whom", "which", "where"})

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "rank": -0.33,  # logarithm of the message's place in the memory's order
        "sentence": 4.67,  # the part of the question that its sentence repeats
        "message": 2.8,
        "told": 1.55,  # by a speaker whom the question names
        "asking": -0.7,  # the message is itself a question
        "echo": -1.28,  # the part of its words that the question has
        "name": 1.86,  # the part of its words that has a capital
        "name_asked": 4.88,  # the same, where who, which or where is asked
        "words": 0.43,
        "stops": -0.32,  # stop words inside
        "opens": 0.55,  # begins where a phrase may begin
        "closes": 1.27,
        "ends": 0.33,  # ends its clause
        "near": 1.69,  # one through the distance to a word of the question
        "digits": 1.1,
    }
)
FEATURES = tuple(WEIGHTS)


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a message's text; the higher the score, the likelier it answers."""

    text: str
    message_id: str
    score: float


@dataclass(frozen=True)
class ContextReading:
    """A context's messages, best first, with what a reader asks about them."""

    messages: tuple[Message, ...]
    sessions: Mapping[str, datetime | None]
    asked: frozenset[str]  # stems of the question's words
    names: frozenset[str] = frozenset()  # speakers that the question names
    rarity: Mapping[str, float] = field(default_factory=dict)

    def said(self, message: Message) -> datetime | None:
        """When a message was said: the time its session began, else its own."""
        return self.sessions.get(message.id) or message.time

    def overlap(self, text: str) -> float:
        """The part of the question's rarity that a text repeats."""
        words = {stem(word) for word in _words(text)}
        weight = sum(self.rarity.get(one, 1.0) for one in self.asked)
        return sum(self.rarity.get(one, 1.0) for one in self.asked & words) / (weight or 1.0)


def _plain(word: str) -> str:
    return word.lower().replace("’", "'")


def _words(text: str) -> list[str]:
    return [_plain(word) for word in _WORD.findall(text)]


def _content(text: str) -> Iterator[str]:
    return (stem(word) for word in _words(text) if word not in _STOP)


def read(chat: Chat, question: str, context: Context) -> ContextReading:
    """The context's messages in the memory's order, or by what they repeat of the question."""
    shown = dict.fromkeys(context.message_ids)
    messages = [chat.by_id[one] for one in shown if one in chat.by_id]
    asked = frozenset(_content(question))
    counts = Counter(one for message in messages for one in set(_content(message.text)))
    total = len(messages)
    rarity = {one: math.log(1 + total / count) for one, count in counts.items()}
    words = set(_words(question))
    names = frozenset(
        speaker
        for speaker in chat.speakers
        if any(name.lower().split()[0] in words for name in chat.names_of(speaker) if name.strip())
    )
    sessions = {
        message.id: session.time for session in chat.sessions for message in session.messages
    }
    reading = ContextReading((), sessions, asked, names, rarity)
    if context.ranked is not None:
        place = {one: rank for rank, one in enumerate(dict.fromkeys(context.ranked))}
        messages.sort(key=lambda message: place.get(message.id, len(place)))
    else:
        messages.sort(key=lambda message: -reading.overlap(message.text))
    return ContextReading(tuple(messages), sessions, asked, names, rarity)


def best_spans(reading: ContextReading, question: str, count: int) -> list[Span]:
    """The likeliest spans, best first; of several, no two share a word that counts."""
    scored = [
        (sum(WEIGHTS[name] * value for name, value in zip(FEATURES, values, strict=True)), span)
        for span, values in candidates(reading, question)
    ]
    scored.sort(key=lambda one: -one[0])
    chosen: list[Span] = []
    used: set[str] = set()
    for score, span in scored:
        words = set(_content(span.text))
        if not words & used:
            used |= words
            chosen.append(Span(span.text, span.message_id, score))
            if len(chosen) == count:
                break
    return chosen


def candidates(reading: ContextReading, question: str) -> Iterator[tuple[Span, tuple[float, ...]]]:
    """Every span that may be an answer, with its properties in the order of `FEATURES`."""
    wants_name = not _NAMING.isdisjoint(_words(question)[:4])
    for rank, message in enumerate(reading.messages[:_READ]):
        of_message = reading.overlap(message.text)
        told = float(message.speaker in reading.names)
        asking = float(message.text.rstrip().endswith("?"))
        for sentence in _sentences(message.text):
            of_sentence = reading.overlap(sentence)
            for text in _BREAK.split(sentence):
                clause = _Clause(text, reading.asked)
                for begin, end in clause.spans():
                    echo, name, *shape = clause.shape(begin, end)
                    here = (math.log(1 + rank), of_sentence, of_message, told, asking)
                    values = (*here, echo, name, name * wants_name, *shape)
                    yield Span(clause.cut(begin, end), message.id, 0.0), values


class _Clause:
    """The words of a clause and what is known of each."""

    def __init__(self, text: str, asked: frozenset[str]) -> None:
        self.text = text
        self.marks = list(_WORD.finditer(text))
        self.words = [_plain(mark[0]) for mark in self.marks]
        self.stopped = [word in _STOP for word in self.words]
        self.echoes = [stem(word) in asked for word in self.words]
        # A clause begins with a capital whatever its first word is.
        self.named = [mark[0][0].isupper() and n > 0 for n, mark in enumerate(self.marks)]

    def spans(self) -> Iterator[tuple[int, int]]:
        """Where spans begin and end: never at a stop word, never only the question's words."""
        for begin, stopped in enumerate(self.stopped):
            if stopped:
                continue
            for end in range(begin + 1, min(begin + _LONGEST, len(self.words)) + 1):
                inside = zip(self.stopped[begin:end], self.echoes[begin:end], strict=True)
                if not self.stopped[end - 1] and not all(stop or echo for stop, echo in inside):
                    yield begin, end

    def cut(self, begin: int, end: int) -> str:
        return self.text[self.marks[begin].start() : self.marks[end - 1].end()]

    def shape(self, begin: int, end: int) -> tuple[float, ...]:
        """The properties of a span that its clause alone tells."""
        size, last = end - begin, len(self.words)
        stops = sum(self.stopped[begin:end])
        echoes = sum(self.echoes[begin:end])
        away = [
            min(abs(n - begin), abs(n - end + 1))
            for n, echo in enumerate(self.echoes)
            if echo and not begin <= n < end
        ]
        return (
            echoes / (size - stops),
            sum(self.named[begin:end]) / size,
            float(size),
            float(stops),
            float(begin == 0 or self.stopped[begin - 1]),
            float(end == last or self.stopped[end]),
            float(end == last),
            1 / min(away) if away else 0.0,
            float(any(word[0].isdigit() for word in self.words[begin:end])),
        )


def _sentences(text: str) -> list[str]:
    return [one for one in re.split(r"(?<=[.!?])\s+|\n+", text) if one.strip()]
