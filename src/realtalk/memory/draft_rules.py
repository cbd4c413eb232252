"""A drafted question → why it is discarded, or nothing: rules that need no model.

    flaw_of(question, chat)             → "names its own answer"
    flaw_of(question, chat, others)     → "was asked already"
    reading_flaw(question, "a kiln", "It is not mentioned.")    → "": answered by its evidence alone
    reading_flaw(question, "a kiln", "probably a kiln")         → "is answered without the chat"

A question must be one that its own evidence answers and that nobody answers without it. The first
rule reads what a model drafted, the second what the same model answers when it is shown only the
evidence, and when it is shown nothing. Dates must be those that the evidence names, or counts from
its own day ("next Friday"). Answers are compared as scores compare them (metrics/accepting.py).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date

from realtalk.chat import Chat, Message, Question
from realtalk.memory.rows import RIGHT
from realtalk.memory.showing import message_line
from realtalk.metrics.accepting import (
    content,
    holds_gold,
    is_polar,
    matches_gold,
    question_words,
)
from realtalk.metrics.answers import around_dates, date_f1, is_abstention, token_f1
from realtalk.text.dates import PartialDate, days_of
from realtalk.text.relative_dates import resolve

SINGLE, TEMPORAL, SEVERAL, INFERRED = "single_hop", "temporal", "multi_hop", "commonsense"
_LONGEST_QUESTION, _LONGEST_ANSWER = 40, 25  # words
_GROUNDED = 0.5  # of an answer's words, what its evidence must say
_ALIKE, _ALIKE_ANSWERED = 0.85, 0.7  # F1 of two questions; where their answers are alike, too
# Said to somebody in the chat, or about the text instead of the people.
_INSIDE = re.compile(
    r"\b(?:i|me|my|mine|we|us|our|ours|you|your|yours|the (?:message|messages|text|chat|speaker)"
    r"|(?:this|that|the above) (?:message|chat|conversation|person))\b",
    re.IGNORECASE,
)


def flaw_of(question: Question, chat: Chat, others: Iterable[Question] = ()) -> str:
    """Why a draft is discarded, in words that go on from "the question"; "" where it may stay."""
    answer = (question.answer or "").strip()
    evidence = [chat.by_id[id_] for id_ in question.evidence if id_ in chat.by_id]
    if not evidence or len(evidence) < len(question.evidence):
        return "names no message as evidence"
    if not answer or is_abstention(answer, "abstention"):
        return "has no answer"
    if is_polar(question.text) or answer.casefold().strip(" .!") in ("yes", "no"):
        return "can be guessed: yes or no"
    sizes = len(question.text.split()), len(answer.split())
    if not _asks(question.text) or sizes[0] > _LONGEST_QUESTION or sizes[1] > _LONGEST_ANSWER:
        return "is no short question with a short answer"
    if _INSIDE.search(question.text):
        return "cannot be understood outside the chat"
    if _names_answer(question.text, answer):
        return "names its own answer"
    if question.category == SEVERAL and len(sessions_of(chat, question.evidence)) < 2:
        return "rests on one session alone"
    if not _is_said(question, answer, evidence, chat):
        return "has an answer that its evidence does not say"
    return "was asked already" if any(_same(question, other) for other in others) else ""


def reading_flaw(question: Question, read: str, unread: str) -> str:
    """The same by what was answered from the evidence alone, and from nothing."""
    if not is_right(question, read):
        return "is not answered by its own evidence"
    return "is answered without the chat" if is_right(question, unread) else ""


def is_right(question: Question, text: str) -> bool:
    """Whether a text gives the answer, in any words that scores would take for it."""
    gold = question.answer or ""
    if is_abstention(text, "abstention"):
        return False
    return (
        matches_gold(text, gold, question=question.text)
        or holds_gold(text, [gold], question=question.text)
        or date_f1(text, gold, question.category) >= RIGHT
    )


def sessions_of(chat: Chat, ids: Iterable[str]) -> set[int]:
    """The numbers of the sessions that messages are in."""
    wanted = set(ids)
    return {
        session.number
        for session in chat.sessions
        if any(message.id in wanted for message in session.messages)
    }


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "\uff1f", "\u061f", "\u037e"))


def _names_answer(question: str, answer: str) -> bool:
    """Whether all that an answer says stands in its question."""
    said = content(answer)
    if said.dates:
        return holds_gold(question, [answer], question="")
    return said.words <= question_words(question, ())


def _is_said(question: Question, answer: str, evidence: list[Message], chat: Chat) -> bool:
    """Whether the evidence tells the answer; what is inferred is never said."""
    if question.category == INFERRED:
        return True
    if question.category == TEMPORAL:
        stated = around_dates(answer)[1]
        days = [*_days(evidence, chat)]
        return bool(stated) and all(_touches(part, days) for part in stated)
    known = question_words(question.text, ())
    wanted = content(answer, question=known).words
    said = content(" ".join(map(message_line, evidence))).words
    return not wanted or len(wanted & said) >= _GROUNDED * len(wanted)


def _days(evidence: Iterable[Message], chat: Chat) -> Iterator[tuple[date, date]]:
    """The days that messages were sent on, name, or count from their own."""
    starts = {message.id: s.time for s in chat.sessions for message in s.messages}
    for message in evidence:
        sent = message.time or starts[message.id]
        if sent is not None:
            yield sent.date(), sent.date()
            for found in resolve(message.text, sent):
                yield found.first, found.last


def _touches(stated: PartialDate, days: Iterable[tuple[date, date]]) -> bool:
    span = days_of(stated)
    return span is not None and any(span[0] <= last and first <= span[1] for first, last in days)


def _same(question: Question, other: Question) -> bool:
    alike = token_f1(question.text, other.text)
    if alike >= _ALIKE:
        return True
    answered = is_right(question, other.answer or "") and is_right(other, question.answer or "")
    shared = bool(set(question.evidence) & set(other.evidence))
    return answered and (shared or alike >= _ALIKE_ANSWERED)
