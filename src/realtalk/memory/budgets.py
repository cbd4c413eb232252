"""How budgets are written: `1000` or `1000t` tokens, `2000w` words, `all` for no limit.

parse_budgets("1000,2000w")    → (Budget(tokens=1000), Budget(words=2000))
label(Budget(words=2000))      → "2000w"
"""

from __future__ import annotations

import re

from realtalk.errors import RealtalkError
from realtalk.memory.values import Budget

_ALL = "all"
_WRITTEN = re.compile(r"\A([1-9][0-9_]{0,8})(t|w)?\Z")


def parse_budgets(text: str, *, words: bool = False) -> tuple[Budget, ...]:
    """Budgets in the order given, each once; a bare number is tokens, or `words`."""
    found: dict[Budget, None] = {}
    for part in (piece.strip().lower() for piece in text.split(",")):
        if not part:
            continue
        match = _WRITTEN.match(part)
        if part == _ALL:
            found[Budget()] = None
        elif match is None:
            raise RealtalkError(
                f"'{part}' is no budget", fix="write 1000 (tokens), 2000w (words) or all"
            )
        else:
            size = int(match[1])
            in_words = match[2] == "w" or (match[2] is None and words)
            found[Budget(words=size) if in_words else Budget(tokens=size)] = None
    if not found:
        raise RealtalkError("no budget is given", fix="write 1000 (tokens), 2000w (words) or all")
    return tuple(found)


def label(budget: Budget) -> str:
    """The budget as it is written: in rows, keys and tables."""
    parts = []
    if budget.tokens is not None:
        parts.append(f"{budget.tokens}t")
    if budget.words is not None:
        parts.append(f"{budget.words}w")
    return "+".join(parts) or _ALL
