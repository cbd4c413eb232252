"""What languages glue to a name: endings after it, small words before it, another last vowel.

    stems("mara")              → [("mara", "whole"), ("mar", "cut")]
    ends("mara", "whole", "nak")   Marának: True         ends("ann", "whole", "ual")   False
    ends("mar", "cut", "y")        Polish Mary: True     ends("குமார", "whole", "ுககு")  True
    without_prefix("ולדנה")    → ["לדנה", "דנה"]

Everything is folded (`folding.fold_word`). In Latin, Cyrillic and Greek, which many languages share
and where capitals tell little at the start of a sentence, endings come from lists (`grammar.txt`),
so that "Annual" and "Marathon" stay words beside Ann and Mara. The other scripts have no such words
to lose that we could tell apart, and any ending of a bounded length is taken for one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from realtalk.text.folding import fold_word
from realtalk.text.wordlists import sections

_LISTED = sections("realtalk.text", "grammar.txt")
_ENDINGS = {
    script: tuple(
        frozenset(map(fold_word, _LISTED.get(section, "").split()))
        for section in (script, f"{script} cut")
    )
    for script in ("latin", "cyrillic", "greek", "hebrew", "arabic")
}
_MOST_OF_AN_ENDING = 10  # signs, where any ending is one: a Tamil case with its postposition
_MOST_AFTER_FEW = 5  # after a name of two or three signs
_FEW = 3


def _glue(*places: str) -> tuple[str, ...]:
    """Every way to put one word of each place together, longest first."""
    glued = {"".join(words) for words in product(*(("", *place.split()) for place in places))}
    return tuple(sorted(map(fold_word, glued - {""}), key=len, reverse=True))


_BEFORE = {
    "hebrew": _glue("ו", "ש כש לכש מש", "ה ב כ ל מ"),
    "arabic": _glue("أ و ف", "ب ل ك س", "ال ل", ""),
    "syriac": _glue("ܘ", "ܕ", "ܒ ܠ ܡ"),
    "ethiopic": _glue("የ ለ በ ከ ስለ እነ እስከ ወደ እንደ እና", "እነ"),
}
_RANGES = [(int(end, 16), name) for end, name in map(str.split, _LISTED["places"].splitlines())]


@lru_cache(1 << 12)
def _script(sign: str) -> str:
    at = ord(sign)
    return next((name for end, name in _RANGES if at < end), "other")


def is_listed(key: str) -> bool:
    """Whether a word is of a script whose endings are listed, where short words are many."""
    return _script(key[0]) in _ENDINGS


def stems(key: str) -> Iterator[tuple[str, str]]:
    """What stays of a name when it is bent: all of it, or all but its last vowel."""
    yield key, "whole"
    script = _script(key[0])
    vowels = _LISTED.get(f"{script} vowels", _LISTED["other vowels"])
    stem = _without_vowel(key, vowels, script)
    if stem is not None and len(stem) > 1:
        yield stem, "cut"
    if script == "latin":
        yield from _changed_stems(key)
    elif script == "cyrillic" and len(key) > 3 and key[-2] in "еоё":
        yield key[:-2] + key[-1], "cut"  # Павел, Павла
        yield key[:-2] + "ь" + key[-1], "cut"  # Лев, Льва
    elif script == "cyrillic" and len(key) == 3 and key[1] in "еоё":
        yield f"{key[0]}ь{key[2]}", "cut"


def _without_vowel(key: str, vowels: str, script: str) -> str | None:
    if script in ("latin", "greek") and key[-1] in "sσ" and key[-2:-1] and key[-2] in vowels:
        return key[:-2]  # Jonas, Jono; Νίκος, Νίκου
    if script == "cyrillic" and key.endswith(("ии", "ыи")):
        return key[:-2]  # Достоевский, Достоевского
    is_sign = unicodedata.category(key[-1]) in ("Mc", "Mn")
    if key[-1] in vowels or (script == "other" and len(key) > 2 and is_sign):
        return key[:-1]  # Anna, Anny; सीता, सीतेला
    return None


def _changed_stems(key: str) -> Iterator[tuple[str, str]]:
    """Stems that change inside: Finnish Virtanen, Virtasen; Polish Marek, Marka; Marta, Marcie."""
    if len(key) < 4:
        return
    if key.endswith("nen"):
        yield key[:-3] + "se", "whole"
    if key[-1] == "s":
        yield key + "e", "whole"
        yield key[:-1] + "kse", "whole"
    if key[-2] == "e" and key[-1] in "kclr":
        yield key[:-2] + key[-1], "cut"
    if key[-1] in _LISTED["latin vowels"] and key[-2] == key[-3] and key[-2] in "kpt":
        yield key[:-2] + key[-1], "whole"  # Pekka, Pekan
    if key[-1] == "a":
        soft = {"k": "c", "g": "dz z", "r": "rz", "t": "ci", "d": "dzi"}
        for ending in soft.get(key[-2], "").split():
            yield key[:-2] + ending, "cut"


def ends(stem: str, kind: str, ending: str, *, few: bool) -> bool:
    """Whether a name's stem may have the ending; `few`: the name has two graphemes only."""
    script = _script(stem[0])
    if script not in _ENDINGS:
        return len(ending) <= (_MOST_AFTER_FEW if few else _MOST_OF_AN_ENDING)
    if len(stem) < _FEW:
        return False
    if script in ("hebrew", "arabic") and len(stem) <= _FEW:
        return False
    endings = _ENDINGS[script][kind == "cut"]
    if ending in endings:
        return True
    # Two of them, as in Szűcséknél; of single letters there would be too many.
    if kind == "whole" and any(
        ending[:at] in endings and ending[at:] in endings for at in range(2, len(ending) - 1)
    ):
        return True
    # Hungarian "with": Péterrel, Jánossal.
    return script == "latin" and ending[1:] in ("al", "el") and ending[0] == stem[-1]


def without_prefix(key: str) -> list[str]:
    """What is left without the small words that Hebrew, Arabic and Amharic write before a name."""
    prefixes = _BEFORE.get(_script(key[0]), ())
    return [
        key[len(word) :] for word in prefixes if key.startswith(word) and len(key) > len(word) + 1
    ]
