"""What people of a name are called besides: "Bill" for William, "Саша" for Александр.

    formal_names("Sasha")        → {"alexander", "aleksandr", …}
    joined("Саша", {"александр": "Person1", "мария": "Person2"})      → "Person1"
    joined("Gosia", {"alexander": "Person1"})                         → None

A nickname belongs to a person of the chat only where exactly one of its people can be called so.
Everything is folded (`folding.fold_word`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from realtalk.text.folding import fold_word
from realtalk.text.wordlists import data_text


@cache
def _table() -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for line in data_text("realtalk.redaction", "nicknames.txt").splitlines():
        names, _, short = line.partition(":")
        for nickname in short.split():
            found.setdefault(fold_word(nickname), set()).update(map(fold_word, names.split()))
    return {nickname: frozenset(names) for nickname, names in found.items()}


def formal_names(word: str) -> frozenset[str]:
    """The names of which a word is a nickname."""
    return _table().get(fold_word(word), frozenset())


def joined(word: str, persons: Mapping[str, str]) -> str | None:
    """Who of the persons, by folded parts of their names, must be meant; None: nobody, or two."""
    meant = {persons[name] for name in formal_names(word) if name in persons}
    return meant.pop() if len(meant) == 1 else None
