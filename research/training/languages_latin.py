"""Hindi and Arabic → how people type them in Latin letters; any text → the same without accents.

    hindi_in_latin("मैं घर जा रहा हूँ")          → "main ghar ja raha hun"
    arabic_in_latin("انا بحبك", rng)           → "ana b7bk", with vowels drawn between
    without_accents("¿qué pasó?")              → "¿que paso?"

There are no parallel texts of such typing, so they are made from those that there are. Spelling
varies as it does among people: where two are usual, one is drawn.
"""

from __future__ import annotations

import re
import unicodedata

import numpy as np

# Letters that end in a short a unless something else follows.
CONSONANTS = {
    **{"क": "k", "ख": "kh", "ग": "g", "घ": "gh", "ङ": "n", "च": "ch", "छ": "chh", "ज": "j"},
    **{"झ": "jh", "ञ": "n", "ट": "t", "ठ": "th", "ड": "d", "ढ": "dh", "ण": "n", "त": "t"},
    **{"थ": "th", "द": "d", "ध": "dh", "न": "n", "प": "p", "फ": "ph f", "ब": "b", "भ": "bh"},
    **{"म": "m", "य": "y", "र": "r", "ल": "l", "व": "v w", "श": "sh", "ष": "sh", "स": "s"},
    **{"ह": "h", "ळ": "l"},
}
DOTTED = {"ज": "z", "फ": "f", "ड": "d r", "ढ": "dh", "क": "q k", "ख": "kh", "ग": "g"}
VOWELS = {
    **{"अ": "a", "आ": "aa a", "इ": "i", "ई": "ee i", "उ": "u", "ऊ": "oo u", "ए": "e", "ऐ": "ai"},
    **{"ओ": "o", "औ": "au", "ऑ": "o", "ऋ": "ri"},
}
SIGNS = {
    **{"ा": "a aa", "ि": "i", "ी": "i ee", "ु": "u", "ू": "u oo", "े": "e", "ै": "ai e"},
    **{"ो": "o", "ौ": "au", "ॉ": "o", "ृ": "ri", "ॅ": "e"},
}
NASAL = {"ं": "n", "ँ": "n", "ः": "h"}
DOT, STOP = "\u093c", "\u094d"
HINDI = re.compile("[\u0900-\u0963]+")

ARABIC = {
    **{"ا": "a", "ب": "b", "ت": "t", "ث": "th", "ج": "j g", "ح": "7", "خ": "kh 5", "د": "d"},
    **{"ذ": "z", "ر": "r", "ز": "z", "س": "s", "ش": "sh ch", "ص": "s", "ض": "d", "ط": "t"},
    **{"ظ": "z", "ع": "3", "غ": "gh", "ف": "f", "ق": "2 9 q", "ك": "k", "ل": "l", "م": "m"},
    **{"ن": "n", "ه": "h", "و": "w o", "ي": "y i", "ة": "a", "ى": "a", "أ": "a", "إ": "e"},
    **{"آ": "a", "ؤ": "2", "ئ": "2", "ء": "2", "گ": "g", "پ": "p", "چ": "ch", "ی": "y", "ک": "k"},
}


def _drawn(forms: str, rng: np.random.Generator) -> str:
    """One of the usual spellings, most often the first."""
    usual = forms.split()
    at = 0 if rng.random() < 0.7 else int(rng.integers(0, len(usual)))
    return usual[at]


def hindi_in_latin(text: str, rng: np.random.Generator) -> str:
    plain = unicodedata.normalize("NFD", text).replace("।", ".")
    return HINDI.sub(lambda found: _hindi_word(found[0], rng), plain)


def _hindi_word(word: str, rng: np.random.Generator) -> str:
    """Syllables (consonant, vowel, nasal); a short a falls at the end and between two others."""
    syllables: list[list[str]] = []
    for at, letter in enumerate(word):
        if letter in CONSONANTS:
            dotted = word[at + 1 : at + 2] == DOT and letter in DOTTED
            sound = _drawn((DOTTED if dotted else CONSONANTS)[letter], rng)
            syllables.append([sound, "*", ""])
        elif letter in VOWELS:
            syllables.append(["", _drawn(VOWELS[letter], rng), ""])
        elif syllables and letter in SIGNS:
            syllables[-1][1] = _drawn(SIGNS[letter], rng)
        elif syllables and letter == STOP:
            syllables[-1][1] = ""
        elif syllables and letter in NASAL:
            syllables[-1][2] = NASAL[letter]
    for at in range(len(syllables) - 1, 0, -1):
        if syllables[at][1] != "*" or syllables[at][2]:
            continue
        is_last = at == len(syllables) - 1
        after = not is_last and bool(syllables[at + 1][1])
        before = syllables[at - 1][1] != ""
        if is_last or (after and before and syllables[at + 1][0]):
            syllables[at][1] = ""
    return "".join(c + ("a" if v == "*" else v) + n for c, v, n in syllables)


def arabic_in_latin(text: str, rng: np.random.Generator) -> str:
    """Signs of one letter each, with the vowels that the script leaves out drawn between."""
    plain = "".join(each for each in text if not "\u064b" <= each <= "\u0652")
    written = []
    for word in plain.split():
        out = ""
        for at, letter in enumerate(word):
            out += _drawn(ARABIC[letter], rng) if letter in ARABIC else letter
            both = word[at : at + 2]
            sounds = all(each in ARABIC and each not in "اويىةآأإ" for each in both)
            if len(both) == 2 and sounds and rng.random() < 0.7:
                out += str(rng.choice(["a", "e", "i", "o"], p=[0.5, 0.3, 0.15, 0.05]))
        written.append(out)
    return " ".join(written)


def without_accents(text: str) -> str:
    apart = unicodedata.normalize("NFD", text)
    kept = "".join(each for each in apart if not unicodedata.combining(each))
    return kept.replace("ı", "i").replace("ł", "l").replace("đ", "d").replace("ß", "ss")
