"""Who said it: what a memory shows of the person asked about, without a judge.

    people = People(chat)                                  # Ines, whom others call Nessa; Tobias
    people.named("What did Nessa adopt?")                  → ("Ines",)
    people.shown("What did Nessa adopt?", context, gold)
    → {"person@budget": 0.75, "other@budget": 0.0, "named@budget": None, "misnamed@budget": None}

`person@budget`: of the messages shown for a question that names exactly one speaker, those by or
about that speaker; about is what names them. `other@budget`: of the evidence shown, what stands
under another's name: a memory that keeps to one speaker's messages loses it, so it is read beside
the oracle's. Neither says anything of a question about nobody, or about several.

A memory that tells in its own words shows no speakers. Of its lines that hold the whole answer,
`named@budget` are those that name a speaker of the evidence or whom the question names, and
`misnamed@budget` those that name somebody else of the chat only; the rest name nobody.

A speaker is named by the first word of any of their names that nobody else of the chat has.

Questions asked of the wrong person, made by rule from those of a corpus.

    swapped(corpus, golds_named("audited"))
    → (Corpus with "What did Tobias adopt?", where it was Ines; Golds("swapped from audited"))

The right answer is that the chat does not tell. One who answers "a kitten" puts what Ines did into
Tobias's mouth. A question is made where all of this holds; it rather makes none than a wrong one:

- the golds have an answer and evidence, and all of the evidence is by the one speaker named;
- it wants more than yes or no, has no he or she, and the answer names nobody of the chat;
- the evidence says no "we" or "both", does not name the other person, and the next thing that
  they say is no "me too";
- the other person's answer is not known: no message by or about them, and no question about
  them, has a word of the answer, or half of the words of the question. Words are stems, without
  those that only join; a picture's caption counts as text.

In a chat of more people it is asked of the first of whom this holds. The evidence stays: it tells
whether the tempting fact was shown, as in LoCoMo's adversarial questions, which are asked as they
are. All other questions are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from realtalk.chat import Chat, Corpus, Question, pack_extra, unpack_extra
from realtalk.errors import RealtalkError
from realtalk.evals.values import Row
from realtalk.memory.golds import PUBLISHED, Gold, Golds
from realtalk.memory.index import document_text
from realtalk.memory.values import Context
from realtalk.metrics.accepting import content, holds_gold, is_polar, question_words
from realtalk.metrics.answers import ABSTAINING, SWAPPED
from realtalk.text.folding import fold_word, parts
from realtalk.text.terms import is_named

SHOWN_SCORES = ("person@budget", "other@budget", "named@budget", "misnamed@budget")
_DAY = "["  # how the line of a day begins: it holds a date, and nobody said it
_TOLD = "- "  # how a line begins that stands beside messages and is none


class People:
    """The speakers of a chat by their names."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat
        everybody = Counter(part for who in chat.speakers for part in _parts(chat.names_of(who)))
        self.words: dict[str, str] = {}  # speaker → the words that name nobody else
        for who in chat.speakers:
            names = [_parts([name]) for name in chat.names_of(who)]
            own = [[part for part in name if everybody[part] == 1] for name in names]
            self.words[who] = " ".join(dict.fromkeys(name[0] for name in own if name))
        self._about: dict[tuple[str, str], bool] = {}

    def is_named(self, who: str, text: str) -> bool:
        """Whether a text names a speaker."""
        return is_named(self.words[who], text)

    def named(self, text: str) -> tuple[str, ...]:
        """The speakers that a text names."""
        return tuple(who for who in self.chat.speakers if self.is_named(who, text))

    def is_of(self, who: str, message_id: str) -> bool:
        """Whether a message is by or about a speaker."""
        message = self.chat.by_id[message_id]
        if message.speaker == who:
            return True
        if (who, message_id) not in self._about:
            self._about[who, message_id] = self.is_named(who, message.text)
        return self._about[who, message_id]

    def shown(self, question: str, context: Context, gold: Gold, *, tells: bool = False) -> Row:
        """The scores of what a question was shown; None where there is nothing to be counted."""
        columns: Row = dict.fromkeys(SHOWN_SCORES)
        asked = self.named(question)
        by_id = self.chat.by_id
        shown_ids = [id_ for id_ in context.message_ids if id_ in by_id]
        evidence = [by_id[id_].speaker for id_ in gold.evidence if id_ in by_id]
        if len(asked) == 1:
            found = [by_id[id_].speaker for id_ in gold.evidence if id_ in set(shown_ids)]
            columns["person@budget"] = _share(self.is_of(asked[0], id_) for id_ in shown_ids)
            if gold.answer is not None:  # else what is found is the trap: another's fact
                columns["other@budget"] = _share(speaker != asked[0] for speaker in found)
        answers = [answer for answer in (gold.answer, *gold.accept) if answer]
        lines = [line for line in context.text.splitlines() if not line.startswith(_DAY)]
        told = [line for line in lines if tells or line.startswith(_TOLD)]
        holding = [line for line in told if holds_gold(line, answers, question=question)]
        if holding and evidence:
            right = {*evidence, *asked}
            named = [set(self.named(line)) for line in holding]
            columns["named@budget"] = _share(bool(each & right) for each in named)
            columns["misnamed@budget"] = _share(bool(each) and not each & right for each in named)
        return columns


