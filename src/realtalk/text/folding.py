"""Texts made alike where people write the same name differently: one form for all of them.

    fold("MÁRA"), fold("Ｍａｒａ"), fold("Ma\\u200dra"), fold("𝓜𝓪𝓻𝓪")   → "mara"
    fold_word("குமார்")                                       → "குமார", as in குமாருக்கு
    spelled_out("jörg")                                     → "joerg"
    parts("Dr. Anna-Lena 王小明 🌸")                          → ["Dr", "Anna", "Lena", "王小明"]
    fold_with_places("ｶﾞ1")                                 → ("が1", [(0, 2), (2, 3)])

A letter is whatever Unicode calls alphabetic, with the marks that belong to it; what a reader
cannot see (joiners, soft hyphens, direction marks) does not count. Accents go, and vowel points;
vowel signs, which are letters in all but name, stay. Nothing here depends on a list of languages.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

import regex

# Scripts written without spaces between words. Hangul has spaces, but glues particles to names.
_RUN = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Hangul}\p{Line_Break=SA}"
    r"\p{Javanese}\p{Balinese}\p{Yi}ー\uff70\uff9e\uff9f"
)
UNSEEN = r"\p{Default_Ignorable_Code_Point}"
# Marks of direction and joins of nothing, which one phone writes and the other does not. Joiners
# inside emoji and Persian words are not among them.
STRAY_SIGNS = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]")
_LETTER = rf"[[\p{{Alphabetic}}]--[{_RUN}]]"
# A word of letters, or a run of a script without spaces; both go on over marks and unseen signs.
TOKEN = regex.compile(
    rf"(?P<run>[[{_RUN}]--\p{{M}}][{_RUN}\p{{M}}{UNSEEN}]*)"
    rf"|(?P<word>{_LETTER}[[\p{{Alphabetic}}\p{{M}}{UNSEEN}]--[{_RUN}]]*)",
    regex.V1,
)
# Latin-1, its neighbours, punctuation and emoji: what `re` reads like `regex`, but faster. Soft
# hyphens, raised digits, and letters and digits in circles and squares are not among them.
_PLAIN_TEXT = re.compile(
    "[\0-\u00ac\u00ae-\u00b1\u00b4-\u00b8\u00ba\u00bb\u00bf-\u02af\u2010-\u2027\u2030-\u205e"
    "\u20a0-\u20bf\u2190-\u245f\u2500-\u2775\u2794-\u2bff\ufe0f"
    "\U0001f000-\U0001f0ff\U0001f300-\U0001faff]*"
)
# Overlays, nukta, the points of Hebrew, Arabic and Syriac, and accents of every kind.
_MARKS = regex.compile(
    rf"[{UNSEEN}ـʻʼ"
    + "".join(rf"\p{{ccc={kind}}}" for kind in (1, 7, *range(10, 37), 202, *range(214, 233, 2)))
    + r"\p{ccc=233}\p{ccc=234}\p{ccc=240}"
    + "]+"
)
_VIRAMA = regex.compile(r"\p{ccc=9}+")
_HIDDEN = regex.compile(rf"{UNSEEN}+")
_CAMEL = regex.compile(r"(?<=\p{Ll}\p{M}*)(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})")
_EDGES = regex.compile(r"^\d+|\d+$")
_CLUSTER = regex.compile(r"\X")
_NAME_WORD = regex.compile(rf"[\p{{Alphabetic}}\p{{M}}\p{{Nd}}{UNSEEN}ー\uff70\uff9e\uff9f]+")

# Letters that Unicode does not take apart, as they are typed without the right keyboard; the
# letters of Arabic that one language writes for another's; Malayalam's letters without a vowel.
_PAIRS = """
    łl øo đd ıi ħh ŧt ðd ŋn əe ɛe ɔo ɓb ɗd ƙk ƴy æae œoe þth ĳij
    کك گك یي ىي ېي ےي ةه ھه ہه ەه ۆو ۇو ۈو ڕر ڵل ൺണ ൻന ർര ൽല ൾള ൿക
"""
_KANA = {sign: chr(sign - 0x60) for sign in range(0x30A1, 0x30F7)}
# Every script's digits as ours: "٤٢" is 42. One for one, so that places stay.
DIGITS = {
    sign: str(unicodedata.decimal(chr(sign)))
    for sign in (*range(0x80, 0x11000), *range(0xFF10, 0xFF1A))
    if chr(sign).isdecimal()
}
_TABLE = {ord(pair[0]): pair[1:] for pair in _PAIRS.split()} | _KANA | DIGITS
_SPELLED = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "ё": "йо"})


def is_plain(text: str) -> bool:
    """Whether every letter is a character by itself, so that `re` finds the same words."""
    return text.isascii() or _PLAIN_TEXT.fullmatch(text) is not None


def fold(text: str) -> str:
    """Without case, accents, width and unseen signs; Katakana as Hiragana."""
    if text.isascii():
        return text.lower()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", plain).translate(_TABLE)


@lru_cache(1 << 16)
def fold_word(word: str) -> str:
    """Also without the sign that a vowel is missing: an ending puts one there."""
    return fold(word) if word.isascii() else _VIRAMA.sub("", fold(word))


def spelled_out(word: str) -> str:
    """As it is typed where the letter is not on the keyboard: jörg, joerg."""
    return unicodedata.normalize("NFC", word.casefold()).translate(_SPELLED)


def graphemes(text: str) -> int:
    """How many signs a reader sees."""
    return len(_CLUSTER.findall(_HIDDEN.sub("", text)))


def fold_with_places(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The text folded, and for each of its signs from where to where it stood before."""
    pieces: list[str] = []
    places: list[tuple[int, int]] = []
    for cluster in _CLUSTER.finditer(text):
        plain = fold(cluster[0])
        pieces.append(plain)
        places += [cluster.span()] * len(plain)
    return "".join(pieces), places


def is_run(word: str) -> bool:
    """Whether a word is of a script without spaces."""
    token = TOKEN.match(word)
    return token is not None and token.lastgroup == "run"


def parts(name: str) -> list[str]:
    """The words of a name: letters with their marks, and in "MaraLund" two of them.

    Digits around a word are left out ("Mara2"), digits inside it stay ("J4ne").
    """
    words = []
    for match in _NAME_WORD.findall(name):
        word = _EDGES.sub("", match)
        if any(sign.isdigit() for sign in word):
            words.append(word)
            continue
        for token in TOKEN.finditer(word):
            if token.lastgroup == "run":
                words.append(token[0])
                continue
            humps = _CAMEL.sub(" ", token[0]).split(" ")
            words += humps if min(map(len, humps)) > 2 else [token[0]]
    return [part for part in words if fold(part)]


def pieces(word: str) -> Iterator[tuple[int, int]]:
    """Where the pieces of a word lie, longest first at each place: "hiMara", "hi\\u200bMara"."""
    starts = {0, *(hump.start() for hump in _CAMEL.finditer(word))}
    ends = {*starts, len(word)}
    if not word.isascii():
        for hidden in _HIDDEN.finditer(word):
            ends.add(hidden.start())
            starts.add(hidden.end())
            ends.discard(hidden.end())
            starts.discard(hidden.start())
    last = sorted(ends)
    for start in sorted(starts):
        # Twelve are enough for any name; a text of 20,000 humps must not cost their square.
        after = bisect_right(last, start)
        for end in reversed(last[after : after + 12]):
            yield start, end
