"""A text → its words, in the ways in which they are counted, compared and told apart.

    plain_words("it's 10 o'clock")                  → ["it", "s", "10", "o", "clock"]
    words_and_emoji("Can't wait 🎉🎉")               → ["can't", "wait", "🎉", "🎉"]
    letter_words("J4ne, naïve मीरा")                 → ["J", "ne", "naïve", "मीरा"]
    language_words("Oye, 😂 jajaja qué tal? @mara https://example.org")    → ["oye", "qué", "tal"]
    amount("昨天我们去了海边")                        → 4: about so many words
    script_of(["привет", "ok"])                     → "CYRILLIC"
    emoji_in_words("so late 😭😭")                   → "so late  loudly crying face "

Figures depend on where words end, so each way has its use: what is searched, and names in
questions, take the plain words; measures of generated text those with emoji, since a chat has
turns of those alone; lists of words the letters with their marks. Encoders read emoji by their
names, since a vocabulary has hardly any. The words that tell a language
are without addresses, names of accounts, program text and laughter, which belong to none. How
texts are read to be compared is in `terms`; words and runs of scripts without spaces, as names
are looked for, are `folding.TOKEN`.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import regex

_PLAIN = re.compile(r"\w+")
LETTERS = regex.compile(r"[\p{L}\p{M}]+")
# A word with its apostrophes, or one emoji.
_WITH_EMOJI = regex.compile(r"\w+(?:['’]\w+)*|\p{Emoji_Presentation}|\p{Extended_Pictographic}")
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
# Old signs are called by their print ("heavy black heart"), not by their colour.
_PRINT = frozenset({"heavy", "white", "black"})
_EMOJI_BLOCKS = 0x1F000
_EMOJI = re.compile(
    "([\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff])\\1*"
)
_SILENT = re.compile("[\u200d\ufe0e\ufe0f\U0001f1e6-\U0001f1ff\U0001f3fb-\U0001f3ff]")
_SPACELESS = frozenset("CJK HIRAGANA KATAKANA THAI LAO KHMER MYANMAR".split())  # noqa: SIM905

# Scripts in which hardly anything but one language is written: no weights are needed.
ONE_LANGUAGE = dict(
    pair.split("=")
    for pair in """
    GEORGIAN=ka GUJARATI=gu GURMUKHI=pa KANNADA=kn KHMER=km LAO=lo MALAYALAM=ml MYANMAR=my ORIYA=or
    SINHALA=si TAMIL=ta TELUGU=te
    """.split()  # noqa: SIM905 - words read better than quotes
)


def one_line(text: str) -> str:
    """The text with every run of white space made one space."""
    return " ".join(text.split())


def plain_words(text: str) -> list[str]:
    """Letters, digits and low lines in a row, as Python sees them."""
    return _PLAIN.findall(text)


def words_and_emoji(text: str) -> list[str]:
    """Words of any script in lower case, and emoji."""
    return [str(word) for word in _WITH_EMOJI.findall(text.lower())]


def letter_words(text: str) -> list[str]:
    """Letters in a row, with their marks: vowel signs belong to a word."""
    return [str(word) for word in LETTERS.findall(text)]


def language_words(text: str) -> list[str]:
    """The words by which a language is told, in small letters, apostrophes left out."""
    plain = _APOSTROPHES.sub("", unicodedata.normalize("NFKC", text).lower())
    words = _WORD.findall(_NO_WORDS.sub(" ", plain))
    return [word for word in words if _LETTER.search(word) and not _ANYWHERE.match(word)]


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
    letter = _LETTER.search(word)
    return letter[0] if letter else word[0]


@lru_cache(4096)
def _script(letter: str) -> str:
    """The first word of a letter's name: LATIN, CYRILLIC, DEVANAGARI …; kana with kanji."""
    return unicodedata.name(letter, "").partition(" ")[0]


def emoji_in_words(text: str) -> str:
    """Emoji by their names, a run of one once; tones of skin, flags and joiners say nothing."""
    if text.isascii():
        return text
    return _EMOJI.sub(lambda match: f" {_emoji_name(match[1])} ", _SILENT.sub("", text))


@lru_cache(4096)
def _emoji_name(sign: str) -> str:
    words = unicodedata.name(sign, "").lower().split()
    return " ".join(w for w in words if ord(sign) >= _EMOJI_BLOCKS or w not in _PRINT)
