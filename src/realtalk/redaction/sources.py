"""What finds people, places and the like in chats: the shipped tagger with our rules.

    redact(corpus, sources=name_sources())

Where the tagger's files are not installed, the rules alone.
"""

from __future__ import annotations

from functools import cache

from realtalk.encoders.shipped import has_weights
from realtalk.redaction.birthdays import BirthdayRule
from realtalk.redaction.mentions import MentionSource
from realtalk.redaction.redact import RULES
from realtalk.redaction.tagged import TaggedNames


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
