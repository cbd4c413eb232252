"""A text → the words by which its language is told, in every script.

    words_of("Oye, 😂 jajaja qué tal? @mara https://example.org")    → ["oye", "qué", "tal"]
    amount("昨天我们去了海边")                                         → 4: about so many words
    script_of(["привет", "ok"])                                      → "CYRILLIC"

Addresses, names of accounts, program text and laughter belong to no language and are left out.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

# Addresses, names of accounts, and what looks like program text.
_NO_WORDS = re.compile(r"https?://\S+|www\.\S+|\S+@\S+|[@#]\w+|<[^<>\s]+>|\w*[_/\\={}()\[\];]\S*")
# Vowel signs and other marks belong to their word; `\w` knows them in no script.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0963\u0970-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u0f71-\u0f84"
    "\u102b-\u103e\u1056-\u109d\u17b4-\u17d3\u200c\u200d"
)
_WORD = re.compile(f"(?:[^\\W_]|[{_MARKS}])+")
_LETTER = re.compile(r"[^\W\d_]")
_APOSTROPHES = re.compile("['’`´ʻʼ]")
# Laughter and agreement belong to every chat.
_ANYWHERE = re.compile(
    r"(?:[ae]?(?:[hj][aeiu]|[aeu]h)+[hj]?|k{2,}|x+d+|lo+l|o+h+|h*m+|ok(?:ay|ey)?|wo+w"
    r"|[хахе]{3,}|[\u110f\u1112\u1172\u116e]+|[ه]{2,}|w{2,}|5{3,})\Z"
)
_SPACELESS = frozenset("CJK HIRAGANA KATAKANA THAI LAO KHMER MYANMAR".split())  # noqa: SIM905

# Scripts in which hardly anything but one language is written: no weights are needed.
ONE_LANGUAGE: Mapping[str, str] = {
    **{"GEORGIAN": "ka", "GUJARATI": "gu", "GURMUKHI": "pa", "KANNADA": "kn", "KHMER": "km"},
    **{"LAO": "lo", "MALAYALAM": "ml", "MYANMAR": "my", "ORIYA": "or", "SINHALA": "si"},
    **{"TAMIL": "ta", "TELUGU": "te"},
}


def words_of(text: str) -> list[str]:
    """The words of a text in small letters, apostrophes left out."""
    plain = _APOSTROPHES.sub("", unicodedata.normalize("NFKC", text).lower())
    found = _WORD.findall(_NO_WORDS.sub(" ", plain))
    return [word for word in found if _LETTER.search(word) and not _ANYWHERE.match(word)]


def amount(word: str) -> int:
    """How many words a token counts for: one, or half its length where nothing parts words."""
    return max(1, len(word) // 2) if _script(_first_letter(word)) in _SPACELESS else 1


def script_of(words: Iterable[str]) -> str:
    """The script that most letters are of; "" where there is no letter."""
    counts: Counter[str] = Counter()
    for word in words:
        counts[_script(_first_letter(word))] += len(word)
    # Equal counts go to the script that came first.
    return counts.most_common(1)[0][0] if counts else ""


def _first_letter(word: str) -> str:
    found = _LETTER.search(word)
    return found[0] if found else word[0]


@lru_cache(4096)
def _script(letter: str) -> str:
    """The first word of a letter's name: LATIN, CYRILLIC, DEVANAGARI …; kana with kanji."""
    return unicodedata.name(letter, "").partition(" ")[0]
