"""How long work says how far it is, without knowing who shows it.

    def read(path: Path, progress: Progress = silent) -> Corpus:
        progress(120, 4_000, "messages")

The command line hands in a bar, Python and tests nothing. What goes wrong on the way and is tried
again is told as a `Trouble`, which a bar of something larger passes on as it is:

    progress(3, 51, Trouble("the server answers 500, trying again (3 of 7)"))
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Called with (done, total, what) while long work goes on; total may be 0 for unknown."""

    def __call__(self, done: int, total: int, what: str) -> None: ...


class Trouble(str):
    """What somebody who waits should know; the command writes it on a line of its own."""

    __slots__ = ()


def within(progress: Progress, start: int, total: int, what: str | None = None) -> Progress:
    """The progress of a part that begins at `start`, told as that of the whole.

    `what` is said in place of the part's own words.
    """
    return lambda done, _, said: progress(
        start + done, total, said if what is None or isinstance(said, Trouble) else what
    )


def silent(done: int, total: int, what: str) -> None:
    """The progress of callers that show none."""
