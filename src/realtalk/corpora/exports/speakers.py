"""Who wrote what: one name for every author of a chat, and no name for two of them.

    shown_names([("7", "Ann", ""), ("8", "Ann ", ""), ("9", "Ben", "")])
    → {("id", "7"): "Ann (7)", ("id", "8"): "Ann (8)", ("id", "9"): "Ben"}

The app's own id tells people apart. Where it has none, two people of one name cannot be told
apart and are one speaker. Of people who share a name each is called by another name that the app
has for them, or else by name and id. Case counts, what nobody can see does not.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

from realtalk.local.naming import UniqueNames
from realtalk.text.folding import STRAY_SIGNS

Author = tuple[str, str]  # ("id", the app's id) or ("name", the name)

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\u200c\u200d\ufe0e\ufe0f")  # drawn as nothing


def author(number: str, name: str) -> Author:
    """Who an entry is by: the id where there is one."""
    return ("id", number) if number else ("name", name)


def plain_name(name: str) -> str:
    """A name without what cannot be seen; "" where nothing of it can."""
    plain = " ".join(STRAY_SIGNS.sub("", unicodedata.normalize("NFC", name)).split())
    return "" if all(letter in _BLANK or letter == " " for letter in plain) else plain


def shown_names(people: Iterable[tuple[str, str, str]]) -> dict[Author, str]:
    """A name for every author, from (id, name, another name) of each entry."""
    names: dict[Author, str] = {}
    others: dict[Author, str] = {}
    for number, name, also in people:
        key = author(number, name)
        names[key] = names.get(key) or plain_name(name)
        others[key] = others.get(key) or plain_name(also)
    rivals = Counter(name for (kind, _), name in names.items() if kind == "id")
    accounts = Counter(others.values())
    used = set(names.values())
    free = UniqueNames(taken=used)
    shown: dict[Author, str] = {}
    for key, name in names.items():
        other = others[key]
        if not name:
            shown[key] = free.free(other or plain_name(key[1]) or "Unknown")
        elif rivals[name] < 2 or key[0] == "name":
            shown[key] = name  # an entry without id belongs to the one who has this name
        elif other and accounts[other] == 1 and other not in used:
            shown[key] = free.free(other)
        else:
            shown[key] = free.free(f"{name} ({key[1]})")
    return shown
