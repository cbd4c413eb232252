"""Text that may run from right to left → HTML in which it cannot disturb what stands beside it.

    alone("דנה (2)")             → "<bdi>דנה (2)</bdi>": somebody's own text
    within("2 turns of דנה, 1")  → "2 turns of <bdi>דנה</bdi>, 1": names inside our sentence
    alone("Mara")                → "Mara"

Without this a number behind a Hebrew or Arabic name is drawn before it, and brackets turn round.
Everything is escaped. Texts without such letters and marks stay as they are.
"""

from __future__ import annotations

import re
from html import escape

_LETTER = "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
# Marks that turn what follows them, too; they must not reach beyond the text they came in.
_TURNS = re.compile(f"{_LETTER}|[\u200f\u061c\u202a-\u202e\u2066-\u2069]")
# Words of one name or phrase: a comma or a Latin word between two names parts them.
_PHRASE = re.compile(rf"{_LETTER}(?:[ \-'’\"״׳־.\u200c-\u200f]*{_LETTER})*")
_MARK = re.compile("[\u202a-\u202e\u2066-\u2069]")


def alone(text: str) -> str:
    """A text that is somebody's own as a whole: a name, a cell, a title."""
    return f"<bdi>{escape(text)}</bdi>" if _TURNS.search(text) else escape(text)


def within(text: str) -> str:
    """A sentence of ours that may hold other people's words."""
    parts, end = [], 0
    text = _MARK.sub("", text)
    for found in _PHRASE.finditer(text):
        parts += [escape(text[end : found.start()]), f"<bdi>{escape(found[0])}</bdi>"]
        end = found.end()
    return "".join((*parts, escape(text[end:])))
