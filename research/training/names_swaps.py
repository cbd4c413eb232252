"""A marked message → the same with other names, so that what surrounds a name is learned.

    swap = Swaps(rows, rng);  swap(row)
    {"t": "quedo con Rubén", "s": [[10, 15, 0]], …} → {"t": "quedo con Nerea", "s": [[10, 15, 0]], …}

Names come from other messages of the language (they have its endings) and from what messages are
made from (names_messages.py). A name of one word becomes one of one word, small stays small.
"""

from __future__ import annotations

import random
from collections import defaultdict

from research.training.names_chats import Row
from research.training.names_data import ALIKE
from research.training.names_messages import ENDING, LOCALES, Values

CHANGED = 0.75  # of the names of a message
SLOTS = {1: ("loc",), 2: ("org",)}


class Swaps:
    def __init__(self, rows: list[Row], rng: random.Random) -> None:
        self._rng = rng
        self._pools: dict[tuple[str, int, bool], list[str]] = defaultdict(list)
        for row in rows:
            for start, end, kind in row["s"]:
                name = row["t"][start:end]
                self._pools[row["l"], kind, " " in name].append(name)
        self._values = {lang: Values(lang, held=False, rng=rng) for lang in LOCALES}

    def __call__(self, row: Row) -> Row:
        rng, said, spans, moved, at = self._rng, "", [], [], 0
        for start, end, kind in sorted(row["s"]):
            if start < at:
                return row
            said += row["t"][at:start]
            moved.append((start, len(said) - start))
            name = row["t"][start:end]
            if kind in ALIKE and rng.random() < CHANGED:
                name = self._other(name, row["l"], kind)
            spans.append([len(said), len(said) + len(name), kind])
            said, at = said + name, end
            moved.append((end, len(said) - end))

        def place(old: int) -> int:
            return old + max((pair for pair in moved if pair[0] <= old), default=(0, 0))[1]

        unsure = [(place(start), place(end)) for start, end in row.get("u", ())]
        return row | {"t": said + row["t"][at:], "s": spans, "u": unsure}

    def _other(self, name: str, lang: str, kind: int) -> str:
        rng, several = self._rng, " " in name
        pool = self._pools[lang, kind, several]
        from_pool = 0.8 if lang in ENDING else 0.3
        if lang not in self._values or rng.random() < from_pool:
            other = rng.choice(pool) if pool else name
        else:
            slots = ("per",) if several else ("first", "first", "nick", "last")
            other = self._values[lang].draw(rng.choice(SLOTS.get(kind, slots)))
        return other.lower() if name == name.lower() else other
