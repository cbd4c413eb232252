"""People who are only spoken of, by their capitals: "we met Ingrid", "hey Bea!", "Frau Lund".

    list(CapitalsRule().mentions(["I told Ingrid", "so Ingrid came", "Hey Bea!"]))
    → Ingrid twice, Bea once

Such a word is capitalised, follows a greeting or a word in small letters (not "in", "the" and their
like) in two texts or more, is never written small, and is no month, place or brand that we
know. Right after a greeting, a title or a word such as "sister", once is enough. German writes
every noun with a capital: there only greetings, titles and relations tell a name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from realtalk.redaction.kinds import words_of
from realtalk.redaction.mentions import Mention
from realtalk.redaction.words import (
    BEFORE_OTHERS,
    GREETINGS,
    HONORIFICS,
    NOT_PEOPLE,
    RELATIONS,
    WORDS,
)

_SEEN_AT_LEAST = 2  # mid-sentence, in different texts
_SURE, _GUESSED = 0.8, 0.6  # after a title or a greeting; from capitals alone
_NOUNS_IN_CAPITALS = WORDS["german"]
_GERMAN = 0.08  # of all words, from which on a corpus counts as German
_BEFORE = re.compile(r",? |\. ")


class CapitalsRule:
    """The rule, as a source of mentions."""

    def mentions(self, texts: Sequence[str]) -> Iterator[Mention]:
        inside: Counter[str] = Counter()
        seen: dict[str, list[tuple[int, int]]] = {}
        addressed: set[str] = set()
        small: set[str] = set()
        german = words = 0
        for number, text in enumerate(texts):
            here: set[str] = set()
            before, ended = "", 0
            for word, start, end in words_of(text):
                words += 1
                if word.islower():
                    small.add(word)
                    german += word in _NOUNS_IN_CAPITALS
                elif len(word) > 2 and word.istitle():
                    between = text[ended:start]
                    titled = before.casefold() in HONORIFICS and _BEFORE.fullmatch(between)
                    if titled or (
                        (before.casefold() in GREETINGS or before.islower())
                        and before not in BEFORE_OTHERS
                        and between in (" ", ", ")
                    ):
                        here.add(word)
                        seen.setdefault(word, []).append((number, start))
                        called = before.casefold() in GREETINGS | RELATIONS and _ends(text, end)
                        if titled or called:
                            addressed.add(word)
                before, ended = word, end
            inside.update(sorted(here, key=text.find))
        only_addressed = german > _GERMAN * words
        for word, count in inside.items():
            sure = word in addressed
            if (
                (sure or (count >= _SEEN_AT_LEAST and not only_addressed))
                and word.lower() not in small
                and word.casefold() not in NOT_PEOPLE
                and word.casefold().removesuffix("s") not in NOT_PEOPLE
            ):
                score = _SURE if sure else _GUESSED
                for number, start in seen[word]:
                    yield Mention(number, start, start + len(word), "person", score, "capitals")


def _ends(text: str, at: int) -> bool:
    """Whether a word that ends there is not the first of several: "Hey Mr Fox", "Hi New York"."""
    return not re.match(r" [^\W\d_a-z]", text[at : at + 2])
