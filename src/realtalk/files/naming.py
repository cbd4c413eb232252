"""Names that two things would share, made unique: the one way in which every reader does it.

    names = UniqueNames()
    [names.free(name) for name in ("Family", "Family", "Family")]
    → ["Family", "Family (2)", "Family (3)"]
    UniqueNames("{}-{}").free(...)                       → "Family-2", as research formats write it
    UniqueNames("{}-{}", is_file=True)                   → "family" after "Family" is "family-2"
    named_run("tuned=runs/a")                            → ("tuned", "runs/a")

The first keeps its name, a later one gets the first number that is free. Names are compared
as they are: "Ann" and "ann" are two people. Names of files are compared as the pickiest file
system does, where those two would be one file.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from pathlib import Path


class UniqueNames:
    """The names given so far. `form` writes a name and its number."""

    def __init__(
        self, form: str = "{} ({})", taken: Iterable[str] = (), *, is_file: bool = False
    ) -> None:
        self._form = form
        self._is_file = is_file
        # How far each name was counted: a thousand equal names must not cost a million steps.
        self._counted: dict[str, int] = {self._key(name): 1 for name in taken}

    def free(self, name: str) -> str:
        """The name, or the name with the first free number; it is taken from now on."""
        candidate, first = name, self._key(name)
        while self._key(candidate) in self._counted:
            self._counted[first] += 1
            candidate = self._form.format(name, self._counted[first])
        self._counted[self._key(candidate)] = 1
        return candidate

    def _key(self, name: str) -> str:
        return unicodedata.normalize("NFC", name).casefold() if self._is_file else name


def named_run(text: str) -> tuple[str, str]:
    """NAME=RUN as its two parts; of a folder alone the name is empty, whatever it is called."""
    if Path(text).exists() or "=" not in text:
        return "", text
    name, _, folder = text.partition("=")
    return name, folder
