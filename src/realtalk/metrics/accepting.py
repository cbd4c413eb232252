"""Is an answer the gold, or one that was accepted beside it, once both are normalised?

    matches_gold("5 January 2024", "On 05.01.2024", question="When did he call?")  → True
    matches_gold("camera, phone", "the phone and the camera")                      → True
    matches_gold("twice", "2 times", question="How many times did he call?")       → True
    matches_gold("Nessa", "Ines", names=("Nessa=Ines",))                           → True
    matches_gold("phone", "phone and camera")                                      → False
    holds_gold("her phone and a lens", ["phone"], question="What did she lose?")   → True

Equality, not overlap: dates are compared as dates, lists as sets, numbers as numbers, people by
one of their names, yes and no as such where the question wants one. Words that only join, and
words of the question, say nothing of their own. What stands in brackets may be left out. An
answer that says more or less than the gold is not accepted, so the score errs on the side of no:
docs/results/audit.md has how often, against a judge.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from realtalk.metrics.answers import ABSTAINING, around_dates, is_abstention, stem
from realtalk.text.dates import PartialDate

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_JOINING = frozenset(
    """
    a an the and or but so as of to in on at by for from with into about around approximately
    roughly circa it its he him his she her hers they them their theirs we us our you your i me my
    is are was were be been being am do does did has have had will would can could may might
    that this these those there then also both probably likely maybe usually because while when
    who whom which what where how why very some any just s
    """.split()  # noqa: SIM905 - words read better than quotes
)
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
    )
} | {"once": "1", "twice": "2", "thrice": "3"}
_POLAR = re.compile(
    r"^(?:.*,\s*)?(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|might)"
    r"\s+(?!.*\bor\b)",
    re.IGNORECASE | re.DOTALL,
)
_YES = re.compile(r"\b(?:yes|yeah|yep|true|correct)\b", re.IGNORECASE)
_NO = re.compile(r"\b(?:no|not|nope|never|cannot|\w+n['’]t)\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[,.;:]")


@dataclass(frozen=True, slots=True)
class Content:
    """What an answer says: its words as a set, and its dates."""

    words: frozenset[str]
    dates: tuple[PartialDate, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.words or self.dates)

    def equals(self, other: Content) -> bool:
        """Whether both say the same; a date of the gold may leave out what the answer adds."""
        same_size = (len(self.words), len(self.dates)) == (len(other.words), len(other.dates))
        return same_size and self.contains(other)

    def contains(self, other: Content) -> bool:
        """Whether all that the other says is said here too; each date stands for one."""
        rest = list(self.dates)
        for date in other.dates:
            near = [
                candidate
                for candidate in rest
                if candidate.agreement(date) > 0 and candidate.fields >= date.fields
            ]
            if not near:
                return False
            rest.remove(near[0])
        return other.words <= self.words


def matches_gold(
    answer: str,
    gold: str | None,
    accept: Sequence[str] = (),
    *,
    question: str = "",
    names: Sequence[str] = (),
    category: str = "",
) -> bool:
    """Whether an answer equals the gold or one of the accepted answers.

    `names` are other names of people, each as "other=name".
    """
    if category in ABSTAINING:
        return is_abstention(answer, category)
    known_words = question_words(question, tuple(names))
    polar = polarity(answer) if is_polar(question) else None
    for true in (gold, *accept):
        if true is None or not true.strip():
            continue
        if polar is not None and polarity(true) == polar:
            return True
        for ours in _forms(answer):
            for theirs in _forms(true):
                our_content, their_content = (
                    content(text, question=known_words, names=tuple(names))
                    for text in (ours, theirs)
                )
                if their_content and our_content.equals(their_content):
                    return True
    return False


def holds_gold(answer: str, golds: Sequence[str], *, question: str) -> bool:
    """Whether an answer says all that one of the golds says, whatever else it says."""
    known_words = question_words(question, ())
    said = content(answer)
    wanted = (content(true, question=known_words) for true in golds)
    return any(gold and said.contains(gold) for gold in wanted)


def is_polar(question: str) -> bool:
    """Whether a question wants yes or no."""
    return _POLAR.match(question.strip()) is not None


def polarity(text: str) -> bool | None:
    """Yes or no, as the first clause says it; None where it says neither."""
    first = _CLAUSE.split(text, maxsplit=1)[0]
    if _NO.search(first):
        return False
    return True if _YES.search(first) else None


def question_words(question: str, names: tuple[str, ...]) -> frozenset[str]:
    """What a question says already, so that an answer need not."""
    return frozenset(_plain_words(question, _people(names)))


@lru_cache(maxsize=1 << 14)
def content(
    text: str, *, question: frozenset[str] = frozenset(), names: tuple[str, ...] = ()
) -> Content:
    """What a text says beyond joining words and the question's; all of it where that is nothing."""
    rest, dates = around_dates(text)
    words = frozenset(_plain_words(" ".join(rest), _people(names)))
    if not words and not dates:  # "A", "it": what only joins elsewhere is all there is
        words = frozenset(_WORD.findall(text.casefold()))
    beyond = words - question
    return Content(beyond if beyond or dates else words, tuple(dates))


def _plain_words(text: str, people: dict[str, str]) -> Iterator[str]:
    for word in _WORD.findall(text.casefold().replace("-", "")):
        bare = re.sub(r"['’]s?$", "", word)
        bare = people.get(bare, _NUMBERS.get(bare, bare))
        if bare not in _JOINING:
            yield bare if bare[0].isdigit() else stem(bare)


@lru_cache(maxsize=256)
def _people(names: tuple[str, ...]) -> dict[str, str]:
    """Every word of another name → the first word of the name."""
    first_names: dict[str, str] = {}
    for pair in names:
        alias, _, name = pair.partition("=")
        (first, *_) = [*_WORD.findall(name.casefold()), ""]
        first_names |= dict.fromkeys(_WORD.findall(alias.casefold()), first)
    return first_names


def _forms(text: str) -> Iterable[str]:
    """A text, and without what stands in brackets."""
    bare = _BRACKETS.sub("", text).strip()
    return (text, bare) if bare and bare != text else (text,)
