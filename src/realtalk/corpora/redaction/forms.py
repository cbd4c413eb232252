"""The shapes in which one name is written: without accents, spelled out, in another case.

    forms("jörg")          → {"jörg", "jorg", "joerg"}
    bare("Łukasz")         → "Lukasz"
    endings_off("мары")    → ["мара", ...]        endings_off("marának") → ["mara", ...]

Languages that bend names do it at the end; only endings that make few other names are
taken off (Paul stays apart from Paula).
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

__all__ = ["bare", "endings_off", "forms"]

# Letters that Unicode does not take apart.
_PLAIN = str.maketrans("łŁøØđĐıħŧ", "lLoOdDiht")
_SPELLED = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae", "œ": "oe", "ß": "ss"}
)
_CYRILLIC_ENDINGS = (
    *("", "а", "у", "ом", "ем", "ём", "е", "ы", "и", "ой", "ою", "я", "ю", "ей", "ею", "ью"),
    *("і", "ї", "ові", "еві", "єю"),
)
_CYRILLIC_FIRST = ("", "а", "я", "й", "ь", "о", "е", "і")  # how the name itself may end
_LATIN_ENDINGS = (
    *("owi", "iem", "em", "ów", "lle", "lla", "llä", "lta", "ltä", "ssa", "ssä", "sta", "stä"),
    *("nak", "nek", "val", "vel", "hoz", "hez", "nál", "nél", "ék", "nin", "nın", "nun", "nün"),
)
_LONG_ENOUGH = 3


@lru_cache(1 << 12)
def bare(word: str) -> str:
    """Without accents, as people type it."""
    marks = unicodedata.normalize("NFD", word.translate(_PLAIN))
    return "".join(sign for sign in marks if not unicodedata.combining(sign))


def forms(key: str) -> set[str]:
    """How a name in small letters may be typed."""
    return {key, bare(key), key.translate(_SPELLED)}


def endings_off(key: str) -> list[str]:
    """What names a word in small letters may be another case of."""
    if key.isascii() or not "а" <= key[-1] <= "ї":
        found = [key[: -len(end)] for end in _LATIN_ENDINGS if key.endswith(end)]
        # A vowel before the ending is drawn out in Hungarian: Mara, Marának.
        return [name for stem in found if len(stem) > _LONG_ENOUGH for name in {stem, bare(stem)}]
    stems = {key[: len(key) - len(end)] for end in _CYRILLIC_ENDINGS if key.endswith(end)}
    return [
        stem + first
        for stem in sorted(stems)
        if len(stem) >= _LONG_ENOUGH
        for first in _CYRILLIC_FIRST
    ]
