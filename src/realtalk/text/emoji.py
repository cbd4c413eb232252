"""Emoji → their names in words, since the encoder's vocabulary has hardly any.

    in_words("so late 😭😭")      → "so late  loudly crying face "
    in_words("thanks ❤️ 👍🏽")     → "thanks  heart   thumbs up sign "

A run of the same emoji is named once. Tones of skin, flags and joiners say nothing here.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# Old signs are called by their print ("heavy black heart"), not by their colour.
_PRINT = frozenset({"heavy", "white", "black"})
_PLAIN = 0x1F000
_EMOJI = re.compile(
    "([\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff])\\1*"
)
_SILENT = re.compile("[\u200d\ufe0e\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]")


def in_words(text: str) -> str:
    if text.isascii():
        return text
    return _EMOJI.sub(lambda match: f" {_name(match[1])} ", _SILENT.sub("", text))


@lru_cache(4096)
def _name(sign: str) -> str:
    words = unicodedata.name(sign, "").lower().split()
    return " ".join(w for w in words if ord(sign) >= _PLAIN or w not in _PRINT)
