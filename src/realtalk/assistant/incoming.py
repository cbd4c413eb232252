r"""Standard input → the same lines, each of which can be read as JSON text.

    mended(b'{"words": "haha \\ud83d"}')      → b'{"words": "haha \\ufffd"}'

JSON may escape half of a character (an emoji that a program cut in two). The library of the
protocol cannot read such a line and leaves its question without an answer, for which an assistant
waits: U+FFFD takes the half's place.
"""

from __future__ import annotations

import io
import re
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# A pair of halves is a character. Any other escape is passed over whole: `\\ud83d` is no half.
_ESCAPE = re.compile(
    rb"(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|(\\.)"
)


def mended(line: bytes) -> bytes:
    """The line with a mark in place of halves of characters."""
    return _ESCAPE.sub(lambda found: found[1] or found[2] or rb"\ufffd", line)


class MendedLines(io.RawIOBase):
    """A stream of lines that are mended as they are read."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        if not self._rest:
            self._rest = mended(self._source.readline())
        count = min(len(view), len(self._rest))
        view[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


def mended_input(source: IO[bytes]) -> io.TextIOWrapper:
    """What takes the place of `sys.stdin`."""
    return io.TextIOWrapper(io.BufferedReader(MendedLines(source)), "utf-8", "replace")
