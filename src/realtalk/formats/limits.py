"""How much a file may turn into: bounds in proportion to what lies on disk.

    allowance = Allowance(on_disk=2_900_000, where="export.zip")
    allowance.measure("chat.txt")(data)  → RealtalkError as soon as it has grown too far

What is packed can grow a thousandfold, so it is measured while it is unpacked: its bytes, and the
marks that begin something to be kept (a line, a cell, a JSON value, a tag), because a mark costs
far more time and memory than a letter. The same counts hold for plain files, where nothing but
endless empty lines or objects comes near them. There is a floor, so that a short repetitive chat
is never refused. Whoever trusts a larger file multiplies all limits with REALTALK_LIMITS=10.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from realtalk.errors import RealtalkError

VARIABLE = "REALTALK_LIMITS"

GROWTH = 20  # unpacked bytes per packed byte; exports are packed 3 to 15 times smaller
LEAST_BYTES = 32 << 20
MOST_PIPED_BYTES = 512 << 20  # a pipe is kept in memory, because it is read more than once
MOST_COLUMNS = 10_000  # of a table
MOST_LEFTOVERS = 300_000  # in a file of which more is left over than read
DEEPEST = 1000  # JSON values inside each other
LONGEST_NAME = 255  # letters of a file's name that messages and leftovers carry along

# What begins something that is kept: how many there may be at least, and how many bytes on disk
# each must have beyond that. Lines and objects become messages, the others parts of one.
_LINES, _VALUES = (500_000, 5.0), (5_000_000, 1.0)
_KINDS: dict[bytes, tuple[int, float]] = {
    b"\n": (500_000, 4.0),  # a line of an export takes ten bytes and more, also packed
    b"\r": (500_000, 4.0),
    b"{": _LINES,
    b"[": _VALUES,
    b",": _VALUES,
    b";": _VALUES,
    b"|": _VALUES,
    b"\t": _VALUES,
    b"<": (2_000_000, 1.7),
}


def scale(limit: int) -> int:
    """A limit times what the user set; once where that is no number."""
    try:
        factor = float(os.environ.get(VARIABLE, "") or 1)
        return max(1, int(limit * factor)) if factor > 0 else limit
    except (ValueError, OverflowError):
        return limit


class Allowance:
    """What the files of one archive, or a file alone, may come to."""

    def __init__(self, on_disk: int, where: str) -> None:
        self._where = where
        marks = (max(least, int(on_disk / size)) for least, size in _KINDS.values())
        self._most = [scale(limit) for limit in (max(LEAST_BYTES, GROWTH * on_disk), *marks)]
        self._counts = [0] * len(self._most)
        self._known: dict[object, list[int]] = {}

    def measure(self, name: object) -> Callable[[bytes], None]:
        """What counts the pieces of one file; an error where they are out of proportion."""
        counts = [0] * len(self._most)

        def add(data: bytes) -> None:
            counts[0] += len(data)
            for place, mark in enumerate(_KINDS, 1):
                counts[place] += data.count(mark)
            self._note(name, counts)

        return add

    def _note(self, name: object, new_counts: list[int]) -> None:
        """Counts what is new: a file that is read twice counts once."""
        counts = self._known.setdefault(name, [0] * len(new_counts))
        if new_counts[0] <= counts[0]:
            return
        for place, count in enumerate(new_counts):
            self._counts[place] += count - counts[place]
        counts[:] = new_counts
        for place, (count, most) in enumerate(zip(self._counts, self._most, strict=True)):
            if count > most:
                size = f"{most / 1e6:,.0f} MB when it is unpacked"
                what = f"{most:,} lines or values" if place else size
                raise RealtalkError(
                    f"holds more than {what}, which is out of proportion to its size",
                    where=self._where,
                    fix=f"if you trust it, set {VARIABLE}=10",
                )


def check_leftovers(leftovers: int, messages: int, where: str) -> None:
    """Refuses a file of which hardly anything can be read, before it fills the memory."""
    if leftovers > max(scale(MOST_LEFTOVERS), messages):
        raise RealtalkError(
            f"{leftovers:,} entries are not messages, more than those that are",
            where=where,
            fix="check that this is the format you mean",
        )
