"""The `extract` reader: an answer from the messages of a context, without a language model.

    answer(chat, question, context)
    → Extracted("27 February 2026", ("D4:11",))        for "When did the kiln break?"
    → Extracted("the harbour museum", ("D2:7",))          for "Where did Mara meet Theo's sister?"

"When" takes the day of the best message, moved by what it says of time; "how long" and "how
many" take an amount; a question that wants yes or no gets one; every other question gets the
best short span, and one that asks for several things the best spans of several messages.
Only messages that the context shows are read. Their order is the memory's where it ranks, else
how much of the question each repeats.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from realtalk.chat import Chat, Question
from realtalk.memory.extract_dates import amount, asks, when
from realtalk.memory.extract_spans import ContextReading, Span, best_spans, read
from realtalk.memory.values import Context

_LOOKED_AT = 10  # best messages that are searched for an amount
_LISTED = 3
_SEVERAL = re.compile(
    r"\b(?:what|which)\b(?: (?!(?:do|does|did|is|was|has|to)\b)[\w-]+){0,3}? "
    r"(?!does\b|was\b|has\b|his\b|this\b)[\w-]{2,}[^\Ws]s\b|\b(?:both|all|things|who are)\b"
    r"|\bhave in common\b",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(
    r"\b(?:no|not|never|nope|nah|didn['’]?t|don['’]?t|doesn['’]?t|isn['’]?t|wasn['’]?t|can['’]?t"
    r"|haven['’]?t|hate|without)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Extracted:
    """A reader's answer and the messages it was taken from; None and why where there is none."""

    text: str | None
    message_ids: tuple[str, ...] = ()
    unscored: str | None = None


def answer(chat: Chat, question: Question, context: Context) -> Extracted:
    """The answer that the messages of a context allow."""
    reading = read(chat, question.text, context)
    if not reading.messages:
        return Extracted(None, unscored="the context shows no message")
    kind = asks(question.text)
    if kind in {"when", "year", "month"}:
        dated = _dated(reading, question.text)
        if dated is not None:
            return dated
    if kind == "whether":
        return _whether(reading)
    if kind in {"long", "often", "time", "many"}:
        for message in reading.messages[:_LOOKED_AT]:
            if (told := amount(message.text, question.text)) is not None:
                return Extracted(told, (message.id,))
    several = bool(_SEVERAL.search(question.text))
    spans = best_spans(reading, question.text, _LISTED if several else 1)
    if not spans:
        return Extracted(None, unscored="the context's messages hold no words")
    return _joined(spans)


def _dated(reading: ContextReading, question: str) -> Extracted | None:
    """From the best message that has a day; None where no message has one."""
    for message in reading.messages:
        said = reading.said(message)
        if said is not None:
            return Extracted(when(message.text, said, question), (message.id,))
    return None


def _whether(reading: ContextReading) -> Extracted:
    best = reading.messages[0]
    return Extracted("No" if _NEGATIVE.search(best.text) else "Yes", (best.id,))


def _joined(spans: Sequence[Span]) -> Extracted:
    # A comma parts the pieces of an answer, so none may stand inside one.
    text = ", ".join(span.text.replace(",", "") for span in spans)
    return Extracted(text, tuple(dict.fromkeys(span.message_id for span in spans)))
