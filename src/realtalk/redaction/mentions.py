"""Who or what a text speaks of: the one shape in which rules and models hand in what they found.

    CapitalsRule().mentions(["hey Bea!", "it was Bea"])
    → Mention(text=0, start=4, end=7, kind="person", score=.7, source="capitals"), …

A source reads all texts of a corpus at once, since a name in one is evidence for another. The texts
it gets are already without speakers, phones, links and the like: their stand-ins are nobody's
names. What becomes of mentions is decided once, for all sources (`candidates`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

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
