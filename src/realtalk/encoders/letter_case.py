"""How a word is written, for models whose vocabulary is in small letters: one of six cases.

    case_of("anna"), case_of("Anna"), case_of("ANNA")     → 1, 2, 3
    word_case("hey Anna", 6, 8)                           → 2, of the word that the piece is of

0 nothing to see (a script without capitals, punctuation), 1 small, 2 a capital first, 3 capitals,
4 mixed, 5 digits. Training and use read texts by these very lines.
"""

from __future__ import annotations

from functools import lru_cache

CASES = 6


@lru_cache(1 << 16)
def case_of(piece: str) -> int:
    """The case of a word, or of a piece of one."""
    letters = [sign for sign in piece if sign.isalpha()]
    if not letters:
        return 5 if any(sign.isdigit() for sign in piece) else 0
    upper = sum(sign.isupper() for sign in letters)
    if not upper:
        return 1 if any(sign.islower() for sign in letters) else 0
    if upper == len(letters) and len(letters) > 1:
        return 3
    return 2 if letters[0].isupper() and upper == 1 else 4


def word_case(text: str, start: int, end: int) -> int:
    """The case of the word that a piece is of; whether the piece begins it is seen by itself."""
    while start and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return case_of(text[start:end])
