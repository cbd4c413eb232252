"""People of a conversation → whose names stand in a text, however many people there are.

    People(["Mara Lind", "Theo"]).named("Theo added Mara Lind.")    → ["Mara Lind", "Theo"]

Of many, a name is looked up by its first characters and by its length: a conversation of thousands
of namesakes costs no more than one of a few.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

_BEGINNING = 3  # characters by which names are looked up
_FEW = 30  # names that are faster looked for one by one


class People:
    """Names to look for."""

    def __init__(self, people: Sequence[str]) -> None:
        self._place = {name: place for place, name in reversed([*enumerate(people)]) if name}
        self._sizes: dict[str, set[int]] = defaultdict(set)  # of names, by how they begin
        for name in self._place:
            self._sizes[name[:_BEGINNING]].add(len(name))
        self._shortest = min(map(len, self._place), default=0)

    def named(self, text: str) -> list[str]:
        """The names that the text holds, in the order of the people."""
        if len(self._place) <= _FEW:
            held = [name for name in self._place if name in text]
            return sorted(held, key=self._place.__getitem__)
        names = set()
        for start in range(len(text) - self._shortest + 1 if self._shortest else 0):
            for begun in range(1, _BEGINNING + 1):
                for size in self._sizes.get(text[start : start + begun], ()):
                    if (name := text[start : start + size]) in self._place:
                        names.add(name)
        return sorted(names, key=self._place.__getitem__)