def _parts(names: Iterable[str]) -> list[str]:
    """The words of names, folded, each once."""
    return list(dict.fromkeys(fold_word(part) for name in names for part in parts(name)))


def _share(marks: Iterable[bool]) -> float | None:
    all_marks = list(marks)
    return sum(all_marks) / len(all_marks) if all_marks else None


_GENDERED = re.compile(r"\b(?:he|him|his|himself|she|her|hers|herself)\b", re.IGNORECASE)
_SHARED = re.compile(r"\b(?:we|us|our|ours|both|together)\b", re.IGNORECASE)
_ALSO = re.compile(
    r"\b(?:me (?:too|neither|either)|same|likewise|so (?:do|did|am|was|have) i|i (?:also|too))\b",
    re.IGNORECASE,
)
_OF_ANOTHER, _ANOTHER, _LOCOMO = "of_another", "another", "adversarial_answer"


def swapped(corpus: Corpus, golds: Golds) -> tuple[Corpus, Golds]:
    """The corpus with such questions alone, and the golds that they are scored by."""
    chats = tuple(replace(chat, questions=tuple(_questions(chat, golds))) for chat in corpus.chats)
    if not any(chat.questions for chat in chats):
        raise RealtalkError(
            "no question here can be asked of another person",
            where=corpus.name,
            fix="it takes questions with evidence that name one speaker",
        )
    name = SWAPPED if golds.name == PUBLISHED else f"{SWAPPED} from {golds.name}"
    return replace(corpus, chats=chats), Golds(name)


def of_another(people: People, question: Question) -> tuple[list[str], str]:
    """The answers that are right of another person, and the words that name that person."""
    if not any(key in question.extra for key in (_OF_ANOTHER, _LOCOMO)):
        return [], ""
    extra = unpack_extra(question.extra)
    if _OF_ANOTHER in extra:
        return list(extra[_OF_ANOTHER]), str(extra[_ANOTHER])
    asked = people.named(question.text)
    others = " ".join(people.words[who] for who in people.chat.speakers if who not in asked)
    return ([str(extra[_LOCOMO])] if extra.get(_LOCOMO) else []), others


def _questions(chat: Chat, golds: Golds) -> Iterator[Question]:
    people = People(chat)
    scored_by = golds.of(chat)
    for question in chat.questions:
        if question.category in ABSTAINING:
            if of_another(people, question)[0]:
                yield question
        elif question.id in scored_by:
            yield from _asked_of_another(people, question, scored_by[question.id])


def _asked_of_another(people: People, question: Question, gold: Gold) -> Iterator[Question]:
    chat, text = people.chat, question.text
    evidence = [chat.by_id[id_] for id_ in gold.evidence if id_ in chat.by_id]
    speakers = {message.speaker for message in evidence}
    asked = people.named(text)
    if (
        not gold.answer
        or len(asked) != 1
        or speakers != set(asked)
        or gold.unresolved
        or is_polar(text)
        or _GENDERED.search(text)
        or people.named(gold.answer)
        or any(_SHARED.search(message.text) for message in evidence)
    ):
        return
    (person,) = asked
    for other in chat.speakers:
        renamed = _rename(people, text, person, other)
        if people.named(renamed) != (other,) or _may_know(people, other, text, gold):
            continue
        extra = {_OF_ANOTHER: [gold.answer, *gold.accept], _ANOTHER: people.words[person]}
        id_, asked_on = f"{question.id}-{SWAPPED}", question.asked
        new = Question(id_, renamed, None, SWAPPED, gold.evidence, asked=asked_on)
        yield replace(new, extra=pack_extra(extra))
        return


def _rename(people: People, text: str, person: str, other: str) -> str:
    names = [*people.chat.names_of(person), *people.words[person].split()]
    longest = sorted(filter(None, names), key=len, reverse=True)
    pattern = rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)"
    return re.sub(pattern, lambda _: other, text, flags=re.IGNORECASE)


def _may_know(people: People, who: str, text: str, gold: Gold) -> bool:
    """Whether something in the chat might answer the question for another person, too."""
    names = frozenset(word for words in people.words.values() for word in question_words(words, ()))
    asked = question_words(text, ()) - names
    answered = content(gold.answer or "", question=asked).words
    texts = [each.text for each in people.chat.questions if people.is_named(who, each.text)]
    messages = people.chat.messages
    for at, message in enumerate(messages):
        if message.id in gold.evidence:
            reply = next((each.text for each in messages[at:] if each.speaker == who), "")
            if people.is_of(who, message.id) or _ALSO.search(reply):
                return True
        elif people.is_of(who, message.id):
            texts.append(document_text(message))
    known = (content(each).words for each in texts)
    return any(words & answered or 2 * len(words & asked) >= len(asked) for words in known)
