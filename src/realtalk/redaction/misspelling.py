"""Long names with one slip in them: "Kathrine", "Aleksadner".

    list(misspelt(["Alexadner", "Marathon"], ["alexander"]))   → [("Alexadner", "alexander")]

Only where it is safe: the name has seven letters or more, both begin and end alike, and one letter
inside is missing, added, doubled, another, or has changed places with its neighbour. Martin and
Martina stay two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from realtalk.text.folding import fold_word
from realtalk.text.inflection import is_listed

_LONG = 7  # letters
_SAME_START, _SAME_END = 2, 2


def misspelt(words: Iterable[str], names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The words that are a name with one slip, and that name, folded as it came."""
    by_ends: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name in names:
        if len(name) >= _LONG and is_listed(name):
            by_ends[_ends(name)].append(name)
    for word in words:
        key = fold_word(word)
        if len(key) < _LONG - 1:
            continue
        meant = [name for name in by_ends.get(_ends(key), ()) if _one_slip(key, name)]
        if len(meant) == 1:
            yield word, meant[0]


def _ends(key: str) -> tuple[str, str]:
    return key[:_SAME_START], key[-_SAME_END:]


def _one_slip(word: str, name: str) -> bool:
    if word == name or abs(len(word) - len(name)) > 1:
        return False
    same = 0
    while same < min(len(word), len(name)) and word[same] == name[same]:
        same += 1
    left, right = word[same:], name[same:]
    if len(left) == len(right):
        swapped = len(left) > 1 and left[:2] == right[1::-1] and left[2:] == right[2:]
        return left[1:] == right[1:] or swapped
    longer, shorter = (left, right) if len(left) > len(right) else (right, left)
    return longer[1:] == shorter
