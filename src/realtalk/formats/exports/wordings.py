"""The words that an app writes into its exported texts by itself, from the file beside this one.

words = Wording("viber", "image video sticker")      reads viber_wording.txt
words.kinds["Photo message"]                         → "image"
words.any_of("call")                                 → "Missed call|Incoming call|…"
head_lines(member, 40)                               → the first lines, empty ones left out
"""

from __future__ import annotations

import re

from realtalk.formats.json_input import head_text
from realtalk.formats.source import Member
from realtalk.text.wordlists import phrases, sections


class Wording:
    """The phrases of one app: what stands for a file that was sent, or a message taken back."""

    def __init__(self, app: str, kinds: str) -> None:
        self.sections = sections("realtalk.formats.exports", f"{app}_wording.txt")
        self.kinds = self.by_phrase(kinds)
        self.deleted = frozenset(phrases(self.sections["deleted"]))

    def by_phrase(self, kinds: str, heading: str = "{}") -> dict[str, str]:
        """The phrases of some sections, each with its kind."""
        return {
            phrase: kind
            for kind in kinds.split()
            for phrase in phrases(self.sections[heading.format(kind)])
        }

    def any_of(self, section: str) -> str:
        """A pattern for the phrases of a section."""
        return "|".join(map(re.escape, phrases(self.sections[section])))


def head_lines(member: Member, most: int) -> list[str]:
    """The first lines of a text that are not empty."""
    lines = head_text(member).split("\n", most)[:most]
    return [line.rstrip("\r") for line in lines if line.strip()]
