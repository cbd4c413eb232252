"""When, how long and how many: answers of the `extract` reader that are dates or amounts.

    when("the kiln broke last friday", datetime(2026, 3, 4), question) → "27 February 2026"
    when("I start in two weeks", datetime(2026, 3, 4), question)  → "Two weeks after 4 March 2026"
    amount("been at it for three years now", "How long has Theo ...") → "three years"

The day of a message is its session's first: LoCoMo's messages have no other. REALTALK's have a
time of their own, and its golds use either day where the two differ. What a message says of time
is counted from that day. A day is written `19 January 2024`, as LoCoMo's annotators write it: the
style was chosen there, so that REALTALK's answers stay unseen. A week or weekend is told by its
distance (`The week before 2 March 2026`), as they do, and months, seasons and years by their names.
"""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Literal, TypeAlias

from realtalk.metrics.dates import MONTHS, Resolved, resolve

QuestionKind: TypeAlias = Literal[
    "when", "year", "month", "long", "often", "time", "many", "whether", ""
]

_PATTERNS: tuple[tuple[QuestionKind, str], ...] = (
    ("year", r"\b(?:what|which) years?\b"),
    ("month", r"\b(?:what|which) months?\b"),
    ("often", r"\bhow (?:often|frequently)\b"),
    (
        "long",
        r"\bhow (?:long|much time)\b|\bfor what period\b"
        r"|\bhow many (?:second|minute|hour|day|week|month|year)s?\b",
    ),
    ("time", r"\b(?:at )?what time\b"),
    ("many", r"\bhow (?:many|much|old|far|tall|big)\b|\bwhat (?:age|number)\b"),
    ("when", r"^\W*(?:since |until |by )?when\b|\b(?:what|which) (?:date|day)\b|\bwhen\?"),
    (
        "whether",
        r"^\W*(?:did|does|do|is|was|were|are|has|have|had|can|could|would|will|should|might)\b",
    ),
)
_ASKS = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _PATTERNS)
_NUMBER = (
    r"(?:\d+(?:[.,:]\d+)?(?:\s?(?:-|to)\s?\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten"
    r"|eleven|twelve|fifteen|twenty|thirty|forty|fifty|hundred|half an"
    r"|(?:a )?couple(?: of)?|a few|few|several|many|a dozen)"
)
_UNITS = r"(?:second|sec|minute|min|hour|hr|day|night|week|month|year|yr|semester|decade)s?"
_LENGTH = re.compile(rf"\b{_NUMBER}(?:\s+(?:more|whole|full|and a half))?[\s-]{_UNITS}\b", re.I)
_SINCE = re.compile(
    r"\bsince (?:I was (?:an? )?\w+|(?:the )?\w+ (?:school|grade|\d{4})|\d{4}|childhood"
    rf"|{'|'.join(MONTHS)})\b",
    re.I,
)
_RATE = re.compile(
    rf"\b(?:(?:almost |nearly )?every(?:\s+(?:other|single|{_NUMBER}))?\s+\w+"
    rf"|(?:once|twice|{_NUMBER} times|{_NUMBER} days)\s+(?:a|an|per|every)\s+\w+"
    r"|daily|weekly|monthly|yearly|rarely|sometimes|often|never|always)\b",
    re.I,
)
_CLOCK = re.compile(
    r"\b(?:\d{1,2}:\d{2}(?:\s?[ap]\.?m\b)?|\d{1,2}\s?[ap]\.?m\b|noon\b|midnight\b)", re.I
)
_COUNTED = re.compile(rf"\b{_NUMBER}(?=\s+(\w+))", re.I)
_BARE_NUMBER = re.compile(r"(?<![\w.:/])\d+(?:[.,]\d+)?(?![\w:/])")
_BEGINS = re.compile(r"\b(?:start|begin|began|adopt|get|got|first|since|move|join|year)\w*", re.I)
_LASTED = re.compile(
    rf"\b(?:for|been|already)\s+(?:\w+\s+)?(?P<length>{_NUMBER}\s{_UNITS})\b", re.I
)
_COUNT_AHEAD = re.compile(r"^\s*in\s+|\s+from\s+now\s*$", re.I)
_COUNT_BACK = re.compile(r"\s+(?:ago|back)\s*$", re.I)


def asks(question: str) -> QuestionKind:
    """What kind of answer a question wants; "" for a span of text."""
    return next((kind for kind, pattern in _ASKS if pattern.search(question)), "")


def when(text: str, said: datetime, question: str) -> str:
    """The date of what a text tells, said at a time; the day of saying where it tells none."""
    kind = asks(question)
    told = resolve(text, said)
    if not told and _BEGINS.search(question) and (lasted := _LASTED.search(text)):
        told = resolve(f"{lasted['length']} ago", said)
    # The finest one: "last year" beside "yesterday" is the background.
    best = min(told, key=_coarseness, default=None)
    first = said.date() if best is None else best.first
    if kind == "year":
        return str(first.year)
    if kind == "month":
        return f"{MONTHS[first.month - 1]} {first.year}"
    return written(said.date()) if best is None else _told(best, said)


def written(day: date) -> str:
    """A day in the reader's one style."""
    return _plain(day)


def _plain(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _coarseness(one: Resolved) -> int:
    order = ("day", "weekend", "week", "about", "month", "season", "year")
    return order.index(one.precision)


def _told(one: Resolved, said: datetime) -> str:
    today = said.date()
    side = "before" if one.first <= today else "after"
    match one.precision:
        case "day":
            return written(one.first)
        case "week" | "weekend" | "about":
            if (counted := _bare_count(one.text)) is not None:
                return f"{counted} {side} {_plain(today)}"
            if one.precision == "about":
                return f"A few days before {_plain(today)}"
            if one.first <= today <= one.last:
                return f"The {one.precision} of {_plain(today)}"
            return f"The {one.precision} {side} {_plain(today)}"
        case "month":
            return f"{MONTHS[one.first.month - 1]} {one.first.year}"
        case "season":
            name = {3: "Spring", 6: "Summer", 9: "Fall", 12: "Winter"}[one.first.month]
            return f"{name} {one.first.year}"
        case "year":
            return str(one.first.year)


def _bare_count(text: str) -> str | None:
    """ "Two weeks" of "two weeks ago" and of "in two weeks"; None where nothing is counted."""
    bare = _COUNT_BACK.sub("", _COUNT_AHEAD.sub("", text))
    return None if bare == text else f"{bare[0].upper()}{bare[1:]}"


def amount(text: str, question: str) -> str | None:
    """The length, rate, time of day or number that a text tells; None where it tells none."""
    match asks(question):
        case "long":
            found = _LENGTH.search(text) or _SINCE.search(text)
        case "often":
            found = _RATE.search(text)
        case "time":
            found = _CLOCK.search(text)
        case "many":
            return _many(text, question)
        case _:
            return None
    return None if found is None else found[0]


def _many(text: str, question: str) -> str | None:
    """A number before a word of the question, else any that is written in digits."""
    asked = {word.rstrip("s") for word in re.findall(r"\w{3,}", question.lower())}
    for found in _COUNTED.finditer(text):
        if found[1].lower().rstrip("s") in asked:
            return found[0]
    bare = _BARE_NUMBER.search(text)
    return None if bare is None else bare[0]
