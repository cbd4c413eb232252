"""Words that a capital letter does not make a person's name (`words.txt`).

    "will" in EVERYDAY       → a speaker called Will is replaced where it is capitalised, or where
                               a name stands ("hey will"), whatever the chat's language is
    "care" in NO_FORM        → no Italian form of Caro, and "the" is not short for Theo
    "paris" in NOT_PEOPLE    → never guessed to be somebody's name

Short on purpose: a word that is missing here costs a redacted text a word too many.
"""

from __future__ import annotations

from realtalk.text.folding import fold
from realtalk.text.wordlists import phrases, sections

_SECTIONS = sections("realtalk.redaction", "words.txt")
WORDS = {name: frozenset(body.split()) for name, body in _SECTIONS.items()}
RELATIONS, GREETINGS, BEFORE_OTHERS, TITLES, NOBLE, UNITS, HONORIFICS, MONTHS = (
    WORDS[name]
    for name in (
        "relations|greetings|before others|titles|noble|units|honorifics|months".split("|")  # noqa: SIM905
    )
)
BIRTH = frozenset(phrases(_SECTIONS["birth"]))
LINKS = NOBLE | WORDS["links"]
EVERYDAY = (
    TITLES
    | (LINKS - {"al", "abu", "ibn"})
    | frozenset(map(fold, WORDS["everyday"] | WORDS["elsewhere"]))
)
NO_FORM = EVERYDAY | WORDS["frequent"] | WORDS["places"] | WORDS["things"]
NOT_PEOPLE = TITLES | LINKS | WORDS["everyday"] | WORDS["times"] | WORDS["places"] | WORDS["things"]
